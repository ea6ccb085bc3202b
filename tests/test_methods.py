"""Methods are found by name or as package.module:Class, and have what experiments ask of them."""

import inspect
import re
import sys

import pytest

import noisylabels
from noisylabels import METHODS
from noisylabels.filters.ors import ORS
from reproduction.protocols.settings import SIGNATURES, Method, method_class

CLASSES = {name: getattr(noisylabels, place.partition(":")[2]) for name, place in METHODS.items()}


def test_a_method_is_the_class_that_the_table_names():
    for name, cls in CLASSES.items():
        assert method_class(name) is cls
        assert METHODS[name] == f"{cls.__module__.removeprefix('noisylabels.')}:{cls.__name__}"


def test_a_users_own_class_needs_no_registration(tmp_path, monkeypatch):
    (tmp_path / "my_filters.py").write_text("class Mine:\n    pass\n")
    (tmp_path / "broken_filters.py").write_text("import a_package_that_is_missing\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    assert method_class("my_filters:Mine").__name__ == "Mine"
    assert method_class("noisylabels.filters.ors:ORS") is ORS
    with pytest.raises(ModuleNotFoundError, match="a_package_that_is_missing"):
        method_class("broken_filters:Any")
    with pytest.raises(ValueError, match="module 'my_filters' has no class 'Mime'; did you mean Mine"):
        method_class("my_filters:Mime")
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
def test_a_wrong_name_suggests_the_right_one(name, message):
    with pytest.raises(ValueError, match=message):
        method_class(name)


@pytest.mark.parametrize("member", [member for member, shape in SIGNATURES.items() if "(" in shape])
def test_members_take_what_the_signature_says(member):
    given = re.findall(r"(?<!\*)\b\w+\b", SIGNATURES[member].partition("(")[2].partition(")")[0])
    keeping = [cls for cls in CLASSES.values() if hasattr(cls, member)]
    assert keeping, f"no method has {member}: delete it"
    for cls in keeping:
        found = inspect.signature(getattr(cls, member)).parameters.values()
        own = [each for each in found if each.name != "self" and each.kind is not each.VAR_KEYWORD]
        assert [each.name for each in own if each.name in given] == given, cls
        assert {each.name for each in own if each.default is each.empty} <= set(given), cls


def test_who_is_selected_has_a_grid_and_who_takes_the_flip_rate_has_the_parameter():
    for cls in CLASSES.values():
        assert hasattr(cls, "fit_many") or not hasattr(cls, "GRID")
        assert getattr(cls, "FLIP_RATE", "self") in ("self", *inspect.signature(cls).parameters)


@pytest.mark.parametrize("member", ["fit_many", "FLIP_RATE", "fit_bank"])
def test_a_missing_member_is_named_with_what_to_do(member):
    for otherwise, end in ((), ""), (("drop it",), ", or drop it"):
        with pytest.raises(ValueError) as error:  # noqa: PT011
            Method(method="builtins:dict").require(member, "X", *otherwise)
        missing = f"method builtins:dict: dict has no {member}, which X needs"
        assert str(error.value) == f"{missing}; implement {SIGNATURES[member]}{end}"
    Method(method="builtins:dict").require("keys", "X")
