"""Tested points of a pool and those with a wrong label, counted over the splits of each curve.

A curve is what a row of the result table belongs to but for its repetition: data set, source,
noise, setting, method, metric, x. For every point i of its pool two counts are kept: tests m_i and
errors e_i. From them the verdicts infer to new points (`noisylabels.statistics.for_new_points`).

The file is an .npz without compression and in the narrowest whole numbers: equal counts give equal
bytes on every machine, and of curves that were tested alike it holds the m_i once.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from reproduction.data.prepared import read_npz, write_npz
from reproduction.run.results import COLUMNS, DEFAULTS, Row

CURVE = [column for column in COLUMNS if column not in ("repetition", "value")]
KEY = "points"
"""Key of a protocol's row for what it `Scored`, which never reaches the table."""

Counts = NDArray[np.integer[Any]]
"""Counts in the narrowest type, mostly a byte; convert to a wider type before arithmetic."""


class Scored(NamedTuple):
    """The test rows of a split, which of them got a wrong label, and the size of the pool.

    A number is there as often as its point was tested.
    """

    rows: NDArray[np.integer[Any]]
    wrong: NDArray[np.bool_]
    pool: int

    def row(self, metric: str) -> Row:
        """Make the entries of a result row: metric, share of wrong labels in %, and the points."""
        return {"metric": metric, "value": 100.0 * float(np.mean(self.wrong)), KEY: self}


class Curve(NamedTuple):
    """How often each point of a pool was tested and got a wrong label, and the size of the pool."""

    tests: Counts
    errors: Counts
    pool: int

    def plus(self, curve: Curve) -> Curve:
        """Add the counts of two curves of one pool."""
        if self.pool != curve.pool:
            raise ValueError(f"points of a pool of {self.pool} rows, and of one of {curve.pool}")
        return Curve(_sum(self.tests, curve.tests), _sum(self.errors, curve.errors), self.pool)


class Points:
    """Curves by name, which can be added in any order."""

    def __init__(self) -> None:
        self.curves: dict[str, Curve] = {}

    def add(self, name: str, curve: Curve) -> None:
        """Add counts to those of a curve."""
        try:
            self.curves[name] = self.curves[name].plus(curve) if name in self.curves else curve
        except ValueError as error:
            raise ValueError(f"curve {name}: {error}") from None

    def take(self, rows: Iterable[Row]) -> list[Row]:
        """Yield the rows of a protocol, and keep the points that they tested."""
        plain = []
        for row in rows:
            if KEY in row:
                scored: Scored = row[KEY]
                tests = np.bincount(scored.rows)
                errors = np.bincount(scored.rows, weights=scored.wrong)
                self.add(_name(row), Curve(_narrow(tests), _narrow(errors), scored.pool))
            plain.append({key: value for key, value in row.items() if key != KEY})
        return plain

    @staticmethod
    def columns(name: str) -> list[Any]:
        """Read the values of the columns `CURVE` from the name of a curve."""
        labels: list[Any] = json.loads(name)
        return labels

    def write(self, path: Path) -> None:
        """Write the curves, sorted by name."""
        arrays: dict[str, NDArray[Any]] = {}
        tests: dict[tuple[str, bytes], str] = {}
        curves = []
        for number, (name, curve) in enumerate(sorted(self.curves.items())):
            content = (curve.tests.dtype.str, curve.tests.tobytes())
            shared = tests.setdefault(content, f"tests{len(tests)}")
            arrays |= {shared: curve.tests, f"errors{number}": curve.errors}
            curves.append([*self.columns(name), curve.pool, shared])
        write_npz(path, {"columns": [*CURVE, "pool", "tests"], "curves": curves}, arrays)

    @classmethod
    def read(cls, path: Path | IO[bytes]) -> Points:
        """Read the curves in a file of `write`."""
        points = cls()
        try:
            meta, arrays = read_npz(path)
            for number, (*index, pool, tests) in enumerate(meta["curves"]):
                errors = _narrow(arrays[f"errors{number}"])
                points.add(json.dumps(index), Curve(_narrow(arrays[tests]), errors, int(pool)))
        except Exception as error:
            reason = str(error).splitlines()[0] if str(error) else type(error).__name__
            raise ValueError(
                f"{path} is not a whole file of points ({reason}); delete it and run again"
            ) from None
        return points


def collect(parts: Iterable[Path], path: Path) -> None:
    """Add up several files into one."""
    whole = Points()
    for part in parts:
        for name, curve in Points.read(part).curves.items():
            whole.add(name, curve)
    whole.write(path)


def _name(row: Row) -> str:
    """Name the curve of a row; a missing x is null."""
    full: Row = DEFAULTS | row
    x = float(full["x"])
    return json.dumps([str(full[column]) for column in CURVE[:-1]] + [None if np.isnan(x) else x])


def _sum(a: Counts, b: Counts) -> Counts:
    """Add two arrays, the shorter one followed by zeros."""
    total = np.zeros(max(len(a), len(b)), dtype=np.int64)
    total[: len(a)] += a
    total[: len(b)] += b
    return _narrow(total)


def _narrow(counts: NDArray[Any]) -> Counts:
    return counts.astype(np.min_scalar_type(int(counts.max(initial=0))), copy=False)
