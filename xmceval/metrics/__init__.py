"""Metrics: the table of every metric, the parser of their names, and rates of confusion cells."""
