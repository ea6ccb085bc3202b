"""Arithmetic with the same bits on every processor, because no sum is reordered or fused."""
