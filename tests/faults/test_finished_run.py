"""A run that has nothing to do ends without loading Snakemake, and says what Snakemake says."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from checkouts import copy_checkout

pytestmark = [pytest.mark.workflow, pytest.mark.nightly]


@pytest.fixture(scope="module")
def checkout(tmp_path_factory) -> Path:
    """A checkout with one small table, which a run has made."""
    folder = tmp_path_factory.mktemp("finished")
    copy_checkout(folder)
    paper = folder / "src/papers/noisy_online"
    for file in paper.glob("*.yaml"):
        if file.name != "identities.yaml":
            file.unlink()
    config = folder / "config/config.yaml"
    content = yaml.safe_load(config.read_text())
    config.write_text(yaml.safe_dump(content | {"papers": ["noisy_online"], "formats": ["png"]}))
    status, output = run(folder, "smoke")
    assert status == 0, output
    return folder


def run(folder: Path, *words: str, packages: Path | None = None) -> tuple[int, str]:
    """Run `./run` in a checkout that is set up; returns the status and what was printed."""
    path = os.pathsep.join(map(str, filter(None, [folder / "src", packages])))
    variables = {}
    for name, value in os.environ.items():
        if not name.startswith("SNAKEMAKE_"):
            variables[name] = value
    done = subprocess.run(
        [sys.executable, "-P", "src/scripts/start.py", *words],
        cwd=folder,
        env=variables | {"PYTHONPATH": path},
        capture_output=True,
        text=True,
    )
    return done.returncode, done.stdout + done.stderr


@pytest.fixture
def broken(tmp_path) -> Path:
    """A folder with a package snakemake that cannot be imported."""
    (tmp_path / "snakemake").mkdir()
    (tmp_path / "snakemake/__init__.py").write_text("raise ImportError('loaded')\n")
    return tmp_path


def test_it_ends_without_snakemake(checkout, broken):
    for words in (["smoke", "-n"], ["smoke"], ["-n", "--cores", "2"]):
        status, output = run(checkout, *words, packages=broken)
        assert status == 0, output
        assert "Nothing to be done" in output
        assert ("Look: " in output) == ("-n" not in words)


def test_snakemake_says_the_same_in_the_same_words(checkout):
    _, with_option = run(checkout, "smoke", "-n", "--keep-going")
    _, plain = run(checkout, "smoke", "-n")
    (line,) = plain.splitlines()
    assert line in with_option.splitlines()


@pytest.mark.parametrize(
    "file",
    [
        "results/smoke/noisy_online/identities/table.csv",
        "figures/smoke/noisy_online/identities.record.json",
        "src/papers/noisy_online/checks.py",
    ],
)
def test_a_file_that_has_changed_starts_snakemake(checkout, broken, file):
    before = (checkout / file).read_bytes()
    (checkout / file).write_bytes(before + b"\nEDITED = 1\n")
    status, output = run(checkout, "smoke", "-n", packages=broken)
    assert (status, "is damaged (ImportError: loaded)" in output) == (1, True)
    (checkout / file).write_bytes(before)
    assert run(checkout, "smoke", "-n", packages=broken)[0] == 0
