"""Labels: what is known of the label axis: counts, propensities, bins, the catalogue of public sets."""
