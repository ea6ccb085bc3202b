"""MATLAB files up to version 7 through SciPy, with errors that name the file and what it holds."""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.io import loadmat

from reproduction.data.readers.streams import MEND


def read(path: Path) -> dict[str, Any]:
    """Variables of a ``.mat`` file, without MATLAB's own entries; ValueError if it cannot be parsed."""
    try:
        variables = loadmat(path)
    except Exception as error:  # a damaged file makes SciPy raise nearly anything
        if isinstance(error, OSError) and error.errno is not None:  # not readable at all
            raise
        raise ValueError(f"{path.name}: not a readable MATLAB file ({error}); {MEND}") from error
    return {name: value for name, value in variables.items() if not name.startswith("__")}


def numeric(variables: dict[str, Any], name: str, where: str) -> NDArray[Any]:
    """Two-dimensional numeric variable ``name``, a sparse matrix made dense.

    Raises
    ------
    ValueError : no such variable (the message lists those there are), or one that is not numeric.
    """
    if name not in variables:
        raise ValueError(f"{where}: no variable {name!r}, found {contents(variables)}")
    value = variables[name]
    value = np.asarray(value.toarray() if hasattr(value, "toarray") else value)
    if value.ndim != 2 or value.dtype.kind not in "biuf":
        raise ValueError(f"{where}: variable {name!r} is not a numeric matrix, found {contents(variables)}")
    return value


def contents(variables: dict[str, Any]) -> str:
    """Names and shapes, e.g. ``x (2000x2), y (2000x1)``."""
    return (
        ", ".join(
            f"{name} ({'x'.join(map(str, np.shape(value)))})" for name, value in sorted(variables.items())
        )
        or "nothing"
    )
