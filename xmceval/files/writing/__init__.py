"""Writing: rows and numbers as files of any form."""
