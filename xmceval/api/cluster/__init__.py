"""Score on a cluster."""
