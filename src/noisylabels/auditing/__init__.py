"""Audits of labels: how noisy they are, which are wrong, and which method to trust with them."""
