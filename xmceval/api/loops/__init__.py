"""Score rows that come batch by batch."""
