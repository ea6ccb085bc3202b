"""One module or two per paper: its figures and tables."""
