"""The pages in a real browser: no error, no request to another host, and every button works."""

import json

import pytest
from browser import CHROMIUM, driven
from finished_runs import NAMES, plan_of

from reproduction.show.site import run_page

pytestmark = [
    pytest.mark.skipif(not CHROMIUM, reason="needs Chromium on PATH"),
    pytest.mark.nightly,
]


def test_every_page_fits_a_phone_and_says_nothing_to_the_console(site, tmp_path):
    """Also once everything that is folded is open, and its charts are drawn."""
    files = site.glob("docs/**/*.html")
    pages = sorted(str(file.relative_to(site)) for file in files)
    look = """async (window, page) => {
      page.querySelectorAll("details").forEach((box) => { box.open = true; });
      await new Promise((later) => setTimeout(later, 1000));
      return [page.documentElement.scrollWidth, !!page.querySelector("main h1"),
      [...page.images].every((image) => image.loading === "lazy" || image.naturalWidth > 0)]; }"""
    script = f"for (const name of {json.dumps(pages)}) told[name] = await visit(name, 390, {look});"
    answers = driven(site, tmp_path, script)
    assert len(answers) == len(pages) > len(NAMES)
    for name, (width, headed, pictured) in answers.items():
        assert (width <= 390, headed, pictured) == (True, True, True), name


def test_charts_are_drawn_once_they_are_opened(site, tmp_path):
    answers = driven(
        site,
        tmp_path,
        """await visit("docs/results/ors_fig2.html", 1000, async (window, page) => {
          const count = () => page.querySelectorAll(".chart canvas, .chart svg").length;
          told.closed = count();
          page.querySelectorAll("details").forEach((box) => { box.open = true; });
          await new Promise((later) => setTimeout(later, 3000));
          told.open = count();
        });""",
    )
    assert answers["closed"] == 0
    assert answers["open"] > 0


def test_the_page_of_a_run_is_filtered(home, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    page = run_page.begin(plan_of("smoke"), home)
    answers = driven(
        page.parent.absolute(),
        tmp_path,
        """await visit("index.html", 390, (window, page) => {
          const box = page.getElementById("filter");
          const shown = (text) => {
            box.value = text;
            box.dispatchEvent(new window.Event("input"));
            return page.querySelectorAll("article:not([hidden])").length;
          };
          told.width = page.documentElement.scrollWidth;
          told.all = shown("");
          told.one = shown("figure 5");
          told.none = shown("zebra");
        });""",
    )
    assert answers["width"] <= 390
    assert answers["all"] > answers["one"] == 1
    assert answers["none"] == 0
