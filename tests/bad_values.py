"""Values that no parameter takes, or none of its kind, and what an error has to say about them."""

import inspect
import math
import re

NONE_OF_A_KIND = [-1, 0, 2.5, math.nan, math.inf, "no such", None, True, [], [[1, 2]], {}]


def parameters(cls):
    """Name -> what its annotation allows, in words, for each parameter of the constructor."""
    signature = inspect.signature(cls)
    allowed = {}
    for name, parameter in signature.parameters.items():
        allowed[name] = set(parameter.annotation.split(" | "))
    return allowed


def may_be(value, kinds):
    """Whether a parameter of these kinds may take the value; the class may still refuse it."""
    if value is None:
        return bool({"None", "Any"} & kinds)
    if value is True:
        return bool({"bool", "Any"} & kinds)
    numbers = {"float", "Any", "ArrayLike", "Power"}
    return (value == 0 and "int" in kinds) or (value in (0, 2.5) and bool(numbers & kinds))


def check_answers(cls, use, allowed=()):
    """`use(name, value)` works with what the parameter may be, else raises one line that names it.

    allowed : names of parameters that are not looked at.
    """
    for name, kinds in parameters(cls).items():
        if name in allowed:
            continue
        for value in NONE_OF_A_KIND:
            try:
                use(name, value)
            except ValueError as error:
                message = str(error)
                assert re.search(rf"\b{name}\b", message), f"{name}={value!r}: {message}"
                assert "\n" not in message, f"{name}={value!r}: {message}"
            else:
                assert may_be(value, kinds), f"{name}={value!r} is accepted"
