"""Reviewed rows: intervals that cover, bounds that hold, and a file that can only be answered."""

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import ppi_py
import pytest
from scipy.stats import hypergeom
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score

import noisylabels
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
    w = np.zeros(N)
    w[rng.choice(N, round(rate * N), replace=False)] = 1
    noise = rng.normal(0, 0.1, N)
    return w, np.clip(0.1 + 0.5 * w + noise, 0, 1)


def sample(w, s, seed, n=100):
    order = np.random.default_rng([seed, 1]).permutation(len(w))[:n]
    return w[order], s[order], float(s.mean()), len(w)


def test_the_estimate_is_that_of_prediction_powered_inference():
    w, s = population()
    w_sampled, s_sampled, mean_score, _ = sample(w, s, 0)
    estimate = intervals.powered(w_sampled, s_sampled, mean_score)
    (low,), (high,) = ppi_py.ppi_mean_ci(w_sampled, s_sampled, s, alpha=0.05, lam=estimate.power)
    variance = estimate.power**2 * s.var() / len(s) + np.var(estimate.residuals) / 100
    half = 1.959963984540054 * variance**0.5
    assert estimate.value == pytest.approx((low + high) / 2, abs=1e-9)
    assert half == pytest.approx((high - low) / 2, abs=1e-9)
    standard_error = (np.var(estimate.residuals, ddof=1) / 100) ** 0.5
    assert estimate.error() == pytest.approx(standard_error, abs=1e-12)


# of the number of events of probability 5 % among 200
TWO_STANDARD_ERRORS = 2 * (200 * 0.05 * 0.95) ** 0.5


@pytest.mark.parametrize("rate", [0.0, 0.02, 0.1, 0.3])
def test_intervals_cover_and_the_bound_on_the_list_holds(rate):
    w, s = population(rate=rate)
    rank = np.argsort(np.argsort(-s))
    covered = 0
    covered_by_counts = 0
    false_lists = 0
    for seed in range(200):
        order = np.random.default_rng([seed, 1]).permutation(len(w))[:100]
        sampled = sample(w, s, seed)
        estimate = intervals.rate(*sampled)
        by_counts = intervals.counted(sampled[0], len(w))
        covered += estimate.low <= rate <= estimate.high
        covered_by_counts += by_counts.low <= rate <= by_counts.high
        length = intervals.longest(sampled[0], rank[order], 0.6, 0.05, len(w))
        false_lists += length > 0 and w[rank < length].mean() < 0.6
    assert covered >= 0.95 * 200 - TWO_STANDARD_ERRORS
    assert covered_by_counts >= 0.95 * 200 - TWO_STANDARD_ERRORS
    assert false_lists <= 0.05 * 200 + TWO_STANDARD_ERRORS


@pytest.mark.parametrize("way_to_draw", ["rate", "doubt"])
@pytest.mark.parametrize(
    "rate", [0.02, *(pytest.param(rate, marks=pytest.mark.nightly) for rate in (0.0, 0.3))]
)
def test_two_strata_cover_and_lists_hold(rate, way_to_draw):
    w, s = population(rate=rate, seed=1)
    is_doubted = s > 0.35
    rank = np.argsort(np.argsort(-s))
    strata = [np.flatnonzero(is_doubted), np.flatnonzero(~is_doubted)]
    shares = [len(stratum) / len(w) for stratum in strata]
    wanted = min(100 * DESIGNS[way_to_draw], is_doubted.sum())
    not_covered = 0
    above_limit = 0
    false_lists = 0
    lists = 0
    for seed in range(200):
        rows_drawn = np.array(drawn(is_doubted, 100, way_to_draw, seed))
        parts = [rows_drawn[np.isin(rows_drawn, stratum)] for stratum in strata]
        assert abs(len(parts[0]) - wanted) <= 1
        sampled = [(w[part], len(stratum)) for part, stratum in zip(parts, strata, strict=True)]
        estimate = intervals.stratified(sampled, shares)
        not_covered += not estimate.low <= rate <= estimate.high
        limits = [intervals.counted(*part, 0.05) for part in sampled]
        above_limit += intervals.combined(limits, shares).high < rate
        length = intervals.longest(w[rows_drawn], rank[rows_drawn], 0.8, 0.05, is_doubted.sum())
        false_lists += length > 0 and w[rank < length].mean() < 0.8
        lists += length > 0
    allowed = 0.05 * 200 + TWO_STANDARD_ERRORS
    assert not_covered <= allowed
    assert above_limit <= allowed
    assert false_lists <= allowed
    assert (lists > 150) == (rate > 0)


def test_mid_limits_lie_inside_the_exact_ones_and_cover_on_average():
    for n, N in ((100, 1000), (30, 60)):
        draws = [np.arange(n) < hits for hits in range(n + 1)]
        mid = [intervals.mid(w, N) for w in draws]
        exact = [intervals.counted(w, N) for w in draws]
        for of_mid, of_exact in zip(mid, exact, strict=True):
            assert of_exact.low <= of_mid.low
            assert of_mid.high <= of_exact.high
        shares = np.arange(0, N + 1, N // 60)
        chances = hypergeom.pmf(np.arange(n + 1), N, shares[:, None], n)

        def coverage(limits, shares=shares, chances=chances, N=N):
            low = np.array([rate.low for rate in limits])
            high = np.array([rate.high for rate in limits])
            rates = (shares / N)[:, None]
            covers = (low <= rates) & (rates <= high)
            return (chances * covers).sum(axis=1)

        assert 0.945 < coverage(mid).mean() < coverage(exact).mean()
        assert coverage(mid).min() > 0.9
    assert intervals.mid(np.zeros(100), 10**6).high == pytest.approx(1 - 0.05**0.01, abs=1e-4)


def test_limits_in_closed_form():
    zeros = np.zeros(100)
    _, high = intervals.exact(0, 100, 10**6, 0.025)
    assert high == pytest.approx(1 - 0.025**0.01, abs=1e-4)
    limits = intervals.exact(7, 100, 10**6, 0.025)
    assert limits == pytest.approx(share_interval(7, 100), abs=1e-4)
    assert intervals.exact(7, 50, 50, 0.025) == (0.14, 0.14)
    of_zeros = intervals.rate(zeros, zeros, 0.0, 1000)
    assert of_zeros.high > 1 - 0.05**0.01 - 0.002
    w = np.arange(100) % 2.0
    constant = intervals.powered(w, np.full(100, 0.3), 0.3)
    assert constant.value == 0.5
    assert constant.power == 0.0
    perfect = intervals.powered(w, w, 0.5)
    assert perfect.error() == pytest.approx(0, abs=1e-12)
    parts = [intervals.Rate(0.2, 0.1, 0.6), intervals.Rate(0.5, 0.5, 0.5)]  # the second is known
    assert intervals.combined(parts, [0.5, 0.5]) == pytest.approx((0.35, 0.3, 0.55))
    places = 50 * np.arange(1, 20) - 1
    # of 17 draws from 850 rows all wrong will do
    smallest = int(np.ceil(np.log(0.025) / np.log(0.8)))
    for n, last_place in ((smallest + 1, places[smallest]), (smallest - 1, -1)):
        length = intervals.longest(np.ones(n), places[:n], 0.8, 0.05, 1000)
        assert length == last_place + 1
    # all reviewed: 80 of 99 are more
    is_wrong = np.arange(100) < 80
    assert intervals.longest(is_wrong, np.arange(100), 0.8, 0.05, 100) == 99


@pytest.fixture(scope="module")
def audited():
    rng = np.random.default_rng(0)
    true = np.arange(300) % 2
    X = rng.normal(size=(300, 2)) + 3 * true[:, None]
    is_flipped = rng.random(300) < 0.15
    y = np.where(is_flipped, 1 - true, true)
    words = np.array(["ash", "beech"])
    frame = pd.DataFrame(X.round(3), columns=["width", "length"])
    options = {"model": LogisticRegression(), "compare": False, "repetitions": 1}
    report = noisylabels.audit(frame, words[y], **options)
    return report, words[true], np.mean(y != true)


def answer(path, true, rows=None, **changed):
    sheet = pd.read_csv(path, dtype=str, keep_default_na=False)
    answers = true[sheet["row"].astype(int)].astype(object)
    if rows is not None:
        answers[rows:] = ""
    sheet["true"] = answers
    for name, value in changed.items():
        sheet.loc[3, name.strip("_")] = value
    sheet.sample(frac=1, random_state=0).to_csv(path, index=False)


@pytest.mark.parametrize("way_to_draw", ["chance", "rate", "doubt"])
def test_a_review_from_the_draw_to_the_repaired_table(audited, way_to_draw, tmp_path):
    report, true, share = audited
    path = tmp_path / "review.csv"
    first = noisylabels.review(report, path, 120, by=way_to_draw, precision=0.6)
    assert first.reviewed == 0
    assert len(first.sheet) == len(set(first.sheet["key"]))
    assert "fill in the column `true`" in first.text
    assert "Without reviewed rows no list" in first.text
    answer(path, true)
    done = noisylabels.review(report, path, 120, by=way_to_draw, precision=0.6)
    assert done.reviewed == len(first.sheet)
    assert done.skipped == 0
    assert done.picked == 0
    assert done.wrong.low <= share <= done.wrong.high
    assert done.flip_rates.eval("low <= rate <= high").all()
    predicted = report.classes[report.predictions["LogisticRegression"]]
    accuracy = float(np.mean(predicted == true))
    assert done.accuracies["low"][0] <= accuracy <= done.accuracies["high"][0]
    rows_drawn = done.sheet["row"].to_numpy()
    assert (done.repaired.loc[rows_drawn, "y repaired"] == true[rows_drawn]).all()
    other_rows = np.setdiff1d(np.arange(300), rows_drawn)
    not_reviewed = done.repaired.loc[other_rows]
    assert (not_reviewed["y repaired"] == not_reviewed["y"]).all()
    assert done.left >= np.mean(not_reviewed["y"] != true[other_rows])
    assert done.after < done.wrong.width
    # adds rows and keeps the answers
    larger = noisylabels.review(report, path, 150, by=way_to_draw)
    assert larger.reviewed == done.reviewed
    assert larger.skipped == len(larger.sheet) - len(done.sheet) > 0
    assert str(larger) == larger.text


@pytest.mark.parametrize("way_to_draw", DESIGNS)
def test_the_file_says_nothing_of_the_model_which_never_agrees_with_another_class(
    audited, way_to_draw, tmp_path
):
    report = audited[0]
    drawn_rows = noisylabels.review(report, tmp_path / "review.csv", 100, by=way_to_draw)
    header = pd.read_csv(tmp_path / "review.csv").columns.to_list()
    assert header == ["row", "key", "observed", "true", "width", "length"]
    assert list(drawn_rows.sheet.columns) == header
    says = drawn_rows.model_says
    assert list(says["row"]) == list(drawn_rows.sheet["row"])
    agrees = says["model_says"].to_numpy() == drawn_rows.sheet["observed"].to_numpy()
    most_probable = report.classes[report.probabilities.argmax(axis=1)]
    assert (says["model_says"] == most_probable[says["row"]]).all()
    if way_to_draw != "chance":
        assert (says["why"].str.endswith("the model agrees") == agrees).all()
        assert (says["why"].str.endswith("would label it otherwise") == ~agrees).all()


def test_a_review_that_an_earlier_version_drew_is_read_and_loses_its_suggestions(audited, tmp_path):
    report, true, _ = audited
    path = tmp_path / "review.csv"
    noisylabels.review(report, path, 20)
    answer(path, true)
    sheet = pd.read_csv(path, dtype=str)
    sheet.assign(suggestion="ash", why="by rate: the model agrees").to_csv(path, index=False)
    assert noisylabels.review(report, path, 20).reviewed == 20
    larger_review = noisylabels.review(report, path, 30)
    assert larger_review.reviewed == 20
    assert larger_review.skipped == 10
    assert not {"suggestion", "why"} & set(pd.read_csv(path).columns)


def test_a_summary_has_share_list_and_next_step_and_asks_for_no_review_after_one(audited, tmp_path):
    report, true, _ = audited
    plain = summarise(report).split("\n")
    assert [line[:7] for line in plain] == ["Share: ", "List:  ", "Next:  "]
    assert "has no interval" in plain[0]
    assert f"{len(report.suspicious)} of 300 labels look wrong: suspicious.csv" in plain[1]
    assert plain[2].endswith("give the same command with --review 100 and check these rows.")
    path = tmp_path / "review.csv"
    begun = summarise(report, noisylabels.review(report, path, 60), folder="out/")
    assert "open out/review.html and choose the true class of each of 60 rows" in begun
    answer(path, true, rows=50)
    part = summarise(report, noisylabels.review(report, path, 60, precision=0.5), 0.5, "out/")
    assert "10 of the rows drawn have no answer." in part
    assert "labels in out/listed.csv at least 50 % are wrong" in part
    answer(path, true)
    done = noisylabels.review(report, path, 60)
    text = summarise(report, done, folder="out/")
    share, _, next_step = text.split("\n")
    assert share == f"Share:  {done.text.splitlines()[0]}"
    assert f"out/repaired.csv, your table with {done.changed} repaired labels" in next_step
    assert "percentage points" in next_step
    for page in (text, "\n".join(describe(report, done.text.splitlines()[0]))):
        for asks in ("has no confidence interval", "until rows", "--review", "settle", "guess"):
            assert asks not in page, asks
    repaired = done.repaired
    assert done.changed == (repaired["y"] != repaired["y repaired"]).sum() > 0


def test_a_summary_of_a_review_of_all_rows_offers_no_more(audited, tmp_path):
    report, true, share = audited
    noisylabels.review(report, tmp_path / "review.csv", 300)
    answer(tmp_path / "review.csv", true)
    done = noisylabels.review(report, tmp_path / "review.csv", 300)
    assert done.unreviewed == 0
    assert done.wrong.value == pytest.approx(share)
    assert "more rows" not in summarise(report, done) + done.text


def test_rows_skipped_or_chosen_by_the_user_are_no_part_of_the_estimate(audited, tmp_path):
    report, true, _ = audited
    path = tmp_path / "review.csv"
    first = noisylabels.review(report, path, 60)
    answer(path, true, rows=50)
    before = noisylabels.review(report, path, 60)
    row_of_user = next(i for i in range(300) if i not in set(first.sheet["row"]))
    with path.open("a") as file:
        file.write(f"{row_of_user},,,{true[row_of_user]},,\n")
    after = noisylabels.review(report, path, 60)
    assert after.reviewed == 50
    assert after.skipped == 10
    assert after.picked == 1
    assert after.wrong == before.wrong
    assert after.repaired.loc[row_of_user, "y repaired"] == true[row_of_user]
    assert "10 rows drawn have no answer" in after.text
    assert "1 rows you chose yourself" in after.text


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
def test_other_edits_are_refused_by_name(audited, changed, message, tmp_path):
    noisylabels.review(audited[0], tmp_path / "review.csv", 30)
    answer(tmp_path / "review.csv", audited[1], **changed)
    with pytest.raises(ValueError, match=rf"review.csv, line \d+: .*{message}"):
        noisylabels.review(audited[0], tmp_path / "review.csv", 30)


SPREADSHEETS = {  # how they save a CSV: separator, encoding, numbers
    "German Excel": (";", "utf-8-sig", lambda cell: cell.replace(".", ",")),
    "old Excel": (";", "cp1252", lambda cell: cell.replace(".", ",")),
    "Unicode text": ("\t", "utf-16", str),
    "rounded": (",", "utf-8", lambda cell: f"{float(cell):.1f}" if "." in cell else cell),
    "capitals": (",", "utf-8", str.upper),
}


@pytest.mark.parametrize(("mark", "encoding", "cell"), SPREADSHEETS.values(), ids=SPREADSHEETS)
def test_a_sheet_that_a_spreadsheet_saved_is_read(tmp_path, mark, encoding, cell):
    rng = np.random.default_rng(0)
    true = np.array([0.5, 1.5])[np.arange(60) % 2]
    frame = pd.DataFrame({"width": rng.normal(true).round(3), "kürzel": ["größe"] * 30 + ["maß"] * 30})
    report = noisylabels.audit(frame, true, model=LogisticRegression(), compare=False, repetitions=1)
    path = tmp_path / "review.csv"
    noisylabels.review(report, path, 20)
    sheet = pd.read_csv(path, dtype=str, keep_default_na=False)
    sheet["true"] = [str(true[int(row)]) for row in sheet["row"]]
    for name in ("observed", "true", "width", "kürzel"):
        sheet[name] = sheet[name].map(cell)
    sheet.to_csv(path, sep=mark, encoding=encoding, index=False)
    assert noisylabels.review(report, path, 20).reviewed == 20


def test_answers_may_be_in_other_letters_unless_classes_differ_in_them(audited, tmp_path):
    report, true, _ = audited
    path = tmp_path / "review.csv"
    noisylabels.review(report, path, 20)
    answer(path, np.char.upper(true))
    assert noisylabels.review(report, path, 20).reviewed == 20
    two = np.array(["Beech", "beech"])
    table = replace(report.table, labels=two[(report.table.labels == "ash").astype(int)])
    with_two_cases = replace(report, table=table, classes=two)
    path = tmp_path / "both" / "review.csv"
    path.parent.mkdir()
    noisylabels.review(with_two_cases, path, 20)
    answer(path, np.full(300, "BEECH"))
    with pytest.raises(ValueError, match="the true label is 'BEECH', not one of Beech, beech"):
        noisylabels.review(with_two_cases, path, 20)


def test_another_model_after_the_draw_is_refused(audited, tmp_path):
    report, *_ = audited
    noisylabels.review(report, tmp_path / "review.csv", 20)
    changed_report = replace(report, probabilities=0.9 * report.probabilities + 0.05)
    message = r"review_plan.json: drawn with another model or other prob"
    with pytest.raises(ValueError, match=message):
        noisylabels.review(changed_report, tmp_path / "review.csv", 30)


def test_columns_and_rows_of_the_user_stay_when_rows_are_added(audited, tmp_path):
    report, true, _ = audited
    path = tmp_path / "review.csv"
    first = noisylabels.review(report, path, 20)
    row_of_user = next(i for i in range(300) if i not in set(first.sheet["row"]))
    sheet = pd.read_csv(path, dtype=str, keep_default_na=False)
    sheet["remark"] = [f"seen {row}" for row in sheet["row"]]
    sheet.loc[20] = {"row": str(row_of_user), "true": true[row_of_user], "remark": "mine"}
    sheet.fillna("").to_csv(path, index=False)
    alone = noisylabels.review(report, path, 20)
    # no row drawn is answered, and yet one is repaired
    assert alone.reviewed == 0
    assert alone.picked == 1
    assert alone.repaired.loc[row_of_user, "y repaired"] == true[row_of_user]
    assert "1 rows you chose yourself are repaired" in alone.text
    assert alone.sheet.iloc[-1][["row", "remark"]].to_list() == [row_of_user, "mine"]
    assert alone.model_says.iloc[-1][["row", "why"]].to_list() == [row_of_user, "chosen by you"]
    noisylabels.review(report, path, 30)
    sheet_again = pd.read_csv(path, dtype=str, keep_default_na=False).set_index("row")
    assert len(sheet_again) == 31
    assert sheet_again.loc[str(row_of_user), ["true", "remark"]].to_list() == [
        true[row_of_user],
        "mine",
    ]
    assert (sheet_again.loc[sheet["row"][:20], "remark"] == sheet["remark"].to_numpy()[:20]).all()


def test_a_precision_asked_for_later_takes_the_rows_that_were_drawn(audited, tmp_path):
    report, *_ = audited
    first = noisylabels.review(report, tmp_path / "review.csv", 60, by="chance")
    assert "60 rows were drawn" in first.text
    later = noisylabels.review(report, tmp_path / "review.csv", 60, precision=0.8)
    assert list(later.sheet["row"]) == list(first.sheet["row"])
    assert set(later.model_says["why"]) == {"by chance, as likely as any row"}
    answer(tmp_path / "review.csv", report.table.labels)  # no label is wrong
    no_more_rows = noisylabels.review(report, tmp_path / "review.csv", 60, precision=0.8)
    assert "Draw more, or by doubt in a new folder" in no_more_rows.text


DAMAGED = [  # file, its content, what is said
    ("review.csv", "", "no rows; delete it and review_plan.json to draw"),
    ("review.csv", "row,key,observed,true\n", "no rows under the header; delete it"),
    ("review.csv", "row,key,observed,truth\n0,,,\n", "the column 'true' is gone"),
    ("review.csv", None, r"review_plan.json is there, but .*review.csv is not"),
    *[("review_plan.json", content, "damaged; start a new") for content in ("{", "[]", '{"by": "chance"}')],
]


@pytest.mark.parametrize(("file", "content", "message"), DAMAGED)
def test_a_damaged_or_lost_file_is_named_in_one_line(audited, file, content, message, tmp_path):
    noisylabels.review(audited[0], tmp_path / "review.csv", 20)
    (tmp_path / file).unlink() if content is None else (tmp_path / file).write_text(content)
    with pytest.raises(ValueError, match=message):
        noisylabels.review(audited[0], tmp_path / "review.csv", 20)


def test_another_plan_is_refused(audited, tmp_path):
    noisylabels.review(audited[0], tmp_path / "review.csv", 30)
    for options, message in (
        ({"by": "luck"}, "by must be one"),
        ({"precision": 2}, "between 0 and 1"),
        ({"random_state": 1}, "drawn with seed 0, now seed is 1; use the same as before"),
    ):
        with pytest.raises(ValueError, match=message):
            noisylabels.review(audited[0], tmp_path / "review.csv", 30, **options)


def test_probabilities_may_come_from_anywhere(audited):
    report, _, _ = audited
    of_probabilities = noisylabels.audit(y=report.table.labels, pred_probs=report.probabilities)
    pd.testing.assert_frame_equal(of_probabilities.ranking, report.ranking)
    assert of_probabilities.model == "your model"


def test_a_repaired_table_can_be_audited_again_and_signs_are_no_formulas(audited, tmp_path):
    assert [make_harmless(cell) for cell in ("-0.604", "+1e3", "-a", "=1")] == [
        "-0.604",
        "+1e3",
        "'-a",
        "'=1",
    ]
    report = audited[0]
    name = f"{report.table.label} repaired"
    contents = report.table.contents | {name: ["mine"] * len(report.table.labels)}
    second_report = replace(report, table=replace(report.table, contents=contents))
    table = noisylabels.review(second_report, tmp_path / "review.csv", 20).repaired
    assert set(table[name]) == {"mine"}
    assert list(table.columns[-2:]) == [name, f"{name} again"]


# five tables that were audited wrongly once

QUICK = {"compare": False, "repetitions": 1}


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
    X.assign(label=observed).to_csv(tmp_path / "table.csv", index=False)
    table = tables.read(tmp_path / "table.csv", "label")
    report = noisylabels.audit(pd.read_csv(tmp_path / "table.csv"), observed, **QUICK)

    # a rate without review: no interval, and the truth not outside of the range; with review one that covers
    assert report.bounds[1] > wrong.mean()
    assert ("It has no confidence interval" in report.text) == (name != "coins")
    covered, bounded = 0, 0
    for seed in range(8):
        path = tmp_path / str(seed) / "review.csv"
        path.parent.mkdir()
        rows = noisylabels.review(report, path, 100, random_state=seed).sheet["row"]
        sheet = pd.read_csv(path, dtype=str)
        sheet.assign(true=true[rows]).to_csv(path, index=False)
        reviewed = noisylabels.review(report, path, 100, random_state=seed)
        covered += reviewed.wrong.low <= wrong.mean() <= reviewed.wrong.high
        bounded += reviewed.left >= np.delete(wrong, rows).mean()
    assert min(covered, bounded) >= 6  # of 8: at 95 % each, six cases in a thousand have fewer

    # no probability that a label is wrong; labels that are coins are called so, and none is listed
    assert list(report.suspicious) == ["row", "label", "suggested", "score"]
    assert report.informative == (name != "coins")
    assert ("These columns say nothing" in report.text) == (len(report.suspicious) == 0) == (name == "coins")

    # dates are learnt from, identifiers are not; above 5000 rows one model learns from all of them
    assert table.names == report.table.names
    assert not any("customer_id" in feature for feature in table.names)
    assert report.model == ("gradient boosting" if name == "big" else "rMKLR")
    assert not any("was trained on" in note for note in report.notes)
    if name != "coins":
        assert precision(report, wrong) > 2 * wrong.mean()
    if name == "messy":
        without_dates = noisylabels.audit(X.drop(columns="signup"), observed, **QUICK)
        assert precision(report, wrong) > precision(without_dates, wrong) + 0.1
    if name == "big":
        of_few_rows = noisylabels.audit(X, observed, most_rows=2000, **QUICK)
        assert precision(report, wrong) > precision(of_few_rows, wrong) + 0.03

    # the page says what is in the rows that it lists
    audit_page.write_audit(report, tmp_path / "page", "a table", "a command")
    page = (tmp_path / "page/index.html").read_text()
    first = report.suspicious["row"].head(1)
    for cell in X.loc[first].astype(str).to_numpy().ravel()[:6]:
        assert f"<td>{cell.removesuffix(' 00:00:00')}" in page, cell


@pytest.mark.parametrize("way_to_draw", list(DESIGNS))
def test_without_an_answer_nothing_is_known(way_to_draw, tmp_path):
    rng = np.random.default_rng(0)
    y = np.arange(200) % 2
    p = np.clip(0.8 * np.eye(2)[y] + 0.1 + rng.normal(0, 0.3, (200, 1)) * [1, -1], 0, 1)
    report = noisylabels.audit(None, y, pred_probs=p)
    begun = noisylabels.review(report, tmp_path / "review.csv", 20, by=way_to_draw)
    assert begun.reviewed == 0
    assert begun.wrong[1:] == begun.plain[1:] == (0.0, 1.0)
    assert (begun.accuracies[["low", "high"]].to_numpy() == [[0.0, 1.0]]).all()
    assert begun.left == 1


def test_a_place_in_no_folder_is_refused(tmp_path):
    y = np.arange(100) % 2
    report = noisylabels.audit(None, y, pred_probs=0.8 * np.eye(2)[y] + 0.1)
    with pytest.raises(
        ValueError, match=r"nowhere: no such folder for x\.csv; make it, or name another place$"
    ):
        noisylabels.review(report, tmp_path / "nowhere/x.csv", 20)
