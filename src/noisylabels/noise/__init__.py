"""Noise on labels and targets: how it is drawn, and the matrix that describes it."""
