"""Benchmarks: systems compared on several data sets, as one TOML file describes them."""
