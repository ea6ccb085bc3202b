"""Methods are found by the name of their file, or as package.module:Class."""

import sys
from pathlib import Path

import pytest

from noisylabels import METHODS
from noisylabels.filters.ors import ORS
from reproduction.methods import find


@pytest.mark.parametrize(
    "name", ["ors", "lms", "nlms", "sm_nlms", "npvss_nlms", "jo_nlms", "inlms", "rls", "pnorm_lms"]
)
def test_a_method_is_the_class_that_the_table_names(name: str) -> None:
    method = find(name)
    assert method.name == name
    assert METHODS[name] == f"{method.__module__.removeprefix('noisylabels.')}:{method.__name__}"


def test_a_users_own_class_needs_no_registration(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "my_filters.py").write_text("class Mine:\n    pass\n")
    (tmp_path / "broken_filters.py").write_text("import a_package_that_is_missing\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    assert find("my_filters:Mine").__name__ == "Mine"
    assert find("noisylabels.filters.ors:ORS") is ORS
    with pytest.raises(ModuleNotFoundError, match="a_package_that_is_missing"):
        find("broken_filters:Any")
    with pytest.raises(ValueError, match="module 'my_filters' has no class 'Mime'; did you mean Mine"):
        find("my_filters:Mime")
    sys.modules.pop("my_filters")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("orz", "'orz' is unknown; did you mean ors"),
        ("nmls", "did you mean nlms"),
        ("qqqqqqq", "known: .*ors"),
        ("nowhere.module:Class", "no module 'nowhere.module'"),
        ("base", "is unknown"),
    ],
)
def test_a_wrong_name_suggests_the_right_one(name: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        find(name)
