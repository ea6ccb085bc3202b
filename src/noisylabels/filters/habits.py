"""What users of scikit-learn, river and pyroomacoustics expect of a filter."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike

from noisylabels.arrays import Floats, finite, whole

if TYPE_CHECKING:
    from noisylabels.filters.base import Sliding


class Habits:
    """Parameters by name, one row at a time, one sample at a time.

    Over a whole signal `run` of `noisylabels.filters.base.Filter` is hundreds of times faster.
    """

    w: Floats
    _keys: tuple[Any, ...]  # of a row that is a mapping, in the order of w
    _line: Floats  # the last samples of `update`, newest first

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
        told = {name: value if value is None else [value] for name, value in side.items()}
        self.run(row[np.newaxis], [y], **told)
        self._keys = keys
        return self

    def delay_line(self, taps: int) -> Self:
        """w = 0 and ``taps`` samples of silence, from where `update` starts."""
        taps = whole("taps", taps, 1)
        self._start(taps)
        self._line = np.zeros(taps)
        return self

    def update(self, x: float, d: float, **side: float | None) -> float:
        """Take the next sample x of the input, predict the sample d of the output, learn from it.

        The prediction is returned. A signal, sample by sample, gives what `run` gives on its `Sliding`.
        side : v, second, clean of `run`, one number each.
        Raises ValueError : no `delay_line`; see `run`.
        """
        if not hasattr(self, "_line"):
            raise ValueError("update: say how many samples the filter sees, delay_line(taps), first")
        line = np.append(finite("x", [x], (1,)), self._line[:-1])
        told = {name: value if value is None else [value] for name, value in side.items()}
        yhat = self.run(line[np.newaxis], [d], **told)
        self._line = line
        return float(yhat[0])

    def history(
        self, X: ArrayLike | Sliding, y: ArrayLike, *, every: int = 1, **side: ArrayLike | None
    ) -> tuple[Floats, Floats]:
        """`run` that also keeps the weights after ``every``, 2 ``every``, ... rows and after the last one.

        Returns yhat (n,) and W (ceil(n / every), d). Memory: 8 d bytes for each row of W.
        Raises ValueError : every < 1; see `run`. A call that raises leaves the filter as it was.
        """
        from noisylabels.filters.base import Rows, spread

        every = whole("every", every, 1)
        rows = Rows.of(X)
        label = finite("y", y, (rows.n,))
        told = {name: None if value is None else spread(name, value, rows.n) for name, value in side.items()}
        yhat, W = np.empty(rows.n), np.empty((-(-rows.n // every), rows.d))
        with self._unchanged_by_errors():
            for k, at in enumerate(range(0, rows.n, every)):
                part = slice(at, min(at + every, rows.n))
                given = (told.get(name) for name in ("v", "second", "clean"))
                piece = [None if value is None else value[part] for value in given]
                yhat[part] = self._run(rows.part(part.start, part.stop), label[part], *piece)
                W[k] = self.w
        return yhat, W

    def _row(self, x: Mapping[Any, float] | ArrayLike) -> tuple[tuple[Any, ...], Floats]:
        """The names of a row, () if it has none, and the row."""
        if not isinstance(x, Mapping):
            return (), finite("x", x, (None,))
        keys = getattr(self, "_keys", ()) or tuple(x)
        if set(keys) != set(x):
            raise ValueError(f"x: has the names {sorted(map(str, x))}, the filter {sorted(map(str, keys))}")
        return keys, finite("x", [x[key] for key in keys], (None,))

    if TYPE_CHECKING:  # of `Filter`
        predict: Any
        run: Any
        _run: Any
        _start: Any
        _unchanged_by_errors: Any
