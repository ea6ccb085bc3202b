"""`./run try`: the papers' methods on a user's table in one command, or a line with the reason."""

import csv
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from command_lines import run_script
from project import ROOT


@pytest.fixture
def beans(tmp_path):
    """60 rows with a word, a gap and a date; two kinds, and a column with three."""
    rng = np.random.default_rng(0)
    with (tmp_path / 'my "beans".csv').open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["width", "colour", "day", "size", "kind"])
        for i in range(60):
            kind = "bombay" if i % 2 else "pinto"
            width = "" if i == 7 else round(i % 2 + rng.normal(0, 0.4), 3)
            rows.writerow([width, "rb"[i % 5 > 2], f"2026-01-{1 + i % 28:02}", "SML"[i % 3], kind])
    return tmp_path


@pytest.mark.parametrize(
    ("words", "line"),
    [
        ("--label knd", "no column 'knd'"),
        ("", "(--label names the column with the classes)"),
        ("--label size", "--positive, one of L, M, S"),
        ("--label kind --positive navy", "--positive, one of bombay, pinto"),
        ("--label kind --splits 1", "--splits must be at least 2"),
        ("--label kind --out .", "holds files that are not from a trial"),
    ],
)
def test_what_cannot_be_tried_is_refused_in_one_line(beans, words, line):
    status, _, errors = run_script("trial", beans, 'my "beans".csv', *words.split())
    assert status == 1
    assert errors.count("\n") == 1
    assert line in errors


@pytest.mark.workflow
@pytest.mark.nightly
def test_a_table_ends_as_a_page_with_the_errors_of_every_method(beans):
    words = [
        'my "beans".csv',
        *["--label", "kind", "--splits", "2", "--rows", "40", "--out", "out"],
    ]
    command = [sys.executable, "-P", str(ROOT / "src/scripts/trial.py"), *words]
    done = subprocess.run(command, cwd=beans, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    page = done.stdout.rpartition("Look:")[2].strip()
    assert page == str(beans / "out/site/full/index.html")
    text = Path(page).read_text(encoding="utf-8")
    names = (
        "rMKLR",
        "SGD RGomp",
        "rBoost/rLR",
        "TRY-3",
        "40 of 60 rows",
        "holds dates",
        "kind = pinto",
    )
    noises = ("labels as given", "+ 20 % flipped", "+ 30 % of one class flipped")
    for part in (
        " has the lowest error; not significantly different from it (95 %): ",
        *names,
        *noises,
    ):
        assert part in text
    for text_shown in (text, done.stdout):
        assert "clean labels" not in text_shown.lower()
        assert "against the labels as given" in " ".join(text_shown.split())
    output = done.stdout + done.stderr
    for path in re.findall(r"(?:figures|tables?) in (\S+)|see (\S+\.csv)", output):
        assert (beans / "".join(path)).exists(), path
    assert not any(word in text for word in ("SPLITS", "ABOUT", "SHOWN"))
    assert text.count("<article>") == 1
    errors = [float(mean) for mean in re.findall(r"([0-9.]+) ± [0-9]", done.stdout)]
    assert len(errors) == 3 * 10
    assert min(errors) < 40  # the two kinds differ in width
