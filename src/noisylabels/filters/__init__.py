"""Adaptive filters: one short file per filter on the contract of `noisylabels.filters.base`."""
