"""Remote files: read and written through fsspec, which is imported only here and only for addresses."""
