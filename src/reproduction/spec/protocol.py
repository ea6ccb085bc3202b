"""What a protocol is, how a function is declared one, and how an artifact finds it by its name."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from reproduction.run.protocol_loop import Loop
from reproduction.run.results import Row as Row
from reproduction.spec.settings import Settings
from reproduction.spec.user_modules import check_declared, imported

if TYPE_CHECKING:
    pass

S = TypeVar("S", bound=Settings)
Run = Callable[[S, Loop], Iterable[Row]]
Tune = Callable[[S, Loop], dict[str, Any]]


STOCK = "reproduction.run.stock"
"""Protocols that any paper can use."""


@dataclass(frozen=True)
class Protocol:
    """A protocol by its name: its settings, how it runs and how it tunes.

    name : ``paper.module:function``, or ``stock:function`` for one that any paper can use.

    labels : patterns (`fnmatch`) of the labels in its rows that are not words of the settings.
    """

    name: str
    settings: type[Settings]
    run: Run[Any]
    tune: Tune[Any] | None = None
    labels: tuple[str, ...] = ()


def protocol(
    settings: type[S], tune: Tune[S] | None = None, labels: tuple[str, ...] = ()
) -> Callable[[Run[S]], Run[S]]:
    """Declare a function a protocol; ``tune`` finds its parameters, on data kept apart, in an earlier job."""

    def declared(run: Run[S]) -> Run[S]:
        module = "stock" if run.__module__ == STOCK else run.__module__
        name = f"{module}:{run.__name__}"
        run.protocol = Protocol(name, settings, run, tune, labels)  # type: ignore[attr-defined]
        return run

    return declared


def protocol_module(name: str) -> str:
    """The module of a protocol: a paper's, or `STOCK`."""
    module = name.partition(":")[0]
    return STOCK if module == "stock" else module


def find_protocol(name: str) -> Protocol:
    """Find the protocol ``paper.module:function`` or ``stock:function``.

    Raises ValueError : no such module, or no protocol of that name in it; with the nearest names.
    """
    module_name, _, function = name.rpartition(":")
    place = protocol_module(name)
    try:
        check_declared(place, function, ("protocol",))
        module = imported(place)
    except ModuleNotFoundError as error:
        if not place.startswith(error.name or "-"):
            raise
        raise ValueError(f"protocol: no protocol {name!r}: no module {module_name!r}") from None
    except ValueError as error:
        raise ValueError(f"protocol: {error}") from error
    known = {key: member.protocol for key, member in vars(module).items() if hasattr(member, "protocol")}
    if function not in known:
        close = difflib.get_close_matches(function, known) or sorted(known)
        there = f"has {', '.join(close)}" if close else "has none; put @protocol(Settings) above its function"
        raise ValueError(f"protocol: no protocol {name!r}; module {module_name} {there}")
    found: Protocol = known[function]
    return found
