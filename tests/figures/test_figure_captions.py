from types import SimpleNamespace

import pytest
import yaml
from docutils.core import publish_parts
from docutils.utils import Reporter
from figure_inputs import EXPERIMENTS, ROOT
from jinja2 import Environment, StrictUndefined

PAGES = ROOT / "workflow/report"
ARTIFACTS = {f"{file.parent.name}/{file.stem}": file for file in sorted(EXPERIMENTS.glob("*/*.yaml"))}


LINKS = "\n\n.. _Workflow: javascript:show_panel('workflow')\n"  # Snakemake adds such lines to every page


def html(page, **snakemake):
    """A page as Snakemake's report shows it; anything that reST finds odd is an error."""
    environment = Environment(trim_blocks=True, lstrip_blocks=True, undefined=StrictUndefined)
    template = environment.from_string((PAGES / page).read_text(encoding="utf-8") + LINKS)
    text = template.render(snakemake=SimpleNamespace(**snakemake))
    strict = {"halt_level": Reporter.WARNING_LEVEL, "report_level": Reporter.WARNING_LEVEL}
    return publish_parts(text, writer="html", settings_overrides=strict)["html_body"]


def caption(content, scale="full"):
    return html(
        "artifact.rst", params=SimpleNamespace(artifact=content, scale=scale), config={"scale": scale}
    )


@pytest.mark.parametrize("name", ARTIFACTS)
def test_captions_deviations_and_notes_are_valid(name):
    content = yaml.safe_load(ARTIFACTS[name].read_text(encoding="utf-8"))
    shown = caption(content)
    assert shown.count("<li>") == len(content.get("deviations", [])) + len(content.get("notes", []))


def test_a_reduced_scale_is_announced():
    content = {"caption": "A curve.", "source": "a paper", "origin": "ours", "render": "ors:fig"}
    assert "smoke, reduced" in caption(content, scale="smoke")
    assert "reduced" not in caption(content)


@pytest.mark.parametrize("scale", ["smoke", "quick", "full"])
def test_the_pages_of_the_report_say_whether_they_judge(scale):
    config = {"scale": scale, "papers": ["ors"], "seed": 7}
    assert ("It judges nothing" in html("workflow.rst", config=config)) == (scale != "full")
    assert ("ran" in html("verdicts.rst", config=config)) == (scale != "full")


def test_markup_in_deviations_is_shown_as_it_is():
    content = {
        "caption": "A curve.",
        "source": "a paper",
        "origin": "paper",
        "render": "ors:fig",
        "deviations": ["|u|_q, `x` * y_", "b"],
    }
    shown = caption(content)
    assert "|u|_q, `x` * y_" in shown
    assert shown.count("<li>") == 2


def test_datasets_deviations_and_notes_follow_the_caption():
    content = {"caption": "A curve.", "source": "a paper", "origin": "paper", "render": "ors:fig"}
    extra = {"datasets": ["living_room"], "deviations": ["first"], "notes": ["second"]}
    shown = caption(content | extra)
    order = [shown.index(text) for text in ("A curve.", "a paper", "living_room", "first", "Notes", "second")]
    assert order == sorted(order)


def test_the_function_that_drew_it_is_named_with_its_file():
    shown = caption({"caption": "A.", "source": "b", "origin": "ours", "render": "kernels:rivals"})
    assert "rivals" in shown
    assert "src/reproduction/figures/kernels.py" in shown
