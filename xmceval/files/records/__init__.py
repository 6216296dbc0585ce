"""Files with one entry per line: row, label and value, to be sorted by row; flat logs; tables of results."""
