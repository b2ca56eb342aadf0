"""Ways to split a cell of a tree."""
