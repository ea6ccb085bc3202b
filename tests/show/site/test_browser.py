"""The pages in a real browser: no error, no request to anywhere, and everything that can be pressed works."""

import json

import pytest
from browser import CHROMIUM, driven, faults
from finished_runs import NAMES

pytestmark = [pytest.mark.skipif(not CHROMIUM, reason="needs Chromium on PATH"), pytest.mark.nightly]
SEARCH = """
const shown = (page) =>
  [...page.querySelectorAll(".card:not([hidden])")].map((card) => card.getAttribute("href"));
function type(window, page, text) {
  page.getElementById("search").value = text;
  page.getElementById("search").dispatchEvent(new window.Event("input"));
  return shown(page);
}"""


def test_every_page_fits_a_phone_and_says_nothing_to_the_console(site, tmp_path):
    pages = sorted(str(file.relative_to(site)) for file in site.rglob("*.html"))
    look = """(window, page) => [page.documentElement.scrollWidth, !!page.querySelector("main h1"),
      [...page.images].every((image) => image.loading === "lazy" || image.naturalWidth > 0)]"""
    script = f"for (const name of {json.dumps(pages)}) told[name] = await visit(name, 390, {look});"
    told = driven(site, tmp_path, script)
    assert len(told) == len(pages) > len(NAMES)
    for name, (width, headed, pictured) in told.items():
        assert (width <= 390, headed, pictured) == (True, True, True), name


def test_search_and_chips_find_results(site, tmp_path):
    told = driven(
        site,
        tmp_path,
        """await visit("index.html", 1200, (window, page) => {
          told.all = shown(page);
          told.speech = type(window, page, "speech");
          told.twonorm = type(window, page, "Twonorm");
          told.method = type(window, page, "robust_multi_kernel");
          told.none = type(window, page, "no such words");
          told.empty = !page.getElementById("nothing").hidden;
          told.figure = type(window, page, "figure 5")[0];
          type(window, page, "");
          page.querySelector("[data-value=table]").click();
          told.tables = shown(page);
          page.querySelector("[data-value=ours]").click();
          told.own = shown(page);
          page.getElementById("clear").click();
          told.cleared = shown(page);
        });
        told.linked = await visit("index.html?q=speech", 1200, (window, page) => shown(page));""",
        SEARCH,
    )
    assert len(told["all"]) == len(NAMES) == len(told["cleared"])
    assert told["speech"] == told["linked"] == ["ors_fig5.html", "ors_final_errors.html"]
    assert told["twonorm"] == told["method"] == ["kernel_boost_rivals.html"]
    assert (told["none"], told["empty"], told["figure"]) == ([], True, "ors_fig5.html")
    assert "kernel_boost_rivals.html" in told["tables"]
    assert told["own"] == ["ors_final_errors.html"]


def test_curves_are_drawn_hidden_and_read(site, tmp_path):
    told = driven(
        site,
        tmp_path,
        """await visit("ors_fig2.html", 1000, async (window, page) => {
          page.getElementById("curves").open = true;
          await new Promise((later) => setTimeout(later, 100));
          const lines = () => page.querySelectorAll(".plot polyline").length;
          told.before = lines();
          page.querySelector(".keys button").click();
          told.hidden = lines();
          page.querySelector(".keys button").click();
          told.again = lines();
          const box = page.querySelector(".plot").getBoundingClientRect();
          page.querySelector(".plot").dispatchEvent(
            new window.PointerEvent("pointermove", { clientX: box.left + 70, clientY: box.top + 50 }));
          told.tip = page.querySelector(".tip").innerText;
          told.log = page.querySelectorAll(".controls button").length;
          page.querySelector(".controls button").click();
          told.logged = lines();
        });""",
    )
    counts = [told[key] for key in ("before", "hidden", "again", "log", "logged")]
    assert counts == [4, 3, 4, 2, 4]
    assert "round t: 1" in told["tip"]
    assert "clean label" in told["tip"]


def test_pages_are_legible_in_either_scheme_reached_by_keys_and_printed_whole(site, tmp_path):
    pages = ["index.html", "findings.html", *(f"{name.replace('/', '_')}.html" for name in NAMES)]
    assert faults(site, tmp_path, pages) == {}


def test_the_checks_find_what_is_wrong(site, tmp_path):
    text = (site / "findings.html").read_text()
    bad = """<main id="main"><style>@media (prefers-color-scheme: dark) { #dark { color: #222;
    background: #111 } }</style><p style="color:#999">pale</p><p id="dark">dark</p>
    <button style="outline:none">press</button>
    <a href="x" tabindex="3"></a><pre style="overflow:auto;width:50px">much too long a line</pre>
    <div style="width:900px" class="tablebox">wide</div>"""
    (site / "bad.html").write_text(text.replace('<main id="main">', bad).replace("nav.top", "nav.other"))
    found = faults(site, tmp_path, ["bad.html"])["bad.html"]
    (site / "bad.html").unlink()
    assert set(found["pale"]) == {"p"}
    assert found["pale_in_the_dark"]["p"].endswith("dark")
    words = ["no mark of the focus: button", "out of order: a", "no name: a", "scrolls only by pointer: pre"]
    assert sorted(found["unreached"]) == sorted(words)
    assert found["phone"] > 390
    assert found["paper"] > 700
