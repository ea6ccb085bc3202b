"""The cases that the checks of a claim leave out, in words."""

from collections.abc import Iterator, Mapping
from typing import Any

from reproduction.judge.claims import Asked, listed
from reproduction.show import names

NAMES = {"setting": names.setting, "noise": names.noise, "dataset": names.data_set}
"""Columns whose labels have names for readers, but for methods and metrics."""
COLUMNS = ("dataset", "source", "noise", "setting", "method", "metric", "x")
"""Columns in the order in which a case names them."""
SCOPE = ("dataset", "noise", "setting")
"""Columns by which checks of one claim differ, where each leaves out other cases."""


def describe_left_out_cases(claim: Asked, methods: Mapping[str, str]) -> str:
    """Write which cases the checks of a claim leave out; "" where there are none.

    Parameters
    ----------
    claim : mapping
        The claim, as its file has it.
    methods : mapping
        Key of a method -> its label.

    Returns
    -------
    str
        A sentence such as ``We leave out: MNIST 38, Pegasos; SUSY, Pegasos.``
    """
    checks = claim["checks"]
    differ = any(check.get("without") != checks[0].get("without") for check in checks)
    cases: list[str] = []
    for check in checks:
        for selector in check.get("without", []):
            scope = _scope_of(check) if differ else {}
            cases += _name_cases(scope | selector, methods)
    if not cases:
        return ""
    distinct = dict.fromkeys(cases)
    return f"We leave out: {'; '.join(distinct)}."


def _scope_of(check: Asked) -> dict[str, Any]:
    """Find the data sets, noises and settings to which a check is limited."""
    selector = check.get("where", {})
    return {column: selector[column] for column in SCOPE if column in selector}


def _name_cases(selector: Asked, methods: Mapping[str, str]) -> Iterator[str]:
    """Name the cases of a selector; the labels of a single column are a case each."""
    named = []
    for column in sorted(selector, key=COLUMNS.index):
        entry = listed(selector[column])
        named.append([_name(column, label, methods) for label in entry])
    if len(named) == 1:
        yield from named[0]
    else:
        yield ", ".join(_join_alternatives(labels) for labels in named)


def _join_alternatives(labels: list[str]) -> str:
    """Join labels as ``a, b or c``."""
    if len(labels) < 2:
        return "".join(labels)
    return f"{', '.join(labels[:-1])} or {labels[-1]}"


def _name(column: str, label: Any, methods: Mapping[str, str]) -> str:
    """Name a label of a column as readers see it."""
    if column == "method":
        return methods.get(label) or names.method(label)
    if column in NAMES:
        return NAMES[column](label)
    return f"{column} = {label:g}" if isinstance(label, int | float) else str(label)
