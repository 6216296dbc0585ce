"""The command line: shared options and output, and the commands that have no package of their own."""
