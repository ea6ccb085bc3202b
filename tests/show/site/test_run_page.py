"""The page of a run: there before the first job, true to what is finished, and quick to write."""

import json
import re
import subprocess
import sys
import time

import pytest
from finished_runs import CHECKOUT, NAMES, finish, plan_of, record_verdicts

from reproduction.judge.verdict_files import read_verdicts
from reproduction.show.site import run_page
from reproduction.spec.verdict_words import VERDICTS

FEW = NAMES[:2]


@pytest.fixture
def begun(home, tmp_path, monkeypatch):
    """A smoke run that has not finished anything yet: its folder and the text of its page."""
    monkeypatch.chdir(tmp_path)
    page = run_page.begin(plan_of("smoke"), home)
    assert page.as_posix() == "site/smoke/index.html"
    return tmp_path


def text_of(folder, scale="smoke"):
    return (folder / f"site/{scale}/index.html").read_text(encoding="utf-8")


def addresses(text):
    return re.findall(r'(?:href|src)="([^"#]+)"', text)


def test_before_the_first_job_it_shows_the_archived_run(begun):
    text = text_of(begun)
    assert f"Smoke run: 0 of {text.count('<article>')} results" in text
    drawn = [name for name in NAMES if "final_errors" not in name and "table" not in name]
    assert text.count("archived run</span>") >= len(drawn) - 1
    assert "the verdicts shown are those of the archived full run" in text


def test_what_is_finished_replaces_the_archived_pictures(begun):
    finish(begun, plan_of("smoke"), FEW)
    run_page.write(begun / "logs/smoke" / run_page.RECORD)
    text = text_of(begun)
    assert f"Smoke run: {len(FEW)} of" in text
    assert "../../figures/smoke/ors/fig2.png" in addresses(text)
    for address in addresses(text):
        is_there = address.startswith("data:") or (begun / "site/smoke" / address).is_file()
        assert is_there, address


def test_every_verdict_leads_to_its_definition_on_the_page(begun):
    text = text_of(begun)
    badges = set(re.findall(r'href="#(verdict-\w+)"', text))
    assert badges
    for badge in badges:
        assert f'id="{badge}"' in text
    assert VERDICTS["inconclusive"].definition in text


def test_a_smoke_run_shows_archived_verdicts_and_a_full_run_its_own(begun, home):
    finish(begun, plan_of("smoke"), FEW)
    archived = read_verdicts(home / "results/reference/ors/fig2/verdicts.csv")
    finish(begun, plan_of("full"), FEW)
    own_verdicts = begun / "results/full/ors/fig2/verdicts.csv"
    own_verdicts.write_text(own_verdicts.read_text().replace("not_reproduced", "inconclusive"))
    record_verdicts(own_verdicts.parent, begun)
    run_page.begin(plan_of("full"), home)
    assert "not reproduced</a>" in "".join(map(str, map(run_page.write_badge, archived)))
    shown = {scale: article_of(text_of(begun, scale), "Figure 2") for scale in ("smoke", "full")}
    assert "not reproduced" in shown["smoke"]
    assert "not reproduced" not in shown["full"]


def test_a_picture_or_verdicts_changed_by_hand_are_named_and_not_shown(begun, home):
    finish(begun, plan_of("full"), FEW)
    picture = begun / "figures/full" / f"{FEW[0]}.png"
    picture.write_bytes(picture.read_bytes()[:-1])
    verdicts = begun / "results/full" / FEW[1] / "verdicts.csv"
    verdicts.write_text(verdicts.read_text().replace("not_reproduced", "reproduced"))
    run_page.begin(plan_of("full"), home)
    text = text_of(begun, "full")
    assert text.count("(changed by hand?); run again") == 2
    assert "figures/full/ors/fig2.png is not the file" in article_of(text, "Figure 2")
    assert not {"../../figures/full/ors/fig2.png", f"../../{verdicts.relative_to(begun)}"} & {
        *addresses(text)
    }


def article_of(text, title):
    """The part of a page about a result."""
    return next(part for part in text.split("<article>") if f"<h3>{title}" in part)


def test_markup_in_texts_is_shown_not_obeyed(home, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    plan = plan_of("smoke")
    nasty = "<script>alert(1)</script>"
    for key in ("title", "caption"):
        monkeypatch.setitem(plan.artifacts["ors/fig2"].content, key, nasty)
    run_page.begin(plan, home)
    assert nasty not in text_of(tmp_path)


def test_a_job_writes_it_without_numerical_packages_in_a_third_of_a_second(begun):
    record = f"logs/smoke/{run_page.RECORD}"
    code = (
        "import sys, runpy; "
        f"sys.argv = ['run_page', {record!r}]; "
        "runpy.run_module('scripts.run_page', run_name='__main__'); "
        "assert not {'numpy', 'pandas', 'sklearn', 'docutils', 'yaml'} & sys.modules.keys()"
    )
    path = {"PYTHONPATH": str(CHECKOUT / "src")}
    command = [sys.executable, "-P", "-c", code]
    subprocess.run(command, env=path, check=True)
    start = time.process_time()
    run_page.write(begun / record)
    assert time.process_time() - start < 0.3


def test_it_replaces_the_last_page_at_once(begun):
    record = begun / "logs/smoke" / run_page.RECORD
    run_page.write(record)
    assert [file.name for file in (begun / "site/smoke").iterdir()] == ["index.html"]
    assert json.loads(record.read_text())["folder"] == "smoke"
