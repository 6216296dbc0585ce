"""Read files of truth or predictions as sparse matrices, and convert them to other formats."""
