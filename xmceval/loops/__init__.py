"""Loops: systems scored batch by batch in a training loop, and states that are merged."""
