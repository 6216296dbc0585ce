"""Tasks, each of which computes one kind of metric from batches of rows."""
