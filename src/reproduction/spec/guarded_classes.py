"""Classes of users that get read-only arrays, so that no method spoils them for the next."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache, wraps
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reproduction.paths import PACKAGES

DEEPEST = 4
"""Depth below an argument to which its arrays are sought, as in the fields of a sequence."""


@cache
def guard(cls: type) -> type:
    """Make a class whose public methods cannot write to the arrays that they are called with.

    Parameters
    ----------
    cls : type
        Class of a user or of another package.

    Returns
    -------
    type
        A subclass of the same name; NumPy refuses a write to an argument, at the line of the write.
        Classes of this library change no argument and come back unchanged.
    """
    if cls.__module__.partition(".")[0] in PACKAGES:
        return cls
    members: dict[str, Any] = {"__reduce_ex__": _reduce, "__module__": cls.__module__}
    for name in dir(cls):
        member = None if name.startswith("_") else inspect.getattr_static(cls, name)
        if isinstance(member, classmethod | staticmethod):
            members[name] = type(member)(_with_read_only_arguments(member.__func__, cls))
        elif inspect.isfunction(member):
            members[name] = _with_read_only_arguments(member, cls)
    try:
        guarded = type(cls)(cls.__name__, (cls,), members)
    except TypeError:  # the class cannot have subclasses
        return cls
    guarded.__qualname__ = cls.__qualname__
    guarded.__doc__ = cls.__doc__
    return guarded


def _reduce(self: Any, protocol: Any) -> Any:
    """Pickle an instance under the class itself, which another process can import."""
    guarded = type(self)
    original = guarded.__bases__[0]
    make, arguments, *state = super(guarded, self).__reduce_ex__(protocol)
    if arguments[:1] != (guarded,):
        return make, arguments, *state
    return _make, (original, *arguments[1:]), *state


def _make(cls: type, *arguments: Any) -> Any:
    return cls.__new__(cls, *arguments)


def _with_read_only_arguments(function: Callable[..., Any], cls: type) -> Callable[..., Any]:
    @wraps(function)
    def call(*arguments: Any, **keywords: Any) -> Any:
        with unwritable((arguments, keywords), cls):
            return function(*arguments, **keywords)

    return call


@contextmanager
def unwritable(value: Any, exempt: type) -> Iterator[None]:
    """Make the arrays in a value read-only for a while, but not those of instances."""
    closed = []
    for array in _arrays(value, exempt, DEEPEST):
        if array.flags.writeable:
            array.flags.writeable = False
            closed.append(array)
    try:
        yield
    finally:
        for array in reversed(closed):
            array.flags.writeable = True


def _arrays(value: Any, exempt: type, depth: int) -> Iterator[NDArray[Any]]:
    """Yield the arrays in a value: itself, its entries or its attributes."""
    if isinstance(value, np.ndarray):
        yield value
        return
    if depth == 0 or isinstance(value, exempt | type):
        return
    entries: Any = ()
    if isinstance(value, tuple | list):
        entries = value
    elif isinstance(value, Mapping):
        entries = value.values()
    elif hasattr(value, "__dict__"):
        entries = vars(value).values()
    for entry in entries:
        yield from _arrays(entry, exempt, depth - 1)
