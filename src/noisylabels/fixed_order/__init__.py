"""Arithmetic with the same bits on every processor: nothing is reordered or fused."""
