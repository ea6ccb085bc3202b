"""Published values of an artifact that only draws the table of another one."""

import shutil
import sys
from pathlib import Path

import pytest

from reproduction.judge.verdicts import judge_files
from reproduction.plan import plan
from reproduction.run.results import write_rows

ROOT = Path(__file__).parents[2]
DRAWN = """
uses: [two_classes]
render: stock:last_values
published: {margin: 2, reason: two points}
"""
VALUES = "id,dataset,noise,method,metric,value\nP-1,{dataset},independent 0,logistic,error,40\n"


@pytest.fixture
def paper(tmp_path, monkeypatch):
    """A paper whose table with published values draws another table."""
    monkeypatch.setattr(sys, "path", [*sys.path])
    folder = tmp_path / "published_of_used"
    shutil.copytree(ROOT / "src/papers/_templates/classifier", folder)
    (folder / "drawn.yaml").write_text(DRAWN, encoding="utf-8")
    values = VALUES.format(dataset="ida_heart")
    (folder / "drawn.published.csv").write_text(values, encoding="utf-8")
    yield folder
    for name in [name for name in sys.modules if name.partition(".")[0] == folder.name]:
        del sys.modules[name]


def planned(paper):
    return plan.planned(ROOT, plan.configured(ROOT, "full") | {"papers": [str(paper)]})


def test_they_are_judged_by_the_table_that_is_drawn(paper, tmp_path, monkeypatch):
    plan = planned(paper)
    name = "published_of_used/drawn"
    (file,) = plan.judged_files(f"{name}/", "table.csv")
    assert file == "results/full/published_of_used/two_classes/table.csv"
    assert plan.published_data(f"{name}/") == plan.data("published_of_used/two_classes")
    rows = []
    for repetition in range(20):
        value = {"dataset": "ida_heart", "source": "genuine", "noise": "independent 0"}
        value |= {"method": "logistic", "metric": "error", "repetition": repetition}
        rows.append(value | {"value": 17 + 0.1 * (-1) ** repetition})
    table = tmp_path / "table.csv"
    write_rows(rows, table)
    monkeypatch.setattr("reproduction.judge.verdicts._verified", lambda path, read: read(path))
    verdicts = judge_files([paper / "drawn.yaml"], [table], "full")
    assert float(verdicts["published"].iloc[0]) == 40
    assert float(verdicts["estimate"].iloc[0]) == pytest.approx(17)
    assert set(verdicts["artifact"]) == {"drawn"}


def test_a_value_that_the_used_table_cannot_have_is_refused(paper):
    values = VALUES.format(dataset="ida_hart")
    (paper / "drawn.published.csv").write_text(values, encoding="utf-8")
    with pytest.raises(ValueError, match="no row will be of 'ida_hart'"):
        planned(paper)
