"""Data sets: how the registry describes them, and how they are fetched, read and prepared."""
