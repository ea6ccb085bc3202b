"""Archived figures are drawn again from the archived tables."""

from project import ROOT, load_plan

from reproduction.show.archived_figures import draw_again


def test_a_figure_is_drawn_from_its_archived_table_and_a_missing_table_is_named(tmp_path):
    plan = load_plan("full", whole=True)
    name = "ors/fig7"
    (tmp_path / "results/reference/ors").mkdir(parents=True)
    archived = tmp_path / f"results/reference/{name}"
    assert list(draw_again(plan, [name], tmp_path)) == [
        f"{name}: not drawn: the table of {name} is not archived"
    ]
    archived.symlink_to(ROOT / f"results/reference/{name}")
    assert list(draw_again(plan, [name], tmp_path)) == [f"{name}: drawn"]
    drawn = sorted(file.name for file in (tmp_path / "figures/reference/ors").iterdir())
    archived_files = sorted(file.name for file in (ROOT / "figures/reference/ors").glob("fig7.*"))
    assert drawn == archived_files
