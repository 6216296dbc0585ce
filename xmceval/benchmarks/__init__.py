"""Benchmarks compare systems on several data sets described in one TOML file."""

FILE_NAME = "benchmark.toml"  # where no other name is passed
