"""A checkout under any path works, and no name in a file becomes a command."""

import shutil

import pytest
from checkouts import ODD, copy_checkout
from runs import Run

pytestmark = pytest.mark.workflow


@pytest.mark.nightly
def test_a_run_under_an_odd_path(tmp_path):
    folder = tmp_path / ODD
    copy_checkout(folder)
    run = Run(folder / "it's here", folder)  # elsewhere than the checkout: every path is absolute
    configuration = "scale: smoke\npapers: [noisy_online]\nformats: [png]\n"
    (run.folder / "overlay.yaml").write_text(configuration)
    run.snakemake("noisy_online_identities")
    assert (run.folder / "figures/smoke/noisy_online/identities.md").is_file()
    assert not list(tmp_path.rglob("HACKED"))


def test_the_name_of_a_file_is_no_command(copy):
    source, name = copy.checkout / "src/papers/ors/fig2.yaml", "$(touch HACKED){x}"
    shutil.copy(source, source.with_name(f"{name}.yaml"))
    assert f"{name!r} cannot be a name: use letters" in copy.snakemake(options=["-n"], fail=True)
    assert not list(copy.folder.rglob("HACKED"))
