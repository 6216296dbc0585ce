"""What comparing systems needs of their rows."""
