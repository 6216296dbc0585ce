"""Sheets: what a report shows, as text in its places."""
