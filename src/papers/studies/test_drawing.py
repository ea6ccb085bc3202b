"""Figures show means over data sets and every curve that their settings name."""

import pandas as pd
import pytest
from running import table, two_classes, typed

from reproduction.show import panels
from studies import drawing
from studies.choosing import RULES
from studies.test_choosing import SETTINGS as CHOOSING
from studies.test_instance_noise import AUDIT
from studies.test_instance_noise import SETTINGS as ERRORS
from studies.test_rates_against_rows import SETTINGS as RATES

pytestmark = pytest.mark.usefixtures("house_style")

TOY = two_classes(n=120, train=70)


def results_of(protocol, settings, data=TOY):
    frame = table(protocol, settings, data)
    return panels.Results({"one": frame}, {"one": typed(protocol, settings)}, protocol=protocol)


def test_means_over_data_sets_are_taken_within_a_repetition():
    rows = pd.DataFrame({"method": "m", "repetition": [0, 0, 1, 1], "value": [1.0, 3.0, 5.0, 9.0]})
    means = drawing.average_data_sets(rows, ["method"])
    assert means["value"].tolist() == [2.0, 7.0]


def test_the_rules_are_listed_in_their_order():
    figure = drawing.choosing(results_of("studies.choosing:choosing", CHOOSING))
    labels = [label.get_text() for label in figure.axes[0].get_yticklabels()]
    assert labels == list(RULES)


def test_a_panel_for_each_classifier_has_a_curve_for_each_shape():
    results = results_of("studies.instance_noise:errors", ERRORS)
    figure = drawing.where_flips_fall(results)
    assert len(figure.axes) == 1
    figure = drawing.auditing_where_flips_fall(results_of("studies.instance_noise:audit", AUDIT))
    assert len(figure.axes) == len(drawing.OF_AUDIT)


def test_rates_have_a_row_for_each_law():
    results = results_of("studies.rates_against_rows:against_rows", RATES, None)
    figure = drawing.rates_against_rows(results)
    assert len(figure.axes) == len(drawing.ESTIMATES)
    with pytest.raises(panels.RenderError):
        results.select(dataset="moons")
