"""Readers of file formats: a path in, arrays or fields out. They know nothing of any data set."""
