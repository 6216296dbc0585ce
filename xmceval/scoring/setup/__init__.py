"""Set-up: all that is found before the first row is read."""
