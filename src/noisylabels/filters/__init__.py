"""Adaptive filters: a short file for each family, on the contract of `noisylabels.filters.base`."""
