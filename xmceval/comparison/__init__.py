"""Compare systems: which of two is better, and whether chance could explain the difference."""
