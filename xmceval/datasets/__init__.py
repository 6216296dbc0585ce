"""The tables of the folder datasets: beside the package in the source, and inside it once installed."""
