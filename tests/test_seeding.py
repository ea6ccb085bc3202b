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
    first = Seeds(7, experiment, dataset).generator(repetition, stream)
    repeated = Seeds(7, experiment, dataset).generator(repetition, stream)
    assert np.array_equal(first.integers(0, 2**62, 4), repeated.integers(0, 2**62, 4))


def test_every_axis_changes_the_numbers():
    keys = [
        (1, "e", "d", 0, "x"),
        (2, "e", "d", 0, "x"),
        (1, "f", "d", 0, "x"),
        (1, "e", "c", 0, "x"),
    ]
    keys += [
        (1, "e", "d", 1, "x"),
        (1, "e", "d", "tuning", "x"),
        (1, "e", "d", 0, "noise"),
        (1, "ed", "", 0, "x"),
    ]
    assert len({Seeds(*key[:3]).generator(*key[3:]).random() for key in keys}) == len(keys)


def test_streams_are_uncorrelated():
    a, b = (Seeds(1, "e").generator(r, "x").standard_normal(20_000) for r in (0, 1))
    assert abs(np.corrcoef(a, b)[0, 1]) < 4 / np.sqrt(20_000)


def test_the_numbers_are_the_same_in_another_process():
    number = "Seeds(5, 'e', 'd').generator(3, 'x').random().hex()"
    code = f"from noisylabels.seeding import Seeds; print({number})"
    env = {"PYTHONHASHSEED": "1", "PYTHONPATH": "src"}
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=env)
    assert done.stdout == Seeds(5, "e", "d").generator(3, "x").random().hex() + "\n"


def test_negative_seed_is_refused():
    with pytest.raises(ValueError, match=r"seed must be a non-negative integer, got -1"):
        Seeds(-1, "e")
