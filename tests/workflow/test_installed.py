"""The experiments without a checkout: both wheels, an empty folder, and the first table of a new paper."""

import os
import runpy
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import numpy as np
import pytest

from reproduction.results import read_table

ROOT = Path(__file__).parents[2]


def do(*words, **options):
    done = subprocess.run([*map(str, words)], capture_output=True, text=True, **options)
    assert done.returncode == 0, done.stdout + done.stderr


def build(folder):
    """Both wheels of this checkout, which stays as it is."""
    source, options = folder / "source", ["--no-build-isolation"]
    shutil.copytree(ROOT / "src/noisylabels", source / "src/noisylabels")
    for part in ("LICENSE", "README.md", "pyproject.toml"):
        shutil.copy(ROOT / part, source)
    pip = [sys.executable, "-m", "pip", "wheel", "--no-deps", "--wheel-dir", folder / "dist"]
    do(*pip, *options, source)
    do(sys.executable, ROOT / "packaging/build.py", folder / "dist", *options)
    return sorted((folder / "dist").glob("*.whl"))


def install(wheels, venv):
    """The folder of what is installed; the packages that both need are those of the tests."""
    do(sys.executable, "-m", "venv", "--without-pip", venv)
    pip = [sys.executable, "-m", "pip", "--python", venv / "bin/python", "install", "--no-index", "--no-deps"]
    do(*pip, *wheels)
    (packages,) = venv.glob("lib/*/site-packages")
    (packages / "tests.pth").write_text(sysconfig.get_path("purelib"), encoding="utf-8")
    return packages


def contents(wheel):
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (name for name in archive.namelist() if name.endswith("dist-info/METADATA"))
        return {name.partition("/")[0] for name in archive.namelist()}, archive.read(name).decode()


@pytest.mark.slow
@pytest.mark.workflow
def test_from_two_wheels_and_an_empty_folder_to_a_first_table_in_three_commands(tmp_path):
    pytest.importorskip("pip")
    wheels = build(tmp_path)
    (library, needs), (_, further) = map(contents, wheels)
    assert not any("reproduction" in folder for folder in library)
    assert 'Requires-Dist: noisylabels-reproduction; extra == "reproduction"' in needs
    assert "Requires-Dist: noisylabels[pipeline]==" in further

    packages = install(wheels, tmp_path / "venv")
    before = {file: file.stat().st_mtime_ns for file in packages.rglob("*")}
    y = np.arange(120) % 2
    X, rows = np.random.default_rng(0).normal(y[:, None], size=(120, 3)), np.tile(np.arange(120), (2, 1))
    np.savez(tmp_path / "heart.npz", X=X, y=y, train=rows[:, :80], test=rows[:, 80:])
    home = tmp_path / "empty"
    home.mkdir()
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("SNAKEMAKE", "PYTHON", "COV", "NUMBA"))}
    here = {"cwd": home, "env": kept | {"HOME": str(tmp_path)}}
    command = tmp_path / "venv/bin/noisylabels-reproduction"
    do(command, "new-paper", "natarajan", **here)
    data = ["--config", "data={local: {ida_heart: ../heart.npz}}"]  # what a package index has
    do(command, "--configfile", "config/smoke.yaml", *data, "--", "natarajan", **here)
    assert len(read_table(home / "results/smoke/natarajan/table1/table.csv")) > 10
    assert (home / "figures/smoke/natarajan/table1.png").is_file()
    assert {file: file.stat().st_mtime_ns for file in packages.rglob("*")} == before


def test_files_of_the_checkout_and_papers_of_the_folder_are_found_and_the_rest_is_handed_on(
    tmp_path, monkeypatch
):
    snakemake = runpy.run_path(str(ROOT / "packaging/command.py"))["snakemake"]
    monkeypatch.chdir(tmp_path)
    words = [
        "--verbose",
        "--config",
        "seed=7",
        "--configfile",
        "config/smoke.yaml",
        "--cores",
        "2",
        "--",
        "a",
    ]
    found = " ".join(snakemake(words, ROOT))
    profile = f"--snakefile {ROOT}/Snakefile --profile {ROOT}/workflow/profiles/default"
    assert found == f"{profile} --config seed=7 --configfile {ROOT}/config/smoke.yaml --cores 2 -- a"
    (tmp_path / "a").mkdir()
    (tmp_path / "a/TITLE").touch()
    assert " ".join(snakemake(words, ROOT)) == found.replace("seed=7", f"project={tmp_path} seed=7")
    assert snakemake(["a"], ROOT)[:2] == ["--config", f"project={tmp_path}"]
