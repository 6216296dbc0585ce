"""Files with one entry per line: row, label and value, to be sorted by row; tables of results."""
