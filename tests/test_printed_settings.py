"""`./run settings` prints what the page of settings has, of all protocols or of one."""

import contextlib
import io
import runpy
from pathlib import Path
from unittest import mock

import pytest

from reproduction.spec.key_tables import format_settings, format_vocabulary

SCRIPT = Path(__file__).parents[1] / "src/scripts/settings.py"


def printed(*words):
    stdout = io.StringIO()
    with mock.patch("sys.argv", ["run", *words]), contextlib.redirect_stdout(stdout):
        runpy.run_path(str(SCRIPT))
    return stdout.getvalue().strip()


def test_all_of_them_are_those_of_the_page():
    text = printed()
    assert text == (format_vocabulary() + format_settings()).strip()
    assert "## Kinds of noise" in text


def test_one_protocol_is_a_part_of_them():
    part = printed("stock:classification")
    assert part.startswith("## stock:classification")
    assert "| `metrics`* |" in part
    assert part.count("\n## ") == 0
    assert part in format_settings()


def test_a_misspelt_protocol_is_named_with_the_nearest():
    message = "no protocol 'stock:clasification'; did you mean stock:classification"
    with pytest.raises(SystemExit, match=message):
        printed("stock:clasification")
