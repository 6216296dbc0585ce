"""The lists of metrics, data sets and formats."""
