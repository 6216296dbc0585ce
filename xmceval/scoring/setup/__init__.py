"""Set up scoring: everything that is determined before the first row is read."""
