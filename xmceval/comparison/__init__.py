"""Compare systems: which of two is better, and whether the difference could be due to chance."""
