"""Score systems batch by batch, as in a training loop, and merge saved states."""
