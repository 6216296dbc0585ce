"""Api: the public functions, which take and return values."""
