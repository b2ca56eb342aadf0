"""The experiments of the papers, one module each: what was printed beside what we measure."""
