"""Whether predictions are for the rows and labels of the truth."""
