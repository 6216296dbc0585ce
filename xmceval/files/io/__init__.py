"""Locate files, local or remote, and read and write their bytes."""
