"""What the documentation makes of docstrings and formulas."""

import sys
from pathlib import Path

import pytest

pytest.importorskip("numpydoc")
sys.path.insert(0, str(Path(__file__).parents[2] / "docs/_ext"))

import docstrings
import formulas


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("w_t = 2", "<i>w</i><sub><i>t</i></sub> = 2"),
        ("||w||^2 <= B_w", "‖<i>w</i>‖<sup>2</sup> ≤ <i>B</i><sub><i>w</i></sub>"),
        ("lambda/2 sum_n w_n^2", "<i>λ</i>/2 ∑<sub><i>n</i></sub> <i>w</i><sub><i>n</i></sub><sup>2</sup>"),
        ("x^{t-1}", "<i>x</i><sup><i>t</i>-1</sup>"),
        ("a < b & c", "a &lt; <i>b</i> &amp; <i>c</i>"),
        ("Lambda, sigma(f)", "<i>Λ</i>, <i>σ</i>(<i>f</i>)"),
        ("alpha_t, yhat_t", "<i>α</i><sub><i>t</i></sub>, yhat<sub><i>t</i></sub>"),
        ("flip_matrix_ and n_iter_", "<code>flip_matrix_</code> and <code>n_iter_</code>"),
    ],
)
def test_a_formula_gets_indices_powers_and_greek_letters(text, html):
    assert formulas.render(text) == html
    assert formulas.render("One label is known") == "One label is known"
    assert not formulas.looks_like("One label is known, as ``random_state`` is and flip_matrix_ is not")


def test_names_of_parameters_become_a_list_and_nothing_else_is_markup():
    lines = ["eta : step, > 0.  p : norm of `w`,", "    at least 2"]
    lines = ["Text.", "", *lines, "", "Raises ValueError: flip_matrix_ of *no* use."]
    lines += [
        "",
        "rounds : T.   weighting : 'resample' or not.",
        "",
        "eta: step, as large as",
        "is safe.  B_w: radius.",
        "",
        "Source: a book.",
    ]
    text = "\n".join(docstrings.convert(lines))
    for name in ("rounds", "weighting", "eta", "B\\_w"):
        assert f"\n**{name}**\n" in text
    assert "**Source" not in text
    assert "step, as large as is safe." in text
    assert "**eta**\n    \\ step, \\> 0." in text
    assert "**p**\n    \\ norm of \\ ``w``\\ , at least 2" in text
    assert "flip\\_matrix\\_ of \\ *no*\\  use" in text
