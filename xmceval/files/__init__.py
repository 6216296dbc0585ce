"""Read input files in the formats of the table FORMATS, and write rows; no other package opens a user's file."""
