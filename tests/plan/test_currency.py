"""Why a job runs: each difference between a record and the plan is one line that names it."""

import json
from dataclasses import replace

import pytest

from reproduction.plan import code_digest
from reproduction.plan.currency import Decisions, Step, reasons
from reproduction.run import records

STEP = Step("record.json", {"seed": 1, "settings": {"d": 2}}, ("rows.npz",))


@pytest.fixture
def recorded(tmp_path, monkeypatch):
    """A result that was made as the step says, in the folder of the test."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(code_digest, "_digests", dict)
    for name in ("rows.npz", "more.npz", "table.csv"):
        (tmp_path / name).write_text(name)
    decides = {
        "asked": STEP.request,
        "inputs": {"rows.npz": code_digest.digest_bytes(tmp_path / "rows.npz")},
        "read": {},
    }
    outputs = {"table.csv": code_digest.digest_bytes(tmp_path / "table.csv")}
    record = {"format": records.FORMAT, "decides": decides, "outputs": outputs, "informs": {}}
    (tmp_path / "record.json").write_text(json.dumps(record))
    return tmp_path


def test_a_result_made_as_planned_is_current(recorded):
    assert list(reasons(STEP, Decisions())) == []


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"request": {"seed": 2, "settings": {"d": 2}}}, "seed: 1 -> 2"),
        ({"request": {"seed": 1, "settings": {"d": 3}}}, "settings.d: 2 -> 3"),
        ({"inputs": ("rows.npz", "more.npz")}, "it reads more.npz now"),
        ({"inputs": ()}, "it does not read rows.npz any more"),
    ],
)
def test_another_request_is_named(recorded, changes, reason):
    assert list(reasons(replace(STEP, **changes), Decisions())) == [reason]


@pytest.mark.parametrize(
    ("file", "text", "reason"),
    [
        ("rows.npz", "other", "rows.npz has changed"),
        ("rows.npz", None, "rows.npz is lost"),
        ("table.csv", "other", "table.csv was edited"),
        ("table.csv", None, "table.csv is lost"),
        ("record.json", None, "its record is lost"),
        ("record.json", "{}", "record.json cannot be read; delete it, and run again"),
    ],
)
def test_another_file_is_named(recorded, file, text, reason):
    if text is None:
        (recorded / file).unlink()
    else:
        (recorded / file).write_text(text)
    assert list(reasons(STEP, Decisions())) == [reason]


@pytest.mark.parametrize("module", ["prepare", "fetch", "transport"])
def test_an_edit_of_the_download_alone_makes_no_data_again(recorded, module):
    """A raw file that is there with its hash is not downloaded again, whatever the code is."""
    name = f"reproduction/data/{module}.py"
    record = json.loads((recorded / "record.json").read_text())
    record["decides"]["read"] = {name: "the digest of an earlier version"}
    (recorded / "record.json").write_text(json.dumps(record))
    expected = [f"code {name} was edited"] if module != "transport" else []
    assert list(reasons(STEP, Decisions())) == expected


def test_what_is_made_again_is_followed_and_not_called_lost(recorded):
    (recorded / "rows.npz").unlink()
    decisions = Decisions({"rows.record.json": "not made yet"})
    assert list(reasons(STEP, decisions)) == ["follows rows.npz"]
