"""The experiments without a checkout: both wheels, an empty folder, and the first table of a new paper."""

import os
import runpy
import shutil
import subprocess
import sys
import sysconfig
from importlib.metadata import distributions

import numpy as np
import pytest
from checkouts import ROOT, share_kernels

from reproduction.run.results import read_table


def do(*words, **options):
    done = subprocess.run([*map(str, words)], capture_output=True, text=True, **options)
    assert done.returncode == 0, done.stdout + done.stderr


def installed(folder):
    """Both wheels of this checkout in an environment; what both need are the packages of the tests."""
    source, dist, venv = folder / "source", folder / "dist", folder / "venv"
    shutil.copytree(ROOT / "src/noisylabels", source / "src/noisylabels")  # a build writes beside its sources
    for part in ("LICENSE", "README.md", "pyproject.toml"):
        shutil.copy(ROOT / part, source)
    pip, alone = [sys.executable, "-m", "pip"], "--no-build-isolation"
    do(*pip, "wheel", "--no-deps", alone, "--wheel-dir", dist, source)
    do(sys.executable, ROOT / "packaging/build.py", dist, alone)
    do(sys.executable, "-m", "venv", "--without-pip", venv)
    do(*pip, "--python", venv / "bin/python", "install", "--no-index", "--no-deps", *dist.glob("*.whl"))
    (packages,) = venv.glob("lib/*/site-packages")
    (packages / "tests.pth").write_text(sysconfig.get_path("purelib"), encoding="utf-8")
    return packages, venv / "bin/noisylabels-reproduction"


@pytest.mark.nightly
@pytest.mark.workflow
def test_from_two_wheels_and_an_empty_folder_to_a_first_table(tmp_path):
    pytest.importorskip("pip")
    packages, command = installed(tmp_path)
    found = {each.name: each for each in distributions(path=[str(packages)])}
    library, further = found["noisylabels"], found["noisylabels-reproduction"]
    folders = {file.parts[0] for file in library.files}
    assert folders == {"noisylabels", f"noisylabels-{library.version}.dist-info"}
    assert 'noisylabels-reproduction; extra == "reproduction"' in library.requires
    assert further.requires == [f"noisylabels[pipeline]=={library.version}"]

    y, rows = np.arange(120) % 2, np.tile(np.arange(120), (2, 1))
    X = np.random.default_rng(0).normal(y[:, None], size=(120, 3))
    np.savez(tmp_path / "heart.npz", X=X, y=y, train=rows[:, :80], test=rows[:, 80:])
    data = "data={local: {ida_heart: ../heart.npz}}"  # what a package index would give
    unset = ("SNAKEMAKE", "PYTHON", "COV", "NUMBA")
    variables = {k: v for k, v in os.environ.items() if not k.startswith(unset)}
    home, before = tmp_path / "empty", {file: file.stat().st_mtime_ns for file in packages.rglob("*")}
    home.mkdir()
    here = {"cwd": home, "env": variables | {"HOME": str(tmp_path)}}
    do(command, "new-paper", "natarajan", **here)
    (checkout,) = home.glob(".cache/checkout-*")
    for file in (checkout / "src/noisylabels").rglob("*.py"):  # of one age with ours, whose kernels fit them
        ours = (ROOT / file.relative_to(checkout)).stat()
        os.utime(file, ns=(ours.st_atime_ns, ours.st_mtime_ns))
    share_kernels(checkout)
    do(command, "--configfile", "config/smoke.yaml", "--config", data, "--", "natarajan", **here)
    do(command, "site", **here)
    assert "project" not in (home / "natarajan/README.md").read_text("utf-8").partition("The commands")[2]
    assert len(read_table(home / "results/smoke/natarajan/table1/table.csv")) > 10
    assert (home / "figures/smoke/natarajan/table1.png").is_file()
    assert "natarajan" in (home / "site/smoke/index.html").read_text(encoding="utf-8")
    assert {file: file.stat().st_mtime_ns for file in packages.rglob("*")} == before


def test_words_of_a_run_find_the_files_of_the_checkout_and_the_papers_of_the_folder(tmp_path, monkeypatch):
    snakemake = runpy.run_path(str(ROOT / "packaging/command.py"))["snakemake"]
    monkeypatch.chdir(tmp_path)
    typed = "--verbose --config seed=7 --configfile config/smoke.yaml --cores 2 -- a"
    words = typed.split()
    found = " ".join(snakemake(words, ROOT))
    place = f"--snakefile {ROOT}/Snakefile --profile {ROOT}/workflow/profiles/default"
    assert found == f"{place} --config seed=7 --configfile {ROOT}/config/smoke.yaml --cores 2 -- a"
    (tmp_path / "a").mkdir()
    (tmp_path / "a/TITLE").touch()
    assert " ".join(snakemake(words, ROOT)) == found.replace("seed=7", f"project={tmp_path} seed=7")
    assert snakemake(["a"], ROOT)[:2] == ["--config", f"project={tmp_path}"]
