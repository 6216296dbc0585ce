"""Read files that accompany truth and predictions: label names, filters, and one value or id per row or label."""
