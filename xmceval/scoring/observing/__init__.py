"""What sees the values of rows beside the totals."""
