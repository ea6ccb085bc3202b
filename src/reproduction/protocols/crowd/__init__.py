"""Experiments with labels from several annotators."""
