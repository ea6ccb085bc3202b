"""Noise of a user, tried before a run: each mistake has its sentence, and right noise has none."""

import numpy as np
import pytest

from reproduction.run import noise_check
from reproduction.run.noise_check import check_noise
from reproduction.spec.settings import Noise

HERE = __name__.rpartition(".")[2]
BINARY = np.repeat([-1, 1], [150, 350])
CLASSES = np.repeat([0, 1, 2], [40, 60, 90])
REAL = np.random.default_rng(7).normal(size=120)
SHARED = np.random.default_rng(0)


def flip(y, rng, rate):
    """Give a share of the rows the next class."""
    chosen = rng.random(len(y)) < rate
    return np.where(chosen, (y + 1) % (y.max() + 1), y)


def exact(y, rng, share):
    """Give exactly a share of the rows the next class."""
    chosen = rng.choice(len(y), round(share * len(y)), replace=False)
    observed = y.copy()
    observed[chosen] = (y[chosen] + 1) % (y.max() + 1)
    return observed


def redrawn(y, rng, rate):
    """Draw a share of the labels again, from all classes."""
    return np.where(rng.random(len(y)) < rate, rng.integers(0, y.max() + 1, len(y)), y)


def one_class(y, rng, rate):
    """Flip class 0 alone."""
    return np.where((y == 0) & (rng.random(len(y)) < rate), 1, y)


def all_in_one_class(y, rng, rate):
    """Flip a share of all rows, each of them of the last class."""
    members = np.flatnonzero(y == y.max())
    observed = y.copy()
    observed[rng.choice(members, round(rate * len(y)), replace=False)] = 0
    return observed


def flip_both(y, rng, rate_down, rate_up):
    """Flip each of two classes at its own rate."""
    rates = np.where(y == 1, rate_down, rate_up)
    return np.where(rng.random(len(y)) < rates, 1 - y, y)


def all_of_both(y, rng, rate_down, rate_up):
    """Flip every label, whatever the rates."""
    return 1 - y


def temperature(y, rng, heat):
    """Flip more labels than the number says, which is not called a share."""
    return flip(y, rng, 0.8 * heat)


def add(y, rng, scale):
    """Add noise to real values."""
    return y + scale * rng.standard_normal(len(y))


def in_order(y, rng, rate):
    """Return flipped labels in order."""
    return np.sort(flip(y, rng, rate))


def shifted(y, rng, rate):
    """Return the labels of the row before."""
    return np.roll(flip(y, rng, rate), 1)


def backwards(y, rng, heat):
    """Return the labels in reverse order."""
    return y[::-1]


def permuted(y, rng, rate):
    """Return the labels in random order."""
    return rng.permutation(y)


def nothing(y, rng, rate):
    """Flip nothing."""
    flip(y, rng, rate)
    return y


def too_few(y, rng, rate):
    """Flip a third of what is said."""
    return flip(y, rng, rate / 3)


def too_many(y, rng, rate):
    """Flip more than is said."""
    return flip(y, rng, rate + 0.1)


def shared(y, rng, rate):
    """Draw from a generator of the module."""
    return flip(y, SHARED, rate)


def percent(y, rng, rate):
    """Take a percentage."""
    return flip(y, rng, rate / 100)


def fails(y, rng, rate):
    """Fail."""
    return y[len(y)]


def shorter(y, rng, rate):
    """Lose a row."""
    return y[1:]


def find_warnings(label, y=BINARY, target="two classes"):
    return check_noise([(0, Noise.parse(f"{HERE}:{label}"))], y, target)


@pytest.mark.parametrize(
    "label",
    [
        "flip 0.3",
        "flip 0",
        "flip 1",
        "flip 0.001",
        "exact 0.25",
        "redrawn 0.5",
        "one_class 0.4",
        "all_in_one_class 0.2",
        "temperature 0.9",
    ],
)
@pytest.mark.parametrize(("y", "target"), [(BINARY, "two classes"), (CLASSES, "classes")])
def test_right_noise_of_classes_is_not_doubted(label, y, target):
    assert find_warnings(label, y, target) == ([], [])


def test_each_of_two_classes_may_have_its_rate():
    assert find_warnings("flip_both 0.3 0.1") == ([], [])
    assert find_warnings("flip_both 0.1 0.3") == ([], [])


@pytest.mark.parametrize("label", ["add 0.1", "add 30", "add 0"])
def test_right_noise_of_real_values_is_not_doubted(label):
    assert find_warnings(label, REAL, "real") == ([], [])


@pytest.mark.parametrize(
    ("label", "message"),
    [
        ("in_order 0.3", "returns the labels in order"),
        ("shifted 0.2", "gives rows the labels of the row before"),
        ("backwards 0.2", "gives rows the labels of the rows in reverse order"),
        ("permuted 0.2", "of the labels, more than 20 %"),
        ("nothing 0.3", "changes nothing"),
        ("too_few 0.3", "flips 10 % of the labels, less than half of 30 %"),
        ("too_many 0.3", "flips 40 % of the labels, more than 30 %"),
        ("flip 1.3", "has rate = 1.3; a share of flips is from 0 to 1"),
        ("percent 30", "has rate = 30; a share of flips is from 0 to 1"),
        ("flip -0.1", "has rate = -0.1"),
        ("shared 0.3", "draw every random number from its argument rng"),
        ("too_many 0", "flips 10 % of the labels, more than 0 %"),
    ],
)
@pytest.mark.parametrize(("y", "target"), [(BINARY, "two classes"), (CLASSES, "classes")])
def test_noise_that_does_not_do_what_it_says_is_a_fault(label, message, y, target):
    (fault,), remarks = find_warnings(label, y, target)
    assert fault.startswith(f"settings.noise.0: noise '{label}' ")
    assert message in fault
    assert "\n" not in fault
    assert remarks == []


@pytest.mark.parametrize(
    ("label", "message"),
    [
        ("in_order 1", "returns the labels in order"),
        ("shifted 0", "of the row before"),
        ("nothing 2", "changes nothing"),
    ],
)
def test_noise_of_real_values_that_moves_rows_or_does_nothing_is_a_fault(label, message):
    functions = {"in_order 1": "order_of_values 1", "shifted 0": "shifted_values 0"}
    (fault,), _ = find_warnings(functions.get(label, label), REAL, "real")
    assert message in fault


def order_of_values(y, rng, scale):
    """Return noisy values in order."""
    return np.sort(add(y, rng, scale))


def shifted_values(y, rng, scale):
    """Return the values of the row before."""
    return np.roll(y, 1)


FAILING = [("fails 0.3", "IndexError"), ("shorter 0.3", "shape")]


@pytest.mark.parametrize(("label", "message"), FAILING)
def test_noise_that_fails_is_left_to_the_run_which_names_the_rows(label, message):
    faults, (remark,) = find_warnings(label)
    assert faults == []
    assert f"noise '{label}' was not tried: " in remark
    assert message in remark


def test_noise_of_the_engine_is_passed_over():
    kinds = [(0, Noise.parse("symmetric 0.2")), (1, Noise.parse(f"{HERE}:nothing 0.2"))]
    (fault,), _ = check_noise(kinds, BINARY, "two classes")
    assert fault.startswith("settings.noise.1: ")


def test_the_bound_is_met_by_the_noise_of_the_engine():
    for rate in (0.01, 0.1, 0.3, 0.49):
        for kind in ("symmetric", "independent"):
            noise = Noise.parse(f"{kind} {rate}")
            clean = noise_check.make_targets(CLASSES, "classes")
            draws = [noise.observe(clean, np.random.default_rng(i), "classes") for i in range(3)]
            changed = np.mean([observed != clean for observed in draws], axis=0)
            assert not [*noise_check._compare_with_rate(changed, clean, rate, "rate")]


def test_the_largest_of_two_rates_is_named():
    (fault,), _ = find_warnings("all_of_both 0.1 0.3")
    assert "more than 30 %; correct it, or call `rate_up` something else" in fault
