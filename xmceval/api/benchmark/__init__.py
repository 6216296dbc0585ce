"""Benchmarks: systems on several data sets, of which only what changed is scored."""
