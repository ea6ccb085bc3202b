"""One thread everywhere, set before NumPy is imported: results must not depend on the number of cores."""

import os
import sys
from collections import Counter

THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")

if "numpy" in sys.modules and any(os.environ.get(name) != "1" for name in THREAD_VARIABLES):
    raise RuntimeError(f"NumPy was imported before the tests could set {', '.join(THREAD_VARIABLES)} to 1")
for name in THREAD_VARIABLES:
    os.environ[name] = "1"
os.environ.setdefault("MPLBACKEND", "Agg")

from pathlib import Path  # noqa: E402

import pytest  # noqa: E402

from noisylabels.frame.dependencies import kernel_digest  # noqa: E402

# The cache that the workflow uses: named by the kernels' sources, so that no stale kernel is ever run.
CACHE = Path(__file__).resolve().parents[1] / ".cache/numba"
os.environ.setdefault("NUMBA_CACHE_DIR", str(CACHE / kernel_digest()))

from hypothesis import settings  # noqa: E402

# No deadline: the first call of a kernel compiles it. The same examples in every run, so a failure repeats.
settings.register_profile("noisylabels", deadline=None, derandomize=True)
settings.load_profile("noisylabels")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What takes longest starts first, and what shares a set-up stays with one worker.

    The tests of a cluster mostly wait, and take turns; those of the workflow go one by one; others by file.
    """
    tests = Counter(item.path for item in items)
    for item in items:
        workflow = item.get_closest_marker("workflow") is not None
        if not workflow or item.path.parent.name == "cluster":
            item.add_marker(pytest.mark.xdist_group("cluster" if workflow else item.path.stem))
    items.sort(key=lambda item: _place(item, tests))


def _place(item: pytest.Item, tests: Counter[Path]) -> tuple[bool, bool, int]:
    """Cluster, workflow, then files by their number of tests."""
    workflow = item.get_closest_marker("workflow") is not None
    return item.path.parent.name != "cluster", not workflow, 0 if workflow else -tests[item.path]
