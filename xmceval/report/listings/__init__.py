"""The lists of metrics and data sets."""
