"""Selection and training of classifiers on noisy labels: kernel methods and scikit-learn's.

A kernel width and a parameter can be selected in three ways:

``trusted``
    A share V of the training rows keeps clean labels. The rest R, with noisy labels, is cut into
    folds; fits on all folds but one, each judged on V.
``trusted_holdout``
    One fit on R, judged on V.
``cv``
    Folds of all training rows, judged on the noisy labels of the fold that was left out.

The lowest number of wrong labels wins. Ties: the lowest log-loss sum_i log(1 + exp(-s_i f(x_i))),
then the widest kernel, then the largest parameter (of several, the first counts first); of
classifiers without a kernel, the first in the grid. If the labels judged on have one class only,
the log-loss alone decides. The final fit is on all rows with their noisy labels: trusted labels are
never trained on.

Source: Kabán and Bootkrajang, LABELNOISE 2017, "CV (5 fold) with a trusted validation set"; this
interpretation, the rules for ties, and which random numbers are drawn where are ours.
"""

from __future__ import annotations

import inspect
import itertools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from noisylabels.kernels.gaussian import Gram, rate, rbf, squared_distances, useful_widths
from reproduction.run.protocol_loop import Repetition, seeded
from reproduction.run.splits import (
    Floats,
    Indices,
    Labels,
    Split,
    check_predicted,
    random_folds,
)
from reproduction.spec import settings as keys

if TYPE_CHECKING:
    from noisylabels.classifiers.kernel import Fits

Selection = Literal["trusted", "trusted_holdout", "cv"]
Parametrisation = Literal["sigma2", "sigma1", "gamma"]
SELECTIONS: tuple[Selection, ...] = ("trusted", "trusted_holdout", "cv")


class KernelMethod(keys.Method):
    """Settings of a method of any kind: with `fit_many`, `fit_distances`, or any classifier.

    Among its ``parameters``, ``widths`` replaces those of the settings. A grid of several
    parameters reaches `fit_many` as an array (G, k), its columns in the order of the names; any
    other classifier is built with each combination.
    """

    kind: ClassVar[str] = "classifiers"
    selection: Selection | None = Field(None, description="how width and parameter are chosen")
    noise: keys.Flips | None = Field(
        None, description="those of the settings that it is run on; default: all"
    )
    also: dict[Selection, keys.Flips] = Field(
        {},
        description="further kinds of selection -> noise of the settings on which the method is "
        "also run so; the column `setting` tells the rows apart",
    )
    grid: keys.Exponents | keys.Grid | None = Field(
        None,
        description="parameter, exponents of 2, or `{zeta: [1, 10], rho: [0, 0.2]}`, values of "
        "several; default: the method's GRID",
    )

    @property
    def selections(self) -> tuple[Selection | None, ...]:
        """List how the method is selected, the main kind first."""
        return (self.selection, *self.also)

    def check(self) -> None:
        """Check selection and grid against the class, parameters against the function that fits."""
        cls = self.cls
        named = self.grid if isinstance(self.grid, dict) else {}
        if named and not hasattr(cls, "fit_many"):
            keys.check_keywords(cls, {}, named)
            if self.selection is None:
                raise ValueError(f"selection: the grid needs one of {', '.join(SELECTIONS)}")
        elif self.selection or self.grid is not None:
            otherwise = "name the parameters in `grid`, or drop `selection` and `grid`"
            self.require("fit_many", "selection by cross-validation", otherwise)
        fit = getattr(cls, "fit_many", None) or getattr(cls, "fit_distances", cls)
        if hasattr(cls, "fit_many"):
            if self.selection is None:
                raise ValueError(f"selection: {self.method} needs one of {', '.join(SELECTIONS)}")
            if self.grid is None and not hasattr(cls, "GRID"):
                raise ValueError(f"grid: {self.method} has no GRID; give it a grid")
        if self.also and self.selection is None:
            raise ValueError("also: goes with `selection`, which is not given")
        if self.selection in self.also:
            raise ValueError(f"also: {self.selection} is the method's `selection`; name another")
        keys.check_keywords(fit, self.parameters, also=["widths"])


class TrainingSettings(keys.OnDataSets):
    """Settings of an experiment that trains kernel methods as the kernel study does."""

    widths: keys.Exponents = Field(description="of the Gaussian kernels, exponents of 2")
    parametrisation: Parametrisation = Field(description="see kernels.gaussian.rate")
    folds: keys.Folds
    trusted: keys.Share | None = Field(
        None,
        description="share of clean labels, for the validation only",
    )
    methods: keys.Methods[KernelMethod]

    @model_validator(mode="after")
    def _trusted_rows(self) -> Self:
        for label, method in self.methods.items():
            needs_trusted = {"trusted", "trusted_holdout"} & set(method.selections)
            if self.trusted is None and needs_trusted:
                by_trusted_labels = f"method {label} is selected by trusted labels"
                raise ValueError(f"trusted: missing, and {by_trusted_labels}")
        return self


@dataclass(frozen=True)
class Candidate:
    """A method with the widths and the values of its parameter to try.

    parameters : keyword arguments of `fit_many`, `fit_distances` or the class.
    grid : (G,) or, of several parameters, (G, k).   names : of the parameters.
    conditions : numbers of the noise conditions that it is run on; None: all.
    key : tells apart what is run of one method with several kinds of selection; default: the label.
    complete : whether every fold is fitted, also by what can no longer be chosen.
    """

    label: str
    cls: Any
    parameters: Mapping[str, Any]
    selection: Selection | None
    widths: Floats
    grid: NDArray[Any]
    names: tuple[str, ...] = ("parameter",)
    conditions: tuple[int, ...] | None = None
    complete: bool = False
    key: str = ""

    def __post_init__(self) -> None:
        if not self.key:
            object.__setattr__(self, "key", self.label)

    @property
    def fits_many(self) -> bool:
        """Whether the class fits many labels and parameters at once, with a kernel matrix."""
        return hasattr(self.cls, "fit_many")

    def columns(self, noisy: Labels) -> list[int]:
        """The columns of the labels (n, L) that the method is run on."""
        return list(range(noisy.shape[1]) if self.conditions is None else self.conditions)


def resolve(settings: TrainingSettings, noise: Iterable[keys.Noise] = ()) -> list[Candidate]:
    """List the methods; widths and grid in powers of 2, conditions as numbers of ``noise``."""
    all_noise = list(noise)
    candidates = []
    for label, method in settings.methods.items():
        parameters = dict(method.parameters)
        exponents = parameters.pop("widths", settings.widths)
        widths = np.exp2(np.asarray(exponents, dtype=float))
        names, grid = _grid(method)
        main = Candidate(
            label=label,
            cls=method.cls,
            parameters=parameters,
            selection=method.selection,
            widths=widths,
            grid=grid,
            names=names,
            conditions=_numbers_of(method.noise, all_noise),
        )
        candidates.append(main)
        for selection, noise_of_selection in method.also.items():
            conditions = _numbers_of(noise_of_selection, all_noise)
            key = f"{label}, {selection}"
            variant = replace(main, selection=selection, conditions=conditions, key=key)
            candidates.append(variant)
    return candidates


def _numbers_of(wanted: keys.Flips | None, all_noise: list[keys.Noise]) -> tuple[int, ...] | None:
    """List the numbers of the noise conditions to run; None means all."""
    if wanted is None:
        return None
    return tuple(number for number, kind in enumerate(all_noise) if kind in wanted)


def _grid(method: KernelMethod) -> tuple[tuple[str, ...], NDArray[Any]]:
    """Return names and values of the parameters to try: (G,), or (G, k) for several."""
    values: Any = method.grid
    if values is None:
        values = method.cls.GRID if method.selection else ()
    if isinstance(values, dict):
        combinations = list(itertools.product(*values.values()))
        dtype = float if hasattr(method.cls, "fit_many") else object
        return tuple(values), np.array(combinations, dtype=dtype)
    if method.grid is not None:
        values = np.exp2(values)
    return ("parameter",), np.asarray(values, dtype=float)


class Choice(NamedTuple):
    """A chosen width and place in the grid, and the number of rows it was judged on."""

    width: float
    number: int
    parameters: dict[str, float]
    rows: int


@dataclass(frozen=True)
class Outcome:
    """A method trained on one noise condition: decision values of test rows, and its choice."""

    scores: Floats
    choice: Choice | None
    omega01: float = float("nan")
    omega10: float = float("nan")
    flagged: bool = False

    @classmethod
    def of(cls, fits: Fits, k: int, choice: Choice | None = None) -> Self:
        """Take column k of fits with one value of the parameter."""
        omega01 = float(fits.omega01[k, 0])
        omega10 = float(fits.omega10[k, 0])
        return cls(fits.scores[k, 0], choice, omega01, omega10, bool(fits.flagged[k, 0]))

    def checked(self, split: Split) -> Self:
        """Check that there is one finite decision value for each test row.

        Raises ValueError : another number of values, or one that is not finite.
        """
        shape = np.shape(self.scores)
        count = len(split.X_test)
        if shape != (count,):
            rule = f"({count},) is expected, one value for each test row"
            raise ValueError(f"the decision values have the shape {shape}; {rule}")
        if not np.isfinite(self.scores).all():
            raise ValueError("a decision value is not finite")
        return self


Choices = dict[str, dict[int, Choice]]
"""Key of a candidate -> column of the labels -> what was chosen."""
Outcomes = dict[str, dict[int, Outcome]]
"""Key of a candidate -> column of the labels -> the outcome."""


def train(
    methods: list[Candidate],
    split: Split,
    noisy: Labels,
    settings: TrainingSettings,
    repetition: Repetition,
) -> Outcomes:
    """Select and fit every method on its columns of ``noisy`` (n, L)."""
    noise = getattr(settings, "noise", [])

    def name_place(method: Candidate, column: int | None = None) -> None:
        """Add the method, and the noise of a column, to the message of an error."""
        columns = {"method": method.label}
        if column is not None and noise:
            columns["noise"] = noise[column].label
        repetition.with_columns(**columns)

    D = squared_distances(split.X)
    D_test = squared_distances(split.X_test, split.X)
    chosen: Choices = {}
    for selection in SELECTIONS:
        selected = [method for method in methods if method.selection == selection]
        if not selected:
            continue
        folds = validation(selection, split.clean, noisy, settings, repetition)
        with_kernel = [method for method in selected if method.fits_many]
        if with_kernel:
            chosen |= select(with_kernel, D, noisy, folds, settings.parametrisation)
        for method in selected:
            if not method.fits_many:
                name_place(method)
                chosen[method.key] = search(method, split.X, noisy, folds, repetition)
    outcomes: Outcomes = {method.key: {} for method in methods}
    for method in methods:
        if hasattr(method.cls, "fit_distances") and not method.fits_many:
            columns = method.columns(noisy)
            kernel = {"parametrisation": settings.parametrisation, **method.parameters}
            labels = noisy[:, columns]
            name_place(method)
            fits = method.cls.fit_distances(D, D_test, labels, method.widths, **kernel)
            for number, column in enumerate(columns):
                outcomes[method.key][column] = Outcome.of(fits, number).checked(split)
        elif not method.fits_many:
            rng = repetition.rng(f"method {method.label}")
            choices = chosen.get(method.key, {})
            for column in method.columns(noisy):
                labels = noisy[:, column]
                name_place(method, column)
                outcome = _fit_plainly(method, split, labels, rng, choices.get(column))
                outcomes[method.key][column] = outcome.checked(split)
    with_kernel = [method for method in methods if method.fits_many]
    for width in sorted(_widths(with_kernel, chosen)):
        K = rbf(D, width, settings.parametrisation)
        K_test = rbf(D_test, width, settings.parametrisation)
        gram = Gram(K, K_test)
        for method in with_kernel:
            for column, choice in chosen[method.key].items():
                if choice.width != width:
                    continue
                # Every column alone, because no condition depends on another.
                labels = noisy[:, [column]]
                name_place(method, column)
                values = method.grid[[choice.number]]
                fits = method.cls.fit_many(gram, labels, values, **method.parameters)
                outcomes[method.key][column] = Outcome.of(fits, 0, choice).checked(split)
    return outcomes


def _widths(methods: list[Candidate], chosen: Choices) -> set[float]:
    """Collect the widths that were chosen for some method and column."""
    widths = set()
    for method in methods:
        widths |= {choice.width for choice in chosen[method.key].values()}
    return widths


def _fit_plainly(
    method: Candidate,
    split: Split,
    observed: Labels,
    rng: np.random.Generator,
    choice: Choice | None,
) -> Outcome:
    """Fit any scikit-learn classifier on the standardised features.

    Without decision values, they are +-1.
    """
    parameters = dict(method.parameters)
    if choice is not None:
        parameters |= choice.parameters
    model = seeded(method.cls(**parameters), rng).fit(split.X, observed)
    if hasattr(model, "decision_function"):
        scores = model.decision_function(split.X_test)
    else:
        scores = np.where(split.checked(model.predict(split.X_test)) == 1, 1.0, -1.0)
    return Outcome(scores, choice, flagged=not getattr(model, "converged_", True))


class Fold(NamedTuple):
    """Rows to train on, rows to judge on, and the labels of the latter (h, L)."""

    train: Indices
    held: Indices
    labels: Labels


def validation(
    selection: Selection,
    clean: Labels,
    noisy: Labels,
    settings: TrainingSettings,
    repetition: Repetition,
) -> list[Fold]:
    """Make the folds of a kind of selection, from true labels (n,) and observed ones (n, L).

    Raises ValueError : fewer rows than folds.
    """
    n = len(noisy)
    count = settings.folds
    rows = np.arange(n)
    if selection == "cv":
        fold = random_folds(n, count, repetition.rng("folds"))
        return [Fold(rows[fold != k], rows[fold == k], noisy[fold == k]) for k in range(count)]
    assert settings.trusted is not None
    n_trusted = max(1, round(settings.trusted * n))
    trusted = np.zeros(n, dtype=bool)
    trusted[repetition.rng("trusted").permutation(n)[:n_trusted]] = True
    held = rows[trusted]
    untrusted = rows[~trusted]
    labels = np.repeat(clean[held, np.newaxis], noisy.shape[1], axis=1)
    if selection == "trusted_holdout":
        return [Fold(untrusted, held, labels)]
    fold = random_folds(len(untrusted), count, repetition.rng("folds"))
    return [Fold(untrusted[fold != k], held, labels) for k in range(count)]


def _judged_rows(folds: list[Fold]) -> int:
    """Count the rows that are judged on in some fold."""
    return len(np.unique(np.concatenate([fold.held for fold in folds])))


def select(
    methods: list[Candidate], D: Floats, noisy: Labels, folds: list[Fold], parametrisation: str
) -> Choices:
    """Choose for every method and its columns of ``noisy`` (n, L), on squared distances (n, n).

    Each kernel matrix and its basis serve all methods, noise conditions and values of the
    parameter. Wrong labels and losses only grow from fold to fold: what is already worse than the
    best of all folds of another width is fitted on no further fold. Widths near the typical
    distance come first.
    """
    labels = np.concatenate([fold.labels for fold in folds])
    two_classes = labels.min(axis=0) < labels.max(axis=0)
    tried: dict[str, dict[float, Floats]] = {method.key: {} for method in methods}
    useful: dict[str, set[float]] = {}
    best: dict[str, Floats] = {}
    for method in methods:
        useful[method.key] = set(useful_widths(D, method.widths, parametrisation))
        best[method.key] = np.full((2, len(method.columns(noisy)), 1), np.inf)
    typical = max(float(D.mean()), 1e-300)

    def distance_from_typical(width: float) -> float:
        return float(abs(np.log(rate(width, parametrisation) * typical)))

    widths = sorted(set().union(*useful.values()))
    for width in sorted(widths, key=distance_from_typical):
        K = rbf(D, width, parametrisation)
        users = [method for method in methods if width in useful[method.key]]
        for method in users:
            shape = (2, len(method.columns(noisy)), len(method.grid))
            tried[method.key][width] = np.zeros(shape)
        still_tried = users
        for fold in folds:
            still_tried = [
                method
                for method in still_tried
                # a width whose errors are all infinite has lost to another one
                if np.isfinite(tried[method.key][width]).any()
            ]
            if not still_tried:
                break
            K_train = K[np.ix_(fold.train, fold.train)]
            K_held = K[np.ix_(fold.held, fold.train)]
            gram = Gram(K_train, K_held)
            for method in still_tried:
                totals = tried[method.key][width]
                totals += _judged(method, gram, noisy, fold, two_classes, np.isfinite(totals[0]))
                if not method.complete:
                    totals[:, _is_beyond(totals, best[method.key])] = np.inf
        for method in still_tried:
            totals = tried[method.key][width]
            lowest = np.lexsort((totals[1], totals[0]))[:, :1]
            candidate = np.take_along_axis(totals, lowest[np.newaxis], axis=2)
            bound = best[method.key]
            np.copyto(bound, candidate, where=_is_beyond(bound, candidate))
    n_rows = _judged_rows(folds)
    chosen = {}
    for method in methods:
        columns = method.columns(noisy)
        totals_by_width = tried[method.key]
        chosen[method.key] = _lowest(method, totals_by_width, columns, n_rows, parametrisation)
    return chosen


def _judged(
    method: Candidate,
    gram: Gram,
    noisy: Labels,
    fold: Fold,
    two_classes: NDArray[np.bool_],
    wanted: NDArray[np.bool_],
) -> Floats:
    """Count wrong labels and sum log-losses (2, L, G) in a fold; methods may skip columns."""
    columns = method.columns(noisy)
    options = dict(method.parameters)
    if "wanted" in inspect.signature(method.cls.fit_many).parameters:
        options["wanted"] = wanted
    fits = method.cls.fit_many(gram, noisy[fold.train][:, columns], method.grid, **options)
    truth = fold.labels[:, columns].T[:, np.newaxis]
    wrong = ((fits.scores > 0) != truth).sum(axis=2) * two_classes[columns, np.newaxis]
    loss = np.logaddexp(0.0, (1 - 2 * truth) * fits.scores).sum(axis=2)
    return np.stack([wrong, loss])


def _lowest(
    method: Candidate,
    tried: dict[float, Floats],
    columns: list[int],
    n_rows: int,
    parametrisation: str,
) -> dict[int, Choice]:
    """Choose for each column, by the rule of ties."""
    n_values = len(method.grid)
    width = np.repeat(list(tried), n_values)
    value_index = np.tile(np.arange(n_values), len(tried))
    # A later parameter decides only between equal earlier ones.
    rank = np.argsort(np.lexsort(method.grid.reshape(n_values, -1).T[::-1]))
    wrong, loss = np.concatenate(list(tried.values()), axis=2)
    narrow = np.array([rate(value, parametrisation) for value in width])
    chosen: dict[int, Choice] = {}
    for number, column in enumerate(columns):
        first = np.lexsort((-rank[value_index], narrow, loss[number], wrong[number]))[0]
        values = np.atleast_1d(method.grid[value_index[first]]).tolist()
        parameters = dict(zip(method.names, values, strict=True))
        chosen[column] = Choice(float(width[first]), int(value_index[first]), parameters, n_rows)
    return chosen


def search(
    method: Candidate,
    X: Floats,
    noisy: Labels,
    folds: list[Fold],
    repetition: Repetition,
) -> dict[int, Choice]:
    """Choose for any classifier and its columns the first one with the fewest wrong labels."""
    options = [dict(zip(method.names, values, strict=True)) for values in method.grid.tolist()]
    n_rows = _judged_rows(folds)
    chosen = {}
    for column in method.columns(noisy):
        wrong = np.zeros(len(options))
        for fold in folds:
            for number, parameters in enumerate(options):
                rng = repetition.rng(f"method {method.label} folds")
                model = seeded(method.cls(**(dict(method.parameters) | parameters)), rng)
                model.fit(X[fold.train], noisy[fold.train, column])
                predicted = check_predicted(model.predict(X[fold.held]), len(fold.held))
                wrong[number] += np.count_nonzero(predicted != fold.labels[:, column])
        best = int(np.argmin(wrong))
        chosen[column] = Choice(float("nan"), best, options[best], n_rows)
    return chosen


def _is_beyond(candidate: Floats, best: Floats) -> NDArray[np.bool_]:
    """Mark where (wrong labels, loss) comes after the best in lexicographic order."""
    more_wrong = candidate[0] > best[0]
    more_loss = (candidate[0] == best[0]) & (candidate[1] > best[1])
    return np.asarray(more_wrong | more_loss)
