"""Planning a benchmark: its file, the files that it names, and every mistake in it."""
