"""Read rows from files and write rows to files; no other package opens a file."""
