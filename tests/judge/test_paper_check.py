"""The check of a paper: every kind of fault has its file, its line and what to do."""

import shutil
import sys
import zlib
from pathlib import Path

import pytest

from reproduction.judge import paper_check
from reproduction.run import label_check

TEMPLATES = Path(__file__).parents[2] / "src/papers/_templates"
YAML = "table1.yaml"


@pytest.fixture
def paper(tmp_path, request, monkeypatch):
    """A new paper, named after the test: Python imports a module once."""
    return make(tmp_path, request, monkeypatch, "example_paper")


@pytest.fixture
def classifier(tmp_path, request, monkeypatch):
    """A new paper whose data set is its own."""
    return make(tmp_path, request, monkeypatch, "classifier")


def make(tmp_path, request, monkeypatch, template):
    monkeypatch.setattr(sys, "path", [*sys.path])
    folder = tmp_path / f"check_{zlib.crc32(request.node.name.encode()):x}"
    shutil.copytree(TEMPLATES / template, folder)
    (folder / "__init__.py").touch()
    return folder


def change(file, old, new):
    """Change a text, and return the number of its line."""
    text = file.read_text(encoding="utf-8")
    assert old in text
    file.write_text(text.replace(old, new, 1), encoding="utf-8")
    return text[: text.index(old)].count("\n") + 1


FAULTS = [
    (YAML, "reductions:", "reduction:", "there is no key 'reduction'; did you mean reductions"),
    (YAML, "repetitions: 20", "repetitions: 3.5", "valid integer, got 3.5; write a whole number"),
    (YAML, "repetitions: 20", 'repetitions: "3.5"', "got '3.5'; write a whole number"),
    (YAML, "repetitions: 20", "repetitions: 3.0", "got 3.0; write 3"),
    (YAML, "independent 0.2, class", "indpendent 0.2, class", "did you mean independent"),
    (YAML, "{method: robust_logistic}\n", "{method: robst_logistic}\n", "did you mean"),
    (YAML, "datasets: [ida_heart]", "datasets: [ida_hart]", "did you mean ida_heart"),
    (YAML, "protocol: code:errors", "protocol: code:erors", "close names: errors"),
    (YAML, "render: drawing:bars", "render: drawing:bar", "close names: bars"),
    (YAML, "kind: figure", "kind: table", "draws a figure; write that, or drop the key"),
    (YAML, "code:NearestMean", "code:NearesMean", "did you mean NearestMean"),
    (YAML, "{shrinkage: 0.1}", "{shrinkag: 0.1}", "did you mean shrinkage"),
    (YAML, "below: 0}", "bellow: 0}", "did you mean below"),
    (YAML, "noise: independent 0.2, m", "noise: independent 0.25, m", "did you mean ind"),
    (YAML, "margin: 2", "margin: -2", "published.margin"),
    (YAML, "experiment:", "\texperiment:", "cannot start any token"),
    ("table1.published.csv", "ida_heart", "ida_hart", "no row will be of 'ida_hart'"),
    ("table1.published.csv", ",20", "", "not as many cells as columns"),
    ("names.yaml", "nearest_mean: {", "nearest_maen: {", "did you mean nearest_mean"),
    ("names.yaml", "look: blue", "look: bleu", "did you mean blue"),
]


@pytest.mark.parametrize(("file", "old", "wrong", "message"), FAULTS)
def test_a_fault_of_a_file_is_named_with_its_line(paper, file, old, wrong, message):
    line = change(paper / file, old, wrong)
    (fault,) = paper_check.read_paper(paper).faults
    assert fault.startswith(str(paper / file)), fault
    assert f"line {line}: " in fault, fault
    assert message in fault
    assert "\n" not in fault


@pytest.mark.parametrize(
    ("old", "wrong", "message"),
    [
        ("import numpy as np", "import numpyy as np", "ModuleNotFoundError"),
        ("class NearestMean(", "class NearestMean((", "SyntaxError"),
    ],
)
def test_a_module_that_cannot_be_imported_is_named_with_its_line(paper, old, wrong, message):
    line = change(paper / "code.py", old, wrong)
    (fault,) = paper_check.read_paper(paper).faults
    assert f"code.py, line {line}: {message}" in fault


def test_all_faults_are_listed_and_not_the_first_alone(classifier):
    change(classifier / "two_classes.yaml", "roc_auc", "roc_acu")
    change(classifier / "three_classes.yaml", "error,", "eror,")
    faults = paper_check.read_paper(classifier).faults
    assert [("roc_auc" in fault, "error" in fault) for fault in faults] == [
        (False, True),
        (True, False),
    ]


def test_a_title_that_is_missing_and_a_word_that_is_no_paper_are_named(paper):
    (paper / "TITLE").write_text("", encoding="utf-8")
    assert "holds the title" in paper_check.read_paper(paper).faults[0]
    with pytest.raises(ValueError, match="there is no folder"):
        paper_check.find_folder(str(paper / "other"))


def check_paper(folder, artifact="three_classes", checks_labels=False):
    """What one repetition finds, by default without the trees that doubt labels.

    The trees take most of the time of a check.
    """
    report = paper_check.read_paper(folder, artifact)
    assert not report.faults
    with pytest.MonkeyPatch.context() as patch:
        if not checks_labels:
            patch.setattr(label_check, "describe_labels", lambda *_: "")
        paper_check.run_paper(folder, report)
    return report


def test_one_repetition_of_each_experiment_is_run_on_data_of_the_paper(classifier):
    report = check_paper(classifier, checks_labels=True)
    assert not report.faults
    assert "three_classes.yaml: 12 rows of one repetition" in report.remarks[0]


@pytest.mark.parametrize(
    ("old", "wrong", "message"),
    [
        ("return self.classes_[", "return self.clases_[", "AttributeError"),
        ("return self.classes_[", "return -1 - self.classes_[", "the method predicts -1"),
        ("return self.classes_[", "return 1 + self.classes_[", "the method predicts 3"),
        ("self.classes_ = np.unique(y)", "raise SystemExit(0)", "SystemExit"),
    ],
)
def test_a_method_that_fails_is_named_with_what_it_was_run_on(classifier, old, wrong, message):
    change(classifier / "code.py", old, wrong)
    (fault,) = check_paper(classifier).faults
    place_in_data = "dataset wine, noise symmetric 0, method nearest_mean, repetition 0: "
    location = f"{classifier}/three_classes.yaml: protocol stock:classification: "
    assert fault.startswith(location + place_in_data)
    assert message in fault


@pytest.mark.parametrize("draw", ["np.random.random()", "random.random()"])
def test_a_method_that_draws_from_a_global_generator_is_a_fault(classifier, draw):
    code = "import random\n\nimport numpy as np"
    change(classifier / "code.py", "import numpy as np", code)
    change(classifier / "code.py", "distances.min(", f"0 * {draw} + distances.min(")
    (fault,) = check_paper(classifier).faults
    assert "a global generator of random numbers is used, without a seed" in fault


@pytest.mark.parametrize(
    "wrong",
    ["            yhat[t] = y[t]\n", ""],
    ids=["it sees the label", "it never predicts"],
)
def test_a_filter_that_breaks_its_contract_is_a_fault(tmp_path, request, monkeypatch, wrong):
    paper = make(tmp_path, request, monkeypatch, "filter")
    change(paper / "code.py", "            yhat[t] = w @ x\n", wrong)
    assert "settings.methods.sign_lms: " in check_paper(paper, "fig1").faults[0]


def test_a_filter_that_keeps_its_contract_is_not(tmp_path, request, monkeypatch):
    assert not check_paper(make(tmp_path, request, monkeypatch, "filter"), "fig1").faults


def test_an_experiment_whose_data_cannot_be_had_is_named_and_not_run(classifier):
    change(classifier / "three_classes.yaml", "[wine]", "[cifar10h]")
    report = check_paper(classifier)
    assert not report.faults
    assert "three_classes.yaml: not run: cifar10h" in report.remarks[0]


def test_a_loader_that_fails_is_a_fault_with_its_line(classifier):
    line = change(classifier / "code.py", "load_wine(return", "load_whine(return")
    (fault,) = check_paper(classifier).faults
    assert f"code.py, line {line}: NameError" in fault


PUBLISHED = """
published:
  margin: 0.02
  reason: "for this test"
"""


def publish(paper, lines, extra=""):
    """Give the artifact of three classes published values."""
    artifact = paper / "three_classes.yaml"
    artifact.write_text(artifact.read_text(encoding="utf-8") + PUBLISHED + extra, encoding="utf-8")
    text = "\n".join(["id,noise,method,metric,x,value", *lines, ""])
    artifact.with_suffix(".published.csv").write_text(text, encoding="utf-8")


def test_a_published_value_without_a_row_is_named_with_the_nearest(classifier):
    publish(
        classifier,
        [
            "right,symmetric 0,tree,balanced_accuracy,,0.9",
            "wrong,symmetric 0,symmetric 0.3,balanced_accuracy,,0.9",
            "no_x,symmetric 0,tree,balanced_accuracy,20,0.9",
        ],
    )
    label, number = check_paper(classifier).faults
    assert "three_classes" in label
    assert "wrong: no row has method = symmetric 0.3 among the rows with noise = symm" in label
    assert "available: nearest_mean, tree" in label
    assert "no_x: no row has x = 20" in number


@pytest.mark.parametrize("x", ["20", "20.0"])
def test_two_published_values_for_one_cell_are_refused_with_both_lines(classifier, x):
    lines = ["a,symmetric 0,tree,error,20,0.9", f"b,symmetric 0,tree,error,{x},0.5"]
    publish(classifier, lines)
    (fault,) = paper_check.read_paper(classifier).faults
    assert "three_classes.published.csv, line 3: line 2 has a value for noise symmetric 0" in fault
    assert fault.endswith("keep one, or fill a column in which they differ")
    change(classifier / "three_classes.published.csv", f"error,{x},0.5", "error,21,0.5")
    assert paper_check.read_paper(classifier).faults == []


def test_a_claim_without_a_row_is_named(classifier):
    check = "{statistic: value, a: {method: error, metric: error}, below: 50}"
    claim = f'claims: [{{id: C, kind: ours, statement: "s", checks: [{check}]}}]'
    publish(classifier, ["right,symmetric 0,tree,error,,9"], claim)
    (fault,) = check_paper(classifier).faults
    assert "C: check 1: no row has method = error" in fault
    assert "available: nearest_mean, tree" in fault


def test_rows_that_the_smoke_scale_leaves_out_are_not_missed(classifier):
    reduced = "reductions: {smoke: {settings: {repetitions: 2, noise: [symmetric 0]}}}"
    publish(classifier, ["later,symmetric 0.3,tree,balanced_accuracy,,0.9"], reduced)
    assert check_paper(classifier).faults == []


@pytest.mark.parametrize(
    ("metric", "values", "unit"),
    [
        ("balanced_accuracy", (95, 90), "value / 100"),
        ("error", (0.05, 0.1), "100 * value"),
        ("balanced_accuracy", (0.95, 0.9), ""),
        ("balanced_accuracy", (0.5, 0.55), ""),
    ],
)
def test_a_value_in_percent_of_a_share_is_named_with_the_unit(classifier, metric, values, unit):
    methods = ("nearest_mean", "tree")
    lines = []
    for method, value in zip(methods, values, strict=True):
        lines.append(f"{method},symmetric 0,{method},{metric},,{value}")
    publish(classifier, lines)
    report = check_paper(classifier)
    assert report.faults == []
    units = [remark.partition("with `as: ")[2] for remark in report.remarks if "`as: " in remark]
    assert [unit_text.partition("`")[0] for unit_text in units] == ([unit] if unit else [])


def test_a_value_in_percent_is_compared_as_a_share(classifier):
    publish(classifier, ["a,symmetric 0,tree,balanced_accuracy,,77.5"], "  as: value / 100\n")
    report = paper_check.read_paper(classifier)
    assert report.faults == []
    assert report.artifacts["three_classes"].values[0]["value"] == 0.775


def test_columns_of_probabilities_that_are_reversed_are_a_fault(classifier):
    code = classifier / "code.py"
    change(code, "return weights / weights", "return weights[:, ::-1] / weights")
    (fault,) = check_paper(classifier).faults
    location = f"{classifier}/three_classes.yaml, line 8: settings.methods.nearest_mean: "
    assert fault.startswith(location)
    assert "predict is right on 0 % of the rows" in fault


def test_labels_that_are_not_those_of_their_rows_are_named_in_a_warning(classifier):
    shuffle = "order = np.random.default_rng(0).permutation(len(y))\n    "
    change(classifier / "code.py", 'return {"X": X, "y": y}', f'{shuffle}return {{"X": X, "y": y}}')
    change(classifier / "code.py", '"X": X, "y": y', '"X": X[order], "y": np.roll(y[order], 1)')
    report = check_paper(classifier, checks_labels=True)
    assert not report.faults
    warnings = [remark for remark in report.remarks if "warning: " in remark]
    (warning,) = warnings
    assert "datasets.yaml: wine: warning: trees predict y" in warning


@pytest.mark.parametrize(
    ("section", "label", "hint"),
    [
        ("methods", "nearest_maen: {name: a}", "did you mean nearest_mean?"),
        ("methods", "forest: {name: a}", "known: nearest_mean, tree;"),
        ("noise", "symetric 0.3: a", "did you mean symmetric 0.3 or symmetric 0?"),
        ("metrics", "eror: a", "did you mean error?"),
    ],
)
def test_a_name_for_nothing_is_told_the_labels_of_its_section(classifier, section, label, hint):
    text = f"{section}:\n  {label}\n"
    (classifier / "names.yaml").write_text(text, encoding="utf-8")
    (classifier / "two_classes.yaml").unlink()
    (fault,) = paper_check.read_paper(classifier).faults
    assert fault.startswith(f"{classifier}/names.yaml, line 2: {section}: no artifact has '")
    assert hint in fault


def test_a_claim_about_an_unknown_method_is_told_the_methods(classifier):
    check = "{statistic: value, a: {method: forest, metric: error}, below: 50}"
    claim = f'claims: [{{id: C, kind: ours, statement: "s", checks: [{check}]}}]'
    publish(classifier, ["right,symmetric 0,tree,error,,9"], claim)
    (fault,) = paper_check.read_paper(classifier).faults
    assert "have method 'forest'; known: nearest_mean, tree" in fault
