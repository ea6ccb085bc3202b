"""Every classifier, found and not listed by hand, with parameters that make its fits fast."""

import inspect

import pytest
from methods import method_class
from sklearn.base import ClassifierMixin

from noisylabels import METHODS

CLASSIFIERS = [cls for name in METHODS if issubclass(cls := method_class(name), ClassifierMixin)]
each_class = pytest.mark.parametrize("cls", CLASSIFIERS, ids=lambda cls: cls.name)
FAST = {"rounds": 5, "starts": 1, "ks": (2, 10), "random_state": 0}


def make(cls, **parameters):
    """Make an estimator with a fixed seed that fits fast."""
    parameter_names = inspect.signature(cls).parameters
    fast = {name: value for name, value in FAST.items() if name in parameter_names}
    return cls(**fast | parameters)
