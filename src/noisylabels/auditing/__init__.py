"""How noisy are the labels of a table, which of them are wrong, and which method to trust with it."""
