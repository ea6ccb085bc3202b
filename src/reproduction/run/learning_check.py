"""Methods that learn the wrong way round, which no shape shows.

A method is fitted to clean groups of points far apart. One that is wrong on most of them has its
classes in another order than its labels.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from reproduction.run.protocol_loop import seeded
from reproduction.spec.errors_of_users import describe_error
from reproduction.spec.settings import Method

if TYPE_CHECKING:
    from reproduction.run.job import Job

ROWS = 40
"""Number of points in each group."""
DISTANCE = 3.0
"""Distance of the groups from the origin, ten of their standard deviations."""
SPREAD = 0.3
SEED = 20240611
TRUSTED = ("sklearn.", "noisylabels.")
"""First parts of the names of modules that have tests of their own."""

Array = NDArray[Any]


def refuse_wrong_methods(job: Job) -> None:
    """Refuse a job with a classifier that is wrong on clean groups, or a filter that sees labels.

    Raises
    ------
    ValueError
        One line with the first such method, see `check_methods` and `check_filters`.
    """
    methods = job.settings.select_methods()
    faults, _ = check_methods(methods, count_classes(job))
    faults += check_filters(methods)[0]
    if faults:
        raise ValueError(f"settings.methods.{faults[0]}")


def count_classes(job: Job) -> int:
    """Count the classes that the methods of a job may meet; 0 for real values."""
    if "real" in job.protocol.targets:
        return 0
    most = 2
    if "classes" in job.protocol.targets:
        for dataset in job.data.values():
            most = max(most, len(np.unique(dataset.arrays.get("y", []))))
    return most


def check_filters(methods: Mapping[str, Method]) -> tuple[list[str], list[str]]:
    """Check the filters of a user with `noisylabels.checks.check_filter`.

    Parameters
    ----------
    methods : mapping
        Label -> method.

    Returns
    -------
    faults, remarks : list of str
        ``<label>: what is wrong``. A filter that fails gets a remark: the run names its line.
    """
    from noisylabels.checks import check_filter
    from noisylabels.filters.base import Filter

    faults = []
    remarks = []
    for label, method in methods.items():
        if not method.custom or not issubclass(method.cls, Filter):
            continue
        try:
            check_filter(method.build())
        except AssertionError as error:
            faults.append(f"{label}: {str(error).strip().splitlines()[0]}")
        except Exception as error:
            remarks.append(f"{label}: not checked as a filter: {describe_error(error)}")
    return faults, remarks


def check_methods(methods: Mapping[str, Method], classes: int) -> tuple[list[str], list[str]]:
    """Fit each classifier of a user to clean, distant groups, and compare all its predictions.

    Parameters
    ----------
    methods : mapping
        Label -> method.
    classes : int
        Number of classes of the data, see `count_classes`; 0 says that there are none.

    Returns
    -------
    faults, remarks : list of str
        ``<label>: what``; a remark where it does not learn, as a baseline does not.
    """
    faults = []
    remarks = []
    numbers_of_groups = (2,) if classes <= 2 else (2, 4)
    for label, method in methods.items():
        if classes == 0 or not method.custom or method.method.startswith(TRUSTED):
            continue
        for count in numbers_of_groups:
            X, y = make_groups(count)
            shares = dict(_shares_right(method, X, y))
            wrong = [name for name, share in shares.items() if share < 0.5 / count]
            if wrong:
                faults.append(f"{label}: {_describe_wrong(wrong, shares, count)}")
                break
            is_baseline = method.role == "control"
            if shares.get("predict", 1.0) < 1.5 / count and not is_baseline:
                right = f"{100 * shares['predict']:.0f} % of the rows are right"
                groups = f"{count} clean groups far apart"
                remarks.append(f"{label}: learns little from {groups}: {right}")
                break
    return faults, remarks


def make_groups(count: int) -> tuple[Array, Array]:
    """Make points (n, 2) of distant groups in random order, and the groups' numbers (n,)."""
    rng = np.random.default_rng(SEED)
    angle = 2 * np.pi * np.arange(count) / count + 0.4
    centres = DISTANCE * np.column_stack([np.cos(angle), np.sin(angle)])
    y = rng.permutation(np.repeat(np.arange(count), ROWS))
    return centres[y] + SPREAD * rng.standard_normal((len(y), 2)), y


def _shares_right(method: Method, X: Array, y: Array) -> Iterator[tuple[str, float]]:
    """Yield each kind of prediction, with the share of rows for which it is right.

    A method that fails here may need other data; the run of its experiment names what fails there.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            model = seeded(method.build(), np.random.default_rng(SEED))
            model = model.fit(X, y)
            predicted = np.asarray(model.predict(X))
        except (Exception, SystemExit):
            return
        if predicted.shape != y.shape or not np.isin(predicted, y).all():
            return
        yield "predict", float((predicted == y).mean())
        known = np.asarray(getattr(model, "classes_", np.unique(y)))
        for name in ("predict_proba", "decision_function"):
            with_scores = getattr(model, name, None)
            try:
                scores = np.asarray(with_scores(X))  # type: ignore[misc]
                highest = scores.argmax(axis=1) if scores.ndim == 2 else (scores > 0).astype(int)
                yield name, float((known[highest] == y).mean())
            except (Exception, SystemExit):
                continue


def _describe_wrong(wrong: list[str], shares: Mapping[str, float], count: int) -> str:
    """Say which outputs choose wrong classes, and what to correct."""
    where = f"of {count} clean groups far apart"
    name = wrong[0]
    right = f"{100 * shares[name]:.0f} % of the rows"
    if name == "predict":
        return f"predict is right on {right} {where}; are its classes in another order than in y?"
    if name == "predict_proba":
        remedy = "column k belongs to classes_[k], in ascending order"
        return f"the most probable class of predict_proba is right on {right} {where}; {remedy}"
    remedy = "values above 0 are for classes_[1], and column k for classes_[k]"
    return f"decision_function is right on {right} {where}; {remedy}"
