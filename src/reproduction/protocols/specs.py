"""A method as settings name it: ``{method, parameters, ...}``, found, checked and built in one place.

    label: {method: file of a method or package.module:Class, parameters: {keyword: value}, ...}

The label names it in tables and figures. All other keys (`tune`, `selection`, `losses`, ...) belong to the
protocol, which reads them from `Spec.options`; `DISPLAY` are for figures and tables, no protocol reads them.
"""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from reproduction.methods import DISPLAY, find


@dataclass(frozen=True)
class Spec:
    """A method of the settings.

    label : its name in the result table.   cls : its class.   parameters : keyword arguments that are fixed.
    options : the other keys of the settings.
    """

    label: str
    cls: Any
    parameters: dict[str, Any] = field(default_factory=dict)
    options: dict[str, Any] = field(default_factory=dict)

    def build(self, **chosen: Any) -> Any:
        """An instance with the fixed parameters and the chosen ones, which win."""
        return self.cls(**(self.parameters | chosen))

    def check(self, more: Iterable[str] = (), *, function: Any = None, also: str = "") -> None:
        """Whether ``function`` (default: the class) takes the parameters and the keywords ``more``.

        also : a name that the message adds to the known ones.
        Raises ValueError : a name that is unknown, with the nearest or all known ones.
        """
        known = inspect.signature(self.cls if function is None else function).parameters
        if any(parameter.kind is parameter.VAR_KEYWORD for parameter in known.values()):
            return
        options = [key for key, parameter in known.items() if parameter.default is not parameter.empty]
        for name in (*self.parameters, *more):
            if name not in known:
                near = difflib.get_close_matches(name, options, n=1)
                hint = f"did you mean {near[0]}? " if near else ""
                names = ", ".join([*(options or ["none"]), *([also] if also else [])])
                raise ValueError(f"method {self.label}: no parameter {name!r}; {hint}known: {names}")


def spec(label: str, content: Mapping[str, Any]) -> Spec:
    """One method of the settings.

    Raises ValueError : a method that does not exist, with the nearest names.
    """
    try:
        cls = find(content["method"])
    except ValueError as error:
        raise ValueError(f"method {label}: {str(error).removeprefix('method: ')}") from None
    skipped = ("method", "parameters", *DISPLAY)
    options = {key: value for key, value in content.items() if key not in skipped}
    return Spec(label, cls, dict(content.get("parameters", {})), options)


def specs(methods: Mapping[str, Mapping[str, Any]]) -> dict[str, Spec]:
    """The methods of the settings by their labels, in order; see `spec`."""
    return {label: spec(label, content) for label, content in methods.items()}
