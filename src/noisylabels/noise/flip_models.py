"""Models that flip binary labels at random, by the names that settings use.

The models are in `noisylabels.noise.coin_flips`, where each label has its own coin, and in
`noisylabels.noise.exact_flips`, where the number of flips is exact. Each is imported when it is
first used. All of them take labels of -1 and +1 and return a new array. Test labels are never
passed through here.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noisylabels.validation import Floats

Labels = NDArray[np.int8]
MODULES = {
    "symmetric": "exact_flips",
    "compound": "exact_flips",
    "uniform": "exact_flips",
    "class_conditional": "exact_flips",
    "independent": "coin_flips",
    "negative_only": "coin_flips",
    "positive_only": "coin_flips",
    "far_outliers": "exact_flips",
}
"""Name of a model -> its module."""


class Models(Mapping[str, Callable[..., Labels]]):
    """The models by name, each imported when it is first used.

    Examples
    --------
    >>> from noisylabels.noise.flip_models import MODELS
    >>> MODELS["symmetric"].__module__
    'noisylabels.noise.exact_flips'
    """

    def __getitem__(self, name: str) -> Callable[..., Labels]:
        module = import_module(f"noisylabels.noise.{MODULES[name]}")
        model: Callable[..., Labels] = getattr(module, name)
        return model

    def __contains__(self, name: object) -> bool:
        return name in MODULES

    def __iter__(self) -> Iterator[str]:
        return iter(MODULES)

    def __len__(self) -> int:
        return len(MODULES)


MODELS = Models()
"""The models by the names that settings use."""


def __getattr__(name: str) -> Any:
    """Give a model by its name."""
    if name in MODULES:
        return MODELS[name]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


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
