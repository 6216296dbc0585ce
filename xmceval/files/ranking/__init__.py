"""Files of the ranking field: qrels and runs of TREC, and records in memory."""
