"""The bars of verdicts show the counts that the judge gives."""

from project import ROOT

from reproduction.show.verdict_bars import draw_archived_verdicts, draw_verdict_bars


def row(claim, verdict, kind="sentence"):
    return {"kind": kind, "id": claim, "verdict": verdict, "form_of": "", "side": ""}


def numbers(figure):
    return [text.get_text() for text in figure.axes[0].texts]


def test_a_part_of_a_bar_is_as_wide_as_its_number_of_claims():
    rows = [row("A-1", "reproduced"), row("A-2", "reproduced"), row("A-3", "not_reproduced")]
    figure = draw_verdict_bars({"One (2001)": rows})
    assert [patch.get_width() for patch in figure.axes[0].patches] == [2, 1]
    assert numbers(figure) == ["2", "1"]


def test_patterns_and_claims_of_ours_are_not_counted():
    rows = [row("A-1", "reproduced"), row("A-2", "reproduced", "ours")]
    rows.append(row("A-3", "reproduced", "pattern"))
    assert numbers(draw_verdict_bars({"One (2001)": rows})) == ["1"]


def test_the_readme_shows_the_archived_verdicts(tmp_path):
    from reproduction.show import style

    style.save(draw_archived_verdicts(ROOT), [tmp_path / "bars.svg"])
    committed = (ROOT / "docs/verdicts_by_paper.svg").read_bytes()
    assert committed == (tmp_path / "bars.svg").read_bytes(), (
        "python -P src/scripts/generate.py draws it again"
    )
