"""Per-label data: counts, propensities, frequency bins, and the catalogue of public data sets."""
