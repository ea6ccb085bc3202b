"""Small compiled functions that every loop may use."""
