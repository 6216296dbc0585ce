"""Report: results as text, one file per form, and the listings of metrics and data sets."""
