"""What protocols ask of methods is declared, kept by those that claim it, and explained where it is not."""

import inspect

import pytest

from noisylabels.bases import contracts
from noisylabels.bases.contracts import (
    FitsBank,
    FitsDistances,
    FitsEpochs,
    FitsGrid,
    FitsMany,
    HasObjective,
    RunsSequences,
    ToldFlipRate,
    require,
)
from reproduction import methods

CONTRACTS = [FitsBank, FitsDistances, FitsEpochs, FitsGrid, FitsMany, HasObjective, RunsSequences]
CLASSES = [methods.find(name) for name in methods.known()]


def names(function, required=False):
    """Names of the parameters, without the instance and open keywords; those without a default only."""
    found = inspect.signature(function).parameters.values()
    own = [p for p in found if p.name != "self" and p.kind is not p.VAR_KEYWORD]
    return [p.name for p in own if not required or p.default is p.empty]


@pytest.mark.parametrize("contract", CONTRACTS, ids=lambda c: c.__name__)
def test_members_take_what_the_contract_says(contract):
    member = contracts._members(contract)[0]
    keeping = [cls for cls in CLASSES if isinstance(cls, contract)]
    assert keeping, f"no method keeps {contract.__name__}: delete it"
    given = names(getattr(contract, member))
    for cls in keeping:
        function = getattr(cls, member)
        assert names(function)[: len(given)] == given, cls
        assert set(names(function, required=True)) <= set(given), cls


def test_who_is_selected_has_a_grid_and_who_is_told_the_flip_rate_takes_it():
    for cls in CLASSES:
        assert isinstance(cls, FitsMany) or not hasattr(cls, "GRID")
        if isinstance(cls, ToldFlipRate):
            assert cls.FLIP_RATE in inspect.signature(cls).parameters


class Nothing:
    """A method without anything."""


@pytest.mark.parametrize(
    ("contract", "message"),
    [
        (FitsMany, "no fit_many, which X needs; implement fit_many(gram, labels, grid) -> Fits"),
        (ToldFlipRate, "no FLIP_RATE, which X needs; implement the class attribute FLIP_RATE"),
        (
            FitsBank,
            "no fit_bank, which X needs; implement fit_bank(bank, D, D_out, labels, **parameters) -> Fits",
        ),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_a_missing_member_is_named_with_what_to_do(contract, message):
    for otherwise, end in ((), ""), (("drop it",), ", or drop it"):
        with pytest.raises(ValueError) as error:  # noqa: PT011
            require(Nothing, contract, "m", "X", *otherwise)
        assert str(error.value) == f"method m: Nothing has {message}{end}"


def test_who_has_the_members_keeps_the_contract_without_inheriting():
    class Mine:
        @classmethod
        def fit_many(cls, gram, labels, grid):
            raise NotImplementedError

    require(Mine, FitsMany, "m", "X")
    assert isinstance(Mine, FitsMany)
    assert not isinstance(Mine, FitsBank)
