"""Protocols: how a function is declared one, and how an artifact finds it."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, TypeVar

from reproduction.run.protocol_loop import Loop
from reproduction.run.results import Row as Row
from reproduction.spec.noise_kinds import Target
from reproduction.spec.settings import Settings
from reproduction.spec.user_modules import import_module

S = TypeVar("S", bound=Settings)
Run = Callable[[S, Loop], Iterable[Row]]
Tune = Callable[[S, Loop], dict[str, Any]]


STOCK = "reproduction.run.stock"
"""Protocols that any paper can use."""


@dataclass(frozen=True)
class Protocol:
    """A protocol by name: its settings, and how it runs and tunes.

    Attributes
    ----------
    name : str
        ``paper.module:function``, or ``stock:function`` for one that any paper can use.
    settings : type of Settings
        Model of its settings.
    run : callable
        Yields the rows of the result table.
    tune : callable, optional
        Finds parameters, on data that the evaluation does not use.
    labels : tuple of str
        Patterns (`fnmatch`) of the labels in its rows that are not words of the settings.
    targets : tuple of str
        What ``y`` of its data sets may hold; classes may be two.
    """

    name: str
    settings: type[Settings]
    run: Run[Any]
    tune: Tune[Any] | None = None
    labels: tuple[str, ...] = ()
    targets: tuple[Target, ...] = ("two classes",)

    def check_target(self, dataset: str, target: str, values: str = "") -> None:
        """Refuse a data set with a ``y`` that the protocol cannot take.

        Parameters
        ----------
        dataset : str
            Id of the data set.
        target : str
            What its ``y`` holds.
        values : str, default ""
            The classes, for the message.

        Raises
        ------
        ValueError
            If it is not one of the targets; one line that says what to do.
        """
        if target in self.targets or (target == "two classes" and "classes" in self.targets):
            return
        has = {"two classes": "two classes", "classes": "more than two classes"}
        of_set = has.get(target, "real values") + (f" ({values})" if values else "")
        taken = " or ".join(self.targets)
        remedy = "use a protocol that takes them"
        if target == "classes" and "two classes" in self.targets:
            remedy = "name one class to compare with all others, `positive`, or " + remedy
        elif "real" in self.targets:
            remedy = "write `task: regression` if its numbers are to be predicted, or " + remedy
        declared = f"@protocol(..., targets=({target!r},)) declares it"
        text = f"data set {dataset} has {of_set}; {self.name} takes {taken}; {remedy} ({declared})"
        raise ValueError(text)


def protocol(
    settings: type[S],
    tune: Tune[S] | None = None,
    labels: tuple[str, ...] = (),
    targets: tuple[Target, ...] = ("two classes",),
) -> Callable[[Run[S]], Run[S]]:
    """Declare that a function is a protocol.

    Parameters
    ----------
    settings : type of Settings
        Model of its settings.
    tune : callable, optional
        Finds parameters in an earlier job, on data that the evaluation does not use.
    labels : tuple of str
        Patterns of the labels in its rows that are not words of the settings.
    targets : tuple of str, default ("two classes",)
        What ``y`` of its data sets may hold: "two classes", "classes" (two or more) or "real".

    Returns
    -------
    callable
        The decorator. A function below it has the attribute ``protocol``.
    """

    def declare(run: Run[S]) -> Run[S]:
        module = "stock" if run.__module__ == STOCK else run.__module__
        name = f"{module}:{run.__name__}"
        made = Protocol(name, settings, run, tune, labels, targets)
        run.protocol = made  # type: ignore[attr-defined]
        return run

    return declare


def protocol_module(name: str) -> str:
    """Name the module of a protocol: a paper's, or `STOCK`."""
    module = name.partition(":")[0]
    return STOCK if module == "stock" else module


def find_protocol(name: str) -> Protocol:
    """Find a protocol by name, of a module that declares it.

    Parameters
    ----------
    name : str
        ``paper.module:function`` or ``stock:function``.

    Returns
    -------
    Protocol
        The protocol.

    Raises
    ------
    ValueError
        If there is no such module, or no such protocol in it; with the nearest names.
    """
    from reproduction.spec.declarations import check_declared

    try:
        check_declared(protocol_module(name), name.rpartition(":")[2], ("protocol",))
    except ValueError as error:
        raise ValueError(f"protocol: {error}") from error
    return import_protocol(name)


def import_protocol(name: str) -> Protocol:
    """Import a protocol that `find_protocol` has found before, as the job of a plan does.

    Parameters
    ----------
    name : str
        ``paper.module:function`` or ``stock:function``.

    Returns
    -------
    Protocol
        The protocol.

    Raises
    ------
    ValueError
        If there is no such module, or no such protocol in it; with the nearest names.
    """
    module_name, _, function = name.rpartition(":")
    full_module_name = protocol_module(name)
    try:
        module = import_module(full_module_name)
    except ModuleNotFoundError as error:
        if not full_module_name.startswith(error.name or "-"):
            raise
        raise ValueError(f"protocol: no protocol {name!r}: no module {module_name!r}") from None
    except ValueError as error:
        raise ValueError(f"protocol: {error}") from error
    protocols: dict[str, Protocol] = {}
    for key, member in vars(module).items():
        if hasattr(member, "protocol"):
            protocols[key] = member.protocol
    if function not in protocols:
        nearest = difflib.get_close_matches(function, protocols) or sorted(protocols)
        remedy = "has none; put @protocol(Settings) above its function"
        if nearest:
            remedy = f"has {', '.join(nearest)}"
        raise ValueError(f"protocol: no protocol {name!r}; module {module_name} {remedy}")
    return protocols[function]
