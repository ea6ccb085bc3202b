"""Further root seeds repeat an experiment beside the run that is drawn, and leave that as it is."""

import pandas as pd
import pytest

pytestmark = pytest.mark.workflow


def test_a_further_seed_gives_what_a_run_with_that_seed_gives(run):
    repeated, other = run("repeated"), run("other")
    repeated.snakemake("ors_fig7", options=["--config", "seeds=[5,6]"], cores=2)
    other.snakemake("ors_fig7", options=["--config", "seed=5"], cores=2)
    results = repeated.folder / "results/smoke/ors"
    beside = other.folder / "results/smoke/ors/fig7"
    for name in ("table.csv", "points.npz", "provenance.json"):
        assert (results / "fig7@5" / name).read_bytes() == (beside / name).read_bytes()

    spread = pd.read_csv(results / "fig7/seeds.csv")
    assert set(spread["seeds"]) == {3}
    verdicts = pd.read_csv(results / "fig7/seeds_verdicts.csv")
    assert set(verdicts["verdicts"]) == {"20170918: ran; 5: ran; 6: ran"}
    assert "standard error of one run" in (results / "fig7/seeds.html").read_text()
    assert "Nothing to be done" in repeated.snakemake("ors_fig7", options=["-n"])
