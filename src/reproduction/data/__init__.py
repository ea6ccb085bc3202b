"""Data sets: what the registry says of them, and how they are fetched, read and prepared."""
