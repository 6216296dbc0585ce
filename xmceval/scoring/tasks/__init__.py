"""Tasks: one kind of work each, from batches of rows to sums."""
