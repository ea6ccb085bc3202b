"""Every classifier, found and not listed by hand, with parameters that make its fits fast."""

import inspect

import pytest
from methods import method_class
from sklearn.base import ClassifierMixin

from noisylabels import METHODS

CLASSIFIERS = [cls for name in METHODS if issubclass(cls := method_class(name), ClassifierMixin)]
every = pytest.mark.parametrize("cls", CLASSIFIERS, ids=lambda cls: cls.name)
FAST = {"rounds": 5, "starts": 1, "ks": (2, 10), "random_state": 0}


def made(cls, **parameters):
    """Make an estimator with a fixed seed that fits fast."""
    known = inspect.signature(cls).parameters
    return cls(**{name: value for name, value in FAST.items() if name in known} | parameters)
