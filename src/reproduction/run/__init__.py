"""Experiments: the loop over data sets, splits, noise and seeds, and the results of it."""
