"""Report results: tables, sentences and pictures in several forms, and the lists of metrics and data sets."""
