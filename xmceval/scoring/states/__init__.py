"""States: totals of some rows that are saved, merged and finished elsewhere."""
