"""One call that audits the labels of a table."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from noisylabels.auditing import columns, cross_fitting, flip_rates, report, tables
from noisylabels.auditing.cross_fitting import LARGEST, MANY, Array, Classes, CrossFit, cross_fitted
from noisylabels.auditing.flip_rates import Sureness
from noisylabels.auditing.numeric import SIGNIFICANT, NumericAudit, of_numbers
from noisylabels.validation import whole

if TYPE_CHECKING:
    import pandas as pd

LARGEST_SEED = 2**32 - 1
"""What scikit-learn takes."""


@dataclass(frozen=True)
class Audit:
    """What an audit found.

    classes (K,).   suspicious : data frame row, (line,) label, suggested, score of the labels that are
    likely wrong, the most doubtful first; score = p_observed - max of the others, in [-1, 1]. Empty if not
    informative.
    ranking : the same columns for all rows.   conflicts : row, label, like; rows that are equal to others,
    ``like`` the first of them, but for the label; then those nearly equal, in pairs.
    flip_rates : data frame true, observed, estimate (confident joint), anchor, own (the model's), limit
    (the largest rate that labels alone allow, at 95 %); with trusted labels also trusted, trusted_low,
    trusted_high.
    bounds : (0, the largest share of wrong labels that labels alone allow, at 95 %).
    guess : the share by the anchor estimate.   informative : whether some model knows anything of the labels.
    accuracies : see `flip_rates.compared`.   notes : what had to be done to the table.
    probabilities (n, K) : of the observed class, by models that did not see the row.   predictions (n,) : of
    every method.
    """

    classes: NDArray[Any]
    counts: NDArray[np.intp]
    suspicious: pd.DataFrame
    ranking: pd.DataFrame
    conflicts: pd.DataFrame
    flip_rates: pd.DataFrame
    bounds: tuple[float, float]
    guess: float
    informative: bool
    sureness: Sureness
    accuracies: pd.DataFrame
    model: str
    notes: list[str]
    table: tables.Table = field(repr=False)
    probabilities: Array = field(repr=False)
    predictions: dict[str, Classes] = field(repr=False)

    @property
    def evidence(self) -> NDArray[np.bool_]:
        """Classes in which labels disagree where the model is surest, (K,)."""
        return self.sureness.evidence

    @property
    def observed(self) -> Classes:
        """The class of each label, (n,)."""
        return np.asarray(np.searchsorted(self.classes, self.table.labels))

    @property
    def doubt(self) -> Array:
        """1 - the probability of the label, (n,)."""
        return np.asarray(1.0 - self.probabilities[np.arange(len(self.probabilities)), self.observed])

    @property
    def doubted(self) -> NDArray[np.bool_]:
        """Whether another class is more probable, (n,)."""
        return flip_rates.margins(self.probabilities, self.observed) < 0

    @property
    def expected(self) -> NDArray[Any]:
        """The most probable other class, (n,)."""
        return np.asarray(self.classes[flip_rates.suggested(self.probabilities, self.observed)])

    @property
    def text(self) -> str:
        """The findings in plain words."""
        return "\n".join(report.lines(self))

    def __str__(self) -> str:
        return self.text


def audit(
    X: Any = None,
    y: ArrayLike | None = None,
    *,
    pred_probs: ArrayLike | None = None,
    model: Any = None,
    trusted: ArrayLike | None = None,
    random_state: int = 0,
    repetitions: int | None = None,
    most_rows: int | None = None,
    compare: bool | None = None,
) -> Audit | NumericAudit:
    """Flip rates, a ranking of suspicious labels, and an honest comparison of methods, from (X, observed y).

    Labels that are numbers with more than 50 values get a `NumericAudit`; model is a regressor then.

    X : data frame or array (n, d), numbers or words, values may be missing.   y (n,) : K >= 2 classes.
    pred_probs (n, K) : in place of a model, probabilities of the classes in sorted order, of each row by a
    model that did not see it; X may then be left out.
    model : any scikit-learn classifier with ``predict_proba``, a name ("forest", "gradient_boosting",
    "logistic", "robust_logistic", "rmklr"), "package:Class", or "best": of these five the one whose
    cross-fitted probabilities give the observed labels the largest likelihood. None: rMKLR, above 5000 rows
    gradient boosting.
    trusted (n,) : verified labels, None or NaN where there is none.   repetitions : of the cross-fitting, 3,
    but 1 above 5000 rows.   most_rows : a model is trained on, of more a stratified part is drawn; by
    default all, but 2000 for rMKLR.   compare : with the other methods; by default up to 5000 rows.

    Raises ValueError : a table that cannot be audited, or an argument, in one line.
    Sources: Northcutt, Jiang and Chuang, JAIR 2021; Kabán and Bootkrajang, LABELNOISE 2017.
    """
    if (most_rows or tables.FEWEST_ROWS) < tables.FEWEST_ROWS or (
        repetitions is not None and repetitions < 1
    ):
        least = f"most_rows must be at least {tables.FEWEST_ROWS} and repetitions at least 1"
        raise ValueError(f"{least}, got {most_rows} and {repetitions}")
    whole("random_state", random_state, 0, LARGEST_SEED)
    if y is None or (X is None and pred_probs is None):
        raise ValueError("audit needs the observed labels y, and the table X or probabilities pred_probs")
    given = np.arange(len(np.asarray(y)))[:, np.newaxis] if X is None else X
    check = tables.check_classes if pred_probs is not None else tables.check_labels
    table = tables.of_arrays(given, y, trusted, check)
    if pred_probs is None and tables.measured(table.labels):
        return of_numbers(table, model, random_state=random_state)
    if pred_probs is not None:
        if len(table.rows) < len(np.asarray(y)):
            raise ValueError("y: a row without a label; leave it out, and its probabilities too")
        return of_probabilities(table, pred_probs)
    return of_table(
        table, model, random_state=random_state, repetitions=repetitions, most_rows=most_rows, compare=compare
    )


def of_probabilities(table: tables.Table, pred_probs: ArrayLike) -> Audit:
    """`audit` of labels with probabilities (n, K) of the classes in sorted order, made elsewhere.

    Raises ValueError : another shape, or rows that are no probabilities.
    """
    p, K = np.asarray(pred_probs, dtype=float), len(np.unique(table.labels))
    if p.shape != (len(table.labels), K):
        what = f"a row for each label and a column for each of {K} classes, {(len(table.labels), K)}"
        raise ValueError(f"pred_probs must have {what}; got shape {p.shape}")
    wrong = ~((p >= 0).all(axis=1) & (np.abs(p.sum(axis=1) - 1) < 0.01))  # also where not finite
    if wrong.any():
        raise ValueError(
            f"pred_probs, row {wrong.argmax()}: {p[wrong.argmax()]} are no probabilities of sum 1"
        )
    fit = CrossFit(p[np.newaxis], p[np.newaxis], np.full((1, K, K), np.nan))
    return of_cross_fits(table, {"your model": fit}, table.notes)


def of_table(
    table: tables.Table,
    model: Any = None,
    *,
    random_state: int = 0,
    repetitions: int | None = None,
    most_rows: int | None = None,
    compare: bool | None = None,
    say: Callable[[str], None] = lambda sentence: None,
) -> Audit:
    """`audit` of a table that was read; ``say`` gets a sentence about each step."""
    _need_pandas()
    y = np.unique(table.labels, return_inverse=True)[1]
    many, ours = len(y) > MANY, (*cross_fitting.ROBUST, *cross_fitting.PLAIN)
    repetitions = repetitions or (1 if many else 3)
    table = columns.examined(table, y, random_state)
    notes = list(table.notes)

    def fitted(wanted: Any, times: int) -> CrossFit:
        name, built = cross_fitting.chosen(wanted, random_state)
        rows = most_rows or (LARGEST if name == cross_fitting.DEFAULT else len(y))
        say(f"cross-fitting {name} on {len(y)} rows, {times} times")
        if len(y) > rows:
            notes.append(
                f"{name} was trained on {rows} of the {len(y)} rows, drawn class by class; all were judged"
            )
        options = {"random_state": random_state, "most_rows": rows, "text": table.text, "say": say}
        return cross_fitted(table.X, y, built, repetitions=times, **options)

    fits: dict[str, CrossFit] = {}
    if model == "best":
        fits = {name: fitted(name, 1) for name in ours}
        model = max(fits, key=lambda name: flip_rates.log_likelihoods(fits[name], y).mean())
        notes.append(
            f"of {len(fits)} models {model} gives the labels of rows it did not see the largest likelihood"
        )
    wanted = model if model is not None else "gradient boosting" if many else cross_fitting.DEFAULT
    name = cross_fitting.chosen(wanted)[0]
    first = fits[name] if name in fits and repetitions == 1 else fitted(wanted, repetitions)
    others = ours if compare or (compare is None and not many) else ()
    fits |= {other: fitted(other, 1) for other in others if other not in (*fits, name)}
    return of_cross_fits(table, {name: first} | fits | {name: first}, list(dict.fromkeys(notes)))


def _need_pandas() -> None:
    try:
        import pandas  # noqa: F401
    except ModuleNotFoundError as missing:
        how = "an audit answers with data frames, which need pandas: pip install 'noisylabels[audit]'"
        raise ModuleNotFoundError(how, name="pandas") from missing


def of_cross_fits(table: tables.Table, fits: dict[str, CrossFit], notes: list[str]) -> Audit:
    """The audit from probabilities: those of the first of ``fits`` say what is wrong, the others compare."""
    classes, y = np.unique(table.labels, return_inverse=True)
    name, cross = next(iter(fits.items()))
    p, Q = cross.mean, flip_rates.joint(cross.mean, y)
    sureness, anchor = flip_rates.surest(p, y), flip_rates.anchor(p, y)
    ranking = _ranking(table, p, y, classes, Q)
    informative = flip_rates.chance(fits, y) < SIGNIFICANT
    return Audit(
        classes=classes,
        counts=np.bincount(y),
        suspicious=ranking[ranking.pop("wrong") & informative].reset_index(drop=True),
        ranking=ranking,
        conflicts=_conflicts(table, y, classes),
        flip_rates=_rates(cross, y, classes, table.trusted, sureness),
        bounds=(0.0, float(flip_rates.wrong_share_of(sureness.limit, y)) if informative else 1.0),
        guess=flip_rates.wrong_share_of(anchor, y),
        informative=informative,
        sureness=sureness,
        accuracies=flip_rates.compared(fits, y, flip_rates.flip_matrix(Q)),
        model=name,
        notes=notes,
        table=table,
        probabilities=p,
        predictions={each: fit.predicted[0] for each, fit in fits.items()},
    )


def _conflicts(table: tables.Table, y: Classes, classes: NDArray[Any]) -> pd.DataFrame:
    import pandas as pd

    learnt = table.X.shape[1] or table.text is not None
    equal, near = flip_rates.conflicts(table.X, table.text, y) if learnt else ([], [])
    groups = [*equal, *near]
    rows = np.concatenate([*groups, np.empty(0, dtype=np.intp)])
    like = [table.rows[group[0]] for group in groups for _ in group]
    lines = {"line": table.lines[rows]} if table.lines.any() else {}
    nearly = np.arange(len(rows)) >= sum(map(len, equal))
    labels = {"label": classes[y[rows]], "like": like, "nearly": nearly}
    return pd.DataFrame({"row": table.rows[rows], **lines, **labels})


def _rates(
    cross: CrossFit, y: Classes, classes: NDArray[Any], trusted: list[Any], sureness: Sureness
) -> pd.DataFrame:
    """A row for each pair of a true and an observed class."""
    import pandas as pd

    K = len(classes)
    matrices = {
        "estimate": flip_rates.from_joint(cross.mean, y),
        "anchor": flip_rates.anchor(cross.mean, y),
        "own": cross.omega.mean(axis=0),
        "limit": sureness.limit,
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

    entries: dict[str, NDArray[Any]] = {
        "row": table.rows,
        **({"line": table.lines} if table.lines.any() else {}),
        "label": classes[y],
        "suggested": classes[flip_rates.suggested(p, y)],
        "score": flip_rates.margins(p, y),
        "wrong": flip_rates.likely_wrong(p, y, Q),
    }
    return pd.DataFrame(entries).sort_values("score", kind="stable", ignore_index=True)
