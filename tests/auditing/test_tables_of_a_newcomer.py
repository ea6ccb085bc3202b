"""Five tables that were audited wrongly once, and none of the mistakes made on them."""

import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import average_precision_score

import noisylabels
from noisylabels.auditing import tables
from reproduction.site import audit_page

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "benchmarks"))
import audit_path

sys.path.pop(0)


def precision(found, wrong):
    score = np.empty(len(wrong))
    score[found.ranking["row"]] = -found.ranking["score"]
    return average_precision_score(wrong, score)


QUICK = {"compare": False, "repetitions": 1}


@pytest.mark.parametrize(
    ("name", "rows"), [("wdbc", 300), ("three", 400), ("messy", 400), ("coins", 300), ("big", 5200)]
)
def test_none_of_the_mistakes_of_an_earlier_audit(name, rows, tmp_path):
    X, observed, true = audit_path.TABLES[name](rows)
    wrong = observed != true
    X.assign(label=observed).to_csv(tmp_path / "table.csv", index=False)
    table = tables.read(tmp_path / "table.csv", "label")
    found = noisylabels.audit(pd.read_csv(tmp_path / "table.csv"), observed, **QUICK)

    # a rate without review: no interval, and the truth not outside of the range; with review one that covers
    assert found.bounds[1] > wrong.mean()
    assert ("no interval is known to cover it" in found.text) == (name != "coins")
    covered, bounded = 0, 0
    for seed in range(8):
        path = tmp_path / str(seed) / "review.csv"
        path.parent.mkdir()
        rows = noisylabels.review(found, path, 100, random_state=seed).sheet["row"]
        sheet = pd.read_csv(path, dtype=str)
        sheet.assign(true=true[rows]).to_csv(path, index=False)
        reviewed = noisylabels.review(found, path, 100, random_state=seed)
        covered += reviewed.wrong.low <= wrong.mean() <= reviewed.wrong.high
        bounded += reviewed.left >= np.delete(wrong, rows).mean()
    assert min(covered, bounded) >= 6  # of 8: at 95 % each, six cases in a thousand have fewer

    # no probability that a label is wrong; labels that are coins are called so, and none is listed
    assert list(found.suspicious) == ["row", "label", "suggested", "score"]
    assert found.informative == (name != "coins")
    assert ("These columns say nothing" in found.text) == (len(found.suspicious) == 0) == (name == "coins")

    # dates are learnt from, identifiers are not; above 5000 rows one model learns from all of them
    assert table.names == found.table.names
    assert not any("customer_id" in each for each in table.names)
    assert found.model == ("gradient boosting" if name == "big" else "rMKLR")
    assert not any("was trained on" in note for note in found.notes)
    if name != "coins":
        assert precision(found, wrong) > 2 * wrong.mean()
    if name == "messy":
        without = noisylabels.audit(X.drop(columns="signup"), observed, **QUICK)
        assert precision(found, wrong) > precision(without, wrong) + 0.1
    if name == "big":
        few = noisylabels.audit(X, observed, most_rows=2000, **QUICK)
        assert precision(found, wrong) > precision(few, wrong) + 0.03

    # the page says what is in the rows that it lists
    audit_page.write(found, tmp_path / "page", "a table", "a command")
    page = (tmp_path / "page/index.html").read_text()
    first = found.suspicious["row"].head(1)
    for cell in X.loc[first].astype(str).to_numpy().ravel()[:6]:
        assert f"<td>{cell.removesuffix(' 00:00:00')}" in page, cell
