"""The site: whole, closed in itself, and true to the files that it was made from."""

import hashlib
import itertools
import json
import re
from html.parser import HTMLParser
from urllib.parse import unquote

import pytest
from finished_runs import CHECKOUT, NAMES, finish, plan_of

from reproduction.judge import archived_run
from reproduction.judge.verdict_words import GROUPS, select_deciding
from reproduction.run.results import write_rows
from reproduction.show.site import build, charts, pages

KEYS = [name.replace("/", "_") for name in NAMES]


class Page(HTMLParser):
    """Links, anchors and everything that a browser would fetch by itself."""

    def __init__(self, file):
        super().__init__()
        self.links, self.anchors, self.fetched = [], set(), []
        self.feed(file.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        if "id" in given:
            self.anchors.add(given["id"])
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        elif tag in ("link", "script", "img", "source", "iframe"):
            self.fetched += [given[key] for key in ("href", "src", "srcset") if key in given]


@pytest.fixture(scope="module")
def parsed(site):
    return {file: Page(file) for file in site.rglob("*.html")}


# Whole and closed


def test_every_link_leads_somewhere(parsed):
    for file, page in parsed.items():
        for link in page.links:
            path, _, anchor = unquote(link).partition("#")
            target = (file.parent / path).resolve() if path else file
            assert link.startswith("https://") or target.is_file(), f"{file.name}: {link}"
            if anchor and target.suffix == ".html":
                assert anchor in parsed[target].anchors, f"{file.name}: {link}"


def test_a_browser_fetches_nothing_from_outside(site, parsed):
    for file, page in parsed.items():
        for source in page.fetched:
            assert source == "data:," or (file.parent / source).is_file(), f"{file.name}: {source}"
    for file in site.glob("assets/*"):
        code = re.sub(r"^\s*//.*$| // .*$", "", file.read_text(), flags=re.MULTILINE)
        code = code.replace("http://www.w3.org/2000/svg", "").replace("url(#inside)", "")
        assert not re.search(r"https?:|//\w|@import|url\(", code), file.name


def test_the_front_page_is_light_and_one_click_from_every_result(parsed, site):
    assert {file.stem for file in site.glob("*.html")} == {"index", "findings", *KEYS}
    front = site / "index.html"
    assert {f"{key}.html" for key in KEYS} <= set(parsed[front].links)
    files = [front, *(site / "assets").iterdir(), *(site / "thumbnails").iterdir()]
    assert sum(file.stat().st_size for file in files) < 2_000_000


def test_the_same_files_give_the_same_bytes(site, finished, home, tmp_path):
    again = tmp_path / "smoke"
    build.write(plan_of("smoke"), home, finished, again)
    files = sorted(file.relative_to(site) for file in site.rglob("*") if file.is_file())
    assert files == sorted(file.relative_to(again) for file in again.rglob("*") if file.is_file())
    assert all((site / file).read_bytes() == (again / file).read_bytes() for file in files)


# True to the files


def test_the_pages_say_what_they_are_made_from_and_the_reference_comes_first(site):
    page = (site / "ors_fig2.html").read_text()
    ours = page.index("This run, scale smoke: reduced to 3 repetitions")
    assert page.index("Reference: the full protocol") < ours
    lacking = (site / "kernel_boost_bound_table.html").read_text()
    assert "Reference:" not in lacking
    assert lacking.count("</i> ran</span>") >= 2
    for name in ("index.html", "findings.html"):
        page = (site / name).read_text()
        assert "This run has the reduced scale <b>smoke</b> and judges nothing." in page
        assert f"Of 1 of {len(NAMES)} results there is no reference yet" in page
    cards = (site / "index.html").read_text().split('<a class="card"')[1:]
    kinds = [sum(f" · {kind}</p>" in card for card in cards) for kind in ("reference", "reduced")]
    assert kinds == [len(NAMES) - 1, 1]


def test_pages_of_the_reference_alone_say_that_nothing_was_run(home, tmp_path):
    build.write(plan_of("full"), home, tmp_path, tmp_path / "site")
    page = (tmp_path / "site/findings.html").read_text()
    assert "All results are the <b>reference</b>" in page
    assert "None was run here." in page


def test_the_reference_at_a_reduced_scale_names_its_own_data_sets(tmp_path):
    shown = {page.name: page for page in pages.all_pages(plan_of("smoke", ["audit"]), CHECKOUT, tmp_path)}
    assert [each.id for each in shown["audit/finding_errors"].data] == ["rte", "galaxy_zoo"]
    assert len(shown["audit/flip_rates"].data) == 10


def test_the_command_of_a_result_from_a_file_of_ones_own_names_it(tmp_path):
    plan = plan_of("smoke", ["audit"])
    shown = {page.name: page for page in pages.all_pages(plan, CHECKOUT, tmp_path)}["audit/finding_errors"]
    command = "./run smoke audit_finding_errors"
    assert shown.command == command
    plan.config["data"]["local"] = {"rte": "my rte.csv"}
    assert shown.command == command + """ --config 'data={"local": {"rte": "my rte.csv"}}'"""
    plan.config["data"]["local"] = {}
    shown.content["datasets"] = ["beans.local"]
    assert shown.command == command + """ --config 'data={"local": {"beans": "FILE"}}'"""


def test_a_reduced_run_without_rows_says_so():
    rows = [{"verdict": "ran", "missing": missing} for missing in ("no row has x = 15", "")]
    shown = pages.without_rows(archived_run.Run("smoke", verdicts=rows)).verdicts
    assert [row["verdict"] for row in shown] == ["no_rows", "ran"]
    checks = [row | {"kind": "sentence", "id": "A-1", "form_of": "", "side": ""} for row in shown]
    assert [row["verdict"] for row in select_deciding(checks)] == ["ran"]
    assert not any(map(pages.judges, shown))
    assert "not part of this scale" in pages.Keys({}, "").evidence(shown[0])
    judged = [{"verdict": "not_comparable", "missing": "no row has x = 15"}]
    assert pages.without_rows(archived_run.Run("full", verdicts=judged)).verdicts == judged


def test_the_front_page_counts_what_was_judged(site):
    front = (site / "index.html").read_text()
    plan = plan_of("full")
    kept = [plan.artifact(name).content for name in NAMES[:-1]]
    values = sum(len(each.get("published", [])) for each in kept if each["origin"] == "paper")
    assert f"<dt>{values} published values</dt>" in front
    claims = [claim for each in kept for claim in each.get("claims", []) if "form_of" not in claim]
    for kind, group in GROUPS.items():
        if kind != "published":
            ids = {claim["id"] for claim in claims if claim["kind"] == kind}
            assert (f"<dt>{len(ids)} {group}</dt>" in front) == bool(ids)
    assert f"{len(plan.artifacts) - len(NAMES)} more results have not been run" in front


def test_a_page_has_what_a_reader_asks_for(site):
    page = (site / "ors_fig2.html").read_text()
    content = plan_of("smoke").artifact("ors/fig2").content
    source = "source/src_{}.py.html#L-".format
    for wanted in (
        "<math",
        "./run smoke ors_fig2",
        "source/src_papers_ors_fig2.yaml.html",
        *map(source, ("papers_ors_code", "papers_ors_drawing", "noisylabels_filters_ors")),
        "20170918",
        "2 min of one core in 1 job, 250 MB in the largest",
        *(claim["id"] for claim in content["claims"]),
    ):
        assert wanted in page, wanted
    assert "public domain (LibriVox)" in (site / "ors_fig5.html").read_text()
    drawn_from_others = (site / "ors_final_errors.html").read_text()
    assert '<a href="ors_fig2.html">ors_fig2</a>' in drawn_from_others
    assert "20170918" in drawn_from_others
    lines = (site / "kernel_boost_rivals.html").read_text().count('<span class="name">')
    assert lines == len(plan_of("full").artifact("kernel_boost/rivals").content["published"])


def test_new_columns_of_the_verdicts_are_shown_and_not_needed(tmp_path):
    plan = plan_of("full", ["ors"])
    finish(tmp_path, plan, ["ors/fig4"])
    file = tmp_path / "results/full/ors/fig4/verdicts.csv"
    first, *others = file.read_text().splitlines()
    file.write_text("\n".join([f"{first},new_points", *(f"{line},inconclusive" for line in others)]))
    build.write(plan, CHECKOUT, tmp_path, tmp_path / "site")
    page = (tmp_path / "site/ors_fig4.html").read_text()
    assert ">· for new points:</span>" in page


def test_the_agreement_of_a_table_is_told_and_drawn(tmp_path):
    plan, name = plan_of("full", ["kernel_boost"]), "kernel_boost/bound_table"
    finish(tmp_path, plan, [name])
    build.write(plan, tmp_path, tmp_path, tmp_path / "site")
    page = (tmp_path / "site/kernel_boost_bound_table.html").read_text()
    for part in ('<svg class="agreement"', "<dt>mean difference</dt>", "<dt>same winner</dt>"):
        assert part in page


def test_markup_in_texts_is_shown_not_obeyed(tmp_path, monkeypatch):
    plan = plan_of("full", ["ors"])
    finish(tmp_path, plan, ["ors/fig2"])
    content = plan.artifacts["ors/fig2"].content
    nasty = "<script>alert(1)</script>"
    for key in ("title", "source", "caption"):
        monkeypatch.setitem(content, key, f"{nasty} {content[key]}")
    monkeypatch.setitem(content, "notes", [nasty])
    table = tmp_path / "results/full/ors/fig2/table.csv"
    table.write_text(table.read_text().replace(",clean,", ",</script><script>alert(1)//,"))
    with pytest.raises(ValueError, match=r"table\.csv is not the table that .* records .*run again"):
        build.write(plan, CHECKOUT, tmp_path, tmp_path / "refused")
    provenance = table.with_name("provenance.json")
    digest = hashlib.sha256(table.read_bytes()).hexdigest()
    provenance.write_text(json.dumps(json.loads(provenance.read_text()) | {"table_sha256": digest}))
    build.write(plan, CHECKOUT, tmp_path, tmp_path / "site")
    for name in ("index", "ors_fig2", "findings"):
        assert "<script>alert" not in (tmp_path / f"site/{name}.html").read_text()


# Numbers


@pytest.mark.parametrize(
    ("interval", "margins", "places"),
    [
        ((10, 9, 11), 0.0, (50, 41.67, 58.33)),
        ((12, 11, 13), 1.0, (66.67, 58.33, 75)),
        ((30, 29, 31), 10.0, (100, 100, 100)),
        ((-30, -31, -29), -20.0, (0, 0, 0)),
    ],
)
def test_a_printed_value_is_placed_by_its_distance_in_margins(interval, margins, places):
    ours, low, high = interval
    cells = {"estimate": ours, "published": 10, "margin": 2}
    cells |= {"difference_low": low - 10, "difference_high": high - 10}
    row = {"id": "a", "verdict": "reproduced", "where": '{"method": "svm"}'}
    ((found,),) = charts.blocks([row | {key: str(value) for key, value in cells.items()}]).values()
    assert found.margins == margins
    assert (found.at, found.low, found.high) == pytest.approx(places, abs=0.01)


def rows_of_curves(metrics=("mse",), methods=1, settings=1, repetitions=1, last=8):
    cells = itertools.product(
        metrics, range(methods), range(settings), range(repetitions), range(1, last + 1)
    )
    for metric, m, s, r, x in cells:
        values = {"metric": metric, "x": x, "value": m + r + 1 / x}
        yield {"method": f"m{m}", "setting": f"s{s}", "repetition": r} | values


def test_curves_fit_into_a_page_and_keep_their_ends(tmp_path):
    write_rows(rows_of_curves(methods=8, settings=4, repetitions=5, last=400), tmp_path / "table.csv")
    packed = charts.curves(tmp_path / "table.csv", {})
    panels = json.loads(packed)
    assert len(packed) <= charts.LARGEST
    assert [panel["where"] for panel in panels] == ["s0", "s1", "s2", "s3"]
    curve = panels[0]["curves"][3]
    assert (curve["method"], curve["x"][0], curve["x"][-1]) == ("m3", 1, 400)
    assert curve["y"][0] == pytest.approx(3 + 2 + 1)  # the mean over the repetitions 0..4
    assert curve["half"][0] == pytest.approx(2.776 * (2.5 / 5) ** 0.5, rel=0.02)


def test_the_metric_of_the_caption_comes_first(tmp_path):
    table = tmp_path / "table.csv"
    write_rows(rows_of_curves(("weight_ratio", "regret")), table)
    caption = "Regret against rounds"
    panels = json.loads(charts.curves(table, {}, caption=caption))
    assert [panel["metric"] for panel in panels] == ["regret", "weight_ratio"]
    opened = json.loads(charts.curves(table, {}, "noisy_online.code:linear", "weight_ratio", caption))
    assert [panel["metric"] for panel in opened] == ["weight_ratio", "regret"]
    assert (opened[1]["title"], opened[1]["x"]) == ("regret on the clean data", "rounds T")


def test_few_repetitions_have_no_interval_and_few_points_no_curve(tmp_path):
    write_rows(rows_of_curves(repetitions=4), tmp_path / "table.csv")
    assert "half" not in json.loads(charts.curves(tmp_path / "table.csv", {}))[0]["curves"][0]
    for last in (0, 3):
        single = {"method": "a", "repetition": 0, "metric": "e", "value": 1.0}
        rows = rows_of_curves(last=last) if last else [single]
        write_rows(rows, tmp_path / "table.csv")
        assert charts.curves(tmp_path / "table.csv", {}) == ""


def test_a_key_is_shown_in_words_also_where_its_name_is_the_key_in_words():
    said = pages.Keys({}, "").where({"where": '{"dataset": "german_numeric", "metric": "no_such"}'})
    assert re.sub("<[^>]*>", "", said) == "german numeric, no such"
    assert 'title="german_numeric"' in said
