"""A job of the workflow: one protocol with its settings, seeds and data, tuned or run."""

from __future__ import annotations

import json
import random
import sys
import traceback
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from noisylabels.seeding import Seeds
from reproduction.data.prepared import find_target
from reproduction.run.points import KEY, Points
from reproduction.run.protocol_loop import Loop
from reproduction.run.results import COLUMNS, KEY_COLUMNS, format_value, key_of
from reproduction.run.results import Row as Row
from reproduction.spec.models import WITH_CODE, texts
from reproduction.spec.protocol import Protocol, import_protocol
from reproduction.spec.settings import Settings
from reproduction.spec.suggestions import near

if TYPE_CHECKING:
    from reproduction.data.prepared import Dataset


@dataclass(frozen=True)
class Job:
    """One job of the workflow: its protocol, narrowed settings, seeds and prepared data."""

    protocol: Protocol
    settings: Settings
    seeds: Seeds
    data: dict[str, Dataset]
    words: list[str] = field(default_factory=list)

    @classmethod
    def read(cls, given: Mapping[str, Any], data_files: Sequence[str | Path]) -> Job:
        """Read a request (protocol, experiment, seed, settings; see `Plan.job`), and the data."""
        data = {}
        if data_files:
            from reproduction.data.prepared import load_prepared

            data = {dataset.id: dataset for dataset in map(load_prepared, data_files)}
        found = import_protocol(given["protocol"])
        for dataset in data.values():
            _check_target(found, dataset)
        # the main process has checked the classes before it planned this job
        settings = found.settings.model_validate(given["settings"], context={WITH_CODE: False})
        words = [*texts(given["settings"]), *settings.list_labels()]
        return cls(found, settings, Seeds(given["seed"], given["experiment"]), data, words)

    def tune(self) -> dict[str, Any]:
        """Tune; return the parameters in the form of a file, {} without a tuning."""
        tune = self.protocol.tune
        tuned = tune(self.settings, Loop(self.data, self.seeds)) if tune else {}
        return dict(json.loads(json.dumps(tuned, sort_keys=True)))

    def run(self, repetitions: str, tuned: Mapping[str, Any]) -> tuple[list[Row], Points]:
        """Run a half-open range of repetitions, ``0:5``; return the rows and the tested points."""
        points = Points()
        handed = Loop(self.data, self.seeds, range(*map(int, repetitions.split(":"))), tuned)
        rows = self.protocol.run(self.settings, handed)
        return points.take(self._checked(rows, handed.place)), points

    def check_repeatable(
        self, rows: Iterable[Row], repetitions: str, tuned: Mapping[str, Any]
    ) -> None:
        """Run the first repetition again, and compare its rows with those of the first time.

        Parameters
        ----------
        rows : iterable of dict
            Rows of the run.
        repetitions : str
            Half-open range of its repetitions, ``0:5``.
        tuned : mapping
            What the tuning job found.

        Raises
        ------
        ValueError
            If a row differs; one line that names the row and both values.
        """
        first = int(repetitions.partition(":")[0])
        values = {key_of(row): format_value(row) for row in rows}
        with _refuse_unseeded():
            again, _ = self.run(f"{first}:{first + 1}", tuned)
        for row in again:
            before = values.get(key_of(row), "no row")
            now = format_value(row)
            if before != now:
                differs = f"the first repetition, run again, differs: {_describe_row(row)}"
                remedy = (
                    "draw random numbers from `repetition.rng`, build methods with "
                    "`repetition.build` and keep no state in classes"
                )
                where = f"protocol {self.protocol.name}: {differs}"
                raise ValueError(f"{where}: {before}, then {now}; {remedy}")

    def _checked(self, rows: Iterable[Row], place_in_loop: Row) -> Iterator[Row]:
        """Yield the rows of the protocol, and name the first mistake at once."""
        place = self.protocol.name
        seen = set[object]()
        numbers: dict[tuple[str, ...], int] = {}
        declared = [*self.protocol.labels, *self.words]
        try:
            for number, row in enumerate(rows):
                if unknown := sorted(set(row) - {*COLUMNS, KEY}):
                    said = f"row {number} has the columns {unknown}; a row has {', '.join(COLUMNS)}"
                    raise ValueError(f"protocol {place}: {said}")
                if (metric := row.get("metric")) not in seen:
                    seen.add(metric)
                    if not any(fnmatchcase(str(metric), each) for each in declared):
                        said = (
                            f"row {number} has the metric {metric!r}"
                            f"{near(metric, self.protocol.labels)}"
                        )
                        raise ValueError(
                            f"protocol {place}: {said}; declare it: @protocol(..., labels=...)"
                        )
                first = numbers.setdefault(key_of(row), number)
                if first != number:
                    rule = "give them another setting, x or metric, or keep one"
                    same = f"rows {first} and {number} have the same key, {_describe_row(row)}"
                    raise ValueError(f"protocol {place}: {same}; {rule}")
                yield row
        except (Exception, SystemExit) as error:
            if str(error).startswith(f"protocol {place}: "):
                raise
            from reproduction.spec.errors_of_users import describe_error

            traceback.print_exc()
            where = describe_place(place_in_loop)
            raise ValueError(f"protocol {place}: {where}{describe_error(error)}") from None


NAMED = ("dataset", "noise", "setting", "method", "repetition")
"""Number of columns that a message names."""


def describe_place(columns: Row) -> str:
    """Say which row was computed: ``dataset heart, method svm, repetition 3: ``."""
    known = [f"{key} {columns[key]}" for key in NAMED if columns.get(key) not in (None, "")]
    return ", ".join(known) + ": " if known else ""


@contextmanager
def _refuse_unseeded() -> Iterator[None]:
    """Refuse random numbers without a seed in code of users, as a change may not show at once."""
    original = np.random.default_rng
    before = _read_global_generators()

    def default_rng(seed: Any = None) -> np.random.Generator:
        if seed is None:
            from reproduction.spec.errors_of_users import is_of_user

            if is_of_user(sys._getframe(1).f_code.co_filename):
                raise ValueError("np.random.default_rng() has no seed, so no two runs are equal")
        return original(seed)

    np.random.default_rng = default_rng
    try:
        yield
    finally:
        np.random.default_rng = original
    if _read_global_generators() != before:
        remedy = "draw from `repetition.rng`, and give methods a `random_state`"
        raise ValueError(f"a global generator of random numbers is used, without a seed; {remedy}")


def _read_global_generators() -> tuple[object, bytes, int]:
    """Read the states of the generators of Python and of NumPy that a whole process shares."""
    _, numbers, place, *_ = np.random.get_state()
    return random.getstate(), np.asarray(numbers).tobytes(), int(place)


def _check_target(protocol: Protocol, dataset: Dataset) -> None:
    """Refuse prepared data with other targets than the protocol takes, before anything is run."""
    y = dataset.arrays.get("y")
    if y is None or "real" in protocol.targets:  # numbers of classes can also be real values
        return
    target = find_target(y)
    values = np.unique(y)
    shown = ", ".join(map(str, values[:5])) + (", ..." if len(values) > 5 else "")
    protocol.check_target(dataset.id, target, f"{len(values)} values: {shown}")


def _describe_row(row: Row) -> str:
    """Write the key of a row: its non-empty columns except the value."""
    parts = []
    for column, text in zip(KEY_COLUMNS, key_of(row), strict=True):
        if text not in ("", "nan") and column != "source":
            parts.append(f"{column} {text}")
    return ", ".join(parts)
