"""The fields of every record that programs read: its JSON, its JSON Schema and its columns follow from one table."""
