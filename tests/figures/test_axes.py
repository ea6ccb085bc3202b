"""Names of axes: of metrics and of what they are drawn against."""

import importlib.util

import pytest

from reproduction.figures import names
from reproduction.figures.rendering import find
from reproduction.frame.dependencies import is_typed
from reproduction.protocols import walk
from reproduction.strict_yaml import read

LISTED = read(names.FILE)


@pytest.mark.parametrize("protocol", LISTED["protocols"])
def test_every_protocol_is_one_and_opens_with_a_metric_that_has_a_name(protocol):
    typed = is_typed(protocol)
    assert walk.find(protocol) if typed else importlib.util.find_spec(f"reproduction.protocols.{protocol}")
    own = LISTED["protocols"][protocol]
    assert {own["opens"], *own.get("x_of", {})} <= LISTED["metrics"].keys()


@pytest.mark.parametrize(("render", "metric"), LISTED["opens"].items())
def test_every_exception_is_of_a_function_that_draws(render, metric):
    assert find(render)
    assert metric in LISTED["metrics"]


def test_a_protocol_may_give_a_metric_another_name():
    assert names.metric("error") == names.metric("error", "kernels.errors") == "wrong test labels / %"
    assert names.metric("error", "pnorm.hadamard") == "squared error"


def test_what_is_not_listed_is_shown_as_it_is():
    assert names.metric("my_metric", "own.protocol") == "my metric"
    assert names.x_axis("my_metric", "own.protocol") == "x"
    assert names.first_metric("own.protocol") == ""


def test_x_and_the_first_metric_depend_on_what_is_drawn():
    assert names.x_axis("misalignment", "pnorm.room") == "speech heard / s"
    assert names.x_axis("tap", "pnorm.room") == "tap of the response"
    assert names.first_metric("boosting.curves", "boosting:error_curves") == "test_error"
    assert names.first_metric("boosting.curves", "boosting:learned_rates") == "gamma01"
