"""Benchmarks compare systems on several data sets described in one TOML file."""

FILE_NAME = "benchmark.toml"  # the default
