"""The table of all metrics, the parser of their names, and rates of confusion cells."""
