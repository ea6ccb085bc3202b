"""Text from outside is visible where it is shown, and harmless where a spreadsheet opens it."""

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from noisylabels.safe_text import make_harmless, make_harmless_table, make_visible, undo_harmless


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t", "\r"])
def test_no_cell_and_no_column_name_starts_a_formula(start):
    formula = f'{start}HYPERLINK("x")'
    table = make_harmless_table(pd.DataFrame({formula: [formula, "plain"], "number": [-1.5, 2.0]}))
    written = table.to_csv(index=False)
    cells = pd.read_csv(__import__("io").StringIO(written), dtype=str)
    for text in [*cells.columns, *cells.iloc[:, 0]]:
        assert not text.startswith(start)
    assert cells["number"].tolist() == ["-1.5", "2.0"]


@given(st.text())
def test_what_was_made_harmless_is_read_back(text):
    assert undo_harmless(make_harmless(text.strip())).strip("'") == text.strip().strip("'")


@pytest.mark.parametrize("number", ["-0.604", "+1e3", "-5"])
def test_numbers_keep_their_sign(number):
    assert make_harmless(number) == number


@given(st.text())
def test_shown_text_holds_no_control_character(text):
    shown = make_visible(text)
    assert not any(ord(character) < 32 or character in "\x7f\u202e\u200b" for character in shown)
