"""Page: a report as one HTML file."""
