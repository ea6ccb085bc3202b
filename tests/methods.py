"""Finds the class of a method by its name, with nothing but the library."""

import importlib

from noisylabels import METHODS


def method_class(name):
    """Find the class that the table of methods names."""
    module, _, class_name = METHODS[name].partition(":")
    return getattr(importlib.import_module(f"noisylabels.{module}"), class_name)
