"""Read the text formats of input files; `source` has the table GRAMMARS, with one grammar for each format."""
