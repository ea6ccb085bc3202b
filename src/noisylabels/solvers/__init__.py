"""Compiled algorithms behind the estimators."""
