"""Text files: layouts, grammars, and blocks of lines."""
