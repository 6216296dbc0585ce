"""Read formats of ranking tools: TREC qrels and runs, JSON by query, and dicts in memory."""
