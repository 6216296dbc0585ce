"""Api: every public function; values in, values out."""
