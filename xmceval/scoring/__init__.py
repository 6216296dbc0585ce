"""Score rows in batches: options, tasks, totals and estimates."""
