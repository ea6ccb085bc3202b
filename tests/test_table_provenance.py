"""A table that is not the one of its provenance is neither drawn nor judged."""

import hashlib
import json
from pathlib import Path

import pytest

from reproduction.figures.panels import RenderError
from reproduction.figures.rendering import render
from reproduction.results import verify, write_rows
from reproduction.verdicts.judge import judge_files
from reproduction.verdicts.names import VerdictError

ARTIFACT = Path(__file__).resolve().parents[1] / "config/experiments/pnorm/hadamard.yaml"


@pytest.fixture
def table(tmp_path):
    """A table with its provenance, as the workflow leaves them."""
    path = tmp_path / "table.csv"
    write_rows([{"method": "lms", "repetition": 0, "metric": "loss", "x": 1, "value": 2.0}], path)
    record = {"table_sha256": hashlib.sha256(path.read_bytes()).hexdigest()}
    path.with_name("provenance.json").write_text(json.dumps(record))
    return path


def test_the_table_of_its_provenance_passes(table):
    verify(table)


def test_a_table_without_provenance_is_not_checked(table):
    table.with_name("provenance.json").unlink()
    table.write_text(table.read_text().replace(",2\n", ",1\n"))
    verify(table)
    judge_files([], [], "full")


@pytest.mark.parametrize("edit", [(",2\n", ",1\n"), ("\n", "\r\n"), ("lms", "nlms")])
def test_an_edit_by_hand_is_neither_drawn_nor_judged(table, edit):
    table.write_bytes(table.read_bytes().replace(*(word.encode() for word in edit)))
    message = r"table\.csv is not the table that .*provenance\.json records .*; delete .*table\.csv and run"
    with pytest.raises(RenderError, match=f"^hadamard: .*{message}"):
        render("stock:curves", "hadamard", {"hadamard": table}, {"hadamard": {}})
    with pytest.raises(VerdictError, match=message) as error:
        judge_files([ARTIFACT], [table], "smoke")
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("content", ["", "{}", "[]", "\x00", '{"table_sha256"'])
def test_a_provenance_that_cannot_be_read_is_named(table, content):
    table.with_name("provenance.json").write_text(content)
    with pytest.raises(ValueError, match=r"provenance\.json: table_sha256 cannot be read; delete"):
        verify(table)
