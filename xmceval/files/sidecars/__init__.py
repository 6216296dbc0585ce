"""Files beside truth and predictions: names of labels, filters, numbers."""
