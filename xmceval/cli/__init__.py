"""The command line: what commands share, and the commands that no slice has."""
