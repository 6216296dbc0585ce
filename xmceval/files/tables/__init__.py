"""Read tables (Parquet, Arrow IPC, CSV and data frames) as batches of Arrow columns that are found by name."""
