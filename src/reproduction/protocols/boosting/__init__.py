"""Experiments on boosting under label noise."""
