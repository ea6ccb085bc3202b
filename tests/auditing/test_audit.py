"""An audit from the table to the page: what it finds, what it says, a page that needs no other."""

import contextlib
import io
import os
import re
import signal
import subprocess
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from command_lines import run_script
from numpy.testing import assert_allclose
from scipy.sparse import csr_matrix
from sklearn.linear_model import LinearRegression, LogisticRegression

import noisylabels
from noisylabels.auditing import audit, cross_fitting, flip_rates, tables
from noisylabels.auditing import page as audit_page

ROOT = Path(__file__).resolve().parents[2]


QUICK = {"model": LogisticRegression(), "compare": False, "repetitions": 1}


def table(n=300, K=2, flips=0.15, seed=0):
    """X, observed and true labels of K round clouds."""
    rng = np.random.default_rng(seed)
    true = np.arange(n) % K
    corner = 4 * np.pi * true / (2 * K)
    centres = 4 * np.column_stack([np.cos(corner), np.sin(corner)])
    X = rng.normal(size=(n, 2)) + centres
    is_flipped = rng.random(n) < flips
    observed = np.where(is_flipped, (true + 1) % K, true)
    names = np.array(["ash", "beech", "cedar", "douglas"])
    return X, names[observed], names[true]


def audited(X, y, **options):
    return noisylabels.audit(X, y, **QUICK | options)


@pytest.fixture(scope="module")
def report():
    X, y, true = table()
    trusted = np.where(np.arange(len(y)) < 100, true, None)
    return noisylabels.audit(X, y, model=LogisticRegression(), repetitions=2, trusted=trusted)


def flip_some(rng, true, rate=0.1):
    """Give the other of two classes to some rows."""
    is_flipped = rng.random(len(true)) < rate
    return np.where(is_flipped, 1 - true, true)


def test_most_of_the_suspicious_labels_are_wrong_and_suggestions_right(report):
    _, y, true = table()
    listed = report.suspicious
    assert list(listed.columns) == ["row", "label", "suggested", "score"]
    rows = listed["row"]
    assert np.mean(y[rows] != true[rows]) > 0.9
    assert np.mean(listed["suggested"] == true[rows]) > 0.9
    assert listed["score"].is_monotonic_increasing
    assert sorted(report.ranking["row"]) == list(range(len(y)))


def test_the_flip_rates_cover_the_truth_and_trusted_labels_are_counted(report):
    _, y, true = table()
    share = np.mean(y != true)
    low, high = report.bounds
    assert 0.0 == low < share < high
    assert report.guess == pytest.approx(share, abs=0.08)
    rates = report.flip_rates
    sums = rates.groupby("true")[["estimate", "anchor"]].sum()
    assert_allclose(sums["estimate"], 1.0)
    assert sums["anchor"].to_list() == pytest.approx([1.0, 1.0])
    of_flips = rates.query("true != observed")  # 15 % were flipped
    assert (of_flips["limit"] >= 0.15).all()
    assert of_flips["anchor"].between(0.02, 0.35).all()
    (row,) = rates.query("true == 'ash' and observed == 'beech'").to_dict("records")
    trusted_labels = y[:100][true[:100] == "ash"]
    assert row["trusted"] == np.mean(trusted_labels == "beech")
    assert "By trusted labels: ash labelled beech" in report.text


def test_methods_are_compared_on_the_same_folds(report):
    methods = report.accuracies.set_index("method")
    assert {"robust", "plain"} == set(methods["kind"])
    assert methods["kind"]["rMKLR"] == "robust"
    best = report.accuracies.iloc[0]
    assert best["behind"] == 0
    assert best["behind_low"] == 0
    assert best["behind_high"] == 0
    logistic = methods.loc["logistic"]
    assert logistic["accuracy"] == pytest.approx(0.85, abs=0.05)
    assert logistic["corrected"] == pytest.approx(0.99, abs=0.04)
    assert logistic["corrected_low"] <= logistic["corrected"] <= logistic["corrected_high"]


def test_the_report_says_what_was_found_and_what_cannot_be_known(report):
    assert str(report) == report.text
    for sentence in (
        "300 labels of 2 classes",
        "allow any share of wrong ones from 0 % to",
        "Evidence of wrong labels",
        "The flip rates are biased",
        "Look at them from the top",
    ):
        assert sentence in report.text, sentence
    with_low_limit = replace(report, bounds=(0.0, 0.01))
    assert "Our estimate is 1.0 %." in with_low_limit.text


def test_equal_rows_with_different_labels_are_counted_in_the_report():
    X, y, _ = table()
    X[1] = X[0]
    said = "2 rows have the contents of another row and a different label (1 group).\n"
    assert said in audited(X, y).text
    X[: len(X) // 4] = X[0]
    assert "So many that the columns lack something" in audited(X, y).text


def test_small_rare_and_hopeless_tables_are_called_so():
    X, _, _ = table(n=100, flips=0)
    is_rare = np.arange(100) >= 93
    labels = np.where(is_rare, "beech", "ash")
    text = audited(X + 5 * is_rare[:, np.newaxis], labels).text
    assert "Only 100 rows" in text
    assert "Class beech is rare (7.0 %)" in text
    coins = np.random.default_rng(0).integers(2, size=100)
    hopeless = audited(X, coins)
    assert "These columns say nothing about the label" in hopeless.text
    assert "suspicious" not in hopeless.text
    assert len(hopeless.suspicious) == 0


def test_the_best_model_is_the_likeliest_and_many_rows_have_one_model_on_all_of_them():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (300, 2))
    product = X[:, 0] * X[:, 1]
    true = (product > 0).astype(int)  # no linear model knows anything of it
    y = flip_some(rng, true)
    best = noisylabels.audit(X, y, model="best", compare=False)
    assert best.model not in ("logistic regression", "robust logistic")
    assert any("the largest likelihood" in note for note in best.notes)
    X, y, true = table(n=5200)
    of_many_rows = noisylabels.audit(X, y)
    assert of_many_rows.model == "gradient boosting"
    assert len(of_many_rows.accuracies) == 1
    assert all("cannot be detected" in note for note in of_many_rows.notes)
    top_rows = of_many_rows.ranking["row"][:300]
    assert np.mean(y[top_rows] != true[top_rows]) > 0.95


WORDS_OF_KINDS = [("leaf", "root", "bark"), ("cell", "gene", "acid")]


def remarks(rng, kinds):
    """A table of texts, four words in seven of which depend on the kind, and a number."""
    texts = []
    for kind in kinds:
        words = rng.choice(WORDS_OF_KINDS[kind], 4)
        numbers = rng.integers(1000, size=3)
        texts.append(" ".join([*words, *numbers.astype(str)]))
    return pd.DataFrame({"remark": texts, "size": rng.normal(size=len(kinds))})


def test_texts_are_learnt_from():
    rng = np.random.default_rng(0)
    true = rng.integers(2, size=300)
    X = remarks(rng, true)
    y = flip_some(rng, true)
    report = audited(X, y)
    assert report.informative
    wrong = np.flatnonzero(y != true)
    top_rows = report.ranking["row"][: len(wrong)]
    assert np.isin(wrong, top_rows).mean() > 0.9


def test_three_classes_have_own_rates_but_not_by_a_binary_model():
    X, y, true = table(K=3)
    report = audited(X, y, model=None)
    assert report.model == "rMKLR"
    rates = report.flip_rates
    assert len(rates) == 9
    assert rates.groupby("true")["own"].sum().to_list() == pytest.approx([1, 1, 1])
    binary = audited(X, y, model=noisylabels.RobustKernelFisherClassifier())
    # one class against the rest: no flip matrix of all classes
    assert binary.flip_rates["own"].isna().all()
    listed = report.suspicious["row"]
    assert np.mean(y[listed] != true[listed]) > 0.85


def test_the_same_call_gives_the_same_answer_and_rows_without_label_are_left_out():
    X, y, _ = table(n=120)
    gone = np.array(y, dtype=object)
    gone[7] = None
    first_audit = audited(X, gone, most_rows=60)
    two = audited(X, gone, most_rows=60)
    pd.testing.assert_frame_equal(first_audit.ranking, two.ranking)
    pd.testing.assert_frame_equal(first_audit.flip_rates, two.flip_rates)
    assert 7 not in set(first_audit.ranking["row"])
    assert "The table: 1 row without a label was left out." in first_audit.text
    assert "LogisticRegression was trained on 60 of the 119 rows" in first_audit.text


@pytest.mark.parametrize("d", [1, 2, 8])
def test_copies_with_other_labels_are_found_and_no_others(d):
    rng = np.random.default_rng(d)
    X = rng.standard_normal((400, d))
    y = rng.integers(0, 3, 400)
    equal_copies = X[:6]
    near_copies = X[6:12] * (1 + 1e-6)
    with_copies = np.vstack([X, equal_copies, near_copies])
    other_labels = (y[:10] + 1) % 3
    labels = np.concatenate([y, other_labels, y[10:12]])
    equal, nearly_equal = flip_rates.conflicts(with_copies, None, labels)
    assert [pair.tolist() for pair in equal] == [[i, 400 + i] for i in range(6)]
    pairs = {tuple(pair.tolist()) for pair in nearly_equal}
    assert pairs >= {(i, 400 + i) for i in range(6, 10)}
    assert len(nearly_equal) <= 5
    _, nearly_equal = flip_rates.conflicts(X, None, y)
    assert len(nearly_equal) <= 1


@pytest.fixture(scope="module")
def dated():
    """Labels that follow the day of the week, a tenth of them flipped; dates over five years."""
    rng = np.random.default_rng(0)
    days = pd.to_timedelta(rng.integers(0, 1800, 600), "D")
    day = pd.Timestamp("2020-01-01") + days
    is_weekend = day.day_of_week >= 5
    y = flip_some(rng, is_weekend.astype(int))
    return pd.DataFrame({"day": day, "size": rng.standard_normal(600)}), y


@pytest.mark.nightly
def test_parts_of_dates_stay_only_where_they_help(dated):
    X, y = dated
    with_dates = audit.with_calendar(tables.of_arrays(X, y), y)
    assert with_dates.names == ["day", "size", "day weekday cos", "day weekday sin"]
    assert "the weekday of day makes unseen labels likelier" in with_dates.notes[-1]
    coins = np.random.default_rng(1).permutation(y)
    of_coins = audit.with_calendar(tables.of_arrays(X, coins), coins)
    assert of_coins.names == ["day", "size"]


@pytest.mark.nightly
def test_a_column_made_from_the_label_is_named_and_one_that_predicts_it_well_is_not(dated):
    X, y = dated
    detail = [f"{'AB'[label]}{i % 3}" for i, label in enumerate(y)]
    good = y + 0.3 * np.random.default_rng(0).standard_normal(600)  # 95 %
    with_both = X.assign(detail=detail, good=good)
    report = noisylabels.audit(with_both, y, model="logistic", compare=False)
    (note,) = [note for note in report.notes if "alone" in note]
    assert note.startswith("column 'detail' alone predicts")


def check_page(folder, sections=5):
    text = (folder / "index.html").read_text(encoding="utf-8")
    for name in re.findall(r'(?:src|href)="([^"]*)"', text):
        in_page = name == "data:," or name.startswith("#")
        assert in_page or (folder / name).is_file(), name
    assert text.count("<h2") == sections
    assert not re.search(r"https?://", text)
    return text


def test_the_page_tells_all_and_fetches_nothing(report, tmp_path):
    audit_page.write_audit(report, tmp_path, "beans.csv <b>", "./run audit beans.csv")
    text = check_page(tmp_path)
    assert "beans.csv &lt;b&gt;" in text
    for name in ("suspicious", "flip_rates", "accuracies"):
        assert len(pd.read_csv(tmp_path / f"{name}.csv")) == len(getattr(report, name))
    assert "trusted:" in text
    assert "nan" not in text


def test_the_page_of_a_clean_table_of_many_classes(tmp_path):
    X, _, true = table(K=4, flips=0)
    clean = audited(X, true)
    assert not clean.evidence.any()
    assert len(clean.suspicious) <= 10
    audit_page.write_audit(clean, tmp_path, "t", "c")
    assert "No evidence of flips" in check_page(tmp_path)


SCRIPT = [sys.executable, "-P", str(ROOT / "src/scripts/audit.py")]
ENVIRONMENT = os.environ | {"PYTHONPATH": str(ROOT / "src")}


@pytest.fixture
def without_forests(monkeypatch):
    """Compare no forests, which take most of the time and change no rule about files."""
    monkeypatch.setattr(cross_fitting, "PLAIN", ("logistic",))


def run(folder, *arguments):
    return run_script("audit", folder, *arguments)


def beans(columns, make_row, rows=40):
    """The text of a table of beans."""
    return f"{columns}\n" + "".join(f"{make_row(i)}\n" for i in range(rows))


BEANS = beans("a,b,kind", lambda i: f"{i % 7},{i},{'xy'[i % 2]}")


@pytest.mark.nightly
def test_the_script_from_the_draw_to_the_repaired_table(tmp_path):
    X, y, true = table(n=80)
    days = [f"{1 + i % 28:02}.03.2026" for i in range(80)]
    frame = pd.DataFrame({"when": days, "width": X[:, 0], "length": X[:, 1], "kind": y})
    frame.to_csv(tmp_path / "beans.csv", index=False)
    plain = "beans.csv --label kind --model logistic"
    arguments = f"{plain} --review 40 --precision 0.5"
    code, out, err = run(tmp_path, *arguments.split())
    assert code == 0, err
    assert "List:   Without reviewed rows no list" in out
    assert out.index("beans_audit/review.html") < out.index("beans_audit/review.csv")
    folder = tmp_path / "beans_audit"
    report = (folder / "audit.txt").read_text()
    for message in (
        "80 labels of 2 classes",
        "Without reviewed rows no list",
        "holds dates and is counted in",
    ):
        assert message in report
    assert "Notes:  1 on the table, at the end of beans_audit/audit.txt" in out
    assert "Look:   beans_audit/index.html" in out
    assert f"./run audit {arguments}" in check_page(folder, 6)
    listed = pd.read_csv(folder / "suspicious.csv")
    assert (listed["line"] == listed["row"] + 2).all()
    assert '"classes": ["ash", "beech"]' in (folder / "review.html").read_text()
    path = folder / "review.csv"
    sheet = pd.read_csv(path, dtype=str)
    rows_drawn = sheet["row"].astype(int)
    sheet.assign(true=true[rows_drawn]).to_csv(path, index=False)
    code, out, err = run(tmp_path, *arguments.split())
    assert code == 0, err
    assert "of the labels are wrong (95 % confidence:" in out.splitlines()[0]
    files = out.partition("Files:  ")[2].partition(" in beans_audit.")[0].split(", ")
    assert {"review.html", "review.csv", "repaired.csv", "listed.csv", "index.html"} < set(files)
    assert all((folder / name).is_file() for name in files)
    repaired = pd.read_csv(folder / "repaired.csv")["kind repaired"]
    assert (repaired[rows_drawn] == true[rows_drawn]).all()
    page = (folder / "index.html").read_text()
    message = (folder / "audit.txt").read_text()
    lead = page.partition('class="lead">')[2].partition("</p>")[0]
    assert "listed.csv" in page
    assert "reviewed rows" in lead
    assert "guess" not in lead
    assert "`" not in page.split("<script")[0]
    sheet.assign(true="oak").to_csv(path, index=False)
    code, out, err = run(tmp_path, *arguments.split())
    # said before the audit, and what was found stays
    assert code == 1
    assert out == ""
    assert "the true label is 'oak', not one of ash, beech" in err
    assert (folder / "audit.txt").read_text() == message
    code, out, err = run(tmp_path, *plain.split())
    assert code == 0  # no review: what came of it is not there any more
    kinds = ("repaired", "listed", "review", "review_plan")
    files = {file.name for file in folder.iterdir() if file.stem in kinds}
    assert files == {"review.csv", "review_plan.json"}
    halves = pd.DataFrame({"beech": [0.5] * 80, "ash": [0.5] * 80})
    halves.to_csv(tmp_path / "p.csv", index=False)
    arguments = "beans.csv --label kind --probabilities p.csv --out q"
    code, out, err = run(tmp_path, *arguments.split())
    assert code == 0
    assert "these columns say nothing" in out


@pytest.mark.usefixtures("without_forests")
def test_the_script_counts_the_rows_of_a_group_once(tmp_path):
    text = beans(
        "a,b,site,kind",
        lambda i: f"{i},{i * i % 37},site {i // 4},{'xy'[i // 4 % 2]}",
        rows=80,
    )
    (tmp_path / "beans.csv").write_text(text)
    arguments = "beans.csv --label kind --groups site --model logistic"
    code, _out, err = run(tmp_path, *arguments.split())
    assert code == 0, err
    report = (tmp_path / "beans_audit/audit.txt").read_text()
    assert "rows of one group count as one: 20 groups" in report


@pytest.mark.usefixtures("without_forests")
def test_files_that_no_audit_made_are_never_overwritten(tmp_path):
    path = tmp_path / "suspicious.csv"
    path.write_text(BEANS)
    arguments = ("suspicious.csv", "--label", "kind", "--model", "logistic", "--out")
    code, _, err = run(tmp_path, *arguments, ".")
    assert code == 1
    assert path.read_text() == BEANS
    said = ". holds files that are not from an audit (suspicious.csv); name a new folder"
    assert err == f"audit: --out: {said}\n"
    for _ in range(2):  # the second time over its own
        code, _, err = run(tmp_path, *arguments, "found")
        assert code == 0, err
    path = tmp_path / "found/suspicious.csv"
    path.write_text(BEANS)
    code, _, err = run(tmp_path, "found/suspicious.csv", "--label", "kind", "--out", "found")
    assert code == 1
    assert path.read_text() == BEANS
    assert "found holds suspicious.csv, which is read" in err


@pytest.mark.usefixtures("without_forests")
def test_formulas_and_control_characters_reach_no_spreadsheet_terminal_or_page(tmp_path):
    name = os.fsdecode(b"b\xe4r.csv")
    kinds = ["=cmd|'/C calc'!A0", "größe\x1b[31m"]
    text = beans("a,b\x1b]0;,kind", lambda i: f"{i % 7},{i + 99 * (i % 2)},{kinds[i % 2]}")
    (tmp_path / name).write_text(text)
    arguments = [name, "--label", "kind", "--model", "logistic"]
    code, out, err = run_script("audit", tmp_path, *arguments, encoding="ascii")
    assert code == 0, err
    folder = tmp_path / os.fsdecode(b"b\xe4r_audit")
    page = (folder / "index.html").read_text()
    for file in folder.glob("*.csv"):
        assert not re.search(r"(^|,)[=+@]", file.read_text(), re.M)
    rates = pd.read_csv(folder / "flip_rates.csv")
    assert set(rates["true"]) == {"'=cmd|'/C calc'!A0", "größe\\x1b[31m"}
    assert "\x1b" not in page + out + err
    assert "größe\\x1b[31m" in (folder / "audit.txt").read_text(encoding="utf-8")
    assert "b\\udce4r.csv" in page


@pytest.mark.usefixtures("without_forests")
def test_findings_are_told_although_the_page_cannot_be_written(tmp_path):
    (tmp_path / "beans.csv").write_text(BEANS)
    folder = tmp_path / "found"
    folder.mkdir()
    (folder / "audit.txt").write_text("noisylabels audit\n")
    (folder / "assets").write_text("a file where a folder belongs")
    code, out, err = run(tmp_path, "beans.csv", "--label", "kind", "--out", "found")
    assert code == 1
    assert "of 40 labels look wrong" in out or "empty, because" in out
    assert err.splitlines()[-1].startswith("audit: [Errno 17] File exists")


def test_too_little_memory_is_said_in_one_line(tmp_path, monkeypatch):
    (tmp_path / "beans.csv").write_text(BEANS)

    def read(*arguments, **options):
        return np.empty(2**48, dtype=float)

    monkeypatch.setattr(tables, "read", read)
    code, out, err = run(tmp_path, "beans.csv", "--label", "kind")
    assert code == 1
    assert out == ""
    assert err.count("\n") == 1
    assert re.match(
        r"audit: the memory is not enough for this table \(Unable to allocate .*; name fewer", err
    )


def test_an_interrupted_audit_says_so_in_one_line(tmp_path):
    (tmp_path / "beans.csv").write_text(BEANS)
    options = {"cwd": tmp_path, "env": ENVIRONMENT, "stderr": subprocess.PIPE, "text": True}
    # tests in the background ignore the signal
    heed_interrupts = partial(signal.signal, signal.SIGINT, signal.SIG_DFL)
    command = [*SCRIPT, "beans.csv", "--label", "kind"]
    process = subprocess.Popen(command, **options, preexec_fn=heed_interrupts)
    assert process.stderr is not None
    assert "cross-fitting" in process.stderr.readline()
    process.send_signal(signal.SIGINT)
    last_lines = process.stderr.read().splitlines()[-1:]
    assert last_lines == ["audit: stopped; nothing of it is kept"]
    assert process.wait() == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("beans.csv --label knd", "beans.csv: no column 'knd'; did you mean 'kind'?"),
        (
            "beans.csv --label kind --review 0",
            "--review must be between 1 and 40, the number of labels, got 0",
        ),
        ("beans.csv --label kind --out beans.csv", "--out: beans.csv is a file; name a folder"),
        (
            "beans.csv --label kind --out beans.csv/a",
            "--out: beans.csv/a cannot be written (Not a directory); name another folder",
        ),
        ("~nobody.here/beans.csv", "Could not determine home directory."),
        ("beans.csv --seed -1", "--seed must lie in 0..4294967295, got -1"),
        ("beans.csv --label kind --groups sie", "beans.csv: no column 'sie'; it has: a, b, kind"),
        (
            "beans.csv --label kind --columns a --groups a",
            "beans.csv: column 'a' names groups; it cannot be a feature or the label as well",
        ),
        ("beans.csv --rows 3", "--rows must be at least 20, got 3"),
        (
            "beans.csv --label kind --probabilities p.csv --model forest",
            "--model: has no effect with --probabilities, as no model is trained; leave it out",
        ),
        (
            "beans.csv --label kind --probabilities p.csv --rows 30",
            "--rows: has no effect with --probabilities, as no model is trained; leave it out",
        ),
        (
            "beans.csv --label kind --by chance",
            "--by: has no effect without --review; leave it out",
        ),
        (
            "lengths.csv --label length --rows 30",
            "--rows: has no effect for measurements; leave it out",
        ),
    ],
)
def test_the_script_refuses_in_one_line(arguments, message, tmp_path):
    (tmp_path / "beans.csv").write_text(BEANS)
    lengths = beans("length,width", lambda i: f"{i}.5,{i % 7}", rows=60)
    (tmp_path / "lengths.csv").write_text(lengths)
    code, _, err = run(tmp_path, *arguments.split())
    assert code == 1
    assert err.strip() == f"audit: {message}"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            {"y": np.zeros((40, 2))},
            r"y must have one label for each row, shape \(n,\), got shape \(40, 2\)",
        ),
        ({"X": np.ones((40, 2)) * 1j}, r"got shape \(40, 2\) of complex numbers"),
        ({"X": csr_matrix(np.eye(40))}, r"X is sparse; an audit needs it dense: X.toarray\(\)"),
        ({"most_rows": 3}, "most_rows: must be a whole number >= 20, got 3"),
        ({"repetitions": 2.5}, r"repetitions: must be a whole number >= 1, got 2\.5"),
        ({"most_rows": "50"}, "most_rows: must be a whole number >= 20, got '50'"),
        (
            {"y": np.repeat([b"no", b"yes"], 20)},
            "y: labels are bytes, such as b'no'; decode them, for example",
        ),
        (
            {"y": np.array([b"no", "yes"] * 20, dtype=object)},
            "y: labels are bytes, such as b'no'; decode",
        ),
        ({"repetitions": 0}, "repetitions: must be a whole number >= 1, got 0"),
        (
            {"random_state": 2**40},
            "random_state: must be a whole number >= 0 and <= 4294967295, got 1099511",
        ),
        (
            {"model": LogisticRegression},
            r"model must be a classifier such as LogisticRegression\(\)",
        ),
        (
            {"model": "rMKL"},
            "'rMKL' is not one of rmklr, robust_logistic, .*, best, and not package:Class",
        ),
        (
            {"model": "json:loads"},
            "model 'json:loads': .*; give package:Class, built without arguments",
        ),
        ({"y": None}, "audit needs the observed labels y"),
        (
            {"pred_probs": np.ones((40, 3))},
            r"a column for each of 2 classes, \(40, 2\); got shape \(40, 3\)",
        ),
        ({"pred_probs": np.ones((40, 2))}, "row 0: .* are not probabilities that sum to 1"),
    ],
)
def test_arguments_that_cannot_be_are_refused(arguments, message):
    X = np.random.default_rng(0).standard_normal((40, 2))
    with pytest.raises(ValueError, match=message):
        noisylabels.audit(**({"X": X, "y": np.arange(40) % 2} | arguments))


NOTHING_TRAINED = "has no effect with pred_probs, as no model is trained; leave it out"
NOT_FOR_MEASUREMENTS = "has no effect for measurements; leave it out"


@pytest.mark.parametrize(
    ("options", "name"),
    [
        ({"model": "forest"}, "model"),
        ({"random_state": 7}, "random_state"),
        ({"repetitions": 1}, "repetitions"),
        ({"most_rows": 50}, "most_rows"),
        ({"compare": True}, "compare"),
    ],
)
def test_what_has_no_effect_with_probabilities_is_refused(options, name):
    y = np.arange(60) % 2
    p = np.eye(2)[y] * 0.8 + 0.1
    with pytest.raises(ValueError, match=f"^{name}: {NOTHING_TRAINED}$"):
        noisylabels.audit(y=y, pred_probs=p, **options)
    assert noisylabels.audit(y=y, pred_probs=p, random_state=0, compare=False).informative


@pytest.mark.parametrize(
    ("options", "name"),
    [
        ({"repetitions": 2}, "repetitions"),
        ({"most_rows": 59}, "most_rows"),
        ({"compare": True}, "compare"),
    ],
)
def test_what_has_no_effect_for_measurements_is_refused(options, name):
    X = np.random.default_rng(0).normal(size=(60, 2))
    y = X[:, 0] / 3
    with pytest.raises(ValueError, match=f"^{name}: {NOT_FOR_MEASUREMENTS}$"):
        noisylabels.audit(X, y, model=LinearRegression(), **options)
    honoured = {"repetitions": 1, "most_rows": 60, "compare": False, "random_state": 7}
    assert noisylabels.audit(X, y, model=LinearRegression(), **honoured).informative


@pytest.mark.parametrize("order", ["as drawn", "sorted by label", "reversed"])
def test_equal_probabilities_give_one_answer_in_any_order_of_the_rows(order):
    true = np.arange(400) % 2
    y = np.where(np.arange(400) % 9 == 0, 1 - true, true)
    p = np.where(true[:, np.newaxis] == [0, 1], 1.0, 0.0)  # as of a network that is sure
    rows = np.arange(400)
    if order == "sorted by label":
        rows = np.argsort(y, kind="stable")
    if order == "reversed":
        rows = rows[::-1]
    report = noisylabels.audit(y=y[rows], pred_probs=p[rows])
    wrong = (y != true)[true == 0].sum(), (y != true)[true == 1].sum()
    assert tuple(report.sureness.disagree) == wrong
    assert report.sureness.rows.tolist() == [200, 200]
    assert report.evidence.all()


def as_percent(share):
    return f"{100 * share:.0f} %"


def test_the_example_finds_what_the_guide_says():
    guide = (ROOT / "docs/audit.md").read_text(encoding="utf-8")
    (code,) = re.findall(r"```python\n(.*?)```", guide, re.S)
    variables = {}
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(code, "audit.md", "exec"), variables)
    flipped = variables["flipped"]
    report = variables["found"]
    share_of_worst = flipped[variables["worst"]].mean()
    hits = flipped[report.suspicious["row"]]
    for sentence in (
        f"{as_percent(share_of_worst)} are wrong",
        f"(of all labels, {as_percent(flipped.mean())})",
        f"Of the {len(hits)} that it lists, {as_percent(hits.mean())} are",
        f"those are {as_percent(hits.sum() / flipped.sum())} of all wrong ones",
    ):
        assert sentence in guide
    quoted = [line.removeprefix("> ") for line in guide.splitlines() if line.startswith("> ")]
    first_lines = report.text.split("\n")[:2]
    assert " ".join(first_lines) == " ".join(quoted)
    assert report.text in printed.getvalue()
