"""Experiments on robust losses for stochastic gradient descent."""
