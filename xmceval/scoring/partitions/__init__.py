"""Parts of rows that are scored on their own."""
