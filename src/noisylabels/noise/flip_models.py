"""Models that flip binary labels at random.

`independent`, `negative_only` and `positive_only` flip each label by its own coin. The other models
flip an exact number of labels, so that the realised rate is the nominal one. All of them take
labels of -1 and +1 and return a new array. Test labels are never passed through here.

Sources: Han, Tsang and Chen, ECML PKDD 2016, Section 5.1 (symmetric); Natarajan et al., NIPS 2013
(class-conditional); Kabán and Bootkrajang, LABELNOISE 2017 (coins).
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noisylabels.validation import Floats, number, whole

Labels = NDArray[np.int8]
LARGEST_REDRAWS = 10
"""Largest number of new tosses if all labels are of one class after the flips."""


def check_classes(y: Labels) -> None:
    """Refuse labels other than -1 and +1.

    Parameters
    ----------
    y : ndarray of shape (n,)
        The labels.

    Raises
    ------
    ValueError
        If a label is neither -1 nor +1.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels.noise.flip_models import check_classes
    >>> check_classes(np.array([0, 1]))
    Traceback (most recent call last):
    ValueError: labels must be -1 or +1, got [0, 1]
    """
    if not np.isin(y, (-1, 1)).all():
        raise ValueError(f"labels must be -1 or +1, got {np.unique(y)[:5].tolist()}")


def _count_flips(rate: float, n: int, name: str = "rate") -> int:
    return round(number(name, rate, least=0, most=1) * n)


def _flip(y: Labels, chosen: NDArray[Any]) -> Labels:
    noisy = y.copy()
    noisy[chosen] *= -1
    return noisy


def symmetric(y: Labels, rng: np.random.Generator, *, rate: float) -> Labels:
    """Flip an exact share of the labels, drawn without replacement.

    Parameters
    ----------
    y : ndarray of shape (n,)
        Labels of -1 and +1.
    rng : numpy.random.Generator
        Source of the draws.
    rate : float
        Share of the labels to flip, from 0 to 1. Beyond 1/2 the noise outweighs the labels.

    Returns
    -------
    ndarray of shape (n,)
        The noisy labels.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels.noise.flip_models import symmetric
    >>> noisy = symmetric(np.ones(10, dtype=np.int8), np.random.default_rng(0), rate=0.3)
    >>> int((noisy == -1).sum())
    3
    """
    chosen = rng.choice(len(y), _count_flips(rate, len(y)), replace=False)
    return _flip(y, chosen)


def compound(y: Labels, rng: np.random.Generator, *, rate: float, times: int) -> Labels:
    r"""Flip an exact share of the labels several times in a row.

    Parameters
    ----------
    y : ndarray of shape (n,)
        Labels of -1 and +1.
    rng : numpy.random.Generator
        Source of the draws.
    rate : float
        Share of the labels to flip each time, from 0 to 1.
    times : int
        How often, at least 1.

    Returns
    -------
    ndarray of shape (n,)
        The noisy labels.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels.noise.flip_models import compound
    >>> noisy = compound(np.ones(1000, dtype=np.int8), np.random.default_rng(0), rate=0.2, times=3)
    >>> float(np.mean(noisy == -1)) < 0.5
    True

    Notes
    -----
    The expected share of wrong labels is :math:`(1 - (1 - 2\, rate)^{times}) / 2`.
    """
    for _ in range(whole("times", times, 1)):
        y = symmetric(y, rng, rate=rate)
    return y


def uniform(y: Labels, rng: np.random.Generator, *, rate: float) -> Labels:
    """Replace an exact share of the labels by fair coins, which makes half of them wrong.

    Parameters
    ----------
    y : ndarray of shape (n,)
        Labels of -1 and +1.
    rng : numpy.random.Generator
        Source of the draws.
    rate : float
        Share of the labels to replace, from 0 to 1.

    Returns
    -------
    ndarray of shape (n,)
        The noisy labels.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels.noise.flip_models import uniform
    >>> noisy = uniform(np.ones(1000, dtype=np.int8), np.random.default_rng(0), rate=0.4)
    >>> 0.15 < float(np.mean(noisy == -1)) < 0.25
    True
    """
    noisy = y.copy()
    chosen = rng.choice(len(y), _count_flips(rate, len(y)), replace=False)
    noisy[chosen] = np.where(rng.random(len(chosen)) < 0.5, 1, -1)
    return noisy


def class_conditional(
    y: Labels,
    rng: np.random.Generator,
    *,
    positive: float,
    negative: float,
) -> Labels:
    """Flip an exact share of each class.

    Parameters
    ----------
    y : ndarray of shape (n,)
        Labels of -1 and +1.
    rng : numpy.random.Generator
        Source of the draws.
    positive : float
        Share of the labels +1 to flip, from 0 to 1.
    negative : float
        Share of the labels -1 to flip, from 0 to 1.

    Returns
    -------
    ndarray of shape (n,)
        The noisy labels.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels.noise.flip_models import class_conditional
    >>> y = np.repeat(np.array([1, -1], dtype=np.int8), 10)
    >>> noisy = class_conditional(y, np.random.default_rng(0), positive=0.2, negative=0.0)
    >>> int((noisy == -1).sum())
    12
    """
    noisy = y.copy()
    for label, rate, name in ((1, positive, "positive"), (-1, negative, "negative")):
        members = np.flatnonzero(y == label)
        chosen = rng.choice(members, _count_flips(rate, len(members), name), replace=False)
        noisy[chosen] *= -1
    return noisy


def _flip_by_coins(
    y: Labels,
    rng: np.random.Generator,
    positive: float,
    negative: float,
) -> Labels:
    """Flip each label with the probability of its class, and start again if one class is left."""
    for _ in range(1 + LARGEST_REDRAWS):
        noisy = _flip(y, rng.random(len(y)) < np.where(y > 0, positive, negative))
        if len(np.unique(noisy)) == 2:
            return noisy
    raise ValueError(
        f"{len(y)} labels of which {np.count_nonzero(y > 0)} are +1 were of one class after flips "
        f"with probability {positive:g} (+1) and {negative:g} (-1), {1 + LARGEST_REDRAWS} times; "
        "lower the rate"
    )


def independent(y: Labels, rng: np.random.Generator, *, rate: float) -> Labels:
    """Flip every label with the same probability, independently.

    Parameters
    ----------
    y : ndarray of shape (n,)
        Labels of -1 and +1.
    rng : numpy.random.Generator
        Source of the draws.
    rate : float
        Probability of a flip, at least 0 and below 1/2.

    Returns
    -------
    ndarray of shape (n,)
        The noisy labels. They are drawn again while only one class is left.

    Raises
    ------
    ValueError
        If the rate is out of range, or only one class is left after eleven draws.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels.noise.flip_models import independent
    >>> y = np.repeat(np.array([1, -1], dtype=np.int8), 500)
    >>> noisy = independent(y, np.random.default_rng(0), rate=0.2)
    >>> 0.15 < float(np.mean(noisy != y)) < 0.25
    True
    """
    probability = number("rate", rate, least=0, below=0.5)
    return _flip_by_coins(y, rng, probability, probability)


def negative_only(y: Labels, rng: np.random.Generator, *, rate: float) -> Labels:
    """Flip every label -1 with the same probability, and no label +1.

    Parameters
    ----------
    y : ndarray of shape (n,)
        Labels of -1 and +1.
    rng : numpy.random.Generator
        Source of the draws.
    rate : float
        Probability that a label -1 becomes +1, at least 0 and below 1.

    Returns
    -------
    ndarray of shape (n,)
        The noisy labels. They are drawn again while only one class is left.

    Raises
    ------
    ValueError
        If the rate is out of range, or only one class is left after eleven draws.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels.noise.flip_models import negative_only
    >>> y = np.repeat(np.array([1, -1], dtype=np.int8), 50)
    >>> noisy = negative_only(y, np.random.default_rng(0), rate=0.5)
    >>> bool((noisy[y == 1] == 1).all())
    True
    """
    return _flip_by_coins(y, rng, 0.0, number("rate", rate, least=0, below=1))


def positive_only(y: Labels, rng: np.random.Generator, *, rate: float) -> Labels:
    """Flip every label +1 with the same probability, and no label -1.

    Parameters
    ----------
    y : ndarray of shape (n,)
        Labels of -1 and +1.
    rng : numpy.random.Generator
        Source of the draws.
    rate : float
        Probability that a label +1 becomes -1, at least 0 and below 1.

    Returns
    -------
    ndarray of shape (n,)
        The noisy labels. They are drawn again while only one class is left.

    Raises
    ------
    ValueError
        If the rate is out of range, or only one class is left after eleven draws.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels.noise.flip_models import positive_only
    >>> y = np.repeat(np.array([1, -1], dtype=np.int8), 50)
    >>> noisy = positive_only(y, np.random.default_rng(0), rate=0.5)
    >>> bool((noisy[y == -1] == -1).all())
    True
    """
    return _flip_by_coins(y, rng, number("rate", rate, least=0, below=1), 0.0)


def far_outliers(y: Labels, rng: np.random.Generator, *, rate: float, f: Floats) -> Labels:
    """Flip the labels that are farthest from the decision boundary of a good classifier.

    Parameters
    ----------
    y : ndarray of shape (n,)
        Labels of -1 and +1.
    rng : numpy.random.Generator
        Not used: the model has no randomness.
    rate : float
        Share of the labels to flip, from 0 to 1.
    f : ndarray of shape (n,)
        Decision values of the classifier.

    Returns
    -------
    ndarray of shape (n,)
        The noisy labels.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels.noise.flip_models import far_outliers
    >>> y = np.array([1, 1, -1], dtype=np.int8)
    >>> far_outliers(y, np.random.default_rng(0), rate=1 / 3, f=np.array([0.1, 2.0, -1.0])).tolist()
    [1, -1, -1]

    References
    ----------
    The points of which Theorem 2 of Han, Tsang and Chen (2016) speaks.
    """
    farthest_first = np.argsort(-np.abs(f), kind="stable")
    return _flip(y, farthest_first[: _count_flips(rate, len(y))])


MODELS: dict[str, Callable[..., Labels]] = {
    model.__name__: model
    for model in (
        symmetric,
        compound,
        uniform,
        class_conditional,
        independent,
        negative_only,
        positive_only,
        far_outliers,
    )
}
"""The models by the names that settings use."""


def numbers(model: str) -> list[str]:
    """List the names of the numbers that follow a model in the label of a noise.

    Parameters
    ----------
    model : str
        A key of `MODELS`.

    Returns
    -------
    list of str
        The names, in order.

    Examples
    --------
    >>> from noisylabels.noise.flip_models import numbers
    >>> numbers("compound")
    ['rate', 'times']
    """
    parameters = inspect.signature(MODELS[model]).parameters
    return [name for name in parameters if name not in ("y", "rng", "f")]


def parse(label: str) -> tuple[str, dict[str, float]]:
    """Read the label of a noise: the name of its model, then the numbers of the model.

    Parameters
    ----------
    label : str
        Such as ``"compound 0.2 3"``.

    Returns
    -------
    model : str
        A key of `MODELS`.
    parameters : dict of str to float
        The numbers by their names.

    Raises
    ------
    ValueError
        If the model is unknown, a number is not one, or there are too few or too many.

    Examples
    --------
    >>> from noisylabels.noise.flip_models import parse
    >>> parse("compound 0.2 3")
    ('compound', {'rate': 0.2, 'times': 3})
    """
    model, *words = label.split()
    if model not in MODELS:
        models = ", ".join(MODELS)
        raise ValueError(f"noise {label!r}: unknown model {model!r}; known: {models}")
    names = numbers(model)
    parameters: dict[str, float] = {}
    try:
        for name, word in zip(names, words, strict=False):
            if name == "times":
                parameters[name] = int(word)
            else:
                parameters[name] = float(word)
    except ValueError as error:
        raise ValueError(f"noise {label!r}: {error}") from None
    if len(names) != len(words):
        needed = " and ".join(names)
        raise ValueError(f"noise {label!r}: {model} takes {needed}, got {len(words)} numbers")
    return model, parameters


def corrupt(
    y: Labels,
    label: str,
    rng: np.random.Generator,
    f: Floats | None = None,
) -> Labels:
    """Flip labels by the noise that a label names.

    Parameters
    ----------
    y : ndarray of shape (n,)
        Labels of -1 and +1.
    label : str
        The noise, see `parse`.
    rng : numpy.random.Generator
        Source of the draws.
    f : ndarray of shape (n,), optional
        Decision values of a classifier, for `far_outliers` only.

    Returns
    -------
    ndarray of shape (n,)
        The noisy labels.

    Raises
    ------
    ValueError
        If the label cannot be read, a rate is out of range, or y has other classes than -1 and +1.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels.noise.flip_models import corrupt
    >>> corrupt(np.array([1, -1], dtype=np.int8), "symmetric 1", np.random.default_rng(0)).tolist()
    [-1, 1]
    """
    model, parameters = parse(label)
    check_classes(y)
    decision_values = {} if f is None else {"f": f}
    return MODELS[model](y, rng, **parameters, **decision_values)
