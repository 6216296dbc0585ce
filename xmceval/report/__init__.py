"""Reports of results as text, one module per format, and the lists of metrics and data sets."""
