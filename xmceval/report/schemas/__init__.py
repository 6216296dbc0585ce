"""JSON Schemas of everything that is written as JSON: each field with its type, its unit and its meaning."""
