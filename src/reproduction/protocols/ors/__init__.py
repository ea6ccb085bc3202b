"""Experiments on online regression with a controlled rate of label noise."""
