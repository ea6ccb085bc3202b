import pandas as pd
import pytest

from reproduction.figures import tables


@pytest.fixture
def frame():
    rows = [("A & B", "x_1", "**0.10 ± 0.01**"), ("A & B", "x_2", "0.2 | 3"), ("C", "x_1", "5 % <")]
    frame = pd.DataFrame(rows, columns=["section", "method", "error, all"]).set_index("section")
    frame.attrs["note"] = "stand-in data: a_b"
    return frame


WRITTEN = {
    "csv": [
        'section,method,"error, all"\nA & B,x_1,0.10 ± 0.01\nA & B,x_2,0.2 | 3\nC,x_1,5 % <\n'  # no markup
    ],
    "md": [
        "| A & B | x_1 | **0.10 ± 0.01** |\n|  | x_2 | 0.2 \\| 3 |\n| C | x_1 | 5 % < |\n"  # sections once
    ],
    "tex": [
        r"A \& B & x\_1 & \textbf{0.10 $\pm$ 0.01} \\",
        r"5 \% <",
        r"\multicolumn{3}{l}{stand-in data: a\_b} \\",
    ],
    "html": [
        "<td><strong>0.10 ± 0.01</strong></td>",
        "<td>A &amp; B</td>",
        "<td>5 % &lt;</td>",
        "<p>stand-in data: a_b</p>",
    ],
}


@pytest.mark.parametrize("suffix", WRITTEN)
def test_every_format_escapes_marks_bold_and_shows_sections(suffix, frame, tmp_path):
    tables.save(frame, [tmp_path / f"table.{suffix}"])
    text = (tmp_path / f"table.{suffix}").read_text(encoding="utf-8")
    assert [part for part in WRITTEN[suffix] if part not in text] == []


def test_a_plain_index_is_not_shown_and_nothing_is_blanked(tmp_path):
    frame = pd.DataFrame({"a": ["1", "1"], "b": ["2", "3"]})
    tables.save(frame, [tmp_path / "table.csv", tmp_path / "table.md"])
    assert (tmp_path / "table.csv").read_text() == "a,b\n1,2\n1,3\n"
    assert (tmp_path / "table.md").read_text().splitlines()[3] == "| 1 | 3 |"


@pytest.mark.parametrize(
    ("mean", "se", "text"),
    [
        (0.11634, 0.00488, "0.1163 ± 0.0049"),
        (12.34, 1.26, "12.3 ± 1.3"),
        (1234.6, 23.4, "1235 ± 23"),
        (0.925, 0.00996, "0.925 ± 0.010"),
        (0.5, 0.0, "0.5"),
        (1.3e-16, 1.94e-17, "1.3e-16 ± 1.9e-17"),
        (0.1234567, float("nan"), "0.123"),
    ],
)
def test_the_error_has_two_digits(mean, se, text):
    assert tables.mean_se(mean, se) == text


def test_means_that_tie_are_all_the_lowest():
    assert tables.lowest(pd.Series({"a": 0.3, "b": 0.1 + 0.2, "c": 0.5})) == {"a", "b"}
    assert tables.lowest(pd.Series({"a": 0.0, "b": 0.0, "c": 1e-9})) == {"a", "b"}
    assert tables.lowest(pd.Series(dtype=float)) == set()
    cells = tables.mean_se_cells(
        pd.DataFrame({0: [1.0, 2.0, 0.5], 1: [3.0, 2.0, 0.5]}, ["a", "b", "free"]), ["free"]
    )
    assert [method for method, cell in cells.items() if cell.startswith("**")] == ["a", "b"]
