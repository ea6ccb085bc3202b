"""The library by itself: what it loads, what it does without the project, which names are public.

Who may import whom is configured in pyproject.toml, and `tests/test_tools.py` checks it.
"""

import ast
import importlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

import noisylabels
from noisylabels import METHODS

SOURCES = Path(noisylabels.__file__).parents[1]
LIBRARY = {
    "noisylabels",
    "numpy",
    "scipy",
    "sklearn",
    "numba",
    "llvmlite",
    "joblib",
    "threadpoolctl",
}
CROWD_METHODS = ("CrowdLab", "DawidSkene", "GLAD", "MajorityVote", "OneCoin")
CROWDS = [f"crowds:{name}" for name in CROWD_METHODS]
FURTHER = [
    *CROWDS,
    "auditing.corrected:CorrectedClassifier",
    "auditing.audit:audit",
    "auditing.review:review",
    "out_of_core:chunks",
    "filters.base:Sliding",
    "filters.streams:StreamModel",
    "filters.streams:to_river",
]
PUBLIC = [tuple(reversed(path.split(":"))) for path in [*METHODS.values(), *FURTHER]]

ENVIRONMENT = {
    "PYTHONPATH": str(SOURCES),
    "NUMBA_CACHE_DIR": os.environ["NUMBA_CACHE_DIR"],
}


def python(code):
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, env=ENVIRONMENT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


ONLY_THE_LIBRARY = f"""
import sys
allowed = {LIBRARY} | {{"cloudpickle", "threadpoolctl", "narwhals"}}  # what these need
class OnlyThese:
    def find_spec(self, name, path=None, target=None):
        top = name.partition(".")[0]
        if not (top in allowed or top in sys.stdlib_module_names or top.startswith("_")):
            raise ModuleNotFoundError(f"{{name}} is not installed", name=name)
sys.meta_path.insert(0, OnlyThese())
"""


def test_methods_load_and_run_without_what_only_the_project_needs():
    python(
        ONLY_THE_LIBRARY + "from noisylabels import *\n"
        "import numpy as np\n"
        "X = np.random.default_rng(0).normal(size=(60, 2))\n"
        "assert RobustLogisticRegression().fit(X, X[:, 0] > 0).predict(X).any()\n"
        "NLMS().run(X, X @ [1.0, 2.0])"
    )


def test_an_audit_without_pandas_says_what_to_install():
    python(
        ONLY_THE_LIBRARY + "from noisylabels import audit\n"
        "try:\n"
        "    audit([[0.0], [1.0], [2.0]] * 20, [0, 1] * 30)\n"
        "except ModuleNotFoundError as error:\n"
        '    assert "pip install pandas" in str(error)\n'
        "else:\n"
        "    raise AssertionError"
    )


def test_an_import_loads_nothing_heavy():
    heavy = (
        "numpy",
        "scipy",
        "sklearn",
        "numba",
        "pandas",
        "matplotlib",
        "importlib.metadata",
        "ast",
    )
    python(f"import sys, noisylabels; assert not set({heavy}) & set(sys.modules)")
    python("import sys; from noisylabels import ORS; assert 'sklearn' not in sys.modules; ORS()")


def test_every_method_is_a_public_name_that_type_checkers_see():
    public = {name: f"noisylabels.{module}" for name, module in PUBLIC}
    assert noisylabels.__all__ == sorted(public)
    assert len(PUBLIC) == len(public)  # no two methods share a class name
    for name, module in public.items():
        assert getattr(noisylabels, name) is getattr(importlib.import_module(module), name)
    stub = ast.parse(Path(noisylabels.__file__).with_suffix(".pyi").read_text(encoding="utf-8"))
    modules = {}
    for node in stub.body:
        if isinstance(node, ast.ImportFrom):
            modules |= {alias.asname: node.module for alias in node.names}
    assert {name: modules.get(name) for name in public} == public


def test_the_version_is_a_text_and_other_names_are_unknown_with_the_nearest():
    assert isinstance(noisylabels.__version__, str)
    message = "no attribute 'RobustSDGClassifier'; did you mean RobustSGD"
    with pytest.raises(AttributeError, match=message):
        noisylabels.RobustSDGClassifier  # noqa: B018


@pytest.mark.parametrize(
    ("file", "held"),
    [
        (
            "noisylabels/__init__.py",
            {"METHODS", "REMOVED", "_PUBLIC", "__all__", "__getattr__", "__dir__"},
        ),
        ("scripts/__init__.py", set()),
    ],
)
def test_what_the_digests_of_code_leave_out_holds_names_only(file, held):
    tree = ast.parse((SOURCES / file).read_text(encoding="utf-8"))
    names_left_out = set()
    for node in tree.body:
        if isinstance(node, ast.Assign):
            names_left_out |= {ast.unparse(target) for target in node.targets}
        elif isinstance(node, ast.FunctionDef):
            names_left_out.add(node.name)
        else:
            assert isinstance(node, ast.ImportFrom | ast.Expr)
            assert isinstance(node, ast.Expr) or node.module == "__future__"
    assert names_left_out == held


@pytest.mark.parametrize("name", sorted(noisylabels.REMOVED))
def test_a_class_of_version_1_says_where_it_is_now(name):
    message = noisylabels.REMOVED[name]
    with pytest.raises(ImportError) as imported:
        exec(f"from noisylabels import {name}")
    assert str(imported.value) == f"noisylabels.{name} {message}"
    with pytest.raises(ImportError) as error:
        getattr(noisylabels, name)
    assert str(error.value) == f"noisylabels.{name} {message}"
