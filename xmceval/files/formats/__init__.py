"""The formats of files that are read, as data: one file per kind."""
