"""Trees whose splits ask for one column each."""
