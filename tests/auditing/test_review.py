"""Reviewed rows: intervals that cover, bounds that hold, and a file that can only be answered."""

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import ppi_py
import pytest
from scipy.stats import hypergeom, sem
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score

from noisylabels import audit, review
from noisylabels.auditing import intervals, tables
from noisylabels.auditing.audit import describe
from noisylabels.auditing.review import DESIGNS, drawn
from noisylabels.auditing.summary import summarise
from noisylabels.safe_text import make_harmless
from noisylabels.statistics import share_interval

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "benchmarks"))
import audit_path

from noisylabels.auditing import page as audit_page

sys.path.pop(0)


def population(N=500, rate=0.1, seed=0):
    """w and a score that predicts it somewhat."""
    rng = np.random.default_rng(seed)
    number_wrong = round(rate * N)
    w = np.zeros(N)
    w[rng.choice(N, number_wrong, replace=False)] = 1
    noise = rng.normal(0, 0.1, N)
    score = 0.1 + 0.5 * w + noise
    return w, score.clip(0, 1)


def draw_rows(N, seed, n=100):
    rng = np.random.default_rng([seed, 1])
    return rng.permutation(N)[:n]


def rank_by(score):
    """The place of each row in the list, from 0 for the highest score."""
    order = np.argsort(-score)
    return np.argsort(order)


def test_the_estimate_is_that_of_prediction_powered_inference():
    w, s = population()
    rows = draw_rows(len(w), seed=0)
    w_sampled = w[rows]
    s_sampled = s[rows]
    estimate = intervals.powered(w_sampled, s_sampled, s.mean())
    (low,), (high,) = ppi_py.ppi_mean_ci(w_sampled, s_sampled, s, alpha=0.05, lam=estimate.power)
    variance_of_score = estimate.power**2 * s.var() / len(s)
    variance_of_residuals = np.var(estimate.residuals) / 100
    variance = variance_of_score + variance_of_residuals
    half = 1.959963984540054 * variance**0.5
    assert estimate.value == pytest.approx((low + high) / 2, abs=1e-9)
    assert half == pytest.approx((high - low) / 2, abs=1e-9)
    standard_error = sem(estimate.residuals)
    assert estimate.error() == pytest.approx(standard_error, abs=1e-12)


# of the number of events of probability 5 % among 200
TWO_STANDARD_ERRORS = 2 * (200 * 0.05 * 0.95) ** 0.5
MOST_FAULTS = 0.05 * 200 + TWO_STANDARD_ERRORS
"""Allowed among 200 draws where a fault has a probability of 5 %."""


@pytest.mark.parametrize("rate", [0.0, 0.02, 0.1, 0.3])
def test_intervals_cover_and_the_bound_on_the_list_holds(rate):
    w, s = population(rate=rate)
    rank = rank_by(s)
    not_covered = 0
    not_covered_by_counts = 0
    false_lists = 0
    for seed in range(200):
        rows = draw_rows(len(w), seed)
        w_sampled = w[rows]
        estimate = intervals.rate(w_sampled, s[rows], float(s.mean()), len(w))
        not_covered += not estimate.low <= rate <= estimate.high
        by_counts = intervals.counted(w_sampled, len(w))
        not_covered_by_counts += not by_counts.low <= rate <= by_counts.high
        length = intervals.longest(w_sampled, rank[rows], 0.6, 0.05, len(w))
        listed = w[rank < length]
        false_lists += length > 0 and listed.mean() < 0.6
    assert not_covered <= MOST_FAULTS
    assert not_covered_by_counts <= MOST_FAULTS
    assert false_lists <= MOST_FAULTS


@pytest.mark.parametrize("way_to_draw", ["rate", "doubt"])
@pytest.mark.parametrize(
    "rate", [0.02, *(pytest.param(rate, marks=pytest.mark.nightly) for rate in (0.0, 0.3))]
)
def test_two_strata_cover_and_lists_hold(rate, way_to_draw):
    w, s = population(rate=rate, seed=1)
    rank = rank_by(s)
    is_doubted = s > 0.35
    doubted = np.flatnonzero(is_doubted)
    believed_rows = np.flatnonzero(~is_doubted)
    shares = [len(doubted) / len(w), len(believed_rows) / len(w)]
    wanted = min(100 * DESIGNS[way_to_draw], len(doubted))
    not_covered = 0
    above_limit = 0
    false_lists = 0
    lists = 0
    for seed in range(200):
        rows = np.array(drawn(is_doubted, 100, way_to_draw, seed))
        w_sampled = w[rows]
        is_of_doubted = is_doubted[rows]
        assert abs(is_of_doubted.sum() - wanted) <= 1
        of_doubted = (w_sampled[is_of_doubted], len(doubted))
        of_others = (w_sampled[~is_of_doubted], len(believed_rows))
        estimate = intervals.stratified([of_doubted, of_others], shares)
        not_covered += not estimate.low <= rate <= estimate.high
        limits = [intervals.counted(*part, 0.05) for part in (of_doubted, of_others)]
        above_limit += intervals.combined(limits, shares).high < rate
        length = intervals.longest(w_sampled, rank[rows], 0.8, 0.05, len(doubted))
        listed = w[rank < length]
        false_lists += length > 0 and listed.mean() < 0.8
        lists += length > 0
    assert not_covered <= MOST_FAULTS
    assert above_limit <= MOST_FAULTS
    assert false_lists <= MOST_FAULTS
    assert (lists > 150) == (rate > 0)


def coverage(limits, n, N):
    """The chance that the limits of 0 to n hits hold the rate, for many rates of N rows."""
    counts = np.arange(0, N + 1, N // 60)[:, None]
    rates = counts / N
    chances = hypergeom.pmf(np.arange(n + 1), N, counts, n)
    low = np.array([rate.low for rate in limits])
    high = np.array([rate.high for rate in limits])
    covers = (low <= rates) & (rates <= high)
    return (chances * covers).sum(axis=1)


@pytest.mark.parametrize(("n", "N"), [(100, 1000), (30, 60)])
def test_mid_limits_lie_inside_the_exact_ones_and_cover_on_average(n, N):
    draws = [np.arange(n) < hits for hits in range(n + 1)]
    mid = [intervals.mid(w, N) for w in draws]
    exact = [intervals.counted(w, N) for w in draws]
    for of_mid, of_exact in zip(mid, exact, strict=True):
        assert of_exact.low <= of_mid.low
        assert of_mid.high <= of_exact.high
    coverage_of_mid = coverage(mid, n, N)
    coverage_of_exact = coverage(exact, n, N)
    assert 0.945 < coverage_of_mid.mean() < coverage_of_exact.mean()
    assert coverage_of_mid.min() > 0.9
    without_hits = intervals.mid(np.zeros(100), 10**6)
    assert without_hits.high == pytest.approx(1 - 0.05**0.01, abs=1e-4)


def test_limits_in_closed_form():
    zeros = np.zeros(100)
    _, high = intervals.exact(0, 100, 10**6, 0.025)
    assert high == pytest.approx(1 - 0.025**0.01, abs=1e-4)
    limits = intervals.exact(7, 100, 10**6, 0.025)
    assert limits == pytest.approx(share_interval(7, 100), abs=1e-4)
    all_counted = intervals.exact(7, 50, 50, 0.025)
    assert all_counted == (0.14, 0.14)
    of_zeros = intervals.rate(zeros, zeros, 0.0, 1000)
    assert of_zeros.high > 1 - 0.05**0.01 - 0.002
    w = np.arange(100) % 2.0
    constant = intervals.powered(w, np.full(100, 0.3), 0.3)
    assert constant.value == 0.5
    assert constant.power == 0.0
    perfect = intervals.powered(w, w, 0.5)
    assert perfect.error() == pytest.approx(0, abs=1e-12)
    estimated = intervals.Rate(0.2, 0.1, 0.6)
    known_rate = intervals.Rate(0.5, 0.5, 0.5)
    combined = intervals.combined([estimated, known_rate], [0.5, 0.5])
    assert combined == pytest.approx((0.35, 0.3, 0.55))
    places = 50 * np.arange(1, 20) - 1
    # of 17 draws from 850 rows all wrong will do
    smallest = int(np.ceil(np.log(0.025) / np.log(0.8)))
    for n, last_place in ((smallest + 1, places[smallest]), (smallest - 1, -1)):
        length = intervals.longest(np.ones(n), places[:n], 0.8, 0.05, 1000)
        assert length == last_place + 1
    # all reviewed: 80 of 99 are more
    is_wrong = np.arange(100) < 80
    assert intervals.longest(is_wrong, np.arange(100), 0.8, 0.05, 100) == 99


QUICK = {"compare": False, "repetitions": 1}


TRUE_CLASSES = np.array(["ash", "beech"] * 150)


@pytest.fixture(scope="module")
def report():
    """The audit of 300 rows, of which about 15 % have the other of two classes."""
    rng = np.random.default_rng(0)
    is_beech = TRUE_CLASSES == "beech"
    X = rng.normal(size=(300, 2)) + 3 * is_beech[:, None]
    is_flipped = rng.random(300) < 0.15
    labels = np.where(is_beech ^ is_flipped, "beech", "ash")
    frame = pd.DataFrame(X.round(3), columns=["width", "length"])
    return audit(frame, labels, model=LogisticRegression(), **QUICK)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "review.csv"


def read_sheet(path):
    return pd.read_csv(path, dtype=str, keep_default_na=False)


def answer(path, true, rows=None, **changed):
    """Fill in the true classes, of the first rows only if a number is given."""
    sheet = read_sheet(path)
    row_numbers = sheet["row"].astype(int)
    answers = true[row_numbers].astype(object)
    if rows is not None:
        answers[rows:] = ""
    sheet["true"] = answers
    for name, value in changed.items():
        sheet.loc[3, name.strip("_")] = value
    shuffled = sheet.sample(frac=1, random_state=0)
    shuffled.to_csv(path, index=False)


@pytest.mark.parametrize("way_to_draw", ["chance", "rate", "doubt"])
def test_a_review_from_the_draw_to_the_repaired_table(report, way_to_draw, path):
    is_wrong = report.table.labels != TRUE_CLASSES
    first = review(report, path, 120, by=way_to_draw, precision=0.6)
    assert first.reviewed == 0
    assert len(first.sheet) == len(set(first.sheet["key"]))
    assert "fill in the column `true`" in first.text
    assert "Without reviewed rows no list" in first.text
    answer(path, TRUE_CLASSES)
    done = review(report, path, 120, by=way_to_draw, precision=0.6)
    assert done.reviewed == len(first.sheet)
    assert done.skipped == 0
    assert done.picked == 0
    assert done.wrong.low <= is_wrong.mean() <= done.wrong.high
    assert done.flip_rates.eval("low <= rate <= high").all()
    predicted = report.classes[report.predictions["LogisticRegression"]]
    is_right = predicted == TRUE_CLASSES
    accuracy = done.accuracies.iloc[0]
    assert accuracy["low"] <= is_right.mean() <= accuracy["high"]
    rows_drawn = done.sheet["row"]
    repaired = done.repaired["y repaired"]
    assert (repaired[rows_drawn] == TRUE_CLASSES[rows_drawn]).all()
    not_reviewed = done.repaired.drop(rows_drawn)
    assert (not_reviewed["y repaired"] == not_reviewed["y"]).all()
    assert done.left >= np.delete(is_wrong, rows_drawn).mean()
    assert done.after < done.wrong.width
    # adds rows and keeps the answers
    larger = review(report, path, 150, by=way_to_draw)
    assert larger.reviewed == done.reviewed
    assert larger.skipped == len(larger.sheet) - len(done.sheet) > 0
    assert str(larger) == larger.text


@pytest.mark.parametrize("way_to_draw", DESIGNS)
def test_the_file_says_nothing_of_the_model_which_never_agrees_with_another_class(
    report,
    way_to_draw,
    path,
):
    drawn_rows = review(report, path, 100, by=way_to_draw)
    header = pd.read_csv(path).columns.to_list()
    assert header == ["row", "key", "observed", "true", "width", "length"]
    sheet = drawn_rows.sheet
    assert list(sheet.columns) == header
    says = drawn_rows.model_says
    assert list(says["row"]) == list(sheet["row"])
    agrees = says["model_says"].to_numpy() == sheet["observed"].to_numpy()
    most_probable = report.classes[report.probabilities.argmax(axis=1)]
    assert (says["model_says"] == most_probable[says["row"]]).all()
    if way_to_draw != "chance":
        reasons = says["why"].str
        assert (reasons.endswith("the model agrees") == agrees).all()
        assert (reasons.endswith("would label it otherwise") == ~agrees).all()


def test_a_review_that_an_earlier_version_drew_is_read_and_loses_its_suggestions(report, path):
    review(report, path, 20)
    answer(path, TRUE_CLASSES)
    sheet = pd.read_csv(path, dtype=str)
    with_suggestions = sheet.assign(suggestion="ash", why="by rate: the model agrees")
    with_suggestions.to_csv(path, index=False)
    assert review(report, path, 20).reviewed == 20
    larger_review = review(report, path, 30)
    assert larger_review.reviewed == 20
    assert larger_review.skipped == 10
    columns = set(pd.read_csv(path).columns)
    assert not {"suggestion", "why"} & columns


def test_a_summary_has_share_list_and_next_step_and_asks_for_no_review_after_one(report, path):
    share, listed, next_step = summarise(report).split("\n")
    assert share.startswith("Share: ")
    assert listed.startswith("List:  ")
    assert next_step.startswith("Next:  ")
    assert "has no interval" in share
    assert f"{len(report.suspicious)} of 300 labels look wrong: suspicious.csv" in listed
    assert next_step.endswith("give the same command with --review 100 and check these rows.")
    begun = summarise(report, review(report, path, 60), folder="out/")
    assert "open out/review.html and choose the true class of each of 60 rows" in begun
    answer(path, TRUE_CLASSES, rows=50)
    part = summarise(report, review(report, path, 60, precision=0.5), 0.5, "out/")
    assert "10 of the rows drawn have no answer." in part
    assert "labels in out/listed.csv at least 50 % are wrong" in part
    answer(path, TRUE_CLASSES)
    done = review(report, path, 60)
    first_line = done.text.splitlines()[0]
    text = summarise(report, done, folder="out/")
    share, _, next_step = text.split("\n")
    assert share == f"Share:  {first_line}"
    assert f"out/repaired.csv, your table with {done.changed} repaired labels" in next_step
    assert "percentage points" in next_step
    for page in (text, "\n".join(describe(report, first_line))):
        for asks in ("has no confidence interval", "until rows", "--review", "settle", "guess"):
            assert asks not in page, asks
    is_changed = done.repaired["y"] != done.repaired["y repaired"]
    assert done.changed == is_changed.sum() > 0


def test_a_summary_of_a_review_of_all_rows_offers_no_more(report, path):
    review(report, path, 300)
    answer(path, TRUE_CLASSES)
    done = review(report, path, 300)
    assert done.unreviewed == 0
    is_wrong = report.table.labels != TRUE_CLASSES
    assert done.wrong.value == pytest.approx(is_wrong.mean())
    assert "more rows" not in summarise(report, done) + done.text


def row_not_drawn(sheet):
    rows_drawn = set(sheet["row"])
    return next(row for row in range(300) if row not in rows_drawn)


def test_rows_skipped_or_chosen_by_the_user_are_no_part_of_the_estimate(report, path):
    first = review(report, path, 60)
    answer(path, TRUE_CLASSES, rows=50)
    before = review(report, path, 60)
    row_of_user = row_not_drawn(first.sheet)
    true_class = TRUE_CLASSES[row_of_user]
    with path.open("a") as file:
        file.write(f"{row_of_user},,,{true_class},,\n")
    after = review(report, path, 60)
    assert after.reviewed == 50
    assert after.skipped == 10
    assert after.picked == 1
    assert after.wrong == before.wrong
    assert after.repaired.loc[row_of_user, "y repaired"] == true_class
    assert "10 rows drawn have no answer" in after.text
    assert "1 row you chose yourself" in after.text


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"observed": "oak"}, r"column 'observed' was '\w+' and is 'oak'; restore it"),
        ({"key": "0123456789ab"}, "with this key is not in the table; restore the line"),
        (
            {"true_": "oak"},
            "the true label is 'oak', not one of ash, beech; correct it, or leave it empty",
        ),
    ],
)
def test_other_edits_are_refused_by_name(report, changed, message, path):
    review(report, path, 30)
    answer(path, TRUE_CLASSES, **changed)
    with pytest.raises(ValueError, match=rf"review.csv, line \d+: .*{message}"):
        review(report, path, 30)


def with_decimal_comma(cell):
    return cell.replace(".", ",")


def rounded(cell):
    return f"{float(cell):.1f}" if "." in cell else cell


SPREADSHEETS = {  # how they save a CSV: separator, encoding, numbers
    "German Excel": (";", "utf-8-sig", with_decimal_comma),
    "old Excel": (";", "cp1252", with_decimal_comma),
    "Unicode text": ("\t", "utf-16", str),
    "rounded": (",", "utf-8", rounded),
    "capitals": (",", "utf-8", str.upper),
}


@pytest.mark.parametrize(("mark", "encoding", "cell"), SPREADSHEETS.values(), ids=SPREADSHEETS)
def test_a_sheet_that_a_spreadsheet_saved_is_read(path, mark, encoding, cell):
    rng = np.random.default_rng(0)
    true = np.tile([0.5, 1.5], 30)
    width = rng.normal(true).round(3)
    frame = pd.DataFrame({"width": width, "kürzel": np.repeat(["größe", "maß"], 30)})
    report = audit(frame, true, model=LogisticRegression(), **QUICK)
    review(report, path, 20)
    sheet = read_sheet(path)
    sheet["true"] = true[sheet["row"].astype(int)].astype(str)
    for name in ("observed", "true", "width", "kürzel"):
        sheet[name] = sheet[name].map(cell)
    sheet.to_csv(path, sep=mark, encoding=encoding, index=False)
    assert review(report, path, 20).reviewed == 20


def test_answers_may_be_in_other_letters_unless_classes_differ_in_them(report, path, tmp_path):
    review(report, path, 20)
    answer(path, np.char.upper(TRUE_CLASSES))
    assert review(report, path, 20).reviewed == 20
    labels = np.where(report.table.labels == "ash", "beech", "Beech")
    table = replace(report.table, labels=labels)
    with_two_cases = replace(report, table=table, classes=np.array(["Beech", "beech"]))
    path = tmp_path / "both" / "review.csv"
    path.parent.mkdir()
    review(with_two_cases, path, 20)
    answer(path, np.full(300, "BEECH"))
    with pytest.raises(ValueError, match="the true label is 'BEECH', not one of Beech, beech"):
        review(with_two_cases, path, 20)


def test_another_model_after_the_draw_is_refused(report, path):
    review(report, path, 20)
    changed_report = replace(report, probabilities=0.9 * report.probabilities + 0.05)
    message = r"review_plan.json: drawn with another model or other prob"
    with pytest.raises(ValueError, match=message):
        review(changed_report, path, 30)


def test_columns_and_rows_of_the_user_stay_when_rows_are_added(report, path):
    first = review(report, path, 20)
    row_of_user = row_not_drawn(first.sheet)
    true_class = TRUE_CLASSES[row_of_user]
    sheet = read_sheet(path)
    remarks = [f"seen {row}" for row in sheet["row"]]
    sheet["remark"] = remarks
    sheet.loc[20] = {"row": str(row_of_user), "true": true_class, "remark": "mine"}
    sheet.fillna("").to_csv(path, index=False)
    alone = review(report, path, 20)
    # no row drawn is answered, and yet one is repaired
    assert alone.reviewed == 0
    assert alone.picked == 1
    assert alone.repaired.loc[row_of_user, "y repaired"] == true_class
    assert "1 row you chose yourself is repaired" in alone.text
    last_line = alone.sheet.iloc[-1]
    assert last_line[["row", "remark"]].to_list() == [row_of_user, "mine"]
    last_row = alone.model_says.iloc[-1]
    assert last_row[["row", "why"]].to_list() == [row_of_user, "chosen by you"]
    review(report, path, 30)
    larger_sheet = read_sheet(path).set_index("row")
    assert len(larger_sheet) == 31
    line_of_user = larger_sheet.loc[str(row_of_user)]
    assert line_of_user[["true", "remark"]].to_list() == [true_class, "mine"]
    drawn_first = sheet["row"][:20]
    assert larger_sheet.loc[drawn_first, "remark"].to_list() == remarks


@pytest.mark.parametrize("name", ["suggestion", "why", "y", "line", "row (table)", "y repaired"])
def test_no_column_of_the_user_is_lost_whatever_its_name(report, path, name):
    review(report, path, 20)
    sheet = read_sheet(path)
    remarks = [f"seen {row}" for row in sheet["row"]]
    sheet.assign(**{name: remarks}).to_csv(path, index=False)
    review(report, path, 30)
    larger_sheet = read_sheet(path)
    assert larger_sheet[name].to_list()[:20] == remarks


def test_a_mark_in_place_of_an_answer_stays_when_rows_are_added(report, path):
    review(report, path, 20)
    sheet = read_sheet(path)
    sheet.assign(true="?").to_csv(path, index=False)
    larger_review = review(report, path, 30)
    assert larger_review.reviewed == 0
    assert read_sheet(path)["true"].to_list() == ["?"] * 20 + [""] * 10


def test_a_row_with_two_remarks_is_refused(report, path):
    review(report, path, 20)
    sheet = read_sheet(path).assign(remark="good")
    twice = pd.concat([sheet, sheet.head(1).assign(remark="bad")])
    twice.to_csv(path, index=False)
    message = "line 22: this row is there twice, with 'good' and 'bad' in 'remark'; keep one of"
    with pytest.raises(ValueError, match=message):
        review(report, path, 20)
    twice.assign(remark="good").to_csv(path, index=False)
    assert review(report, path, 20).sheet["remark"].to_list() == ["good"] * 20


def test_columns_of_a_table_keep_apart_whatever_their_names(path):
    rng = np.random.default_rng(0)
    y = np.arange(60) % 2
    names = ["key", "key (table)", "true ", "a ", "a", ""]
    X = pd.DataFrame(rng.normal(size=(60, 6)) + y[:, np.newaxis], columns=names)
    report = audit(X, y, model=LogisticRegression(), **QUICK)
    for rows in (20, 30, 40):
        sheet = review(report, path, rows).sheet
    headings = ["key (table) (table)", "key (table)", "true (table)", "a", "a (table)", "no name"]
    assert sheet.columns[4:].to_list() == headings
    assert sheet["key (table)"].astype(float).to_list() == X["key (table)"][sheet["row"]].to_list()


def test_a_precision_asked_for_later_takes_the_rows_that_were_drawn(report, path):
    first = review(report, path, 60, by="chance")
    assert "60 rows were drawn" in first.text
    later = review(report, path, 60, precision=0.8)
    assert list(later.sheet["row"]) == list(first.sheet["row"])
    assert set(later.model_says["why"]) == {"by chance, as likely as any row"}
    answer(path, report.table.labels)  # no label is wrong
    no_more_rows = review(report, path, 60, precision=0.8)
    assert "Draw more, or by doubt in a new folder" in no_more_rows.text


DAMAGED = [  # file, its content, what is said
    ("review.csv", "", "no rows; delete it and review_plan.json to draw"),
    ("review.csv", "row,key,observed,true\n", "no rows under the header; delete it"),
    ("review.csv", "row,key,observed,truth\n0,,,\n", "the column 'true' is gone"),
    ("review.csv", None, r"review_plan.json is there, but .*review.csv is not"),
    ("review_plan.json", "{", "damaged; start a new"),
    ("review_plan.json", "[]", "damaged; start a new"),
    ("review_plan.json", '{"by": "chance"}', "damaged; start a new"),
]


@pytest.mark.parametrize(("file", "content", "message"), DAMAGED)
def test_a_damaged_or_lost_file_is_named_in_one_line(report, file, content, message, path):
    review(report, path, 20)
    damaged = path.with_name(file)
    if content is None:
        damaged.unlink()
    else:
        damaged.write_text(content)
    with pytest.raises(ValueError, match=message):
        review(report, path, 20)


def test_another_plan_is_refused(report, path):
    review(report, path, 30)
    for options, message in (
        ({"by": "luck"}, "by must be one"),
        ({"precision": 2}, "between 0 and 1"),
        ({"random_state": 1}, "drawn with seed 0, now seed is 1; use the same as before"),
    ):
        with pytest.raises(ValueError, match=message):
            review(report, path, 30, **options)


def test_probabilities_may_come_from_anywhere(report):
    of_probabilities = audit(y=report.table.labels, pred_probs=report.probabilities)
    pd.testing.assert_frame_equal(of_probabilities.ranking, report.ranking)
    assert of_probabilities.model == "your model"


def test_a_repaired_table_can_be_audited_again_and_signs_are_no_formulas(report, path):
    cells = ["-0.604", "+1e3", "-a", "=1"]
    harmless = [make_harmless(cell) for cell in cells]
    assert harmless == ["-0.604", "+1e3", "'-a", "'=1"]
    table = report.table
    name = f"{table.label} repaired"
    contents = table.contents | {name: ["mine"] * len(table.labels)}
    second_report = replace(report, table=replace(table, contents=contents))
    repaired = review(second_report, path, 20).repaired
    assert set(repaired[name]) == {"mine"}
    assert list(repaired.columns[-2:]) == [name, f"{name} again"]


# five tables that were audited wrongly once


def precision(report, wrong):
    score = np.empty(len(wrong))
    score[report.ranking["row"]] = -report.ranking["score"]
    return average_precision_score(wrong, score)


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("name", "rows"), [("wdbc", 300), ("three", 400), ("messy", 400), ("coins", 300), ("big", 5200)]
)
def test_none_of_the_mistakes_of_an_earlier_audit(name, rows, tmp_path):
    X, observed, true = audit_path.TABLES[name](rows)
    wrong = observed != true
    path_of_table = tmp_path / "table.csv"
    X.assign(label=observed).to_csv(path_of_table, index=False)
    table = tables.read(path_of_table, "label")
    report = audit(pd.read_csv(path_of_table), observed, **QUICK)

    # without review a rate has no interval, and the true rate is not outside of its range;
    # with a review it has one that covers
    assert report.bounds[1] > wrong.mean()
    assert ("It has no confidence interval" in report.text) == (name != "coins")
    covered = 0
    bounded = 0
    for seed in range(8):
        path = tmp_path / str(seed) / "review.csv"
        path.parent.mkdir()
        rows = review(report, path, 100, random_state=seed).sheet["row"]
        sheet = pd.read_csv(path, dtype=str)
        sheet.assign(true=true[rows]).to_csv(path, index=False)
        reviewed = review(report, path, 100, random_state=seed)
        covered += reviewed.wrong.low <= wrong.mean() <= reviewed.wrong.high
        wrong_elsewhere = np.delete(wrong, rows)
        bounded += reviewed.left >= wrong_elsewhere.mean()
    assert min(covered, bounded) >= 6  # of 8: at 95 % each, six cases in a thousand have fewer

    # no probability that a label is wrong; labels that are coins are called so, and none is listed
    assert list(report.suspicious) == ["row", "label", "suggested", "score"]
    assert report.informative == (name != "coins")
    says_nothing = "These columns say nothing" in report.text
    lists_nothing = len(report.suspicious) == 0
    assert says_nothing == lists_nothing == (name == "coins")

    # dates are learnt from, identifiers are not; above 5000 rows one model learns from all of them
    assert table.names == report.table.names
    assert not any("customer_id" in feature for feature in table.names)
    assert report.model == ("gradient boosting" if name == "big" else "rMKLR")
    assert not any("was trained on" in note for note in report.notes)
    if name != "coins":
        assert precision(report, wrong) > 2 * wrong.mean()
    if name == "messy":
        without_dates = audit(X.drop(columns="signup"), observed, **QUICK)
        assert precision(report, wrong) > precision(without_dates, wrong) + 0.1
    if name == "big":
        of_few_rows = audit(X, observed, most_rows=2000, **QUICK)
        assert precision(report, wrong) > precision(of_few_rows, wrong) + 0.03

    # the page says what is in the rows that it lists
    audit_page.write_audit(report, tmp_path / "page", "a table", "a command")
    page = (tmp_path / "page/index.html").read_text()
    first_row = report.suspicious["row"].head(1)
    cells = X.loc[first_row].astype(str).to_numpy().ravel()
    for cell in cells[:6]:
        assert f"<td>{cell.removesuffix(' 00:00:00')}" in page, cell


@pytest.mark.parametrize("way_to_draw", list(DESIGNS))
def test_without_an_answer_nothing_is_known(way_to_draw, path):
    rng = np.random.default_rng(0)
    y = np.arange(200) % 2
    noise = rng.normal(0, 0.3, (200, 1)) * [1, -1]
    p = 0.8 * np.eye(2)[y] + 0.1 + noise
    report = audit(None, y, pred_probs=p.clip(0, 1))
    begun = review(report, path, 20, by=way_to_draw)
    assert begun.reviewed == 0
    assert begun.wrong[1:] == begun.plain[1:] == (0.0, 1.0)
    limits = begun.accuracies[["low", "high"]].to_numpy()
    assert (limits == [[0.0, 1.0]]).all()
    assert begun.left == 1


def test_a_place_in_no_folder_is_refused(tmp_path):
    y = np.arange(100) % 2
    p = 0.8 * np.eye(2)[y] + 0.1
    report = audit(None, y, pred_probs=p)
    message = r"nowhere: no such folder for x\.csv; make it, or name another place$"
    with pytest.raises(ValueError, match=message):
        review(report, tmp_path / "nowhere/x.csv", 20)
