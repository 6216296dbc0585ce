"""The fields of every record that programs read: its JSON and its columns follow from one table."""
