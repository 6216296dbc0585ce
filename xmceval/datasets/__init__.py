"""Tables of public data sets, stored next to the package in the source tree and inside it once installed."""
