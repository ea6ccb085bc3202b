"""Compiled functions are never older than a source that they depend on, and need no folder."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from noisylabels import compilation

OUTER = """
from package.plain import START
from package.inner import double
from noisylabels.compilation import compile_kernel

@compile_kernel()
def compute(x):
    return double(x) + START
"""
INNER = """
from noisylabels.compilation import compile_kernel

@compile_kernel()
def double(x):
    return 2 * x
"""
TRIPLE = INNER.replace("double", "triple").replace("2 * x", "3 * x")
APART = "from package.plain import count_rows\n" + TRIPLE
PLAIN = "START = 100\n\ndef count_rows(rows):\n    return len(rows)\n"
SHOW = """
from package import apart, outer
def show(function):
    print(function(1), sum(function.stats.cache_misses.values()))
show(outer.compute)
show(apart.triple)
"""


@pytest.fixture(scope="module")
def compiled(tmp_path_factory):
    """A package whose functions use those of its other modules, and a copy of it, compiled once."""
    root = tmp_path_factory.mktemp("compiled")
    folder = root / "used/sources/package"
    folder.mkdir(parents=True)
    sources = {"__init__": "", "outer": OUTER, "inner": INNER, "apart": APART, "plain": PLAIN}
    for name, text in sources.items():
        (folder / f"{name}.py").write_text(text)
    with pytest.MonkeyPatch.context() as patch:
        set_folders(patch, root / "used")
        assert compute() == ((102, 1), (3, 1))
    shutil.copytree(root / "used", root / "as_compiled")
    return root


def set_folders(patch, folder):
    """Let Python import from the sources in a folder, and compile into its cache."""
    patch.setenv("PYTHONPATH", os.pathsep.join([str(folder / "sources"), str(compilation.ROOT)]))
    patch.setenv("NUMBA_CACHE_DIR", str(folder / "cache"))
    patch.setenv("PYTHONDONTWRITEBYTECODE", "1")  # Python's own files go by time and size


@pytest.fixture
def package(compiled, monkeypatch):
    """The package as it was compiled, in the same folder for each test, and its cache."""
    folder = compiled / "used"
    shutil.rmtree(folder)
    shutil.copytree(compiled / "as_compiled", folder)
    set_folders(monkeypatch, folder)
    return folder / "sources/package"


@pytest.fixture
def cache(package):
    """The folder with what was compiled of the package."""
    return package.parents[1] / "cache"


def run_python(code, **options):
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, **options)
    assert done.returncode == 0, done.stderr
    return done


def compute():
    """The numbers of both functions, each with how often this process had to compile it."""
    value, compiled, other_value, other_compiled = map(int, run_python(SHOW).stdout.split())
    return (value, compiled), (other_value, other_compiled)


def replace(folder, module, old, new):
    """Edit a file without a trace in its time or its size."""
    file = folder / f"{module}.py"
    times = file.stat().st_atime_ns, file.stat().st_mtime_ns
    file.write_text(file.read_text().replace(old, new))
    os.utime(file, ns=times)


@pytest.mark.nightly
def test_an_edit_of_what_a_function_uses_is_seen_and_nothing_else_is_compiled_again(package):
    assert compute() == ((102, 0), (3, 0))
    replace(package, "inner", "2 * x", "5 * x")
    assert compute() == ((105, 1), (3, 0))
    replace(package, "plain", "100", "200")
    assert compute() == ((205, 1), (3, 0))
    replace(package, "inner", "5 * x", "2 * x")
    replace(package, "plain", "200", "100")
    assert compute() == ((102, 0), (3, 0))


def test_a_comment_in_another_module_does_not_count(package):
    replace(package, "inner", "    return", "    # a comment\n    return")
    assert compute() == ((102, 0), (3, 0))


@pytest.fixture
def library(tmp_path):
    """A copy of the library's sources, without anything compiled."""
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(compilation.ROOT / "noisylabels", tmp_path / "noisylabels", ignore=ignored)
    return tmp_path / "noisylabels"


FILTER = """
import numpy as np
from noisylabels import NLMS
print(NLMS(mu=0.5).run(np.ones((3, 2)), np.ones(3))[-1])
"""


@pytest.mark.nightly
def test_an_upgrade_of_the_library_reaches_functions_that_were_compiled_before(
    library,
    monkeypatch,
):
    """The new version of one file doubles the product of two vectors."""
    monkeypatch.setenv("PYTHONPATH", str(library.parent))
    monkeypatch.delenv("NUMBA_CACHE_DIR")
    assert float(run_python(FILTER).stdout) == pytest.approx(0.75, abs=1e-3)
    assert list((library / "__pycache__" / "kernels").glob("noisylabels.filters.lms-*"))
    source = library / "fixed_order" / "lanes.py"
    before, definition, after = source.read_text().partition("def dot(")
    source.write_text(before + definition + after.replace("return ", "return 2.0 * ", 1))
    assert float(run_python(FILTER).stdout) == pytest.approx(1.0, abs=1e-3)


PRODUCT = """
import numpy as np
from noisylabels.fixed_order import lanes
print(lanes.dot(np.ones(3), 0, np.ones(3)))
"""


def test_without_a_folder_functions_are_compiled_and_one_warning_says_how_to_name_one(
    library,
    tmp_path,
):
    (library / "__pycache__").write_text("a file, which stops root too")
    home = tmp_path / "home"
    home.write_text("a file")
    environment = {
        "PYTHONPATH": str(tmp_path),
        "HOME": str(home),
        "NUMBA_CACHE_DIR": str(home / "cache"),
    }
    done = run_python(PRODUCT, env=environment)
    assert float(done.stdout) == 3.0
    assert done.stderr.count("noisylabels cannot keep compiled functions") == 1
    assert "Set NUMBA_CACHE_DIR to a folder that can be written." in done.stderr
    home.unlink()
    done = run_python(PRODUCT, env=environment | {"NUMBA_CACHE_DIR": ""})
    assert float(done.stdout) == 3.0
    assert done.stderr == ""
    assert list((home / ".cache" / "noisylabels").glob("noisylabels.fixed_order.lanes-*"))


def test_old_states_of_a_module_are_removed_when_a_new_one_is_compiled(package, cache):
    [folder] = cache.glob("package.outer-*")
    [neighbour] = cache.glob("package.apart-*")
    old = folder.with_name("package.outer-old")
    recent = folder.with_name("package.outer-recent")
    old.mkdir()
    recent.mkdir()
    for unused in (old, neighbour):
        os.utime(unused, (0, 0))
    replace(package, "inner", "2 * x", "5 * x")
    compute()
    assert not old.exists()
    assert recent.exists()
    assert folder.exists()
    assert neighbour.stat().st_mtime > 0  # a folder in use is marked as such


def test_a_damaged_record_of_the_sources_is_made_again(cache):
    (cache / "sources.json").write_text("[1")
    assert compute() == ((102, 0), (3, 0))


def test_without_a_compiler_one_sentence_says_what_to_do(package):
    done = subprocess.run(
        [sys.executable, "-c", "from noisylabels import NLMS"],
        env=os.environ | {"NUMBA_DISABLE_JIT": "1"},
        capture_output=True,
        text=True,
    )
    last = done.stderr.splitlines()[-1]
    assert last.startswith("ImportError: noisylabels cannot run with NUMBA_DISABLE_JIT=1")
    assert last.endswith("unset NUMBA_DISABLE_JIT")


def test_every_compiled_function_of_the_library_goes_through_the_decorator():
    for file in (compilation.ROOT / "noisylabels").rglob("*.py"):
        if file != Path(compilation.__file__):
            assert "njit" not in file.read_text(encoding="utf-8"), file


INTERRUPTED = """
import signal
import numpy as np
from noisylabels.compilation import compile_kernel

@compile_kernel()
def count(total) -> "tuple[Floats, Floats]":
    for _ in range(10_000_000):
        total[0] += 1.0
    return total, total

count(np.zeros(1))
signal.signal(signal.SIGALRM, signal.default_int_handler)
for _ in range(20):
    try:
        signal.setitimer(signal.ITIMER_REAL, 1e-3)
        count(np.zeros(1))
    except KeyboardInterrupt:
        continue
    raise SystemExit("no interrupt")
try:
    count("text")
except Exception as error:
    print(type(error).__name__)
"""


def test_an_interrupt_inside_a_kernel_is_a_keyboard_interrupt_and_other_errors_stay_what_they_are():
    assert run_python(INTERRUPTED).stdout == "TypingError\n"
