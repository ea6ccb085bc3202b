"""Checks that methods of users keep the contracts of this library, of scikit-learn and of river.

Call a check in your own test. It raises an AssertionError that says what the method does wrong.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

import numpy as np

from noisylabels.filters.base import Filter, Sliding
from noisylabels.online.oracles import ArrayOracle, OnlineLearner
from noisylabels.validation import Floats

ROUNDS = 120  # rounds of each sequence on which a method is checked
ENTRIES = 5  # entries of a row


def yield_filter_checks() -> Iterator[Callable[[Filter], None]]:
    """Yield the checks of `check_filter` one by one, to be run as separate cases.

    Yields
    ------
    callable
        Takes a filter, which it does not change.

    Examples
    --------
    >>> from noisylabels.checks import yield_filter_checks
    >>> [check.__name__ for check in yield_filter_checks()][:2]
    ['_check_predictions_precede_learning', '_check_parts_equal_one_pass']
    """
    yield _check_predictions_precede_learning
    yield _check_parts_equal_one_pass
    yield _check_windows_equal_rows
    yield _check_rows_one_by_one
    yield _check_parameters_go_round
    yield _check_refused_input_changes_nothing


def check_filter(candidate: Filter) -> None:
    """Check that a filter keeps its contract: it predicts each row before it sees the label.

    Parameters
    ----------
    candidate : Filter
        An instance with the parameters to check. It learns small sequences with unit variance.

    Raises
    ------
    AssertionError
        If the filter breaks a promise; the message says which one.

    Examples
    --------
    >>> from noisylabels import NLMS
    >>> from noisylabels.checks import check_filter
    >>> check_filter(NLMS(0.5))
    """
    for check in yield_filter_checks():
        check(candidate)


def _check_predictions_precede_learning(candidate: Filter) -> None:
    """Check that the prediction of a row does not use its label, nor any later one."""
    X, y, side = _sequence()
    changed = y.copy()
    changed[ROUNDS // 2 :] += 1.0
    before = _fresh(candidate).run(X, y, **side)
    after = _fresh(candidate).run(X, changed, **side)
    # the first row whose label changes is predicted before that label is seen
    upto = ROUNDS // 2 + 1
    message = "a prediction depends on the label of its own row or a later one"
    _equal(after[:upto], before[:upto], message)


def _check_parts_equal_one_pass(candidate: Filter) -> None:
    """Check that learning a sequence in parts gives the same weights as one pass."""
    X, y, side = _sequence()
    whole = _fresh(candidate).fit(X, y, **side)
    parts = _fresh(candidate)
    for part in (slice(0, 1), slice(1, 50), slice(50, ROUNDS)):
        side_of_part = {name: value[part] for name, value in side.items()}
        parts.partial_fit(X[part], y[part], **side_of_part)
    message = "the weights after several calls of partial_fit are not those of one fit"
    _equal(parts.w, whole.w, message)


def _check_windows_equal_rows(candidate: Filter) -> None:
    """Check that a sliding window of a signal is learned like the rows that it stands for."""
    X, y, side = _sequence()
    window = Sliding(X[:, 0], ENTRIES)
    rows = window.rows(0, ROUNDS)
    windowed = _fresh(candidate)
    written_out = _fresh(candidate)
    predictions = windowed.run(window, y, **side)
    predictions_of_rows = written_out.run(rows, y, **side)
    _equal(
        predictions,
        predictions_of_rows,
        "the predictions of a sliding window are not those of its rows",
    )
    message = "the weights after a sliding window are not those after its rows"
    _equal(windowed.w, written_out.w, message)


def _check_rows_one_by_one(candidate: Filter) -> None:
    """Check that `learn_one` and `predict_one` do what `run` does with many rows."""
    X, y, side = _sequence()
    predictions = _fresh(candidate).run(X, y, **side)
    single = _fresh(candidate)
    single_predictions = []
    for t in range(ROUNDS):
        single_predictions.append(single.predict_one(X[t]))
        side_of_row = {name: float(value[t]) for name, value in side.items()}
        single.learn_one(X[t], float(y[t]), **side_of_row)
    message = "rows given one by one get other predictions than in `run`"
    _equal(np.array(single_predictions), predictions, message)


def _check_parameters_go_round(candidate: Filter) -> None:
    """Check that a filter made from the parameters of another one is the same filter."""
    parameters = candidate.get_params()
    copy_of_filter = type(candidate)(**parameters)
    assert copy_of_filter.get_params() == parameters, (
        f"{_name(candidate)}: its parameters are not those of __init__"
    )
    X, y, side = _sequence()
    _equal(
        copy_of_filter.run(X, y, **side),
        _fresh(candidate).run(X, y, **side),
        "a filter with the same parameters makes other predictions",
    )


def _check_refused_input_changes_nothing(candidate: Filter) -> None:
    """Check that bad input raises a ValueError that names it, and leaves the filter as it was."""
    X, y, side = _sequence()
    learned = _fresh(candidate).fit(X, y, **side)
    weights = learned.w.copy()
    gap = y.copy()
    gap[3] = np.nan
    bad_labels = [("y", X, gap), ("y", X, y[:-1])]
    bad_rows = [("X", X[:, 0], y), ("X", X[:, :-1], y)]
    for named, rows, labels in bad_labels + bad_rows:
        message = _message_of(partial(learned.run, rows, labels, **side))
        assert message.startswith(f"{named}: "), (
            f"{_name(candidate)}: bad {named} must raise a ValueError that begins with "
            f"'{named}: ', got {message or 'no error'}"
        )
        _equal(learned.w, weights, f"the weights have changed although {named} was refused")


def check_online_learner(candidate: OnlineLearner, copies: int = 4, entries: int = ENTRIES) -> None:
    """Check that a learner from noisy copies starts at zero, learns by rounds and can restart.

    Parameters
    ----------
    candidate : OnlineLearner
        An instance with the parameters to check. If it draws random numbers, each copy of it must
        draw the same ones.
    copies : int, default 4
        Noisy copies of each instance that a round offers, at least as many as the learner needs.
    entries : int, default 5
        Entries of an instance, at least 2; a learner with a kernel needs as many as its kernel.

    Raises
    ------
    AssertionError
        If the learner breaks a promise; the message says which one.

    Examples
    --------
    >>> from noisylabels import TwoCopy
    >>> from noisylabels.checks import check_online_learner
    >>> check_online_learner(TwoCopy(0.1))
    """
    new = copy.deepcopy(candidate)
    X = _instances(entries)
    message = "it predicts something else than 0 before its first round"
    _equal(new.predict(X), np.zeros(ROUNDS), message)

    fitted = copy.deepcopy(candidate).fit(_oracle(copies, entries))
    step_by_step = copy.deepcopy(candidate)
    for view in _oracle(copies, entries):
        step_by_step.partial_fit(view)
    values = fitted.predict(X)
    message = "partial_fit of every round gives another hypothesis than fit"
    _equal(step_by_step.predict(X), values, message)
    assert np.isfinite(values).all(), f"{_name(candidate)}: a prediction is not finite"
    single = np.array([fitted.predict(row) for row in X])
    _equal(single, values, "a row alone gets another value than the same row among others")

    message = _message_of(lambda: fitted.predict(X[:, :-1]))
    assert message.startswith("X: "), (
        f"{_name(candidate)}: rows of another length must raise a ValueError that begins with "
        f"'X: ', got {message or 'no error'}"
    )


def check_classifier(
    estimator: Any,
    expected_failed_checks: Mapping[str, str] | None = None,
) -> None:
    """Check the contract of scikit-learn, and that of this library on flips, for a classifier.

    Parameters
    ----------
    estimator : object
        An instance with the parameters to check.
    expected_failed_checks : dict of str to str, optional
        Checks of scikit-learn that the classifier cannot pass, each with the reason.

    Raises
    ------
    AssertionError
        If the classifier breaks a promise; the message says which one. Checks of scikit-learn raise
        their own errors.

    Examples
    --------
    >>> from noisylabels import RobustLogisticRegression
    >>> from noisylabels.checks import check_classifier
    >>> check_classifier(RobustLogisticRegression())
    """
    from sklearn.utils.estimator_checks import check_estimator

    failures = ARRAY_API | dict(expected_failed_checks or {})
    check_estimator(estimator, expected_failed_checks=failures, on_skip=None, on_fail="raise")
    check_words_of_flips(estimator)


ARRAY_API = {
    "check_array_api_input": "arrays of other libraries are not supported",
}
"""Checks of scikit-learn that no classifier of the library passes, with the reason."""


def check_words_of_flips(estimator: Any) -> None:
    """Check that a fit reports flips by attributes of the right form, or not at all.

    Parameters
    ----------
    estimator : object
        A classifier of two classes.

    Raises
    ------
    AssertionError
        If an attribute is missing, or is not of the right form.

    Examples
    --------
    >>> from noisylabels import RobustLogisticRegression
    >>> from noisylabels.checks import check_words_of_flips
    >>> check_words_of_flips(RobustLogisticRegression())
    """
    from sklearn.base import clone

    rng = np.random.default_rng(3)
    truth = np.arange(ROUNDS) % 2
    signs = 2 * truth[:, np.newaxis] - 1
    X = rng.standard_normal((ROUNDS, 2)) + 1.5 * signs
    is_drawn = rng.random(ROUNDS) < 0.3
    flipped = (truth == 0) & is_drawn
    given_classes = np.where(flipped, 1, truth)
    observed = np.array(["no", "yes"])[given_classes]
    model = clone(estimator).fit(X, observed)
    has_matrix = hasattr(model, "flip_matrix_")
    has_posterior = hasattr(model, "true_label_posterior")
    assert has_matrix or not has_posterior, (
        f"{_name(estimator)}: who has true_label_posterior must have flip_matrix_"
    )
    if not has_posterior:
        return
    assert np.shape(model.flip_matrix_) == (2, 2), f"{_name(estimator)}: flip_matrix_ must be 2 x 2"
    row_sums = np.sum(model.flip_matrix_, axis=1)
    _equal(row_sums, np.ones(2), "the rows of flip_matrix_ must sum to 1")
    posterior = np.asarray(model.true_label_posterior(X, observed))
    is_probability = ((posterior >= 0) & (posterior <= 1)).all()
    assert is_probability, f"{_name(estimator)}: true_label_posterior must lie between 0 and 1"
    is_flag = isinstance(model.converged_, bool)
    assert is_flag, f"{_name(estimator)}: converged_ must be True or False"


def _sequence() -> tuple[Floats, Floats, dict[str, Floats]]:
    """Draw rows, labels with noise of variance 1, and all that a filter may know."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(ROUNDS, ENTRIES))
    weights = rng.normal(size=ENTRIES)
    clean = X @ weights / np.sqrt(ENTRIES)
    noise = rng.normal(size=(2, ROUNDS))
    first, second = clean + noise
    return X, first, {"v": np.ones(ROUNDS), "second": second, "clean": clean}


def _instances(entries: int) -> Floats:
    """Make small instances, the same in every call."""
    return np.random.default_rng(1).uniform(-0.4, 0.4, size=(ROUNDS, entries))


def _oracle(copies: int, entries: int) -> ArrayOracle:
    """Draw noisy copies of the instances, the same in every call, and the covariance of their
    noise.
    """
    rng = np.random.default_rng(2)
    X = _instances(entries)
    noise = rng.normal(size=(ROUNDS, copies, entries))
    noisy = X[:, np.newaxis] + 0.1 * noise
    weights = rng.uniform(-0.5, 0.5, entries)
    targets = X @ weights
    return ArrayOracle(noisy, targets, 0.01 * np.eye(entries), exact_targets=True)


def _fresh(candidate: Filter) -> Filter:
    """Copy a filter from its parameters, without what it has learned."""
    return type(candidate)(**copy.deepcopy(candidate.get_params()))


def _message_of(call: Callable[[], Any]) -> str:
    """Return the message of the ValueError that a call raises; "" if it raises none."""
    try:
        call()
    except ValueError as error:
        return str(error)
    return ""


def _equal(result: Any, expected: Any, message: str) -> None:
    """Compare up to rounding, because a sliding window adds in another order than its rows."""
    same_shape = np.shape(result) == np.shape(expected)
    if not same_shape or not np.allclose(result, expected, rtol=1e-8, atol=1e-9, equal_nan=True):
        raise AssertionError(message)


def _name(candidate: Any) -> str:
    return type(candidate).__name__
