"""The pages of results: whole, closed in themselves, and true to the files they are made from."""

import itertools
import json
import re
from html.parser import HTMLParser
from urllib.parse import unquote

import pytest
from built_pages import build_pages
from finished_runs import CHECKOUT, NAMES, finish, plan_of, record_verdicts, write_record

from reproduction.judge import archived_run
from reproduction.run.results import write_rows
from reproduction.show.site import charts, pages, sphinx_sources
from reproduction.spec.verdict_words import VERDICTS, count_group, count_verdicts, select_deciding

KEYS = [name.replace("/", "_") for name in NAMES]


class Page(HTMLParser):
    """Links, anchors and everything that a browser would fetch by itself."""

    def __init__(self, file):
        super().__init__()
        self.links = []
        self.anchors = set()
        self.fetched = []
        self.feed(file.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attrs):
        attributes = dict(attrs)
        if "id" in attributes:
            self.anchors.add(attributes["id"])
        if tag == "a" and "href" in attributes:
            self.links.append(attributes["href"])
        elif tag in ("script", "img", "source", "iframe"):
            self.fetched += [attributes[key] for key in ("src", "srcset") if key in attributes]
        elif tag == "link" and attributes.get("rel") == "stylesheet":
            self.fetched.append(attributes["href"])


@pytest.fixture(scope="module")
def parsed(site):
    files = [*site.glob("*.html"), *site.glob("docs/**/*.html")]
    return {file.resolve(): Page(file) for file in files}


# Whole and closed


def test_every_link_leads_somewhere(parsed):
    for file, page in parsed.items():
        for link in set(page.links):
            path, _, anchor = unquote(link).partition("#")
            target = (file.parent / path).resolve() if path else file
            assert link.startswith("https://") or target.is_file(), f"{file.name}: {link}"
            if anchor and target.suffix == ".html":
                assert anchor in parsed[target].anchors, f"{file.name}: {link}"


def test_a_browser_fetches_nothing_from_outside(parsed):
    for file, page in parsed.items():
        for source in page.fetched:
            path = unquote(source).partition("?")[0]
            assert (file.parent / path).is_file(), f"{file.name}: {source}"


def test_every_result_is_two_clicks_from_the_front_page(site, parsed):
    front = parsed[(site / "docs/index.html").resolve()]
    for paper in ("ors", "kernel_boost"):
        assert f"results/paper_{paper}.html" in front.links
        listed = parsed[(site / f"docs/results/paper_{paper}.html").resolve()].links
        assert {f"{key}.html" for key in KEYS if key.startswith(paper)} <= set(listed)


def test_every_badge_leads_to_the_definition_of_its_verdict(site):
    words = (site / "docs/results/verdicts.html").read_text()
    for verdict, shown in VERDICTS.items():
        assert f'id="verdict-{verdict.replace("_", "-")}"' in words
        assert shown.definition in words
    for key in KEYS:
        text = (site / f"docs/results/{key}.html").read_text()
        for badge in re.findall(r"<a[^>]*sd-badge[^>]*>", text):
            assert re.search(r'href="verdicts\.html#verdict-[a-z-]+"', badge), badge


def test_sources_that_say_the_same_are_not_written_again(home, papers):
    folder = home / "docs/results"
    before = {file: file.stat().st_mtime_ns for file in folder.glob("*.rst")}
    (folder / "gone.rst").write_text("a result that is gone")
    sphinx_sources.write_sources(plan_of("full"), home)
    assert {file: file.stat().st_mtime_ns for file in folder.glob("*.rst")} == before


# True to the files


def test_a_page_has_what_a_reader_asks_for(site):
    text = (site / "docs/results/ors_fig2.html").read_text()
    page = re.sub(r"<[^>]+>", "", text)
    content = plan_of("full").artifact("ors/fig2").content
    for wanted in (
        "What you see.",
        "In short.",
        "Archived full run",
        "./run full ors_fig2",
        "20170918",
        "2 min of one core in 1 jobs, 250 MB in the largest",
        "Interactive plot",
        "Our own checks",
        "Weaker forms of the claims",
        "Deviations from the paper",
        "Statistics",
        "Record",
        "History and notes",
        *(claim["id"] for claim in content["claims"]),
    ):
        assert wanted in page, wanted
    parts = ("What you see.", "<figure", "In short.", "Criterion")
    positions = [text.index(part) for part in parts]
    assert positions == sorted(positions)
    assert "public domain (LibriVox)" in (site / "docs/results/ors_fig5.html").read_text()
    drawn_from_others = (site / "docs/results/ors_final_errors.html").read_text()
    assert 'href="ors_fig2.html"' in drawn_from_others
    assert "20170918" in drawn_from_others


def test_each_published_value_is_a_point_of_a_chart_and_a_row(papers):
    all_pages = itertools.chain(*[paper.pages for paper in papers])
    (page,) = [page for page in all_pages if page.name == "kernel_boost/rivals"]
    published = sphinx_sources.describe_published(page)
    points = []
    for chart in published["charts"].values():
        spec = json.loads(re.search(r">({.*})<", chart)[1])
        points += spec["data"]["values"]
    measured = [row for row in published["rows"] if row["estimate"]]
    assert len(points) == len(measured)
    assert len(published["rows"]) == len(page.content["published"])


def pages_by_name(plan, home):
    return {page.name: page for page in pages.all_pages(plan, CHECKOUT, home)}


def test_every_stand_in_is_named_also_of_results_that_are_drawn_from_others():
    plan = plan_of("full", ["robust_sgd"])
    shown = pages_by_name(plan, CHECKOUT)
    table = shown["robust_sgd/table1"]
    variants = {data_set.id: data_set.source["variant"] for data_set in table.data}
    assert variants["a7a"] == "canonical"
    assert variants["ijcnn1"] == "stand-in"
    assert variants["susy"] == "stand-in"
    assert table.has_stand_in
    assert not shown["robust_sgd/fig1"].has_stand_in


def test_the_front_page_counts_what_was_judged(site, papers):
    front = (site / "docs/index.html").read_text()
    for paper in papers:
        name, rows = paper.main_group
        numbers = count_verdicts(rows)
        words = ", ".join(f"{n} {VERDICTS[verdict].label}" for verdict, n in numbers.items())
        counted = count_group(name, len(rows)).capitalize()
        assert f"{counted}: {words}" in front
    published_values = sum(len(paper.groups.get("published values", [])) for paper in papers)
    assert f"and {published_values} published values" in front


def test_claims_show_what_was_measured_without_what_was_asked(papers):
    for page in itertools.chain(*[paper.pages for paper in papers]):
        for row in page.claims:
            assert "criterion" not in page.measured(row), row["id"]


def test_a_caption_is_split_after_its_second_sentence_and_never_in_a_formula():
    caption = "Error of :math:`x. Y`. Left: known. Right: not."
    assert sphinx_sources.split_caption(caption) == (
        "Error of :math:`x. Y`. Left: known.",
        "Right: not.",
    )
    listed = "One.\n\n- a\n- b"
    assert sphinx_sources.split_caption(listed) == ("", listed)


def test_the_reference_at_a_reduced_scale_names_its_own_data_sets(tmp_path):
    shown = pages_by_name(plan_of("smoke", ["audit"]), tmp_path)
    assert [data_set.id for data_set in shown["audit/finding_errors"].data] == ["rte", "galaxy_zoo"]
    assert len(shown["audit/flip_rates"].data) == 10


def test_the_command_of_a_result_from_a_file_of_ones_own_names_it(tmp_path):
    plan = plan_of("smoke", ["audit"])
    shown = pages_by_name(plan, tmp_path)["audit/finding_errors"]
    command = "./run smoke audit_finding_errors"
    assert shown.command == command
    plan.config["data"]["local"] = {"rte": "my rte.csv"}
    assert shown.command == command + """ --config 'data={"local": {"rte": "my rte.csv"}}'"""
    plan.config["data"]["local"] = {}
    shown.content["datasets"] = ["beans.local"]
    assert shown.command == command + """ --config 'data={"local": {"beans": "FILE"}}'"""


def test_a_reduced_run_without_rows_says_so():
    rows = [
        {"verdict": "ran", "missing": "no row has x = 15"},
        {"verdict": "ran", "missing": ""},
    ]
    without_rows, ran = pages.without_rows(archived_run.Run("smoke", verdicts=rows)).verdicts
    assert without_rows["verdict"] == "no_rows"
    assert ran["verdict"] == "ran"
    keys = {"kind": "sentence", "id": "A-1", "form_of": "", "side": ""}
    (deciding,) = select_deciding([without_rows | keys, ran | keys])
    assert deciding["verdict"] == "ran"
    assert not pages.judges(without_rows)
    assert not pages.judges(ran)
    assert "not part of this scale" in pages.Keys({}, "").evidence(without_rows)
    judged = [{"verdict": "not_comparable", "missing": "no row has x = 15"}]
    assert pages.without_rows(archived_run.Run("full", verdicts=judged)).verdicts == judged


def test_new_columns_of_the_verdicts_are_shown_and_not_needed(tmp_path):
    plan = plan_of("full", ["ors"])
    finish(tmp_path, plan, ["ors/fig4"])
    file = tmp_path / "results/full/ors/fig4/verdicts.csv"
    head, *lines = file.read_text().splitlines()
    lines = [f"{head},new_points", *(f"{line},inconclusive" for line in lines)]
    file.write_text("\n".join(lines))
    record_verdicts(file.parent, tmp_path)
    sphinx_sources.write_sources(plan, tmp_path)
    page = (tmp_path / "docs/results/ors_fig4.rst").read_text()
    assert "For new points: :bdg-ref-warning:" in page
    assert "Full run, made here" in page


def test_markup_in_texts_is_shown_not_obeyed(tmp_path, monkeypatch):
    plan = plan_of("full", ["ors"])
    finish(tmp_path, plan, ["ors/fig2"])
    content = plan.artifacts["ors/fig2"].content
    nasty = "<script>alert(1)</script> |x| `y <javascript:alert(1)>`_ :doc:`z` x_ **b"
    for key in ("title", "source"):
        monkeypatch.setitem(content, key, f"{nasty} {content[key]}")
    for key in ("notes", "deviations"):
        monkeypatch.setitem(content, key, [nasty, f".. raw:: html {nasty}", f"- {nasty}"])
    table = tmp_path / "results/full/ors/fig2/table.csv"
    table.write_text(table.read_text().replace(",clean,", ",</script><script>alert(1)//,"))
    with pytest.raises(ValueError, match=r"table\.csv is not the file that .* records .*run again"):
        sphinx_sources.write_sources(plan, tmp_path)
    write_record(plan, "ors/fig2", [table, table.with_name("points.npz")])
    sphinx_sources.write_sources(plan, tmp_path)
    build_pages(tmp_path, tmp_path / "html")
    for name in ("paper_ors", "ors_fig2", "index"):
        text = (tmp_path / f"html/docs/results/{name}.html").read_text()
        assert "<script>alert" not in text
        assert 'href="javascript' not in text


# Numbers


@pytest.mark.parametrize(
    ("interval", "places"),
    [
        ((10, 9, 11), (0, -0.5, 0.5)),
        ((12, 11, 13), (1, 0.5, 1.5)),
        ((30, 29, 31), (10, 9.5, 10.5)),
        ((-30, "", ""), (-20, -20, -20)),
    ],
)
def test_a_published_value_is_placed_by_its_distance_in_tolerances(interval, places):
    ours, low, high = interval
    published = 10
    row = {
        "id": "a",
        "verdict": "reproduced",
        "where": '{"method": "svm"}',
        "estimate": str(ours),
        "published": str(published),
        "margin": "2",
        "difference_low": "" if low == "" else str(low - published),
        "difference_high": "" if high == "" else str(high - published),
    }
    (block,) = charts.blocks([row]).values()
    (placed,) = block
    assert (placed.difference, placed.low, placed.high) == pytest.approx(places)


def rows_of_curves(metrics=("mse",), methods=1, settings=1, repetitions=1, last=8):
    cells = itertools.product(
        metrics,
        range(methods),
        range(settings),
        range(repetitions),
        range(1, last + 1),
    )
    for metric, method, setting, repetition, x in cells:
        yield {
            "method": f"m{method}",
            "setting": f"s{setting}",
            "repetition": repetition,
            "metric": metric,
            "x": x,
            "value": method + repetition + 1 / x,
        }


def test_curves_fit_into_a_page_and_keep_their_ends(tmp_path):
    rows = rows_of_curves(methods=8, settings=4, repetitions=5, last=400)
    write_rows(rows, tmp_path / "table.csv")
    panels = charts.curves(tmp_path / "table.csv", {})
    assert len(json.dumps(panels, separators=(",", ":"))) <= charts.LARGEST
    assert [panel["where"] for panel in panels] == ["s0", "s1", "s2", "s3"]
    curve = panels[0]["curves"][3]
    assert curve["method"] == "m3"
    assert curve["x"][0] == 1
    assert curve["x"][-1] == 400
    assert curve["y"][0] == pytest.approx(3 + 2 + 1)  # the mean over the repetitions 0..4
    assert curve["half"][0] == pytest.approx(2.776 * (2.5 / 5) ** 0.5, rel=0.02)


def test_the_metric_of_the_caption_comes_first(tmp_path):
    table = tmp_path / "table.csv"
    write_rows(rows_of_curves(("weight_ratio", "regret")), table)
    caption = "Regret against rounds"
    panels = charts.curves(table, {}, caption=caption)
    assert [panel["metric"] for panel in panels] == ["regret", "weight_ratio"]
    opened = charts.curves(table, {}, "noisy_online.code:linear", "weight_ratio", caption)
    assert [panel["metric"] for panel in opened] == ["weight_ratio", "regret"]
    assert opened[1]["title"] == "regret on the clean data"
    assert opened[1]["x"] == "rounds T"


def test_few_repetitions_have_no_interval_and_few_points_no_curve(tmp_path):
    table = tmp_path / "table.csv"
    write_rows(rows_of_curves(repetitions=4), table)
    panel, *_ = charts.curves(table, {})
    assert "half" not in panel["curves"][0]
    without_x = {"method": "a", "repetition": 0, "metric": "e", "value": 1.0}
    for rows in ([without_x], rows_of_curves(last=3)):
        write_rows(rows, table)
        assert charts.curves(table, {}) == []


def test_a_key_is_shown_in_words_also_where_its_name_is_the_key_in_words():
    row = {"where": '{"dataset": "german_numeric", "metric": "no_such"}'}
    words = pages.Keys({}, "").where(row)
    assert re.sub("<[^>]*>", "", words) == "german numeric, no such"
    assert 'title="german_numeric"' in words
