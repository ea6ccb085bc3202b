"""Experiments on generalisation bounds by random projections."""
