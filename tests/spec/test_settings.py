"""Settings are parsed once: types of noise and of methods, and one line for every mistake."""

import inspect
import re
import sys
from types import ModuleType
from typing import Literal

import numpy as np
import pytest
from pydantic import Field, ValidationError

import noisylabels
from noisylabels import METHODS
from noisylabels.filters.lms import NLMS
from reproduction.spec.class_check import SIGNATURES, check_keywords
from reproduction.spec.settings import (
    Distinct,
    Method,
    Methods,
    Noise,
    Settings,
    method_class,
)


class Filter(Method):
    kind = "filters"


class Own(Settings):
    methods: Methods[Filter] = Field({}, min_length=0)
    noise: Distinct[Noise] = Field([])


def filters(**methods):
    return Own.model_validate({"methods": methods}).methods


def test_methods_keep_their_order_and_what_was_chosen_wins_over_fixed_parameters():
    fixed = {"method": "nlms", "parameters": {"mu": 0.2, "eps": 0.5}}
    # a user's class needs no registration
    chosen = filters(b={"method": "sklearn.svm:SVC"}, a=fixed)
    assert list(chosen) == ["b", "a"]
    assert chosen["b"].cls.__name__ == "SVC"
    built = chosen["a"].build(mu=0.7)
    assert type(built) is NLMS
    assert built.mu == 0.7
    assert built.eps == 0.5


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({"m": {"method": "nmls"}}, r"'nmls' is unknown; did you mean nlms"),
        ({"m": {"method": "unnormalized_eg"}}, "'unnormalized_eg' was removed; eg and eg_pm hold"),
        ({"m": {"method": "qqqqqqq"}}, "'qqqqqqq' is unknown; known: .*ors"),
        (
            {"m": {"method": "nlms", "parameters": {"epsilon": 1}}},
            "no parameter 'epsilon'; did you mean eps",
        ),
        ({"m": {"method": "nlms", "labl": "x"}}, "there is no key 'labl'; did you mean label"),
        (
            {"m": {"method": "kernel_svm"}},
            "'kernel_svm' is not one of the filters: bounded_pnorm_lms, eg",
        ),
        (
            {"m": {"method": "noisylabels.filters.lms:NLMS", "parameters": {"epsilon": 1}}},
            "no parameter",
        ),
        ({"m": {"method": "a b:C"}}, "'a b:C' is not of the form package.module:Class"),
        ({"a,b": {"method": "nlms"}}, "'a,b' is empty or has a comma"),
    ],
)
def test_mistakes_of_methods_are_named_before_anything_runs(content, message):
    with pytest.raises(ValidationError, match=message):
        filters(**content)


def test_a_users_class_is_imported_only_when_it_is_checked(tmp_path, monkeypatch):
    methods = {"mine": {"method": "of_a_user:Mine", "parameters": {"rate": 1}}}
    settings = Own.model_validate({"methods": methods})
    message = r"methods\.mine: method: no module 'of_a_user' .*PYTHONPATH"
    with pytest.raises(ValueError, match=message):
        settings.check_custom()
    module = ModuleType("of_a_user")
    monkeypatch.setitem(sys.modules, "of_a_user", module)
    module.Mime = dict
    message = r"module 'of_a_user' has no class 'Mine'; did you mean Mime"
    with pytest.raises(ValueError, match=message):
        settings.check_custom()
    module.Mine = type("Mine", (), {"__init__": lambda self, rates=1: None})
    message = r"settings\.methods\.mine: no parameter 'rate'; did you mean rates"
    with pytest.raises(ValueError, match=message):
        settings.check_custom()
    module.Mine = type("Mine", (), {"__init__": lambda self, **anything: None})
    settings.check_custom()
    (tmp_path / "broken_filters.py").write_text("import a_package_that_is_missing\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    message = r"broken_filters\.py, line 1: .*'a_package_that_is_missing'"
    with pytest.raises(ValueError, match=message):
        method_class("broken_filters:Any")


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ({"a": "x"}, "parameter a: should be a valid number, got 'x'"),
        ({"a": True}, "parameter a: should be a valid number, got True"),
        ({"word": "tow"}, "parameter word: should be 'one' or 'two', got 'tow'; did you mean two?"),
        (
            {"plain": "x"},
            "parameter plain: should be a valid integer or should be a valid number, got 'x'",
        ),
        ({"rows": [{"a": 1}]}, "parameter rows: {'a': 1} in a list; numbers or words are expected"),
        ({"maybe": 1.5}, "parameter maybe: should be a valid integer, got 1.5"),
    ],
)
def test_values_of_parameters_have_the_type_of_the_annotation(value, message):
    def function(
        a: float = 1.0, word: Literal["one", "two"] = "one", plain=0.5,
        rows: list[float] | None = None, maybe: "int | None" = None,
    ): ...  # fmt: skip

    check_keywords(function, {"a": 2, "word": "two", "plain": None, "rows": [1, 2], "maybe": 3})
    with pytest.raises(ValueError, match=r"^" + message.replace("?", r"\?")):
        check_keywords(function, value)


def test_noise_is_parsed_once_and_flips_as_it_says():
    noise = Noise.parse("independent 0.25")
    assert str(noise) == "independent 0.25"
    assert noise.model == "independent"
    assert noise.parameters == {"rate": 0.25}
    y = np.ones(4000, dtype=np.int8)
    y[::2] = -1
    flipped = noise.corrupt(y, np.random.default_rng(0)) != y
    assert flipped.mean() == pytest.approx(0.25, abs=0.03)


@pytest.mark.parametrize(
    ("label", "message"),
    [
        ("simmetric 0.1", "unknown kind 'simmetric'; did you mean symmetric"),
        (
            "independent 0.7",
            r"noise 'independent 0\.7': rate: must be a finite number >= 0 and < 0\.5",
        ),
        ("independent  0.1", "separate words by one space"),
        (0.1, "a label such as `independent 0.3` is expected"),
    ],
)
def test_noise_that_cannot_flip_is_refused(label, message):
    with pytest.raises(ValidationError, match=message):
        Own.model_validate({"noise": [label]})
    with pytest.raises(ValidationError, match="listed twice"):
        Own.model_validate({"noise": ["independent 0.1"] * 2})


# Classes of methods, and what experiments ask of them

CLASSES = {name: getattr(noisylabels, path.partition(":")[2]) for name, path in METHODS.items()}


def test_a_method_is_the_class_that_the_table_names():
    for name, cls in CLASSES.items():
        assert method_class(name) is cls
        assert METHODS[name] == f"{cls.__module__.removeprefix('noisylabels.')}:{cls.__name__}"


@pytest.mark.parametrize("member", [member for member, shape in SIGNATURES.items() if "(" in shape])
def test_members_take_what_the_signature_says(member):
    arguments = SIGNATURES[member].partition("(")[2].partition(")")[0]
    written = re.findall(r"(?<!\*)\b\w+\b", arguments)
    keeping = [cls for cls in CLASSES.values() if hasattr(cls, member)]
    assert keeping, f"no method has {member}: delete it"
    for cls in keeping:
        names = []
        required = set()
        for name, parameter in inspect.signature(getattr(cls, member)).parameters.items():
            if name == "self" or parameter.kind is parameter.VAR_KEYWORD:
                continue
            names.append(name)
            if parameter.default is parameter.empty:
                required.add(name)
        assert [name for name in names if name in written] == written, cls
        assert required <= set(written), cls


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
