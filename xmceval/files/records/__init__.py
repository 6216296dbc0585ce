"""Files with one entry of row, label and value per line; held in memory to be sorted by row."""
