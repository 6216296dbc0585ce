"""Files of the ranking field: TREC and LETOR."""
