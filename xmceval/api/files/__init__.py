"""Functions that read or write files without scoring."""
