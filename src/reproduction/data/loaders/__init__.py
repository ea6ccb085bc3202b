"""Readers that turn the raw files of data sets into arrays."""
