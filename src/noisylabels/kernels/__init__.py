"""Kernel functions and the matrices made of them."""
