"""Random streams depend on their names alone."""

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from noisylabels.seeding import Seeds

names = st.text(min_size=0, max_size=12)


@given(names, names, st.integers(0, 10**6), names)
def test_equal_names_give_equal_numbers(experiment, dataset, repetition, stream):
    first = Seeds(7, experiment, dataset).generator(repetition, stream).integers(0, 2**62, 4)
    again = Seeds(7, experiment, dataset).generator(repetition, stream).integers(0, 2**62, 4)
    assert np.array_equal(first, again)


@pytest.mark.parametrize(
    "other",
    [
        Seeds(2, "e", "d").generator(0, "x"),
        Seeds(1, "f", "d").generator(0, "x"),
        Seeds(1, "e", "c").generator(0, "x"),
        Seeds(1, "e", "d").generator(1, "x"),
        Seeds(1, "e", "d").generator("tuning", "x"),
        Seeds(1, "e", "d").generator(0, "noise"),
        Seeds(1, "ed", "").generator(0, "x"),
    ],
)
def test_every_axis_changes_the_numbers(other):
    assert Seeds(1, "e", "d").generator(0, "x").random() != other.random()


def test_streams_are_uncorrelated():
    a, b = (Seeds(1, "e").generator(r, "x").standard_normal(20_000) for r in (0, 1))
    assert abs(np.corrcoef(a, b)[0, 1]) < 4 / np.sqrt(20_000)


def test_the_numbers_are_the_same_in_another_process():
    code = "from noisylabels.seeding import Seeds; print(Seeds(5, 'e', 'd').generator(3, 'x').random().hex())"
    env = {"PYTHONHASHSEED": "1", "PYTHONPATH": "src"}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=env)
    assert done.stdout == Seeds(5, "e", "d").generator(3, "x").random().hex() + "\n"


def test_negative_seed_is_refused():
    with pytest.raises(ValueError, match=r"seed must be a non-negative integer, got -1"):
        Seeds(-1, "e")
