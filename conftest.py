"""What all tests share: one thread, set before NumPy is imported, and the levels of tests."""

import gc
import os
import sys
from collections import Counter
from collections.abc import Generator
from typing import Any

THREAD_VARIABLES = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "NUMBA_NUM_THREADS",
)
"""Results must not depend on the number of cores."""

if "numpy" in sys.modules and any(os.environ.get(name) != "1" for name in THREAD_VARIABLES):
    variables = ", ".join(THREAD_VARIABLES)
    raise RuntimeError(f"NumPy was imported before the tests could set {variables} to 1")
for name in THREAD_VARIABLES:
    os.environ[name] = "1"
os.environ.setdefault("MPLBACKEND", "Agg")

# Modules and tests live as long as the process. The collector of garbage would look through them
# again and again, for a seventh of the time until the first test.
gc.disable()

from pathlib import Path  # noqa: E402

import opened  # noqa: E402
import pytest  # noqa: E402
import yaml  # noqa: E402

# The folder in which the workflow keeps compiled functions.
CACHE = Path(__file__).with_name(".cache") / "numba"
os.environ.setdefault("NUMBA_CACHE_DIR", str(CACHE))


def pytest_configure(config: pytest.Config) -> None:
    """Prepare a process that tests; with ``-n``, the first process only starts others."""
    if config.getoption("numprocesses", None) and not hasattr(config, "workerinput"):
        gc.enable()
        return
    leave_compilations_untraced()
    choose_examples("default" if config.option.markexpr else "nightly")


def leave_compilations_untraced() -> None:
    """Let Numba compile without the tracer that counts lines."""
    from numba.core.dispatcher import Dispatcher

    Dispatcher.compile = untraced(Dispatcher.compile)


def untraced(function):
    """The function without the tracer that counts lines: it doubles the time of a compilation."""

    def call(*arguments, **keywords):
        trace = sys.gettrace()
        sys.settrace(None)
        try:
            return function(*arguments, **keywords)
        finally:
            sys.settrace(trace)

    return call


EXAMPLES = {"default": 40, "nightly": 100}
"""Level -> number of examples of a property, where its test names none."""


def choose_examples(level: str) -> None:
    """Choose how many examples of a property are tried.

    There is no deadline, as the first call of a kernel compiles it. Every run has the same
    examples, so that a failure repeats.
    """
    from hypothesis import settings

    count = EXAMPLES[level]
    settings.register_profile(level, max_examples=count, deadline=None, derandomize=True)
    settings.load_profile(level)


# Tests read and write settings a thousand times; PyYAML in C takes a tenth of the time.
yaml.SafeLoader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
yaml.SafeDumper = getattr(yaml, "CSafeDumper", yaml.SafeDumper)


def pytest_collection_finish() -> None:
    """Stop counting the files that imports open; collect the garbage of tests alone."""
    opened.collecting = False
    gc.freeze()
    gc.enable()


@pytest.fixture
def run(tmp_path):
    """Make runs of this checkout, each in a folder of its own: run("name")."""
    from runs import Run

    return lambda name: Run(tmp_path / name)


@pytest.fixture
def copy(tmp_path_factory):
    """A copy of the checkout that may be edited, and is run in its own folder."""
    from runs import copied

    return copied(tmp_path_factory.getbasetemp() / "copy")


# --- levels ---

NO_SKIPS = bool(os.environ.get("NOISYLABELS_NO_SKIPS"))
"""The nightly level has all that a test can need, so a test that is skipped there has failed."""

LEFT_OUT: Counter[str] = Counter()
"""Folder or file of tests -> how many of its nightly tests this run leaves out."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Start what takes longest first: cluster, workflow, site, then files by number of tests.

    Tests of the site follow each other, so that one worker builds it for all.

    Counting lines doubles the time of what runs in Python. It is left out where it would count the
    same lines again: in nightly tests, and in nine of ten cases of a test that has more than 100.
    """
    cases = Counter(item.nodeid.partition("[")[0] for item in items)
    for index, item in enumerate(items):
        has_many_cases = cases[item.nodeid.partition("[")[0]] > 100
        if item.get_closest_marker("nightly") or (has_many_cases and index % 10):
            item.add_marker("no_cover")
    tests = Counter(item.path for item in items)
    workflow = {item.path for item in items if item.get_closest_marker("workflow")}

    def place(item: pytest.Item) -> tuple[bool, bool, bool, int]:
        folder = item.path.parent.name
        return folder != "cluster", item.path not in workflow, folder != "site", -tests[item.path]

    items.sort(key=place)


def pytest_deselected(items: list[pytest.Item]) -> None:
    """Count the nightly tests that are left out."""
    for item in items:
        if item.get_closest_marker("nightly"):
            path = item.nodeid.partition("::")[0].removeprefix("tests/").removeprefix("src/")
            LEFT_OUT[path.partition("/")[0]] += 1


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Tell the process that started this worker what was left out."""
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput["left_out"] = dict(LEFT_OUT)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Take over from a worker what it left out: every worker collects the same tests."""
    LEFT_OUT.update(node.workeroutput["left_out"] if not LEFT_OUT else {})


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """Name the level, and what it leaves out."""
    if not config.option.markexpr:
        terminalreporter.write_line("level: all, nothing is left out")
    elif LEFT_OUT:
        parts = ", ".join(f"{part} {count}" for part, count in LEFT_OUT.most_common())
        left_out = f"without {LEFT_OUT.total()} nightly tests ({parts})"
        terminalreporter.write_line(f"level: default, {left_out}; ./run test --all runs them")


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport() -> Generator[None, Any, None]:
    """Where nothing may be missing, a skipped test has failed."""
    outcome = yield
    fail_if_skipped(outcome.get_result())


@pytest.hookimpl(hookwrapper=True)
def pytest_make_collect_report() -> Generator[None, Any, None]:
    """The same for a file that is skipped as a whole."""
    outcome = yield
    fail_if_skipped(outcome.get_result())


def fail_if_skipped(report: Any) -> None:
    """Make a failure of a skip whose reason is not an expected failure."""
    if NO_SKIPS and report.skipped and not hasattr(report, "wasxfail"):
        report.outcome = "failed"
        report.longrepr = f"skipped where NOISYLABELS_NO_SKIPS forbids it: {report.longrepr}"
