"""Stochastic gradient descent: rows, orders, step sizes, one epoch, many models at once."""
