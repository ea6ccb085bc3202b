"""Figures and tables: one module per paper, drawn from tidy result tables only."""
