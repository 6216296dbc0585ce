"""Metrics: the table of every metric, and the grammar of their names; needs neither numpy nor numba."""
