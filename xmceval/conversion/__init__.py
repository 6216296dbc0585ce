"""Conversion: files of truth or predictions as sparse matrices, and these as files of another form."""
