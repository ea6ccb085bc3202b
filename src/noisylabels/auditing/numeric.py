"""An audit of labels that are numbers: which of them lie far from what the other rows lead to expect.

f(x) and s(x), cross-fitted: the label, and the size |y - f(x)| of what is left, both predicted by models that
did not see the row. z = |y - f(x)| / s(x), scaled to the median 0.6745 that it has for normal errors, so that
wrong labels do not hide behind the spread that they cause themselves.

Sources: Iglewicz and Hoaglin, How to detect and handle outliers, 1993 (0.6745 and 3.5); Lei et al., JASA 113,
2018, Section 5.2 (residuals with a local scale).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from noisylabels.auditing.cross_fitting import MANY, Array
from noisylabels.auditing.tables import Table

if TYPE_CHECKING:
    import pandas as pd

FAR, MEDIAN = 3.5, 0.6745
SIGNIFICANT = 0.05


@dataclass(frozen=True)
class NumericAudit:
    """What an audit of numbers found.

    ranking : data frame row, (line,) label, suggested, score; the most doubtful first, score = -z.
    suspicious : those with z above 3.5, none if not informative.   informative : whether f knows anything of
    the labels.   error : median of |y - f(x)|.   doubt (n,) : z / (z + 3.5).   doubted (n,) : z above 3.5.
    expected (n,) : f(x).
    """

    table: Table = field(repr=False)
    model: str
    ranking: pd.DataFrame
    suspicious: pd.DataFrame
    informative: bool
    error: float
    doubt: Array = field(repr=False)
    doubted: NDArray[np.bool_] = field(repr=False)
    expected: Array = field(repr=False)
    notes: list[str]

    @property
    def text(self) -> str:
        """The findings in plain words."""
        return "\n".join([headline(self), *ranking(self), *(f"The table: {note}." for note in self.notes)])

    def __str__(self) -> str:
        return self.text


def of_numbers(
    table: Table,
    model: Any = None,
    *,
    random_state: int = 0,
    say: Callable[[str], None] = lambda sentence: None,
) -> NumericAudit:
    """The audit of a table whose labels are numbers.

    model : a regressor of scikit-learn; None: a forest, above 5000 rows gradient boosting of absolute errors.

    Raises ValueError : a model without ``predict``.
    """
    import pandas as pd
    from scipy.stats import spearmanr
    from sklearn.base import clone
    from sklearn.decomposition import TruncatedSVD
    from sklearn.ensemble import HistGradientBoostingRegressor, RandomForestRegressor
    from sklearn.model_selection import KFold, cross_val_predict

    if model is not None and (isinstance(model, str | type) or not hasattr(model, "predict")):
        how = "the labels are numbers; give a regressor such as Ridge(), or none"
        raise ValueError(f"model: {model!r} cannot predict them: {how}")
    y = table.labels.astype(float)
    boosting = HistGradientBoostingRegressor(loss="absolute_error", random_state=random_state)
    forest = RandomForestRegressor(min_samples_leaf=3, random_state=random_state)
    model = model or (boosting if len(y) > MANY else forest)
    words = TruncatedSVD(20, random_state=random_state)  # twenty components, which know no label
    X = table.X if table.text is None else np.hstack([table.X, words.fit_transform(table.text)])
    folds = KFold(5, shuffle=True, random_state=random_state)
    say(f"cross-fitting {type(model).__name__} on {len(y)} rows, twice")
    expected = cross_val_predict(clone(model), X, y, cv=folds)
    size = np.abs(y - expected)
    floor = max(float(np.median(size)), 1e-12 * float(np.abs(y).max()), 1e-300) / 2
    z = size / np.maximum(cross_val_predict(clone(model), X, size, cv=folds), floor)
    z *= MEDIAN / max(float(np.median(z)), 1e-12)
    known = spearmanr(expected, y, alternative="greater").pvalue if expected.std() > 0 else 1.0
    expected = np.array([float(f"{value:.6g}") for value in expected])
    columns = table.places() | {"label": table.labels, "suggested": expected, "score": -z}
    frame = pd.DataFrame(columns).sort_values("score", kind="stable", ignore_index=True)
    informative = bool(known < SIGNIFICANT)
    return NumericAudit(
        table=table,
        model=type(model).__name__,
        ranking=frame,
        suspicious=frame[(frame["score"] < -FAR) & informative],
        informative=informative,
        error=float(np.median(size)),
        doubt=z / (z + FAR),
        doubted=z > FAR,
        expected=expected,
        notes=list(table.notes),
    )


def headline(found: NumericAudit) -> str:
    """What the labels alone can say."""
    begin = f"{len(found.doubt)} labels that are numbers."
    if not found.informative:
        return f"{begin} These columns say nothing about the label, nor about which labels are wrong."
    return (
        f"{begin} {found.model}, without having seen a row, is off by {found.error:.3g} in the median; "
        f"{found.doubted.sum()} labels are more than {FAR} times as far off as is usual around them. Whether "
        "they are wrong or rare the labels do not say: no share of wrong ones is known without review."
    )


def ranking(found: NumericAudit) -> list[str]:
    """What to do with the list."""
    how = "are listed as suspicious. Look at them from the top; the suggestion is what the model expects"
    return [f"{len(found.suspicious)} labels {how}."] if found.informative else []
