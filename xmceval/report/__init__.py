"""Report: results as text, one file per form."""
