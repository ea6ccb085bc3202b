"""One version of everything everywhere; `./run` makes, reuses and repairs its environment."""

import fcntl
import itertools
import os
import re
import runpy
import shutil
import subprocess
import sys
import time
import tomllib
from pathlib import Path

import pytest
import yaml
from checkouts import ODD
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.version import Version

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
PYTHONS = ["3.11", "3.12", "3.13"]  # of the project; the library runs with later ones too
LIBRARY = [*PYTHONS, "3.14"]
LOCKS = ["runtime.lock", "cluster.lock", "dev.lock"]


def pins(lock):
    """Versions per package; a package may have one version for each of several Pythons."""
    pinned = {}
    text = (ROOT / lock).read_text(encoding="utf-8")
    for name, version in re.findall(r"^([a-z0-9-]+)==(\S+)", text, re.M):
        pinned.setdefault(name, set()).add(version)
    return pinned


def environment():
    return yaml.safe_load((ROOT / "environment.yml").read_text(encoding="utf-8"))["dependencies"]


def requirements(*extras):
    lines = list(PROJECT["dependencies"])
    for extra in extras:
        lines += PROJECT["optional-dependencies"][extra]
    return [Requirement(line) for line in lines]


# --- one version everywhere


def test_a_lock_has_every_dependency_in_its_range_by_hash_and_agrees_with_the_smaller_one():
    extras, smaller = ["pipeline", "cluster", "test"], {}
    for count, lock in enumerate(LOCKS, start=1):
        locked = pins(lock)
        for requirement in requirements(*extras[:count]):
            assert requirement.name in locked
            in_range = [version in requirement.specifier for version in locked[requirement.name]]
            assert all(in_range), requirement
        assert smaller.items() <= locked.items()
        smaller = locked
        # `./run` installs the package without a further download.
        assert "setuptools" in locked
        text = (ROOT / lock).read_text(encoding="utf-8")
        assert not re.search("://|@", text)
        blocks = re.split(r"\n(?=[a-z])", text.strip())
        assert [block.split()[0] for block in blocks if "--hash=sha256:" not in block] == []


def test_environment_is_what_the_script_writes(capsys):
    runpy.run_path(str(ROOT / ".ci/environment.py"), run_name="__main__")
    written = (ROOT / "environment.yml").read_text(encoding="utf-8")
    assert capsys.readouterr().out == written, "run: python3 .ci/environment.py >environment.yml"
    (packages,) = [entry["pip"] for entry in environment() if isinstance(entry, dict)]
    versions = dict(line.split("==") for line in packages)
    locked = pins("runtime.lock")
    assert {name: {version} for name, version in versions.items()} == {
        name: locked[name] for name in versions
    }


def test_every_file_names_the_same_pythons():
    assert PROJECT["requires-python"] == f">={PYTHONS[0]}"
    classifiers = [c.rpartition(" ")[2] for c in PROJECT["classifiers"] if "Python :: 3." in c]
    assert classifiers == LIBRARY
    supported = SpecifierSet(f">={PYTHONS[0]},<3.{int(PYTHONS[-1].partition('.')[2]) + 1}")
    (python,) = [entry for entry in environment() if str(entry).startswith("python")]
    assert SpecifierSet(python.removeprefix("python").strip()) == supported
    actions = yaml.safe_load((ROOT / ".github/workflows/ci.yml").read_text(encoding="utf-8"))
    assert actions["jobs"]["test"]["strategy"]["matrix"]["python"] == PYTHONS
    assert actions["jobs"]["library"]["strategy"]["matrix"]["python"] == LIBRARY
    script = (ROOT / "run").read_text(encoding="utf-8")
    (low, high) = re.search(
        r"\((3, \d+)\) <= sys.version_info\[:2\] < \((3, \d+)\)", script
    ).groups()
    assert SpecifierSet(f">={low.replace(', ', '.')},<{high.replace(', ', '.')}") == supported
    assert re.search(r"candidates=\((.*?) python3 python\)", script)[1].split() == [
        f"python{version}" for version in reversed(PYTHONS)
    ]


def test_the_hooks_at_a_commit_have_the_versions_of_the_lock():
    hooks = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8"))["repos"]
    locked = pins("dev.lock")
    for hook in hooks:
        package = hook["repo"].rpartition("/")[2].removesuffix("-pre-commit")
        if package not in ("pre-commit-hooks", "pygrep-hooks"):  # which are not packages
            assert {hook["rev"].removeprefix("v")} == locked[package], package


def test_citation_has_the_version_of_the_package():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert str(citation["version"]) == PROJECT["version"]
    assert Version(PROJECT["version"])
    assert f"## {PROJECT['version']}" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


# --- ./run, with an interpreter that only notes what it is asked to do

FAKE_PYTHON = """#!/bin/bash
here=$(dirname "$0")
case "$*" in
    -V) echo "Python $FAKE_VERSION" ;;
    "-c "*) [[ $2 != *version_info* || $FAKE_VERSION == 3.1[123].* ]] ;;
    "-m venv "*) echo venv >>"$FAKE_LOG"; dir="${!#}"; mkdir -p "$dir/bin"
        cp "$0" "$dir/bin/python" ;;
    "-P -m noisylabels"*) shift 3; echo "noisylabels $*" ;;
    *"pip --version") ;;
    *"pip install "*) sleep "${FAKE_SECONDS:-0}"; echo "pip $*" >>"$FAKE_LOG"
        [ -z "$FAKE_ERROR" ] || { echo "$FAKE_ERROR"; exit 1; } ;;
    -) exec "$REAL_PYTHON" - ;;
    *) echo "unexpected: $*" >&2; exit 9 ;;
esac
"""
TOOLS = "bash env dirname mkdir ls rm sleep mv cp chmod cat cksum grep head awk tee uname"


class Checkout:
    """A directory: `run` and what it reads, a PATH with a few tools and the fake interpreter."""

    def __init__(self, path):
        self.path, self.log = path / "checkout", path / "log"
        self.path.mkdir()
        for name in ["run", *LOCKS, "pyproject.toml"]:
            shutil.copy(ROOT / name, self.path)
        self.bin = path / "bin"
        self.bin.mkdir()
        for tool in TOOLS.split():
            (self.bin / tool).symlink_to(shutil.which(tool))
        fake = self.bin / "python3"
        fake.write_text(FAKE_PYTHON, encoding="utf-8")
        fake.chmod(0o755)

        self.stamp = self.path / ".venv/stamp"

    def start(self, *arguments, version="3.12.0", error="", **variables):
        fakes = {"FAKE_VERSION": version, "FAKE_LOG": str(self.log), "FAKE_ERROR": error}
        environment = {"PATH": str(self.bin), "HOME": str(self.path), "REAL_PYTHON": sys.executable}
        pipes = dict.fromkeys(("stdout", "stderr"), subprocess.PIPE) | {"stdin": subprocess.DEVNULL}
        command = [self.path / "run", *arguments]
        return subprocess.Popen(command, env=environment | fakes | variables, text=True, **pipes)

    def run(self, *arguments, **options):
        """Run to the end; return the finished process and what the interpreter had to do."""
        self.log.write_text("", encoding="utf-8")
        process = self.start(*arguments, **options)
        stdout, stderr = process.communicate(timeout=60)
        done = subprocess.CompletedProcess(process.args, process.returncode, stdout, stderr)
        return done, self.requests

    @property
    def requests(self):
        return self.log.read_text(encoding="utf-8").splitlines()


@pytest.fixture
def checkout(tmp_path):
    return Checkout(tmp_path)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"version": "3.10.14"},
            "no Python 3.11, 3.12 or 3.13 on PATH (python3 is: Python 3.10.14)",
        ),
        ({"version": "3.14.0"}, "no Python 3.11, 3.12 or 3.13 on PATH (python3 is: Python 3.14.0)"),
        (
            {"version": "3.9.1", "PYTHON": "python3"},
            "PYTHON=python3 is not a Python 3.11, 3.12 or 3.13",
        ),
        (
            {"NOISYLABELS_VENV": "/proc/nowhere/venv"},
            "cannot write /proc/nowhere/venv, where",
        ),
    ],
)
def test_run_refuses_a_python_or_a_place_in_one_line_and_writes_nothing(checkout, options, message):
    done, requests = checkout.run(**options)
    assert done.returncode == 1
    assert requests == []
    assert message in done.stderr
    assert done.stderr.count("\n") == 1
    assert not (checkout.path / ".venv").exists()


def test_help_sets_nothing_up(checkout):
    for word in ("help", "-h", "--help"):
        done, requests = checkout.run(word)
        assert done.returncode == 0
        assert requests == []
        assert done.stdout == "noisylabels help\n"
        assert not (checkout.path / ".venv").exists()


def test_a_folder_that_cdpath_names_is_not_taken_for_the_checkout(tmp_path):
    for folder in ("here/proj", "elsewhere/proj"):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / "run").write_text((ROOT / "run").read_text())
        (tmp_path / folder / "src/noisylabels").mkdir(parents=True)
        (tmp_path / folder / "src/noisylabels/__init__.py").touch()
        (tmp_path / folder / "src/noisylabels/__main__.py").write_text(f"print({folder!r})")
    command = ["bash", "proj/run", "help"]
    environment = os.environ | {"CDPATH": str(tmp_path / "elsewhere")}
    done = subprocess.run(
        command, cwd=tmp_path / "here", env=environment, capture_output=True, text=True
    )
    assert done.stdout.startswith("here/proj"), done.stderr


def installed(requests):
    """Select the lock files from what pip was asked to install."""
    pairs = itertools.product(requests, LOCKS)
    return [lock for line, lock in pairs if line.endswith(f"/{lock}.0")]


def test_first_start_installs_the_lock_by_hash_and_the_second_installs_nothing(checkout):
    """A change is installed; a new Python or place is a new environment; a profile has plugins."""
    done, requests = checkout.run("full", "ors", "--cores", "2")
    assert done.returncode == 0, done.stderr
    assert done.stdout == "noisylabels full ors --cores 2\n"
    assert requests[0] == "venv"
    halves = [line for line in requests if line.endswith((".lock.0", ".lock.1"))]
    assert len(halves) == 2
    assert all("--require-hashes" in line and "--only-binary :all:" in line for line in halves)
    installed_locks = "".join(
        (checkout.path / f".venv/runtime.lock.{k}").read_text() for k in (0, 1)
    )
    assert sorted(installed_locks.splitlines()) == sorted(
        (checkout.path / "runtime.lock").read_text().splitlines()
    )
    assert requests[-1].endswith("-e .")
    done, requests = checkout.run("-n")
    assert done.stdout == "noisylabels -n\n"
    assert requests == []
    assert checkout.run()[0].stdout == "noisylabels \n"
    for changed, options, newly_installed in (
        ("runtime.lock", {}, False),
        ("pyproject.toml", {}, False),
        ("run", {"version": "3.13.1", "PYTHON": "python3"}, True),
        ("run", {"NOISYLABELS_VENV": "elsewhere"}, True),
    ):
        with (checkout.path / changed).open("a", encoding="utf-8") as file:
            file.write("# changed\n")
        _, requests = checkout.run("-n", **options)
        assert ("venv" in requests) == newly_installed
        assert requests[-1].endswith("-e .")
    slurm = ["--profile", "workflow/profiles/slurm"]
    done, requests = checkout.run(*slurm)
    assert done.stdout == f"noisylabels {' '.join(slurm)}\n"
    assert installed(requests) == ["cluster.lock"]
    assert installed(checkout.run(*slurm, "-n")[1]) == []
    assert installed(checkout.run("-n")[1]) == []  # a larger lock needs no smaller one
    checkout.stamp.unlink()
    assert installed(checkout.run("--executor", "slurm")[1]) == ["cluster.lock"]


def test_a_failed_installation_says_why_and_is_repaired_by_the_next_start(checkout):
    for output, message in (
        ("THESE PACKAGES DO NOT MATCH THE HASHES", "not the file that the lock names"),
        ("Could not install packages: [Errno 28] No space left on device", "the disk is full"),
        (
            "No matching distribution found for numpy==2.4.6",
            "cannot get the packages from the package",
        ),
        (
            "Retrying: Failed to establish a new connection",
            "cannot get the packages from the package",
        ),
        ("ERROR: something else", "pip failed"),
    ):
        done, _ = checkout.run("-n", error=output)
        assert done.returncode == 1
        assert output in done.stderr
        assert message in done.stderr
        assert "noisylabels" not in done.stdout
        assert not checkout.stamp.exists()
    done, requests = checkout.run("-n")
    assert done.returncode == 0
    assert requests[0] == "venv"
    assert checkout.stamp.exists()


@pytest.mark.parametrize("file", ["thesis.tex", ".hidden", "stamp", "pyvenv.cfg", "bin/python"])
def test_a_folder_with_files_of_the_user_is_never_an_environment(checkout, file):
    mine = checkout.path / "mine"
    (mine / file).parent.mkdir(parents=True)
    (mine / file).write_text("mine")
    for folder in ("mine", str(mine), "mine/"):
        done, requests = checkout.run("-n", NOISYLABELS_VENV=folder)
        assert done.returncode == 1
        assert requests == []
        assert done.stderr.count("\n") == 1
        assert "holds files that no ./run made, and stays as it is" in done.stderr
    assert [path.read_text() for path in mine.rglob("*") if path.is_file()] == ["mine"]
    mine.rename(checkout.path / ".venv")  # made by hand in the usual place
    done, requests = checkout.run("-n")
    assert done.returncode == 1
    assert requests == []
    assert (checkout.path / ".venv" / file).read_text() == "mine"


def test_an_environment_is_marked_before_anything_is_installed_and_an_empty_folder_taken(checkout):
    empty = checkout.path / "empty"
    empty.mkdir()
    done, _ = checkout.run("-n", error="pip failed", NOISYLABELS_VENV="empty")
    assert done.returncode == 1
    assert (empty / ".noisylabels").read_text().startswith("noisylabels environment")
    assert checkout.run("-n", NOISYLABELS_VENV="empty")[0].returncode == 0
    (empty / ".noisylabels").unlink()  # as version 1 left it
    another = {"version": "3.13.1", "PYTHON": "python3"}
    done, requests = checkout.run("-n", NOISYLABELS_VENV="empty", **another)
    assert done.returncode == 0, done.stderr
    assert "venv" in requests


def test_an_interpreter_may_lie_below_a_folder_with_a_blank(checkout):
    tools = checkout.path / "my tools"
    tools.mkdir()
    python = shutil.copy(checkout.bin / "python3", tools / "python3.12")
    done, requests = checkout.run("-n", PYTHON=str(python))
    assert (done.returncode, "venv" in requests) == (0, True), done.stderr


def test_uv_installs_the_same_lock_with_its_hashes_where_it_is_on_the_path(checkout):
    uv = checkout.bin / "uv"
    uv.write_text('#!/bin/bash\necho "uv $*" >>"$FAKE_LOG"\n', encoding="utf-8")
    uv.chmod(0o755)
    done, requests = checkout.run("-n", UV_DEFAULT_INDEX="https://uv.example")
    assert done.returncode == 0, done.stderr
    installs = [line for line in requests if line.startswith("uv pip install")]
    assert len(installs) == 3
    assert all("--require-hashes" in line for line in installs[:2])
    assert installs[1].endswith("-r runtime.lock")
    assert not any(line.startswith("pip ") for line in requests)
    checkout.stamp.unlink()
    _, requests = checkout.run("-n", PIP_INDEX_URL="https://pip.example")  # which uv would not read
    assert not any(line.startswith("uv ") for line in requests)


def test_a_set_up_that_fails_ends_the_other_half(checkout):
    fake = checkout.bin / "python3"
    slow = (
        '*"lock.1") exec sleep 321 ;;\n    *"lock.0") sleep 0.3; exit 1 ;;\n    *"pip install "*)'
    )
    fake.write_text(FAKE_PYTHON.replace('*"pip install "*)', slow), encoding="utf-8")
    done, _ = checkout.run("-n")
    assert done.returncode == 1
    time.sleep(0.3)
    commands = [file.read_bytes() for file in Path("/proc").glob("[0-9]*/cmdline") if file.exists()]
    assert b"sleep\0321\0" not in commands


def test_a_run_holds_its_environment_and_a_set_up_waits_for_it(checkout):
    assert checkout.run("-n")[0].returncode == 0
    mark = checkout.path / ".venv/.noisylabels"
    with mark.open() as held:
        fcntl.flock(held, fcntl.LOCK_SH)
        assert checkout.run("-n")[0].returncode == 0  # another run may share it
        checkout.stamp.unlink()
        waiting = checkout.start("-n")
        with pytest.raises(subprocess.TimeoutExpired):
            waiting.wait(timeout=1)
    _, stderr = waiting.communicate(timeout=60)
    assert waiting.returncode == 0
    assert "Waiting for another ./run that uses or sets up this environment" in stderr


def test_a_file_is_no_environment(checkout):
    (checkout.path / "file").write_text("mine")
    done, requests = checkout.run("-n", NOISYLABELS_VENV="file")
    assert done.returncode == 1
    assert requests == []
    assert done.stderr.count("\n") == 1
    assert "which is a file; choose another place" in done.stderr
    assert (checkout.path / "file").read_text() == "mine"


def test_two_starts_at_once_set_up_once(checkout):
    starts = [checkout.start("-n", FAKE_SECONDS="0.6") for _ in range(2)]  # long enough to overlap
    outputs = [process.communicate(timeout=60) for process in starts]
    assert [process.returncode for process in starts] == [0, 0]
    assert all(stdout.startswith("noisylabels ") for stdout, _ in outputs)
    assert checkout.requests.count("venv") == 1
    waited = ["Waiting for another ./run that" in stderr for _, stderr in outputs]
    assert any(waited)  # both may: the first looks at what it has set up, as the second does


def test_a_set_up_that_was_killed_is_repaired_by_the_next_start(checkout):
    killed = checkout.start("-n", FAKE_SECONDS="0.5")
    while not checkout.log.exists() or "venv" not in checkout.requests:
        time.sleep(0.01)
    killed.kill()
    killed.communicate(timeout=60)
    assert not checkout.stamp.exists()
    done, requests = checkout.run("-n")
    assert done.returncode == 0
    assert "venv" in requests  # the pip of the killed one may still print


def list_tracked(*options):
    """The files that git tracks in this checkout; none where it is no repository."""
    command = ["git", "ls-files", *options]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True).stdout.splitlines()


def test_nothing_that_a_run_makes_is_in_the_repository():
    assert list_tracked("--cached", "--ignored", "--exclude-standard") == []


def test_no_file_of_the_repository_is_a_link():
    assert [name for name in list_tracked() if (ROOT / name).is_symlink()] == []


def test_scripts_can_be_started():
    for script in ("run", ".ci/run", ".ci/lock"):
        assert os.access(ROOT / script, os.X_OK)
        subprocess.run(["bash", "-n", ROOT / script], check=True)


# --- the start of Snakemake, with a package of that name that only tells how it was called


def start(folder, code, **variables):
    package = folder / "packages/snakemake"
    package.mkdir(parents=True, exist_ok=True)
    (package / "__init__.py").touch()
    (package / "cli.py").write_text(code)
    command = [sys.executable, "-P", ROOT / "src/scripts/start.py", "--as-typed", "-n"]
    environment = {"PYTHONPATH": str(package.parent), "HOME": str(folder)}
    cwd = variables.pop("cwd", folder)
    return subprocess.run(
        command, cwd=cwd, env=environment | variables, capture_output=True, text=True
    )


TELL = "import os, sys\ndef main(): print(sys.argv, os.environ.get('XDG_CACHE_HOME'))"


def test_snakemake_is_started_with_the_arguments_and_a_home_that_can_be_written(tmp_path):
    assert start(tmp_path, TELL).stdout == "['snakemake', '-n'] None\n"
    replaced = start(tmp_path, TELL, HOME="/proc/nowhere").stdout
    assert replaced == f"['snakemake', '-n'] {tmp_path / '.cache/home'}\n"


@pytest.mark.parametrize(
    ("code", "location", "message"),
    [
        ("import no_such_module", {}, f"a package in {sys.prefix} is damaged"),
        ("def main(:", {}, "remove that folder and start again"),
        (
            TELL,
            {"cwd": "/proc/self"},
            "is not writable; make it writable, or copy it to a folder of yours",
        ),
    ],
)
def test_a_damaged_package_and_a_checkout_that_is_read_only_are_answered_in_one_line(
    tmp_path, code, location, message
):
    done = start(tmp_path, code, **location)
    assert done.returncode == 1
    assert message in done.stderr
    assert done.stderr.count("\n") == 1


def test_run_works_under_any_path(tmp_path):
    odd = tmp_path / ODD
    odd.mkdir()
    done, _ = Checkout(odd).run("-n", "--config", "data={offline: true}")
    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith("-n --config data={offline: true}\n")
    assert not list(tmp_path.rglob("HACKED"))
