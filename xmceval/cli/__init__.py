"""The command line: shared options and output, and the commands without their own package."""
