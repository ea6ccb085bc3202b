"""Experiments on kernel classifiers under label noise."""
