"""Write a report as one HTML file."""
