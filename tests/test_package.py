"""The package imports fast, offers every method by the name of its class, and knows its version."""

import ast
import importlib
import subprocess
import sys
from pathlib import Path

import pytest

import noisylabels
from reproduction import methods


def python(code):
    subprocess.run([sys.executable, "-c", code], check=True, env={"PYTHONPATH": "src"})


def test_the_version_is_a_text_and_other_names_are_unknown():
    assert isinstance(noisylabels.__version__, str)
    with pytest.raises(AttributeError, match="no attribute 'versoin'"):
        noisylabels.versoin  # noqa: B018
    with pytest.raises(AttributeError, match="no attribute 'RobustSDGClassifier'; did you mean RobustSGD"):
        noisylabels.RobustSDGClassifier  # noqa: B018


def test_every_method_is_a_public_name():
    assert len(methods.public()) == len(methods.known())  # no two methods share a class name
    for name in methods.known():
        cls = methods.find(name)
        assert getattr(noisylabels, cls.__name__) is cls
    assert noisylabels.__all__ == sorted([*methods.public(), *noisylabels.FUNCTIONS])
    assert set(noisylabels.__all__) <= set(dir(noisylabels))


def test_type_checkers_see_the_same_names():
    tree = ast.parse(Path(noisylabels.__file__).read_text())
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    seen = {alias.asname: node.module for node in imports for alias in node.names if alias.asname}
    wanted = methods.public() | noisylabels.FUNCTIONS
    lines = [f"from {wanted[name]} import {name} as {name}" for name in wanted if name not in seen]
    assert not lines, "add to `if TYPE_CHECKING` in __init__.py:\n" + "\n".join(lines)
    assert seen == wanted


def test_an_import_loads_nothing_heavy():
    heavy = ("numpy", "scipy", "sklearn", "numba", "pandas", "matplotlib", "importlib.metadata", "ast")
    python(f"import sys, noisylabels; assert not set({heavy}) & set(sys.modules)")
    python("import sys; from noisylabels import ORS; assert 'sklearn' not in sys.modules; ORS()")
    python("from noisylabels import *; ORS, RobustSGDClassifier")


ONLY_WHAT_METHODS_NEED = """
import sys

allowed = {"noisylabels", "numpy", "scipy", "sklearn", "numba", "llvmlite"}
allowed |= {"joblib", "cloudpickle", "threadpoolctl", "narwhals"}  # what these need


class OnlyThese:
    def find_spec(self, name, path=None, target=None):
        top = name.partition(".")[0]
        if not (top in allowed or top in sys.stdlib_module_names or top.startswith("_")):
            raise ModuleNotFoundError(f"{name} is not installed", name=name)


sys.meta_path.insert(0, OnlyThese())
"""


def test_methods_load_and_run_without_what_only_the_pipeline_needs():
    python(
        ONLY_WHAT_METHODS_NEED + "from noisylabels import *\n"
        "from noisylabels import RobustLogisticRegression, NLMS\n"
        "import numpy as np\n"
        "X = np.random.default_rng(0).normal(size=(60, 2))\n"
        "assert RobustLogisticRegression().fit(X, X[:, 0] > 0).predict(X).any()\n"
        "NLMS().run(X, X @ [1.0, 2.0])"
    )


def test_an_audit_without_pandas_says_what_to_install():
    python(
        ONLY_WHAT_METHODS_NEED + "from noisylabels import audit\n"
        "try:\n"
        "    audit([[0.0], [1.0]] * 20, [0, 1] * 20)\n"
        "except ModuleNotFoundError as error:\n"
        "    assert \"pip install 'noisylabels[audit]'\" in str(error)\n"
        "else:\n"
        "    raise AssertionError"
    )


def test_subpackages_are_not_taken_for_methods():
    from noisylabels import statistics

    assert statistics is importlib.import_module("noisylabels.statistics")


def test_the_library_never_imports_the_workflow():
    python(
        "import pkgutil, sys, importlib, noisylabels\n"
        "for module in pkgutil.walk_packages(noisylabels.__path__, 'noisylabels.'):\n"
        "    importlib.import_module(module.name)\n"
        "assert 'snakemake' not in sys.modules"
    )
