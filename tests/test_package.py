"""The package imports fast and knows its version."""

import subprocess
import sys

import pytest

import noisylabels


def test_the_version_is_a_text_and_other_names_are_unknown():
    assert isinstance(noisylabels.__version__, str)
    with pytest.raises(AttributeError, match="no attribute 'versoin'"):
        noisylabels.versoin  # noqa: B018


def test_the_library_never_imports_the_workflow():
    code = (
        "import pkgutil, sys, importlib, noisylabels\n"
        "for module in pkgutil.walk_packages(noisylabels.__path__, 'noisylabels.'):\n"
        "    importlib.import_module(module.name)\n"
        "assert 'snakemake' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True, env={"PYTHONPATH": "src"})
