"""The base of all filters: see a row, predict, see the label, learn.

A new filter has its hyperparameters in ``__init__``, its update in a compiled loop, and `Filter._learn` that
calls the loop. The rest (validation, sliding windows, chunks, one row at a time, losses) is inherited.
"""

from __future__ import annotations

import copy
import inspect
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike

from noisylabels.validation import Floats, Ints, as_array, finite, first_index, nonnegative, number, whole


class Sliding:
    """Row t = (s[t+delay], s[t+delay-1], ..., s[t+delay-d+1]): the last d samples of a signal, newest first.

    signal: (T,) samples; outside of it they count as 0.  d: taps, 1 <= d <= T.  delay: samples of look-ahead.
    n: number of rows (default T). The rows are never stored: `padded` has n + d - 1 samples, and
    padded[t : t+d] is row t *reversed*.
    """

    def __init__(self, signal: ArrayLike, d: int, delay: int = 0, n: int | None = None) -> None:
        samples = finite("signal", signal, (None,))
        d, delay = whole("d", d, 1), whole("delay", delay)
        if len(samples) < d:
            raise ValueError(f"signal: {len(samples)} samples are fewer than the filter's d = {d} taps")
        n = len(samples) if n is None else whole("n", n, 1, len(samples))
        self.d, self.delay, self.n = d, delay, n
        first = self.delay - self.d + 1  # padded[0] is signal[first]
        self.padded: Floats = np.zeros(self.n + self.d - 1)
        start, stop = max(first, 0), min(first + len(self.padded), len(samples))
        if start < stop:
            self.padded[start - first : stop - first] = samples[start:stop]

    def __len__(self) -> int:
        return self.n

    def rows(self, start: int, stop: int) -> Floats:
        """Rows start..stop-1 as an array (stop-start, d); for tests and small pieces."""
        if not 0 <= start < stop <= self.n:
            raise ValueError(f"rows: need 0 <= start < stop <= {self.n}, got {start}, {stop}")
        windows = np.lib.stride_tricks.sliding_window_view(self.padded[start : stop + self.d - 1], self.d)
        return np.ascontiguousarray(windows[:, ::-1])


@dataclass(frozen=True)
class NoisySequence:
    """One labelled sequence of T rounds.

    x: (T, d) rows or a `Sliding` of T rows.  y: (T,) clean target.  labels: (T, K) noisy labels, column 0 is
    the one everybody sees.  v: (T,) true variance of the noise of each label (a scalar is repeated).
    Raises ValueError naming the argument and the first bad index: wrong shape, not finite, v < 0.
    """

    x: Floats | Sliding
    y: Floats
    labels: Floats
    v: Floats

    def __post_init__(self) -> None:
        x = self.x if isinstance(self.x, Sliding) else finite("x", self.x, (None, None))
        T = len(x)
        checked = {"x": x, "y": finite("y", self.y, (T,)), "labels": finite("labels", self.labels, (T, None))}
        if checked["labels"].shape[1] < 1:  # type: ignore[union-attr]
            raise ValueError("labels: needs at least one column")
        checked["v"] = nonnegative("v", spread("v", self.v, T), (T,))
        for name, value in checked.items():
            object.__setattr__(self, name, value)

    def __len__(self) -> int:
        return len(self.y)

    @property
    def d(self) -> int:
        """Entries of a row."""
        return self.rows.d

    @property
    def rows(self) -> Rows:
        """x for the compiled loops."""
        return Rows.of(self.x)


def spread(name: str, value: ArrayLike, n: int) -> Floats:
    """(n,) numbers; a scalar is repeated."""
    given = as_array(name, value)
    if np.ma.is_masked(given) or given.ndim > 0:
        return finite(name, given, (n,))
    return np.full(n, number(name, given.item()))


class Rows(NamedTuple):
    """n rows as the compiled loops want them: row t is flat[t*step : t*step + d], contiguous.

    An array has step = d. A sliding window has step = 1 and its rows *reversed*; then w is reversed as well.
    """

    flat: Floats
    step: int
    n: int
    d: int
    reversed: bool

    @classmethod
    def of(cls, X: ArrayLike | Sliding | Rows) -> Rows:
        """Rows of an array (n, d) or of a sliding window, checked."""
        if isinstance(X, Rows):
            return X
        if isinstance(X, Sliding):
            return cls(X.padded, 1, len(X), X.d, True)
        signal = signal_under(X)
        if signal is not None and np.isfinite(signal).all():
            n, d = X.shape  # type: ignore[union-attr]
            return cls(signal, 1, n, d, X.strides[1] < 0)  # type: ignore[union-attr]
        array = finite("X", X, (None, None))
        n, d = array.shape
        if d < 1:
            raise ValueError("X: rows need d >= 1 columns")
        return cls(array.ravel(), d, n, d, False)


def signal_under(X: Any) -> Floats | None:
    """The samples under a view of sliding windows, newest sample first or last; None if X is no such view.

    Such a view is ``sliding_window_view(signal, d)``, or the same with ``[:, ::-1]``. Taken as it is, it
    needs no copy of n d numbers.
    """
    if type(X) is not np.ndarray or X.ndim != 2 or X.dtype != np.float64 or min(X.shape) < 2:
        return None
    between_rows, between_columns = X.strides
    if between_rows != X.itemsize or abs(between_columns) != X.itemsize:
        return None
    first = X[0] if between_columns > 0 else X[0, ::-1]
    samples = len(X) + X.shape[1] - 1
    return np.lib.stride_tricks.as_strided(first, (samples,), (X.itemsize,), writeable=False)


def _check_squares(rows: Rows) -> None:
    """ValueError if a sum of squares of the rows overflows."""
    with np.errstate(over="ignore"):
        if not np.isfinite(rows.flat @ rows.flat):
            largest = np.abs(rows.flat).max()
            raise ValueError(f"X: the squares of values up to {largest:.3g} overflow; scale the rows")


class Side(NamedTuple):
    """Side information of a run, checked: known variance, second label, clean label; each (n,) or None."""

    v: Floats | None = None
    second: Floats | None = None
    clean: Floats | None = None

    @classmethod
    def of(cls, n: int, **given: ArrayLike | None) -> Side:
        """What is given, a scalar repeated for every row."""
        side = cls(**{name: None if x is None else spread(name, x, n) for name, x in given.items()})
        return side if side.v is None else side._replace(v=nonnegative("v", side.v, (n,)))


PASS = "pass v=, one number or one per row, to run, fit or partial_fit"


def known_variance(filter_: Filter, side: Side) -> Floats:
    """side.v, or a ValueError that says who needs it."""
    if side.v is None:
        raise ValueError(f"v: {filter_.name} needs the noise variance of every row; {PASS}")
    return side.v


def named_row(x: Mapping[Any, float], keys: tuple[Any, ...] = ()) -> tuple[tuple[Any, ...], Floats]:
    """The names of a row in the order of ``keys``, or in its own, and its values (d,) in that order."""
    keys = keys or tuple(x)
    if set(keys) != set(x):
        raise ValueError(f"x: has the names {sorted(map(str, x))}, the filter {sorted(map(str, keys))}")
    return keys, finite("x", [x[key] for key in keys], (None,))


class Diverged(ValueError):
    """The weights of a filter have left what numbers, or its theory, allow."""


class Filter:
    """yhat_t = w_{t-1}.x_t, then w_t from the label (w_0 = 0).

    A subclass sets `name`, keeps each hyperparameter of ``__init__`` under its own name, and implements
    `_learn`; extra state is created in `_start`. `_taps` names the state arrays with an entry for each tap.
    Parameters go by `get_params` and `set_params`; `learn_one` takes one row; over a whole signal `run` is
    hundreds of times faster.
    """

    name: ClassVar[str]
    _taps: ClassVar[tuple[str, ...]] = ()
    _remedy: ClassVar[str] = "take a smaller step or scale the rows"
    w: Floats
    _keys: tuple[Any, ...]  # of a row that is a mapping, in the order of w

    def _start(self, d: int) -> None:
        """State before the first row of d entries. Overrides call super()._start(d) and add theirs."""
        self.w = np.zeros(d)

    def _grow(self, d: int) -> None:
        """Go on with rows of d entries, more than before: the further ones have been 0 in all rows so far."""
        before = dict(vars(self))
        self._start(d)
        for name, value in before.items():
            if name in ("w", *self._taps):
                getattr(self, name)[tuple(slice(n) for n in value.shape)] = value
            else:
                setattr(self, name, value)

    def _learn(self, rows: Rows, w: Floats, y: Floats, yhat: Floats, side: Side) -> None:
        """Fill yhat[t] = w.x_t and update w in place, t = 0..n-1.

        w and the state in `_taps` are reversed where `rows` are.
        """
        raise NotImplementedError

    def predict(self, X: ArrayLike | Sliding) -> Any:
        """X.w, no learning. X: (d,) -> float; (n, d) or `Sliding` -> (n,)."""
        if isinstance(X, Sliding):
            self._ready(X.d)
            return np.correlate(X.padded, self.w[::-1], "valid")
        signal = signal_under(X)
        if signal is not None and np.isfinite(signal).all():
            self._ready(X.shape[1])  # type: ignore[union-attr]
            return np.correlate(signal, self.w[::-1] if X.strides[1] < 0 else self.w, "valid")  # type: ignore[union-attr]
        array = finite("X", X, (None,) if as_array("X", X).ndim < 2 else (None, None))
        self._ready(array.shape[-1])
        return array @ self.w

    def score(self, X: ArrayLike | Sliding, y: ArrayLike) -> float:
        """R^2 = 1 - sum (y - X.w)^2 / sum (y - mean y)^2, no learning; for searches over streams cut by time.

        X (n, d) or `Sliding`, y (n,), n >= 2. Raises ValueError: other shapes, not finite, a constant y.
        """
        label = finite("y", y, (len(np.atleast_1d(self.predict(X))),))
        spread_of_y = float(((label - label.mean()) ** 2).sum())
        if not spread_of_y > 0:
            raise ValueError("y: R^2 needs labels that differ")
        return 1.0 - float(((label - self.predict(X)) ** 2).sum()) / spread_of_y

    def run(
        self, X: ArrayLike | Sliding | Rows, y: ArrayLike, *, v: ArrayLike | None = None,
        second: ArrayLike | None = None, clean: ArrayLike | None = None,
    ) -> Floats:  # fmt: skip
        """Predictions yhat_t = w_{t-1}.x_t, each made before the filter learns from row t; (n,).

        X: (n, d) or `Sliding`.  y: (n,) label of the step.  v: known variance of its noise, (n,) or scalar.
        second: (n,) second label.  clean: (n,) clean label (oracles only).
        Raises ValueError: wrong shape, not finite, v < 0, missing side information, divergence,
        squares that overflow. A call that raises leaves the filter as it was.
        """
        with self._unchanged_by_errors():
            rows = Rows.of(X)
            label = finite("y", y, (rows.n,))
            side = Side.of(rows.n, v=v, second=second, clean=clean)
            self._ready(rows.d)
            yhat = np.empty(rows.n)
            self._turn(rows)
            self._learn(rows, self.w, label, yhat, side)
            self._turn(rows)
            if not self.w.any():  # as after steps divided by an x.x that overflowed
                _check_squares(rows)
            wrong = ~np.isfinite(yhat)
            if wrong.any() or not np.isfinite(self.w).all():
                where = first_index(wrong) if wrong.any() else str(rows.n - 1)
                raise Diverged(f"{self.name}: diverged at row {where}; {self._remedy}")
            return yhat

    def partial_fit(self, X: ArrayLike | Sliding, y: ArrayLike, **side: ArrayLike | None) -> Self:
        """`run` from the current state, predictions dropped."""
        self.run(X, y, **side)
        return self

    def fit(self, X: ArrayLike | Sliding, y: ArrayLike, **side: ArrayLike | None) -> Self:
        """`run` from w = 0, predictions dropped."""
        with self._unchanged_by_errors():
            self._start(Rows.of(X).d)
            return self.partial_fit(X, y, **side)

    @contextmanager
    def _unchanged_by_errors(self) -> Iterator[None]:
        """Let the body work on copies of the state; put the filter back as it was if it raises."""
        before = dict(vars(self))
        vars(self).update((k, value.copy()) for k, value in before.items() if isinstance(value, np.ndarray))
        try:
            yield
        except BaseException:
            vars(self).clear()
            vars(self).update(before)
            raise

    def _turn(self, rows: Rows) -> None:
        """The state of each tap in the order of `rows`, and back."""
        if rows.reversed:
            for name in ("w", *self._taps):
                setattr(self, name, np.ascontiguousarray(np.flip(getattr(self, name))))

    def _ready(self, d: int) -> None:
        if not hasattr(self, "w"):
            self._start(d)
        elif len(self.w) != d:
            raise ValueError(f"X: rows have {d} entries, the filter has {len(self.w)}; use fit to restart")

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{k}={v!r}' for k, v in self.get_params().items())})"

    def __sklearn_tags__(self) -> Any:
        from sklearn.base import BaseEstimator, RegressorMixin

        return type("Tagged", (RegressorMixin, BaseEstimator), {})().__sklearn_tags__()

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The hyperparameters by name; ``deep`` changes nothing."""
        return {name: getattr(self, name) for name in inspect.signature(type(self)).parameters}

    def set_params(self, **parameters: Any) -> Self:
        """Change hyperparameters and keep the weights. Raises ValueError: an unknown name, a wrong value."""
        known = self.get_params()
        for name in parameters:
            if name not in known:
                raise ValueError(f"{name}: {type(self).__name__} has the parameters {', '.join(known)}")
        vars(self).update(vars(type(self)(**{**known, **parameters})))
        return self

    def predict_one(self, x: Mapping[Any, float] | ArrayLike) -> float:
        """w.x of one row x, (d,) or {name: value}; 0 before anything was learned."""
        return float(self.predict(self._row(x)[1]))

    def learn_one(self, x: Mapping[Any, float] | ArrayLike, y: float, **side: float | None) -> Self:
        """`partial_fit` on one row x, (d,) or {name: value}, and its label y.

        side : v, second, clean of `run`, one number each.
        Raises ValueError : names other than those of the first row; see `run`.
        """
        keys, row = self._row(x)
        self.run(row[np.newaxis], [y], **side)
        self._keys = keys
        return self

    def _row(self, x: Mapping[Any, float] | ArrayLike) -> tuple[tuple[Any, ...], Floats]:
        """The names of a row, () if it has none, and the row."""
        if not isinstance(x, Mapping):
            return (), finite("x", x, (None,))
        return named_row(x, getattr(self, "_keys", ()))

    @classmethod
    def losses(cls, filters: Sequence[Filter], data: NoisySequence, windows: int) -> Floats:
        """Mean of (yhat_t - y_t)^2 over `windows` equal consecutive windows; (len(filters), windows).

        Every filter starts from w = 0 and is left as it was. The last window takes the remainder. A filter
        that diverges has NaN in all windows.
        """
        starts = window_starts(len(data), windows)
        result = np.empty((len(filters), windows))
        second = np.ascontiguousarray(data.labels[:, 1]) if data.labels.shape[1] > 1 else None
        for row, original in zip(result, filters, strict=True):
            fresh = copy.copy(original)
            fresh._start(data.d)
            try:
                yhat = fresh.run(data.x, data.labels[:, 0], v=data.v, second=second, clean=data.y)
            except Diverged:
                row[:] = np.nan
            else:
                row[:] = window_means((yhat - data.y) ** 2, starts)
        return result


def window_starts(T: int, windows: int) -> Ints:
    """First round of each of `windows` equal windows of T rounds; the last one takes the remainder."""
    windows = whole("windows", windows, 1, T)
    return np.arange(windows, dtype=np.int64) * (T // windows)


def window_means(values: Floats, starts: Ints) -> Floats:
    """Mean of `values` over the windows that begin at `starts`."""
    return np.add.reduceat(values, starts) / np.diff(np.append(starts, len(values)))
