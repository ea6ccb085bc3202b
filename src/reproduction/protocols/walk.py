"""What every protocol shares: typed settings beside its function, and what a job hands to it.

A protocol is a function of a module here, ``@protocol(ErrorsSettings)`` above ``def errors(settings, walk)``;
an artifact names it ``kernels.errors``. Its settings model alone declares the keys that its artifacts may set.
"""

from __future__ import annotations

import difflib
import importlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, PositiveInt

from noisylabels.seeding import Seeds

Row = dict[str, object]
"""A row of a result table before it is written: column -> value."""


class Settings(BaseModel):
    """Base of the settings of every protocol: unknown keys are errors, nothing changes after validation."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    experiment: str = ""
    """Name under which random numbers are drawn; artifacts that share it share their data."""
    repetitions: PositiveInt = 1


@dataclass(frozen=True)
class Walk:
    """What a job is given beside its settings.

    data : id -> prepared data set.   repetitions : the block of this job.   tuned : by the tuning job.
    """

    data: Mapping[str, Any]
    seeds: Seeds
    repetitions: range = range(1)
    tuned: Mapping[str, Any] = field(default_factory=dict)


S = TypeVar("S", bound=Settings)
Run = Callable[[S, Walk], Iterable[Row]]
Tune = Callable[[S, Walk], dict[str, Any]]


@dataclass(frozen=True)
class Protocol:
    """A protocol by its name ``module.function``: its settings model, how it runs and how it tunes, if so."""

    name: str
    settings: type[Settings]
    run: Callable[[Any, Walk], Iterable[Row]]
    tune: Callable[[Any, Walk], dict[str, Any]] | None = None


def protocol(settings: type[S], tune: Tune[S] | None = None) -> Callable[[Run[S]], Run[S]]:
    """Declare a function a protocol; ``tune`` finds its parameters, on data kept apart, in an earlier job."""

    def declared(run: Run[S]) -> Run[S]:
        name = f"{run.__module__.removeprefix('reproduction.protocols.')}.{run.__name__}"
        run.protocol = Protocol(name, settings, run, tune)  # type: ignore[attr-defined]
        return run

    return declared


def find(name: str) -> Protocol:
    """The protocol ``module.function``.

    Raises
    ------
    ValueError : no such module, or no protocol of that name in it; with the nearest names.
    """
    module_name, _, function = name.rpartition(".")
    try:
        module = importlib.import_module(f"reproduction.protocols.{module_name}")
    except ModuleNotFoundError as error:
        if not f"reproduction.protocols.{module_name}".startswith(error.name or "-"):
            raise
        raise ValueError(f"protocol: no protocol {name!r}: no module {module_name!r}") from None
    known = {key: member.protocol for key, member in vars(module).items() if hasattr(member, "protocol")}
    if function not in known:
        near = difflib.get_close_matches(function, known) or sorted(known)
        raise ValueError(f"protocol: no protocol {name!r}; module {module_name} has {', '.join(near)}")
    return known[function]
