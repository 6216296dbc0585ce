"""Read text files: layouts, grammars, and blocks of lines."""
