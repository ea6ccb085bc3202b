"""One call that audits the labels of a table."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from noisylabels.auditing import cross_fitting, flip_rates, report, tables
from noisylabels.auditing.cross_fitting import LARGEST, Array, Classes, CrossFit, cross_fitted
from noisylabels.auditing.flip_rates import Interval, Sureness
from noisylabels.validation import whole

if TYPE_CHECKING:
    import pandas as pd

LARGEST_SEED = 2**32 - 1
"""What scikit-learn takes."""


@dataclass(frozen=True)
class Audit:
    """What an audit found.

    classes (K,).   suspicious : data frame row, (line,) label, suggested, score, how_sure of the labels that
    are likely wrong, the most doubtful first; score = p_observed - max of the others, in [-1, 1];
    how_sure = P(the label is wrong), as far as the flip rates are right.
    ranking : the same columns for all rows.
    flip_rates : data frame true, observed, estimate, low, high, where_surest, anchor, own (the model's);
    with trusted labels also trusted, trusted_low, trusted_high.
    wrong : share of wrong labels with its 95 % interval.
    bounds : (0, the share that disagrees where the model is surest), between which labels alone cannot tell.
    accuracies : see `flip_rates.compared`.   notes : what had to be done to the table.
    """

    classes: NDArray[Any]
    counts: NDArray[np.intp]
    suspicious: pd.DataFrame
    ranking: pd.DataFrame
    flip_rates: pd.DataFrame
    wrong: Interval
    bounds: tuple[float, float]
    sureness: Sureness
    accuracies: pd.DataFrame
    model: str
    notes: list[str]

    @property
    def interval(self) -> tuple[float, float]:
        """95 % interval of the share of wrong labels: the chance of these rows, not the bias of the model."""
        return float(self.wrong.low), float(self.wrong.high)

    @property
    def evidence(self) -> NDArray[np.bool_]:
        """Classes in which labels disagree where the model is surest, (K,)."""
        return self.sureness.evidence

    @property
    def text(self) -> str:
        """The findings in plain words."""
        return "\n".join(report.lines(self))

    def __str__(self) -> str:
        return self.text


def audit(
    X: Any,
    y: ArrayLike,
    *,
    model: Any = None,
    trusted: ArrayLike | None = None,
    random_state: int = 0,
    repetitions: int = 3,
    most_rows: int = LARGEST,
    compare: bool = True,
) -> Audit:
    """Flip rates, a ranking of suspicious labels, and an honest comparison of methods, from (X, observed y).

    X : data frame or array (n, d), numbers or words, values may be missing.   y (n,) : K >= 2 classes.
    model : any scikit-learn classifier with ``predict_proba``; None: rMKLR on scaled features.
    trusted (n,) : verified labels, None or NaN where there is none.   repetitions : of the cross-fitting.
    most_rows : a model is trained on, of more a stratified part is drawn.
    compare : False leaves out the comparison of methods, half of the time.

    Raises ValueError : a table that cannot be audited, or an argument, in one line.
    Sources: Northcutt, Jiang and Chuang, JAIR 2021; Kaban and Bootkrajang, LABELNOISE 2017.
    """
    if most_rows < tables.FEWEST_ROWS or repetitions < 1:
        least = f"most_rows must be at least {tables.FEWEST_ROWS} and repetitions at least 1"
        raise ValueError(f"{least}, got {most_rows} and {repetitions}")
    whole("random_state", random_state, 0, LARGEST_SEED)
    if isinstance(model, (str, type)):
        raise ValueError(f"model must be a classifier such as LogisticRegression(), got {model!r}")
    table = tables.of_arrays(X, y, trusted)
    return of_table(
        table, model, random_state=random_state, repetitions=repetitions, most_rows=most_rows, compare=compare
    )


def of_table(
    table: tables.Table,
    model: Any = None,
    *,
    random_state: int = 0,
    repetitions: int = 3,
    most_rows: int = LARGEST,
    compare: bool = True,
    say: Callable[[str], None] = lambda sentence: None,
) -> Audit:
    """`audit` of a table that was read; ``say`` gets a sentence about each step."""
    try:
        import pandas  # noqa: F401
    except ModuleNotFoundError as missing:
        how = "an audit answers with data frames, which need pandas: pip install 'noisylabels[audit]'"
        raise ModuleNotFoundError(how, name="pandas") from missing
    y = np.unique(table.labels, return_inverse=True)[1]
    name = cross_fitting.DEFAULT if model is None else type(model).__name__
    fits: dict[str, CrossFit] = {}
    others = (*cross_fitting.ROBUST, *cross_fitting.PLAIN) if compare else ()
    for each in (name, *(other for other in others if other != name)):
        times = 1 if fits else repetitions
        say(f"comparing with {each}" if fits else f"cross-fitting {each} on {len(y)} rows, {times} times")
        chosen = cross_fitting.model_of(each, random_state) if fits or model is None else model
        fits[each] = cross_fitted(
            table.X, y, chosen, repetitions=times, random_state=random_state, most_rows=most_rows
        )
    drawn = (
        f"every model was trained on {most_rows} of the {len(y)} rows, drawn class by class; all were judged"
    )
    notes = [*table.notes, *([drawn] if len(y) > most_rows else [])]
    return of_cross_fits(table, fits, notes, np.random.default_rng([random_state, repetitions]))


def of_cross_fits(
    table: tables.Table, fits: dict[str, CrossFit], notes: list[str], rng: np.random.Generator
) -> Audit:
    """The audit from probabilities: those of the first of ``fits`` say what is wrong, the others compare."""
    classes, y = np.unique(table.labels, return_inverse=True)
    name, cross = next(iter(fits.items()))
    p, Q = cross.mean, flip_rates.joint(cross.mean, y)
    sureness = flip_rates.surest(p, y)
    ranking = _ranking(table, p, y, classes, Q)
    return Audit(
        classes=classes,
        counts=np.bincount(y),
        suspicious=ranking[ranking.pop("wrong")].reset_index(drop=True),
        ranking=ranking,
        flip_rates=_rates(cross, y, classes, table.trusted, sureness, rng),
        wrong=flip_rates.interval(flip_rates.wrong_share, cross, y, rng),
        bounds=(0.0, flip_rates.wrong_share_of(sureness.omega, y)),
        sureness=sureness,
        accuracies=flip_rates.compared(fits, y, flip_rates.flip_matrix(Q)),
        model=name,
        notes=notes,
    )


def _rates(
    cross: CrossFit,
    y: Classes,
    classes: NDArray[Any],
    trusted: list[Any],
    sureness: Sureness,
    rng: np.random.Generator,
) -> pd.DataFrame:
    """A row for each pair of a true and an observed class."""
    import pandas as pd

    K = len(classes)
    estimate = flip_rates.interval(flip_rates.from_joint, cross, y, rng)
    matrices = {
        "estimate": estimate.value,
        "low": estimate.low,
        "high": estimate.high,
        "where_surest": sureness.omega,
        "anchor": flip_rates.anchor(cross.mean, y),
        "own": cross.omega.mean(axis=0),
    }
    known = np.array([value is not None for value in trusted])
    if known.any():
        true = np.searchsorted(classes, np.array([value for value in trusted if value is not None]))
        counted = flip_rates.counted(y[known], true, K)
        matrices |= dict(zip(("trusted", "trusted_low", "trusted_high"), counted, strict=True))
    pairs = {"true": np.repeat(classes, K), "observed": np.tile(classes, K)}
    return pd.DataFrame(pairs | {key: matrix.ravel() for key, matrix in matrices.items()})


def _ranking(table: tables.Table, p: Array, y: Classes, classes: NDArray[Any], Q: Array) -> pd.DataFrame:
    """All rows, the most doubtful label first; ``wrong`` where it is likely so."""
    import pandas as pd

    columns: dict[str, NDArray[Any]] = {
        "row": table.rows,
        **({"line": table.lines} if table.lines.any() else {}),
        "label": classes[y],
        "suggested": classes[flip_rates.suggested(p, y)],
        "score": flip_rates.margins(p, y),
        "how_sure": flip_rates.wrongness(p, y, flip_rates.flip_matrix(Q)),
        "wrong": flip_rates.likely_wrong(p, y, Q),
    }
    return pd.DataFrame(columns).sort_values("score", kind="stable", ignore_index=True)
