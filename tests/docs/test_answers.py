"""The chooser, gallery and citations quote what is archived; the chooser's prose fits its rows."""

import re
import sys
from pathlib import Path

import numpy as np
import pytest
import yaml
from scipy import stats

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "docs/_ext"))

import answers  # noqa: E402


def rows(kind, *words):
    """The cells of an answer by the first of each row."""
    cells_of_rows = {}
    for line in answers.KINDS[kind](*words).splitlines():
        if "|" in line:
            first, *cells = line.strip("| ").split(" | ")
            cells_of_rows[first] = cells
    return cells_of_rows


@pytest.mark.parametrize("page", answers.pages(), ids=lambda page: page.stem)
def test_a_page_quotes_the_kept_results(page):
    text = page.read_text(encoding="utf-8")
    assert text.count("<!-- answer: ") == text.count("<!-- end -->") > 0
    assert text == answers.filled(text), "run: python src/scripts/generate.py"


def test_what_the_chooser_says_in_words_holds_on_its_rows():
    flips = rows("kernels", "140", "700")
    for rate in (20, 30, 40):
        lowest, behind, close, _ = flips[f"{rate} % asymmetric"]
        assert behind.count("KLR") == behind.count("rMKLR") + 1, "plain KLR is behind, rKLR is not"
        assert "rKLR" in lowest + close
    lowest, _, close, missing = flips["20 % symmetric"]
    assert lowest[:7] == "**KLR**"
    assert close[:4] == "rKLR"
    assert missing == "SVM, rKFD, rMKLR"
    runs = rows("runs", "robust_sgd/table1", "redrawn_error")
    lowest_beyond_half = [cells[0] for row, cells in runs.items() if "60 %" in row]
    assert lowest_beyond_half == ["none", "none"]


def test_a_row_ranks_by_the_mean_and_takes_paired_intervals(tmp_path, monkeypatch):
    folder = tmp_path / "results/reference/kernel_boost/table"
    folder.mkdir(parents=True)
    errors = {"svm": [10.0, 20, 30], "klr": [11.0, 21.5, 31.2], "rklr": [9.0, 25, 27]}
    lines = ["dataset,noise,setting,method,metric,mean"]
    for method, errors_of_sets in errors.items():
        for number, error in enumerate(errors_of_sets):
            lines.append(f"set{number},independent 0.2,,{method},error,{error}")
    (folder / "summary.csv").write_text("\n".join(lines))
    monkeypatch.setattr(answers, "ROOT", tmp_path)
    lowest, behind, close = rows("sets", "kernel_boost/table", "error")["20 % symmetric"]
    differences = np.subtract(errors["klr"], errors["svm"])
    low, high = stats.ttest_1samp(differences, 0).confidence_interval()
    assert lowest == "**SVM** 20.0 %"
    assert behind == f"KLR +1.2 [+{low:.1f}, +{high:.1f}]"
    assert close.startswith("rKLR +0.3 [−")


@pytest.mark.parametrize("page", answers.quoting_pages(), ids=lambda page: page.stem)
def test_no_mark_for_the_build_is_left_on_a_built_page(page):
    text = page.read_text(encoding="utf-8")
    assert "made when this page is built:" not in answers.built(text)


def test_a_table_of_verdicts_has_a_row_for_every_claim_of_the_paper():
    lines = answers.verdicts("ors").splitlines()
    for file in (ROOT / "results/reference/ors").glob("*/verdicts.csv"):
        for row in answers.read_verdicts(file):
            if answers.is_claim(row):
                start = f"| `{row['artifact']}` | {row['id']} | "
                assert sum(line.startswith(start) for line in lines) == 1, row["id"]


def test_links_to_kept_files_lead_to_pages_of_results_and_pictures_stay():
    picture = "![a](../figures/reference/ors/fig2.svg)"
    linked_picture = "[![b](x.webp)](../figures/reference/ors/fig2.svg)"
    linked_table = "[c](../../results/reference/ors/fig5/summary.csv)"
    source = [f"{picture} {linked_picture} {linked_table}"]
    answers.read(None, "src/papers/ors/page", source)
    linked_picture = "[![b](x.webp)](/docs/results/ors_fig2.rst)"
    linked_table = "[c](/docs/results/ors_fig5.rst)"
    assert source[0] == f"{picture} {linked_picture} {linked_table}"


def test_every_work_of_the_citation_file_has_an_entry_and_every_paper_a_gallery():
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    entries = answers.bibtex()
    keys = re.findall(r"^@\w+\{([a-z0-9]+),$", entries, re.MULTILINE)
    assert len(set(keys)) == len(keys) == 1 + len(cited["references"]) == 6
    for work in [cited, *cited["references"]]:
        assert f"title = {{{{{work['title']}}}}}" in entries
        for author in work["authors"]:
            name = author.get("family-names", author.get("name"))
            assert name in entries
        assert work.get("doi", "") in entries
    page = answers.built((ROOT / "docs/gallery.md").read_text(encoding="utf-8"))
    thumbnails = list((ROOT / "figures/reference").glob("*/*.thumb.webp"))
    assert len(thumbnails) > 50
    for file in thumbnails:
        assert f"(../{file.relative_to(ROOT)})" in page
