"""Verdicts are described and counted in one place, and old words are read as the new ones."""

import numpy as np
import pandas as pd
import pytest
from synthetic_tables import curve, table
from verdict_inputs import around, claim, difference_check

from reproduction.judge.verdicts import judge
from reproduction.spec.verdict_words import (
    CLAIM_KINDS,
    COLOURS,
    OLD_WORDS,
    VERDICTS,
    convert_old_words,
    count_colours,
    count_verdicts,
    counts_against,
    describe,
    group_verdicts,
)


def row(kind="sentence", id="A", **changes):
    columns = {"verdict": "reproduced", "origin": "paper", "form_of": "", "side": "inside"}
    return {"kind": kind, "id": id, "flags": ""} | columns | changes


def test_every_verdict_has_its_own_label_a_definition_and_a_known_colour():
    entries = VERDICTS.values()
    assert len({entry.label for entry in entries}) == len(VERDICTS)
    assert all(entry.definition and entry.colour in COLOURS for entry in entries)
    assert set(OLD_WORDS.values()) < set(VERDICTS)


def test_forms_and_published_values_of_our_artifacts_do_not_count():
    rows = [row(), row(id="As", verdict="not_reproduced", form_of="A")]
    rows += [row("published", "v"), row("published", "w", origin="ours", verdict="not_reproduced")]
    assert count_verdicts(rows) == {"reproduced": 2}
    assert count_colours(rows) == {"good": 2}
    groups = {name: len(group) for name, group in group_verdicts(rows).items()}
    assert groups == {"published values": 1, "sentences of the paper": 1}


@pytest.mark.parametrize(
    ("verdicts", "counted"),
    [
        (["reproduced", "not_reproduced"], "not_reproduced"),
        (["inconclusive", "reproduced"], "inconclusive"),
        (["partially_reproduced", "inconclusive"], "inconclusive"),
        (["reproduced", "not_comparable"], "reproduced"),
    ],
)
def test_of_a_claim_in_several_artifacts_the_weakest_verdict_counts(verdicts, counted):
    assert count_verdicts([row(verdict=verdict) for verdict in verdicts]) == {counted: 1}


def test_claims_of_two_papers_with_one_id_are_two():
    rows = [row(paper=paper, verdict="reproduced") for paper in ("ors", "pnorm")]
    assert count_verdicts(rows) == {"reproduced": 2}


def test_of_claims_only_a_sentence_counts_against_the_paper():
    rows = {kind: row(kind, verdict="not_reproduced") for kind in ("published", *CLAIM_KINDS)}
    against = [kind for kind, refuted in rows.items() if counts_against(refuted)]
    assert against == ["published", "sentence"]
    assert not counts_against(row(verdict="partially_reproduced"))


def test_a_verdict_in_words_has_its_flags_and_the_side_of_an_inconclusive_claim():
    assert describe(row(flags="exact")) == "reproduced (exact)"
    assert describe(row(verdict="inconclusive")) == "inconclusive (estimate in favour)"
    assert describe(row(verdict="inconclusive", side="above")) == "inconclusive (estimate against)"
    assert (
        describe(row("published", verdict="inconclusive", flags="provisional"))
        == "inconclusive (provisional)"
    )


def test_a_claim_is_partially_reproduced_if_only_a_weaker_form_of_it_is():
    frame = pd.concat([table(curve(around(10))), table(curve(around(11, seed=4), method="theirs"))])
    strict = claim(difference_check(below=-2.0), id="A")
    weaker = claim(difference_check(), id="As", form_of="A")
    both_forms = judge({"claims": [strict, weaker]}, frame, "full").set_index("id")
    assert both_forms.loc["A", "verdict"] == "partially_reproduced"
    assert both_forms.loc["A", "otherwise"] == "not_reproduced"
    assert both_forms.loc["As", "verdict"] == "reproduced"
    alone = judge({"claims": [strict]}, frame, "full").set_index("id")
    assert alone.loc["A", "verdict"] == "not_reproduced"
    swapped = frame.assign(method=np.where(frame["method"] == "theirs", "ours", "theirs"))
    verdicts = judge({"claims": [strict, weaker]}, swapped, "full")["verdict"]
    assert set(verdicts) == {"not_reproduced"}


def test_results_of_version_1_are_read_in_the_words_of_today():
    old = {"kind": "claim", "verdict": "verified", "new_points": "leaning for", "holm": "holds"}
    new = convert_old_words(old)
    assert new["verdict"] == "reproduced"
    assert new["flags"] == "exact"
    assert new["new_points"] == "inconclusive"
    assert new["holm"] == "reproduced"
    assert new["kind"] == "sentence"
    assert convert_old_words(old | {"origin": "ours"})["kind"] == "ours"
    assert convert_old_words(new) == new
    assert convert_old_words({"control": "ours", "state": "outside"}) == {
        "control": "ours",
        "verdict": "not_reproduced",
    }
