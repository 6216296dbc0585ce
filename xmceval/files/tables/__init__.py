"""Tables: Parquet, Arrow IPC, CSV and data frames, all read as batches of Arrow columns that are known by name."""
