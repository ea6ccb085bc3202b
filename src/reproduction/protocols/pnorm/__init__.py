"""Experiments on the p-norm LMS algorithm."""
