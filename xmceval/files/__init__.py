"""Files: bytes to rows and rows to bytes; nothing else opens a file."""
