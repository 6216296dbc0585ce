"""Read tables (Parquet, Arrow IPC, CSV and data frames) as batches of Arrow columns, found by name."""
