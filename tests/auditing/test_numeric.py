"""An audit of labels that are numbers: from the ranking to the repaired table and the page."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import Ridge
from test_audit import remarks, run

from noisylabels import audit, review
from noisylabels.auditing import tables


@pytest.fixture(scope="module")
def houses():
    """Prices whose spread grows with the width: inputs, true prices, and one in ten wrong."""
    rng = np.random.default_rng(0)
    X = rng.uniform(1, 5, (200, 2))
    width, length = X.T
    spread = width * rng.normal(0, 0.3, 200)
    true = (10 * width + 5 * length + spread).round(2)
    wrong = rng.random(200) < 0.1
    mistakes = rng.choice([-30, 30], 200)
    return X, true, np.where(wrong, true + mistakes, true)


@pytest.fixture(scope="module")
def report(houses):
    X, _, y = houses
    return audit(X, y, model=Ridge())


def test_numbers_far_from_what_is_expected_come_first(houses, report):
    _, true, y = houses
    wrong = np.flatnonzero(y != true)
    first_rows = report.ranking["row"][: len(wrong)]
    assert set(first_rows) == set(wrong)
    assert set(wrong) <= set(report.suspicious["row"])
    assert len(report.suspicious) <= len(wrong) + 4
    first = report.ranking.iloc[0]
    true_price = true[int(first["row"])]
    assert first["suggested"] == pytest.approx(true_price, abs=4)
    sentence = "The median error of Ridge on rows that it was not trained on"
    assert f"200 labels that are numbers. {sentence}" in report.text
    assert str(report) == report.text
    z = report.doubt / (1 - report.doubt) * 3.5
    assert np.median(z) == pytest.approx(0.6745)


@pytest.mark.parametrize("n_far", [0, 1, 2])
def test_one_label_far_from_what_is_expected_is_in_the_singular(report, n_far):
    text = replace(report, doubted=np.arange(200) < n_far).text
    is_one = n_far == 1
    assert ("; 1 label is more than 3.5 times" in text) == is_one
    assert (f"; {n_far} labels are more than 3.5 times" in text) != is_one
    assert ("cannot show whether it is wrong or rare" in text) == is_one


@pytest.mark.parametrize("order", ["rate", "doubt"])
def test_reviewed_numbers_give_a_rate_that_covers_and_are_repaired(houses, report, order, tmp_path):
    _, true, y = houses
    path = tmp_path / "review.csv"
    review(report, path, 60, by=order)
    sheet = pd.read_csv(path, dtype=str)
    rows_drawn = sheet["row"].astype(int)
    answers = [f"{value}".replace(".", ",") for value in true[rows_drawn]]
    sheet.assign(true=answers).to_csv(path, sep=";", index=False)
    done = review(report, path, 60, by=order, precision=0.5)
    share = np.mean(y != true)
    assert done.wrong.low <= share <= done.wrong.high
    assert done.reviewed == 60
    repaired = done.repaired["y repaired"].astype(float)
    assert (repaired[rows_drawn] == true[rows_drawn]).all()
    assert len(done.listed) > 0
    assert len(done.accuracies) == 0
    assert len(done.flip_rates) == 0
    sheet.assign(true="much").to_csv(path, index=False)
    message = "line 2: the true label is 'much', not a number; correct it"
    with pytest.raises(ValueError, match=message):
        review(report, path, 60)


def test_columns_that_say_nothing_list_nothing_and_classifiers_are_refused(houses):
    _, _, y = houses
    X = np.random.default_rng(3).normal(size=(200, 2))
    nothing = audit(X, y, model=Ridge())
    assert not nothing.informative
    assert len(nothing.suspicious) == 0
    assert "These columns say nothing about the label" in nothing.text
    message = "model: 'forest' cannot predict them: the labels are numbers"
    with pytest.raises(ValueError, match=message):
        audit(X, y, model="forest")


def test_few_values_are_classes_and_many_numbers_are_not():
    numbers = np.arange(60)
    tables.check_labels(numbers.astype(float), "y")
    with_copy = pd.DataFrame({"x": numbers[::-1] ** 2 % 61, "copy": numbers})
    report = audit(with_copy, numbers, model=Ridge())
    assert "column 'copy' is the label" in report.text
    assert not tables.measured(numbers % 5)
    with pytest.raises(ValueError, match="60 different values"):
        tables.check_labels(numbers.astype(str), "y")
    with pytest.raises(ValueError, match="y: 2 rows; at least 20"):
        tables.check_labels(np.array([1.5, 2.5]), "y")


def test_texts_help_to_expect_a_number():
    rng = np.random.default_rng(0)
    kind = rng.integers(2, size=150)
    X = remarks(rng, kind)
    y = 10 * kind + rng.normal(size=150)
    report = audit(X, y)
    assert report.informative


def test_the_script_audits_numbers_and_its_page_has_no_rates(houses, tmp_path):
    X, true, y = houses
    frame = pd.DataFrame(X.round(3), columns=["width", "length"])
    frame.assign(price=y).to_csv(tmp_path / "houses.csv", index=False)
    arguments = ("houses.csv", "--label", "price", "--review", "30")
    code, out, err = run(tmp_path, *arguments)
    assert code == 0, err
    assert "of 200 labels look wrong" in out
    folder = tmp_path / "houses_audit"
    assert "200 labels that are numbers" in (folder / "audit.txt").read_text()
    page = (folder / "index.html").read_text()
    assert "Flip rates" not in page
    assert "minus the distance between label and suggestion" in page
    assert '"classes": []' in (folder / "review.html").read_text()
    assert not (folder / "accuracies.csv").exists()
    path = folder / "review.csv"
    sheet = pd.read_csv(path, dtype=str)
    rows_drawn = sheet["row"].astype(int)
    sheet.assign(true=true[rows_drawn]).to_csv(path, index=False)
    code, out, err = run(tmp_path, *arguments)
    assert code == 0, err
    assert "of the labels are wrong (95 % confidence:" in out
    assert "price repaired" in (folder / "repaired.csv").read_text()


@pytest.mark.parametrize("kind", [int, float])
def test_whole_numbers_are_said_to_be_read_as_measurements(kind):
    rng = np.random.default_rng(0)
    price = 100 * rng.integers(10, 400, size=400)
    noise = rng.normal(size=(2, 400))
    X = np.column_stack([price + noise[0], noise[1]])
    report = audit(X, price.astype(kind), model=Ridge())
    assert "different values, and were audited as measurements; if they are classes" in report.text
    halves = np.where(price % 200 > 0, 0.5, 0.0)
    not_whole = audit(X, price + halves, model=Ridge())
    assert "whole numbers" not in not_whole.text
