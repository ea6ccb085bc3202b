"""The base of all filters: see a row, predict, see the label, learn.

A new filter has its hyperparameters in ``__init__``, its update in a compiled loop, and
`Filter._learn` that calls the loop. The rest (validation, sliding windows, chunks, one row at a
time, losses) is inherited.
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

from noisylabels.validation import (
    Floats,
    Ints,
    as_array,
    finite,
    first_index,
    nonnegative,
    number,
    refuse_other_index,
    whole,
)


class Sliding:
    r"""Give a filter the last samples of a signal as the rows it sees, newest sample first.

    Parameters
    ----------
    signal : array-like of shape (T,)
        The samples. Outside of the signal they count as 0.
    d : int
        Number of taps, at least 1 and at most T.
    delay : int, default 0
        Samples of look-ahead.
    n : int, optional
        Number of rows, at most T, which is the default.

    Attributes
    ----------
    padded : ndarray of shape (n + d - 1,)
        The samples that the rows need. ``padded[t : t + d]`` is row t with the newest sample last.

    Raises
    ------
    ValueError
        If a parameter is out of range, or the signal has fewer than d samples.

    Examples
    --------
    >>> from noisylabels import Sliding
    >>> Sliding([1.0, 2.0, 3.0], d=2).rows(0, 3)
    array([[1., 0.],
           [2., 1.],
           [3., 2.]])

    Notes
    -----
    Row t is :math:`(s_{t+delay}, s_{t+delay-1}, \ldots, s_{t+delay-d+1})`. The rows are never
    stored.
    """

    def __init__(self, signal: ArrayLike, d: int, delay: int = 0, n: int | None = None) -> None:
        samples = finite("signal", signal, (None,))
        d = whole("d", d, 1)
        delay = whole("delay", delay)
        if len(samples) < d:
            problem = f"{len(samples)} samples are fewer than the filter's d = {d} taps"
            raise ValueError(f"signal: {problem}")
        if n is None:
            n = len(samples)
        else:
            n = whole("n", n, 1, len(samples))
        self.d = d
        self.delay = delay
        self.n = n
        # the first sample that a row needs; padded[0] is signal[first]
        first = self.delay - self.d + 1
        length = self.n + self.d - 1
        self.padded: Floats = np.zeros(length)
        start = max(first, 0)
        end = first + len(self.padded)
        stop = min(end, len(samples))
        if start < stop:
            self.padded[start - first : stop - first] = samples[start:stop]

    def __len__(self) -> int:
        return self.n

    def rows(self, start: int, stop: int) -> Floats:
        """Make an array of some rows, for tests and small pieces.

        Parameters
        ----------
        start, stop : int
            The first row, and the one after the last.

        Returns
        -------
        ndarray of shape (stop - start, d)
            The rows.

        Raises
        ------
        ValueError
            If there are no such rows.
        """
        if not 0 <= start < stop <= self.n:
            raise ValueError(f"rows: need 0 <= start < stop <= {self.n}, got {start}, {stop}")
        samples = self.padded[start : stop + self.d - 1]
        windows = np.lib.stride_tricks.sliding_window_view(samples, self.d)
        return np.ascontiguousarray(windows[:, ::-1])


@dataclass(frozen=True)
class NoisySequence:
    """Hold a labelled sequence of T rounds, checked.

    Parameters
    ----------
    x : array-like of shape (T, d) or Sliding
        The rows.
    y : array-like of shape (T,)
        The clean target.
    labels : array-like of shape (T, K)
        Noisy labels; everybody sees the first column.
    v : float or array-like of shape (T,)
        Variance of the noise of each label.

    Raises
    ------
    ValueError
        If a shape is wrong or a value is not finite; if a variance is negative.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels.filters.base import NoisySequence
    >>> data = NoisySequence(np.ones((5, 2)), np.ones(5), np.ones((5, 1)), 0.5)
    >>> len(data), data.d, data.v.tolist()
    (5, 2, [0.5, 0.5, 0.5, 0.5, 0.5])
    """

    x: Floats | Sliding
    y: Floats
    labels: Floats
    v: Floats

    def __post_init__(self) -> None:
        x: Floats | Sliding
        if isinstance(self.x, Sliding):
            x = self.x
        else:
            x = finite("x", self.x, (None, None))
        T = len(x)
        y = finite("y", self.y, (T,))
        labels = finite("labels", self.labels, (T, None))
        if labels.shape[1] < 1:
            raise ValueError("labels: needs at least one column")
        checked: dict[str, Floats | Sliding] = {"x": x, "y": y, "labels": labels}
        checked["v"] = nonnegative("v", spread("v", self.v, T), (T,))
        for name, value in checked.items():
            object.__setattr__(self, name, value)

    def __len__(self) -> int:
        return len(self.y)

    @property
    def d(self) -> int:
        """Number of entries of a row."""
        return self.rows.d

    @property
    def rows(self) -> Rows:
        """The rows as compiled loops take them."""
        return Rows.of(self.x)


def spread(name: str, value: ArrayLike, n: int) -> Floats:
    """Repeat a number for every row, or check one number per row.

    Parameters
    ----------
    name : str
        Name of the argument, for messages.
    value : float or array-like of shape (n,)
        The number, or the numbers.
    n : int
        Number of rows.

    Returns
    -------
    ndarray of shape (n,)
        The numbers.

    Raises
    ------
    ValueError
        If the shape is another one or a number is not finite.

    Examples
    --------
    >>> from noisylabels.filters.base import spread
    >>> spread("v", 2.0, 3)
    array([2., 2., 2.])
    """
    array = as_array(name, value)
    if np.ma.is_masked(array) or array.ndim > 0:
        return finite(name, array, (n,))
    return np.full(n, number(name, array.item()))


class Rows(NamedTuple):
    """Hold n rows as compiled loops take them, each contiguous.

    Attributes
    ----------
    flat : ndarray
        Row t is ``flat[t * step : t * step + d]``.
    step : int
        Distance of two rows: d for an array, 1 for sliding windows.
    n : int
        Number of rows.
    d : int
        Number of entries of a row.
    reversed : bool
        Whether the rows run backwards, as those of sliding windows do. Then weights do so too.
    """

    flat: Floats
    step: int
    n: int
    d: int
    reversed: bool

    @classmethod
    def of(cls, X: ArrayLike | Sliding | Rows) -> Rows:
        """Check the rows of an array (n, d) or of a sliding window."""
        if isinstance(X, Rows):
            return X
        if isinstance(X, Sliding):
            return cls(X.padded, 1, len(X), X.d, True)
        signal = signal_under(X)
        if signal is not None and np.isfinite(signal).all():
            windows: Any = X
            n, d = windows.shape
            return cls(signal, 1, n, d, windows.strides[1] < 0)
        array = finite("X", X, (None, None))
        n, d = array.shape
        if d < 1:
            raise ValueError("X: rows need d >= 1 columns")
        return cls(array.ravel(), d, n, d, False)


def signal_under(X: Any) -> Floats | None:
    """Find the signal under a view of sliding windows, which then needs no copy.

    Parameters
    ----------
    X : array-like
        Perhaps ``sliding_window_view(signal, d)``, or the same with ``[:, ::-1]``.

    Returns
    -------
    ndarray or None
        The samples, or None if X is no such view of doubles.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels.filters.base import signal_under
    >>> signal_under(np.lib.stride_tricks.sliding_window_view(np.arange(4.0), 2)[:, ::-1])
    array([0., 1., 2., 3.])
    >>> signal_under(np.eye(3)) is None
    True
    """
    if type(X) is not np.ndarray or X.ndim != 2 or X.dtype != np.float64 or min(X.shape) < 2:
        return None
    between_rows, between_columns = X.strides
    if between_rows != X.itemsize or abs(between_columns) != X.itemsize:
        return None
    if between_columns > 0:
        first = X[0]
    else:
        first = X[0, ::-1]
    samples = len(X) + X.shape[1] - 1
    return np.lib.stride_tricks.as_strided(first, (samples,), (X.itemsize,), writeable=False)


def _check_squares(rows: Rows) -> None:
    """Refuse rows of which a sum of squares overflows."""
    with np.errstate(over="ignore"):
        if not np.isfinite(rows.flat @ rows.flat):
            largest = np.abs(rows.flat).max()
            problem = f"the squares of values up to {largest:.3g} overflow"
            raise ValueError(f"X: {problem}; scale the rows")


class Side(NamedTuple):
    """Hold what a filter may know in addition to rows and labels, after checks.

    Attributes
    ----------
    v : ndarray of shape (n,) or None
        Known variance of the label noise.
    second : ndarray of shape (n,) or None
        Second label.
    clean : ndarray of shape (n,) or None
        Clean label, for oracles.
    """

    v: Floats | None = None
    second: Floats | None = None
    clean: Floats | None = None

    @classmethod
    def of(cls, n: int, **sequences: ArrayLike | None) -> Side:
        """Take what the caller gives, and repeat a single number for every row."""
        spread_out = {}
        for name, x in sequences.items():
            spread_out[name] = None if x is None else spread(name, x, n)
        side = cls(**spread_out)
        if side.v is None:
            return side
        return side._replace(v=nonnegative("v", side.v, (n,)))


PASS = "pass v=, one number or one per row, to run, fit or partial_fit"


def known_variance(filter_: Filter, side: Side) -> Floats:
    """Give the noise variance of every row, for a filter that needs it.

    Parameters
    ----------
    filter_ : Filter
        The filter, which the message names.
    side : Side
        What the caller knows.

    Returns
    -------
    ndarray of shape (n,)
        The variances.

    Raises
    ------
    ValueError
        If the variances are missing.

    Examples
    --------
    >>> from noisylabels import SMNLMS
    >>> from noisylabels.filters.base import Side, known_variance
    >>> known_variance(SMNLMS(), Side.of(2, v=0.5))
    array([0.5, 0.5])
    """
    if side.v is None:
        raise ValueError(f"v: {filter_.name} needs the noise variance of every row; {PASS}")
    return side.v


def named_row(x: Mapping[Any, float], keys: tuple[Any, ...] = ()) -> tuple[tuple[Any, ...], Floats]:
    """Put the values of a named row in the order of known names.

    Parameters
    ----------
    x : mapping of names to numbers
        The row.
    keys : tuple, optional
        The names in order. If there are none, they are those of the row.

    Returns
    -------
    tuple
        The names in order.
    ndarray of shape (d,)
        The values.

    Raises
    ------
    ValueError
        If the row has other names, or a value is not finite.

    Examples
    --------
    >>> from noisylabels.filters.base import named_row
    >>> named_row({"b": 2.0, "a": 1.0}, ("a", "b"))
    (('a', 'b'), array([1., 2.]))
    """
    keys = keys or tuple(x)
    if set(keys) != set(x):
        names_of_row = sorted(map(str, x))
        names_of_filter = sorted(map(str, keys))
        raise ValueError(f"x: has the names {names_of_row}, the filter {names_of_filter}")
    values = [x[key] for key in keys]
    return keys, finite("x", values, (None,))


class Diverged(ValueError):
    """The weights of a filter have left what numbers, or its theory, allow.

    Examples
    --------
    >>> from noisylabels import LMS
    >>> from noisylabels.filters.base import Diverged
    >>> try:
    ...     LMS(mu=10.0).run([[3.0]] * 50, [1.0] * 50)
    ... except Diverged as error:
    ...     print(error)
    lms: diverged at row 2; take a smaller step or scale the rows
    """


class Filter:
    r"""Predict each row before learning from its label, from weights 0.

    Your own filter has its parameters in ``__init__``, each under its own name, its update in
    `_learn`, and further state in `_start`. Checks, chunks, sliding windows, named rows and losses
    are inherited.

    Attributes
    ----------
    name : str
        Its name in experiments and messages.
    w : ndarray of shape (d,)
        The weights, once it has seen a row.

    Examples
    --------
    >>> from noisylabels.filters.base import Filter
    >>> class SignFilter(Filter):
    ...     name = "sign"
    ...
    ...     def __init__(self, mu: float = 0.1) -> None:
    ...         self.mu = mu
    ...
    ...     def _learn(self, rows, w, y, yhat, side):
    ...         for t in range(rows.n):
    ...             row = rows.flat[t * rows.step : t * rows.step + rows.d]
    ...             yhat[t] = w @ row
    ...             if y[t] != yhat[t]:
    ...                 w += self.mu * row * (1 if y[t] > yhat[t] else -1)
    >>> SignFilter().fit([[1.0], [2.0]], [1.0, 2.0]).w
    array([0.3])

    Notes
    -----
    :math:`\hat y_t = w_{t-1} \cdot x_t`, then :math:`w_t` from the label, with :math:`w_0 = 0`.
    `learn_one` takes one row; over a whole signal `run` is hundreds of times faster.
    """

    name: ClassVar[str]
    _taps: ClassVar[tuple[str, ...]] = ()
    _remedy: ClassVar[str] = "take a smaller step or scale the rows"
    w: Floats
    _keys: tuple[Any, ...]  # names of the values of a row that is a mapping, in the order of w

    def _start(self, d: int) -> None:
        """Set the state before the first row; subclasses call this and add their own state."""
        self.w = np.zeros(d)

    def _grow(self, d: int) -> None:
        """Widen the state to rows of d entries, of which the new ones were 0 in all rows so far."""
        before = dict(vars(self))
        self._start(d)
        for name, value in before.items():
            if name in ("w", *self._taps):
                corner = tuple(slice(n) for n in value.shape)
                getattr(self, name)[corner] = value
            else:
                setattr(self, name, value)

    def _learn(self, rows: Rows, w: Floats, y: Floats, yhat: Floats, side: Side) -> None:
        """Learn row by row: fill yhat[t] = w.x_t and update w in place.

        w and the state in `_taps` are reversed where `rows` are.
        """
        raise NotImplementedError

    def predict(self, X: ArrayLike | Sliding) -> Any:
        """Predict without learning.

        Parameters
        ----------
        X : array-like of shape (n, d) or (d,), or Sliding
            The rows, or one row.

        Returns
        -------
        ndarray of shape (n,) or float
            The predictions.

        Raises
        ------
        ValueError
            If a value is not finite or the rows have another length than before.
        """
        if isinstance(X, Sliding):
            self._ready(X.d)
            return np.correlate(X.padded, self.w[::-1], "valid")
        signal = signal_under(X)
        if signal is not None and np.isfinite(signal).all():
            windows: Any = X
            self._ready(windows.shape[1])
            if windows.strides[1] < 0:
                oldest_first = self.w[::-1]
            else:
                oldest_first = self.w
            return np.correlate(signal, oldest_first, "valid")
        dimensions = as_array("X", X).ndim
        array = finite("X", X, (None,) if dimensions < 2 else (None, None))
        self._ready(array.shape[-1])
        return array @ self.w

    def score(self, X: ArrayLike | Sliding, y: ArrayLike) -> float:
        """Compute R squared without learning, for searches over streams cut by time.

        Parameters
        ----------
        X : array-like of shape (n, d) or Sliding
            The rows, at least two.
        y : array-like of shape (n,)
            The targets.

        Returns
        -------
        float
            1 - (sum of squared errors) / (sum of squares of y around its mean).

        Raises
        ------
        ValueError
            If a shape is wrong, a value is not finite, or all targets are equal.
        """
        predicted = self.predict(X)
        n = len(np.atleast_1d(predicted))
        label = finite("y", y, (n,))
        deviations = label - label.mean()
        spread_of_y = float((deviations**2).sum())
        if not spread_of_y > 0:
            raise ValueError("y: R^2 needs labels that differ")
        errors = label - predicted
        sum_of_squares = float((errors**2).sum())
        return 1.0 - sum_of_squares / spread_of_y

    def run(
        self,
        X: ArrayLike | Sliding | Rows,
        y: ArrayLike,
        *,
        v: ArrayLike | None = None,
        second: ArrayLike | None = None,
        clean: ArrayLike | None = None,
    ) -> Floats:
        """Predict each row, then learn from it, from the present state on.

        Parameters
        ----------
        X : array-like of shape (n, d) or Sliding
            The rows. Views of sliding windows are not copied.
        y : array-like of shape (n,)
            Label of each row.
        v : float or array-like of shape (n,), optional
            Known variance of the label noise.
        second : array-like of shape (n,), optional
            Second label.
        clean : array-like of shape (n,), optional
            Clean label, for oracles.

        Returns
        -------
        ndarray of shape (n,)
            The predictions, each made before the filter learned from the row.

        Raises
        ------
        ValueError
            If a shape is wrong, a value is not finite, side information is missing or squares
            overflow; if the filter diverges. The filter is then as it was before.
        """
        if hasattr(X, "loc"):
            refuse_other_index(X, y, v=v, second=second, clean=clean)
        with self._unchanged_by_errors():
            rows = Rows.of(X)
            label = finite("y", y, (rows.n,))
            side = Side.of(rows.n, v=v, second=second, clean=clean)
            self._ready(rows.d)
            yhat = np.empty(rows.n)
            self._turn(rows)
            self._learn(rows, self.w, label, yhat, side)
            self._turn(rows)
            if not self.w.any():  # as after steps divided by a squared norm that overflowed
                _check_squares(rows)
            wrong = ~np.isfinite(yhat)
            if wrong.any() or not np.isfinite(self.w).all():
                if wrong.any():
                    row = first_index(wrong)
                else:
                    row = str(rows.n - 1)
                raise Diverged(f"{self.name}: diverged at row {row}; {self._remedy}")
            return yhat

    def partial_fit(self, X: ArrayLike | Sliding, y: ArrayLike, **side: ArrayLike | None) -> Self:
        """Learn from rows, from the present state on.

        Parameters
        ----------
        X : array-like of shape (n, d) or Sliding
            The rows.
        y : array-like of shape (n,)
            Label of each row.
        **side
            As `run` takes it.

        Returns
        -------
        Filter
            The filter itself.
        """
        self.run(X, y, **side)
        return self

    def fit(self, X: ArrayLike | Sliding, y: ArrayLike, **side: ArrayLike | None) -> Self:
        """Forget everything, then learn from rows.

        Parameters
        ----------
        X : array-like of shape (n, d) or Sliding
            The rows.
        y : array-like of shape (n,)
            Label of each row.
        **side
            As `run` takes it.

        Returns
        -------
        Filter
            The filter itself.
        """
        with self._unchanged_by_errors():
            d = Rows.of(X).d
            self._start(d)
            return self.partial_fit(X, y, **side)

    @contextmanager
    def _unchanged_by_errors(self) -> Iterator[None]:
        """Let a block change copies of the state, and restore the filter if it raises."""
        before = dict(vars(self))
        state = vars(self)
        for name, value in before.items():
            if isinstance(value, np.ndarray):
                state[name] = value.copy()
        try:
            yield
        except BaseException:
            vars(self).clear()
            vars(self).update(before)
            raise

    def _turn(self, rows: Rows) -> None:
        """Reverse the state of the taps if `rows` are reversed; a second call restores it."""
        if rows.reversed:
            for name in ("w", *self._taps):
                reversed_state = np.flip(getattr(self, name))
                setattr(self, name, np.ascontiguousarray(reversed_state))

    def _ready(self, d: int) -> None:
        if not hasattr(self, "w"):
            self._start(d)
        elif len(self.w) != d:
            problem = f"rows have {d} entries, the filter has {len(self.w)}"
            raise ValueError(f"X: {problem}; use fit to restart")

    def __repr__(self) -> str:
        parameters = ", ".join(f"{k}={v!r}" for k, v in self.get_params().items())
        return f"{type(self).__name__}({parameters})"

    def __sklearn_tags__(self) -> Any:
        from sklearn.base import BaseEstimator, RegressorMixin

        return type("Tagged", (RegressorMixin, BaseEstimator), {})().__sklearn_tags__()

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Give the parameters by name.

        Parameters
        ----------
        deep : bool, default True
            Has no effect.

        Returns
        -------
        dict
            Name to value.
        """
        return {name: getattr(self, name) for name in inspect.signature(type(self)).parameters}

    def set_params(self, **parameters: Any) -> Self:
        """Change parameters and keep the weights.

        Parameters
        ----------
        **parameters
            New values by name.

        Returns
        -------
        Filter
            The filter itself.

        Raises
        ------
        ValueError
            If a name is unknown or a value is out of range.
        """
        former = self.get_params()
        for name in parameters:
            if name not in former:
                problem = f"{type(self).__name__} has the parameters {', '.join(former)}"
                raise ValueError(f"{name}: {problem}")
        values = {**former, **parameters}
        changed = type(self)(**values)
        vars(self).update(vars(changed))
        return self

    def predict_one(self, x: Mapping[Any, float] | ArrayLike) -> float:
        """Predict one row without learning.

        Parameters
        ----------
        x : array-like of shape (d,) or mapping of names to numbers
            The row.

        Returns
        -------
        float
            The prediction, 0 before anything was learned.
        """
        row = self._row(x)[1]
        return float(self.predict(row))

    def learn_one(self, x: Mapping[Any, float] | ArrayLike, y: float, **side: float | None) -> Self:
        """Learn from one row and its label.

        Parameters
        ----------
        x : array-like of shape (d,) or mapping of names to numbers
            The row.
        y : float
            The label.
        **side
            As `run` takes it, one number each.

        Returns
        -------
        Filter
            The filter itself.

        Raises
        ------
        ValueError
            If the names are others than those of the first row; see `run`.
        """
        keys, row = self._row(x)
        self.run(row[np.newaxis], [y], **side)
        self._keys = keys
        return self

    def _row(self, x: Mapping[Any, float] | ArrayLike) -> tuple[tuple[Any, ...], Floats]:
        """Return the names of a row, () if it has none, and the row."""
        if not isinstance(x, Mapping):
            return (), finite("x", x, (None,))
        return named_row(x, getattr(self, "_keys", ()))

    @classmethod
    def losses(cls, filters: Sequence[Filter], data: NoisySequence, windows: int) -> Floats:
        """Compute the mean squared error of filters on consecutive windows of a sequence.

        Parameters
        ----------
        filters : sequence of Filter
            Each starts from w = 0 and is left as it was.
        data : NoisySequence
            The sequence.
        windows : int
            Number of windows of equal length. The last one takes the remainder.

        Returns
        -------
        ndarray of shape (len(filters), windows)
            Mean of (prediction - clean target) squared. NaN in all windows for a filter that
            diverges.
        """
        starts = window_starts(len(data), windows)
        result = np.empty((len(filters), windows))
        if data.labels.shape[1] > 1:
            second = np.ascontiguousarray(data.labels[:, 1])
        else:
            second = None
        for row, original in zip(result, filters, strict=True):
            fresh = copy.copy(original)
            fresh._start(data.d)
            try:
                labels = data.labels[:, 0]
                yhat = fresh.run(data.x, labels, v=data.v, second=second, clean=data.y)
            except Diverged:
                row[:] = np.nan
            else:
                errors = yhat - data.y
                row[:] = window_means(errors**2, starts)
        return result


def window_starts(T: int, windows: int) -> Ints:
    """Give the first round of each of some windows of equal length.

    Parameters
    ----------
    T : int
        Number of rounds.
    windows : int
        Number of windows. The last one takes the remainder.

    Returns
    -------
    ndarray of shape (windows,)
        The first rounds.

    Examples
    --------
    >>> from noisylabels.filters.base import window_starts
    >>> window_starts(10, 3)
    array([0, 3, 6])
    """
    windows = whole("windows", windows, 1, T)
    return np.arange(windows, dtype=np.int64) * (T // windows)


def window_means(values: Floats, starts: Ints) -> Floats:
    """Compute means over consecutive windows.

    Parameters
    ----------
    values : ndarray of shape (T,)
        The values.
    starts : ndarray of int
        First round of each window, see `window_starts`.

    Returns
    -------
    ndarray
        The mean of each window.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels.filters.base import window_means
    >>> window_means(np.arange(5.0), np.array([0, 2]))
    array([0.5, 3. ])
    """
    ends = np.append(starts, len(values))
    sums = np.add.reduceat(values, starts)
    return sums / np.diff(ends)
