"""Names in the place of keys in the evidence of claims; in their own words the keys, with an explanation."""

import re

import pytest

from reproduction.site.keys import Keys

ORS = Keys(
    {"one": "one label, v known", "one_pred": "one label and prediction", "log": "logistic"},
    "ors.filter_curves",
)


def shown(evidence):
    return re.sub(r"</?span[^>]*>", "|", str(ORS.evidence(evidence)))


@pytest.mark.parametrize(
    ("evidence", "told"),
    [
        (
            "log(one_pred / one) (mse_window, last x) = -0.1 [-0.2, -0.1], asked below 0 (n = 20)",
            "log(|one label and prediction| / |one label, v known|) "
            "(|mean squared error over the last rounds|, last x) = -0.1 [-0.2, -0.1], asked below 0 (n = 20)",
        ),
        (
            "one_pred − one (shared_r) = 1 at setting per_variant, method one_pred; p < 0.0001",
            "|one label and prediction| − |one label, v known| (|one r for all rules|) = 1"
            " at setting |each rule tuned by itself|, method |one label and prediction|; p &lt; 0.0001",
        ),
        (
            "value (worst u, lms) = 1 at setting k=16 → k=4",
            "value (worst u, |LMS|) = 1 at setting k=16 → k=4",
        ),
        ("reduced run (smoke): no rows for it: x", "its data sets or settings are not part of this scale"),
        ("a <b> without a number", "a &lt;b&gt; without a number"),
    ],
)
def test_evidence_names_what_it_compares(evidence, told):
    assert shown(evidence) == told


def test_a_key_can_be_read_off_its_name():
    assert 'title="one_pred">one label and prediction</span>' in ORS.evidence("one_pred = 1")


def test_only_keys_that_are_no_words_are_explained():
    assert ORS.explained("one_pred < one, one_pred_u") == (
        '<abbr title="one label and prediction">one_pred</abbr> &lt; one, one_pred_u'
    )
    assert Keys({}, "").explained("one_pred `x`") == "one_pred <code>x</code>"
