"""A paper in a folder of the user: written by one command, planned next to ours; its faults."""

import contextlib
import io
import os
import re
import runpy
import shutil
import subprocess
import sys
import zlib
from pathlib import Path
from types import SimpleNamespace
from unittest import mock

import pytest

from reproduction.data.errors import DataError
from reproduction.data.fetch import fetch
from reproduction.data.prepare import prepare
from reproduction.data.registry import load_registry
from reproduction.judge.claims import NeverTogether
from reproduction.judge.verdicts import judge_files
from reproduction.plan import plan
from reproduction.run.job import Job
from reproduction.show import names, style
from reproduction.spec.papers import HOME

ROOT = Path(__file__).parents[1]


def new(*words):
    """Return what `./run WORDS` would print and say, and whether it worked."""
    stdout = io.StringIO()
    message = ""
    with mock.patch("sys.argv", ["run", *map(str, words)]), contextlib.redirect_stdout(stdout):
        try:
            runpy.run_path(str(ROOT / "src/scripts/new.py"))
        except SystemExit as refused:
            message = str(refused)
    return SimpleNamespace(works=not message, stdout=stdout.getvalue(), said=message)


@pytest.fixture
def paper(tmp_path, request, monkeypatch):
    """Write a paper named after the test, because Python imports a module once."""
    monkeypatch.setattr(sys, "path", [*sys.path])
    name = f"paper_{zlib.crc32(request.node.name.encode()):x}"
    assert new("new-paper", tmp_path / name).works
    return tmp_path / name


def planned(paper, papers=()):
    config = plan.configured(ROOT, "smoke") | {"papers": [*papers, str(paper)]}
    planned_papers = plan.planned(ROOT, config)
    _ = planned_papers.left_out
    return planned_papers


def change(file, old, new):
    text = file.read_text(encoding="utf-8")
    assert old in text
    file.write_text(text.replace(old, new), encoding="utf-8")


def test_a_new_paper_is_planned_next_to_ours(paper):
    assert new("new-artifact", paper / "table2").works
    plan_with_ours = planned(paper, ["pnorm"])
    assert {
        f"{paper.name}/table1",
        f"{paper.name}/table2",
        "pnorm/bounds",
    } <= plan_with_ours.artifacts.keys()
    assert plan_with_ours.job(f"{paper.name}/table1")["protocol"] == f"{paper.name}.code:errors"
    values = plan_with_ours.artifacts[f"{paper.name}/table1"].values
    assert [(v["value"], v["sd"]) for v in values] == [(18.0, 3.0)]
    assert values[0]["reason"].endswith("printed is 82.0, compared is 100 - value")


def test_printed_values_in_another_unit_are_told_from_values_that_are_far_off(paper):
    """Its value, read as 100 - 82, is compared with our error in percent."""
    (artifact,) = (a for a in planned(paper).artifacts.values() if a.paper == paper.name)

    def mistake_of(published, ours, verdict="not_reproduced"):
        row = {"kind": "published", "verdict": verdict, "published": published, "estimate": ours}
        return artifact.other_unit([row | {"margin": "2"}, row | {"kind": "sentence"}])

    remark = "1 of 1 published values are much nearer to ours with `as: value`"
    assert remark in mistake_of("18", "80")
    assert "with `as: 100 * value`" in mistake_of("99.18", "80")
    assert "with `as: 100 - 100 * value`" in mistake_of("99.18", "20")
    assert not mistake_of("18", "30")
    assert not mistake_of("18", "16.5")
    assert not mistake_of("18", "")
    assert not mistake_of("18", "80", "not_comparable")


def test_in_the_repository_its_commands_name_the_folder_as_seen_from_there_and_its_test_passes(
    tmp_path,
):
    shutil.copytree(
        ROOT / "src/papers/_templates/example_paper",
        tmp_path / "src/papers/_templates/example_paper",
    )
    (tmp_path / "src/scripts").mkdir(parents=True)
    script = shutil.copy(ROOT / "src/scripts/new.py", tmp_path / "src/scripts")
    mine = tmp_path / "examples/mine"
    subprocess.run([sys.executable, script, "new-paper", "examples/mine"], cwd=tmp_path, check=True)
    assert f"./run smoke mine --config 'papers=[{mine}]'" in (mine / "page.md").read_text()
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", mine]
    path = os.environ | {"PYTHONPATH": f"{mine.parent}:{ROOT / 'src'}"}
    done = subprocess.run(command, cwd=mine, env=path, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


def test_commands_that_would_overwrite_or_make_no_module_are_refused(paper, tmp_path):
    output = new("new-method", paper / "other").stdout
    assert output.startswith(str(paper / "other.py"))
    assert 'other: {method: "other:Majority"}' in output
    for words, message in (
        (
            ("new-method", paper / "other"),
            "other.py exists and is not changed; choose another name",
        ),
        (("new-paper", paper), "exists and is not changed"),
        (("new-paper", tmp_path / "Han 2016"), "is not a name for a module"),
        (("new-paper", tmp_path / "ors"), "the repository has a paper ors"),
        (("new-artifact", tmp_path / "empty/table2"), "has no TITLE"),
        (("new-paper", paper / "TITLE/x"), "cannot write"),
    ):
        output = new(*words).said
        assert len(output.splitlines()) == 1
        assert message in output


YAML, CSV, CODE, DRAWING, NAMES = (
    "table1.yaml",
    "table1.published.csv",
    "code.py",
    "drawing.py",
    "names.yaml",
)
SETS = "datasets.yaml"
METHOD = "{method: robust_logistic}, where"
LINE = "ida_heart,independent 0.2,nearest_mean,error,"
MISTAKES = [
    (
        YAML,
        "code:NearestMean",
        "code:NearesMean",
        "no class 'NearesMean'; did you mean NearestMean",
    ),
    (
        YAML,
        "{method: robust_logistic}\n",
        "{method: robust_logstic}\n",
        "did you mean robust_logistic",
    ),
    (
        YAML,
        "statistic: difference, a: {method",
        "statistic: difference, a: {methd",
        "did you mean method",
    ),
    (YAML, METHOD, "{method: robust_logistic, setting: cv}, where", "have setting 'cv'"),
    (
        YAML,
        "noise: independent 0.2, m",
        "noise: independent 0.25, m",
        "did you mean independent 0.2",
    ),
    (YAML, "below: 0}", "bellow: 0}", "did you mean below"),
    (
        YAML,
        "datasets: [ida_heart]",
        "datasets: [ida_heart, ida_hart]",
        "'ida_hart' is not in the registry",
    ),
    (
        YAML,
        "datasets: [ida_heart]",
        "datasets: [ida_heart.officiel]",
        "no source or variant 'officiel'",
    ),
    (YAML, "code:errors", "code:erors", "close names: errors"),
    (YAML, "protocol: ", "protocol: no", "has no module 'nocode'; did you mean code"),
    (YAML, "protocol: code:errors", "protocol: kernels.errors", "not of the form module:function"),
    (YAML, "drawing:bars", "drawing:bar", "close names: bars"),
    (YAML, "render: ", "render: no", "has no module 'nodrawing'; did you mean drawing"),
    (YAML, "0.3 0.1]", "0.3]", "class_conditional takes positive and negative"),
    (YAML, "{shrinkage: 0.1}", "{shrinkage: [1]}", "shrinkage"),
    (YAML, "{shrinkage: 0.1}", "{shrinkag: 0.1}", "did you mean shrinkage"),
    (YAML, "smoke: {settings: {rep", "smoke: {settings: {re", "did you mean repetitions"),
    (YAML, "as: 100 - value", "as: 100 minus value", "published.as"),
    (YAML, "  margin: 2\n", "", "published.margin: this key is required"),
    (CSV, "ida_heart", "ida_hart", "no row will be of 'ida_hart'"),
    (CSV, ",20\n", "\n", "line 2: not as many cells as columns"),
    (CSV, LINE, "ida_heart,independent 0.2,nearest_mean,,", "gives it no metric"),
    (CSV, LINE, "ida_heart,,nearest_mean,error,", "gives it no noise"),
    (CODE, "import numpy as np", "import numpyy as np", "code.py, line 3: ModuleNotFoundError: No"),
    (CODE, "class NearestMean(", "class NearestMean((", "SyntaxError"),
    (NAMES, "nearest_mean: {", "nearest_maen: {", "has 'nearest_maen'; did you mean nearest_mean"),
    (
        NAMES,
        "look: blue",
        "look: bleu",
        "methods.nearest_mean.look: 'bleu' is unknown; did you mean blue",
    ),
    (
        NAMES,
        "solid o",
        "solid",
        "a colour, a dash and a marker are expected, such as `blue dash o`",
    ),
    (NAMES, "metrics:", "metric:", "did you mean metrics"),
    (DRAWING, "@panels.figure\n", "", "put @panels.figure above it"),
    (CODE, '@protocol(MethodsOnSplits, labels=("error",))\n', "", "put @protocol above it"),
    (YAML, "code:NearestMean", "coed:NearestMean", "'coed'; did you mean code"),
    (CSV, LINE, LINE.removeprefix("ida_heart"), "TABLE1-heart: its line gives it no dataset"),
]


@pytest.mark.parametrize(("file", "old", "wrong", "message"), MISTAKES)
def test_a_mistake_is_named_before_anything_runs(paper, file, old, wrong, message):
    """In one line with the file and the key; what starts jobs is not even asked."""
    if "no dataset" in message:
        change(paper / YAML, "datasets: [ida_heart]", "datasets: [ida_heart, ida_thyroid]")
    change(paper / file, old, wrong)
    with pytest.raises(ValueError, match=r"\A[^\n]*\Z") as caught:
        planned(paper).check_custom([f"{paper.name}/"])
    location = {CODE: YAML, DRAWING: YAML}.get(file, file)
    assert str(paper / location) in str(caught.value)
    assert message in str(caught.value)


DATASETS = """
datasets:
  beans:
    title: Beans
    task: binary
    loader: users_table:users_table
    options: {label: kind, positive: bombay}
    sources: [{name: project, files: [{name: beans.csv}]}]
  coded:
    title: Beans, read by code of one's own
    task: other
    loader: data:beans
    shape: {rows: 40}
    sources: [{name: project, files: [{name: beans.csv}]}]
groups: {mine: [beans, coded, ida_heart]}
"""
HEART = "  ida_heart: {title: H, task: other, loader: 'a.b:c', sources: []}\ngroups:"
LOADER = """
import numpy as np


def beans(files):
    rows = np.genfromtxt(files["beans.csv"], delimiter=",", skip_header=1, dtype=str)
    signs = np.where(rows[:, 1] == "bombay", 1, -1)
    return {"X": rows[:, :1].astype(float), "y": signs.astype(np.int8)}
"""


@pytest.fixture
def beans(paper):
    """A paper with two data sets of its own, from one file."""
    rows = [f"{n},{'bombay' if n % 3 else 'cali'}" for n in range(40)]
    (paper / "beans.csv").write_text("\n".join(["width,kind", *rows, ""]), encoding="utf-8")
    (paper / SETS).write_text(DATASETS, encoding="utf-8")
    (paper / "data.py").write_text(LOADER, encoding="utf-8")
    change(paper / YAML, "datasets: [ida_heart]", "datasets: [mine]")
    change(
        paper / YAML,
        "  repetitions: 20",
        "  splits: {test: 0.4, stratified: true}\n  repetitions: 20",
    )
    change(paper / YAML, "where: {noise", "where: {dataset: beans, noise")
    return paper


def arrays_of(files, dataset, folder):
    """Return the arrays of a data set that jobs would read."""
    name = files.pinned(dataset)
    entry = files.entry(dataset)
    fetch(name, load_registry(entry.file), folder / name)
    return prepare(folder / name).arrays


def test_a_paper_brings_its_own_data_sets_and_a_change_of_a_file_is_seen(beans, tmp_path):
    planned_beans = planned(beans)
    planned_beans.check_custom([f"{beans.name}/"])
    assert planned_beans.data(f"{beans.name}/table1") == [
        f"data/prepared/{name}.packaged.npz" for name in ("beans", "coded", "ida_heart")
    ]
    table, coded = (arrays_of(planned_beans, name, tmp_path / "raw") for name in ("beans", "coded"))
    assert (table["X"] == coded["X"]).all()
    assert (table["y"] == coded["y"]).all()
    before = planned_beans.entry("beans").model_dump_json()
    change(beans / "beans.csv", "39,cali", "39,bombay")
    shutil.copytree(beans, tmp_path / "later" / beans.name)  # a process reads it once
    entry = planned(tmp_path / "later" / beans.name).entry("beans")
    moved = before.replace(str(beans), str(tmp_path / "later" / beans.name))
    assert entry.model_dump_json() != moved


@pytest.mark.parametrize(
    ("file", "old", "wrong", "message"),
    [
        (
            SETS,
            "name: beans.csv",
            "name: beens.csv",
            "datasets.beans: there is no file .*/beens.csv",
        ),
        (SETS, "groups:", HEART, "datasets.ida_heart: the repository has a set of this id"),
        (
            SETS,
            "coded, ida_heart",
            "coded, ida_hart",
            "groups.mine: ida_hart is not a data set of",
        ),
        (
            SETS,
            "data:beans",
            "data:beens",
            "datasets.coded: loader .*: no function beens in .*mean beans",
        ),
        (
            SETS,
            "data:beans",
            "date:beans",
            r"datasets.coded: loader .*: No module named .*\(of your paper: module",
        ),
        (SETS, "{label:", "{lable:", "datasets.beans: no parameter 'lable'; did you mean label"),
        (
            SETS,
            "title: Beans\n",
            "titel: Beans\n",
            "datasets.beans: there is no key 'titel'; did you mean",
        ),
        (
            "data.py",
            "import numpy",
            "import numpyy",
            "data.py, line 2: ModuleNotFoundError: No module named",
        ),
        (
            YAML,
            "where: {dataset: beans, noise",
            "where: {noise",
            "a names no dataset, in which rows differ",
        ),
    ],
)
def test_a_mistake_in_a_data_set_of_ones_own_is_named_before_anything_runs(
    beans,
    file,
    old,
    wrong,
    message,
):
    change(beans / file, old, wrong)
    with pytest.raises(ValueError, match=rf"\A{beans}/({SETS}|{YAML}): [^\n]*{message}[^\n]*\Z"):
        planned(beans).check_custom([f"{beans.name}/"])


@pytest.mark.parametrize(
    ("old", "wrong", "message"),
    [
        ('files["beans.csv"]', 'files["x.csv"]', "data.py, line 6: KeyError: 'x.csv'"),
        ('return {"X":', 'return [] and {"X":', "it must return {name: array} of numpy arrays"),
        ("skip_header=1", "skip_header=3", "coded from source project: rows is 38, expected 40"),
    ],
)
def test_a_loader_of_ones_own_that_fails_says_where(beans, tmp_path, old, wrong, message):
    change(beans / "data.py", old, wrong)
    with pytest.raises(DataError, match=re.escape(message)):
        arrays_of(planned(beans), "coded", tmp_path / "raw")


def test_two_papers_with_a_data_set_of_one_id_are_told_to_rename_it(beans):
    shutil.copytree(beans, beans.with_name("zzz"))
    message = f"{beans.name}/{SETS}: datasets.beans: .*zzz/{SETS} has this id"
    with pytest.raises(ValueError, match=message):
        planned(beans, [str(beans.with_name("zzz"))])


def test_a_paper_of_ones_own_takes_no_names_of_ours_for_its_labels(paper):
    """`excess` of a paper was "error - bound", `logistic` of another "logistic regression"."""
    location, function_path = HOME / "kernel_boost", f"{paper.name}.code:errors"
    with names.using(paper):
        assert names.method("nearest_mean") == "nearest mean"
        assert style.look_of("nearest_mean") == ("blue", "solid", "o", False)
        assert names.method("logistic") == "logistic"
        assert names.setting("shared_r") == "shared_r"
        assert names.metric("excess", function_path) == "excess"
        assert names.metric("excess", "kernel_boost.boosting:bounds") == "error − bound"
        assert names.noise("votes against") == "more votes for another class"
        with names.using(location):
            assert names.method("logistic") == "logistic regression"
    assert names.method("nearest_mean") == "nearest_mean"


def test_what_the_names_say_is_part_of_what_is_drawn(paper):
    name = f"{paper.name}/table1"
    before = planned(paper)
    second_paper = paper.parent / "other" / paper.name
    shutil.copytree(paper, second_paper)
    change(second_paper / NAMES, "nearest mean", "closest mean")
    after = planned(second_paper)
    assert before.drawing(name) != after.drawing(name)
    assert before.texts_digest() != after.texts_digest()
    assert before.job(name) == after.job(name)


def test_a_setting_that_a_kernel_method_does_not_have_is_named(paper):
    change(paper / YAML, "code:errors", "stock:errors")
    klr = "robust_logistic: {method: kernel_logistic, selection: cv}"
    settings_text = "  widths: [0]\n  parametrisation: sigma2\n  folds: 2\n  methods:\n"
    change(paper / YAML, "robust_logistic: {method: robust_logistic}", klr)
    change(paper / YAML, "  methods:\n", settings_text)
    change(paper / YAML, METHOD, "{method: robust_logistic, setting: ''}, where")
    with pytest.raises(ValueError, match=r"b\.setting: no row of .* has setting ''; it has 'cv'"):
        planned(paper)


PROTOCOL = """
import numpy as np
from reproduction.spec.settings import Trials
from reproduction.spec.protocol import protocol
from reproduction.run.points import Scored

@protocol(Trials, labels=("error",))
def errors(settings, loop):
    for repetition in loop:
        blank = dict.fromkeys(["dataset", "noise", "setting", "method"], "")
        yield repetition.row("error", Scored(np.arange(2), np.array([True, False]), 2), **blank)
        yield repetition.row(WRONG)
"""


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ('"eror", 1.0', "row 1 has the metric 'eror'; did you mean error.; declare it: @pro"),
        ('"error", 1.0, fold=3', r"row 1 has the columns \['fold'\]; a row has dataset, "),
        ("missing, 1.0", r"own_protocol_\w+\.py, line 12: NameError: name 'missing' is not"),
    ],
)
def test_a_job_names_the_mistake_of_a_protocol_at_the_row(tmp_path, monkeypatch, wrong, message):
    name = f"own_protocol_{zlib.crc32(wrong.encode()):x}"
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/TITLE").touch()  # every project has a paper
    (tmp_path / f"{name}.py").write_text(PROTOCOL.replace("WRONG", wrong), encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    settings = {
        "protocol": f"{name}:errors",
        "experiment": "e",
        "seed": 1,
        "settings": {"repetitions": 2},
    }
    with pytest.raises(ValueError, match=f"protocol {name}:errors: .*{message}"):
        Job.read(settings, []).run("0:2", {})


def test_a_folder_without_a_paper_or_a_title_is_named(paper, tmp_path):
    (paper / "TITLE").rename(paper / "title")
    (tmp_path / "empty").mkdir()
    for location, message in (
        (paper, f"{paper} has no TITLE, a file with the title of the paper"),
        (tmp_path / "nowhere", f"there is no folder {tmp_path}/nowhere; ./run new-paper"),
        (paper / "code.py", "code.py is not a paper; ./run new-paper"),
        (tmp_path / "empty", "empty is not a paper; ./run new-paper"),
    ):
        with pytest.raises(ValueError, match=re.escape(message)):
            planned(location)
    (paper / "TITLE").write_text("", encoding="utf-8")
    with pytest.raises(ValueError, match="is empty; it holds the title"):
        planned(paper)
    message = rf"{tmp_path} holds papers and is not one; name each: \[{paper}\]"
    with pytest.raises(ValueError, match=message):
        planned(tmp_path)
    for file in paper.glob("*.yaml"):
        file.unlink()
    with pytest.raises(ValueError, match="has a TITLE and no artifact"):
        planned(paper)


def test_labels_that_are_in_no_row_together_fail_at_the_smallest_scale(paper, tmp_path):
    """They were "ran" at smoke, and an error after the whole computation at full scale."""
    file = planned(paper).artifacts[f"{paper.name}/table1"].file
    rows = ["dataset,source,noise,setting,method,repetition,metric,x,value"]
    for setting, method in (("cv", "nearest_mean"), ("", "robust_logistic")):
        start = f"ida_heart,,independent 0.2,{setting},{method}"
        rows += [f"{start},{r},error,,{r + 1}" for r in range(2)]
    table = tmp_path / "table.csv"
    table.write_text("\n".join(rows) + "\n", encoding="utf-8")
    assert list(judge_files([file], [table], "smoke")["verdict"]) == ["ran", "ran"]
    change(file, "b: {method: robust_logistic}", "b: {method: robust_logistic, setting: cv}")
    message = "claim TABLE1-1: check 1: no row has method = robust_logistic"
    with pytest.raises(NeverTogether, match=message):
        judge_files([file], [table], "smoke")
    change(file, "b: {method: robust_logistic, setting: cv}", "b: {method: robust_logistic}")
    change(file, "noise: independent 0.2, metric", "noise: independent 0, metric")
    assert list(judge_files([file], [table], "smoke")["missing"].astype(bool)) == [False, True]
