"""Margin losses, and their compiled values and slopes."""
