"""Solvers on small problems run BLAS on one thread, because more threads take longer there."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from functools import cache, wraps
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")
# rows up to which one thread is used: it is faster up to 800, see benchmarks/README.md
SMALL = 1000


@cache
def _blas() -> Any:
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController().select(user_api="blas")


def single_threaded_if_small(solve: Callable[P, T]) -> Callable[P, T]:
    """Run a solver with BLAS on one thread if its problem has fewer than 1000 rows.

    The problem is its first argument, or the Q of it. Where there is one thread already nothing is
    set: calls that overlap leave no limit behind.

    Parameters
    ----------
    solve : callable
        The solver.

    Returns
    -------
    callable
        The solver with the same parameters.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels.blas_threads import single_threaded_if_small
    >>> single_threaded_if_small(np.linalg.inv)(np.eye(2)).tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """

    @wraps(solve)
    def limited(*args: P.args, **kwargs: P.kwargs) -> T:
        small = len(getattr(args[0], "Q", args[0])) < SMALL  # type: ignore[arg-type]
        several = small and any(library.num_threads > 1 for library in _blas().lib_controllers)
        with _blas().limit(limits=1) if several else nullcontext():
            return solve(*args, **kwargs)

    return limited
