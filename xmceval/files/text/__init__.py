"""Read the text formats of input files: what tells them apart, a grammar for each, and blocks of lines."""
