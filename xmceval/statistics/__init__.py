"""Statistics: intervals and tests as functions of sums; no rows."""
