"""What protocols ask of methods is declared, kept by those that have the member, and explained otherwise."""

import inspect
import re

import pytest

import noisylabels
from reproduction.protocols.contracts import SIGNATURES, require

CLASSES = [getattr(noisylabels, place.partition(":")[2]) for place in noisylabels.METHODS.values()]
FUNCTIONS = {member: shape for member, shape in SIGNATURES.items() if "(" in shape}


def names(function, required=False):
    """Names of the parameters, without the instance and open keywords; those without a default only."""
    found = inspect.signature(function).parameters.values()
    own = [p for p in found if p.name != "self" and p.kind is not p.VAR_KEYWORD]
    return [p.name for p in own if not required or p.default is p.empty]


@pytest.mark.parametrize("member", FUNCTIONS)
def test_members_take_what_the_signature_says(member):
    given = re.findall(r"(?<!\*)\b\w+\b", FUNCTIONS[member].partition("(")[2].partition(")")[0])
    keeping = [cls for cls in CLASSES if hasattr(cls, member)]
    assert keeping, f"no method has {member}: delete it"
    for cls in keeping:
        found = names(getattr(cls, member))
        assert [name for name in found if name in given] == given, cls
        assert set(names(getattr(cls, member), required=True)) <= set(given), cls


def test_who_is_selected_has_a_grid_and_who_takes_the_flip_rate_has_the_parameter():
    for cls in CLASSES:
        assert hasattr(cls, "fit_many") or not hasattr(cls, "GRID")
        if hasattr(cls, "FLIP_RATE"):
            assert cls.FLIP_RATE in inspect.signature(cls).parameters


class Nothing:
    """A method without anything."""


@pytest.mark.parametrize(
    ("member", "message"),
    [
        ("fit_many", "no fit_many, which X needs; implement fit_many(gram, labels, grid) -> Fits"),
        ("FLIP_RATE", "no FLIP_RATE, which X needs; implement the class attribute FLIP_RATE"),
        (
            "fit_bank",
            "no fit_bank, which X needs; implement fit_bank(bank, D, D_out, labels, **parameters) -> Fits",
        ),
    ],
)
def test_a_missing_member_is_named_with_what_to_do(member, message):
    for otherwise, end in ((), ""), (("drop it",), ", or drop it"):
        with pytest.raises(ValueError) as error:  # noqa: PT011
            require(Nothing, member, "m", "X", *otherwise)
        assert str(error.value) == f"method m: Nothing has {message}{end}"
    require(type("Mine", (), {member: None}), member, "m", "X")
