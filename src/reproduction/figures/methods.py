"""Which methods a figure or table shows, in which order and as what: the artifact says it, no code does.

Keys of a method in an artifact:
    shown : the only panel or table that shows it (a word that the figure knows); without it, all do.
    role : control, a method that sees what no other can; reference, the one the others are compared with.
    label : its name in running text.   note : a sentence below the tables that show it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from reproduction.figures import names

if TYPE_CHECKING:
    import pandas as pd

Methods = Mapping[str, Mapping[str, Any]]
"""The settings' methods, by their labels in the result table."""


def shown(methods: Methods, place: str) -> list[str]:
    """The methods that the panel or table shows, in the artifact's order."""
    return [method for method, spec in methods.items() if spec.get("shown", place) == place]


def with_role(methods: Methods, role: str) -> list[str]:
    """The methods of that role, in the artifact's order."""
    return [method for method, spec in methods.items() if spec.get("role") == role]


def reference(methods: Methods) -> str:
    """The method with the role `reference`, else the first one."""
    return [*with_role(methods, "reference"), *methods][0]


def label(methods: Methods, method: str) -> str:
    """The name of a method in running text."""
    return str(methods[method].get("label", names.method(method)))


def notes(methods: Methods) -> list[str]:
    """The sentences that belong below a table of these methods."""
    return [spec["note"] for spec in methods.values() if "note" in spec]


def found(rows: pd.DataFrame) -> list[str]:
    """The methods of result rows, in the table's order: where those of a theorem are all there can be."""
    return list(dict.fromkeys(rows["method"]))
