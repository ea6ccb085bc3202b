"""The commands on the pages can be given: their options, files, keys and targets exist."""

import itertools
import re
import shlex
from pathlib import Path

import pytest
import yaml
from recipes import PAGE, ROOT
from snakemake.cli import get_argument_parser, parse_config

from reproduction.data.registry import load_registry, with_users
from reproduction.plan.plan import COMMANDS
from reproduction.run.command_line import COMMANDS as RUNNABLE
from reproduction.run.command_line import read_request
from reproduction.spec.artifact import merge
from reproduction.spec.configuration import Config
from reproduction.spec.mistakes import check
from reproduction.spec.papers import paper_pages

SHOWN = re.compile(r"^(?:\w+=\S+ )*(?:\./run|snakemake)\b.*", re.M)
IN_A_SENTENCE = re.compile(r"`((?:\w+=\S+ )?(?:\./run|snakemake)(?: [^`]*)?)`")
MADE = re.findall(r"^# src/papers/(\w+)/(\w+)\.yaml", PAGE, re.M)
NEW = {"natarajan", "natarajan2", "natarajan_beans"}
MADE_BY_A_RECIPE = NEW | {f"{paper}_{artifact}" for paper, artifact in MADE}


def commands() -> list[tuple[str, str]]:
    """(page, command) of every block and every sentence; a comment behind a command is dropped."""
    pages = [
        ROOT / "README.md",
        ROOT / "CONTRIBUTING.md",
        ROOT / "data/README.md",
        ROOT / "config/README.md",
    ]
    pages += [*sorted(ROOT.glob("docs/**/*.md")), *paper_pages()]
    commands_of_pages = {}
    for page in pages:
        text = page.read_text(encoding="utf-8")
        blocks = "\n".join(re.findall(r"```sh\n(.*?)```", text, re.S))
        for command in [*SHOWN.findall(blocks), *IN_A_SENTENCE.findall(text)]:
            without_comment = command.partition(" #")[0]
            words = " ".join(without_comment.split())
            commands_of_pages.setdefault(words, page.relative_to(ROOT).as_posix())
    return [(page, command) for command, page in commands_of_pages.items()]


def test_the_first_commands_of_the_readme_are_found():
    assert ("README.md", "./run full ors_fig5") in commands()
    assert len(commands()) > 15


@pytest.mark.parametrize(("page", "command"), commands())
def test_a_command_can_be_given(page, command, tmp_path):
    for paper in NEW:  # folders that the page has made
        (tmp_path / paper).mkdir()
        (tmp_path / paper / "TITLE").touch()
    words = shlex.split(re.sub(r"\$HOME/mine|~/mine(?=/natarajan)", str(tmp_path), command))
    while "=" in words[0]:
        words.pop(0)
    arguments = words[1:]
    if arguments[:1] and arguments[0] in COMMANDS:
        assert arguments[0] in {*RUNNABLE, "audit", "help"}
        return
    if words[0] == "./run":
        handed_on = read_request(arguments).arguments
        display = handed_on.index("--logger") if "--logger" in handed_on else len(handed_on)
        arguments = [*handed_on[:display], *handed_on[display + 2 :]]
    parsed = get_argument_parser().parse_args(arguments)
    config = configuration(parsed.configfile or [], parsed.config or [])
    check(Config, config, command)
    with_users(load_registry(ROOT / "config/datasets.yaml"), config["data"]["local"])
    for target in parsed.targets or []:
        assert target in targets(config["papers"]) | MADE_BY_A_RECIPE
    for profile in parsed.profile or []:
        assert profile.startswith("~") or (ROOT / profile / "config.yaml").is_file()


def configuration(files: list[Path], changes: list[str]) -> dict:
    """config.yaml under the overlays of a command; a file of the reader's own is left out."""
    config = yaml.safe_load((ROOT / "config/config.yaml").read_text(encoding="utf-8"))
    for file in files:
        if not str(file).startswith("~"):
            config = merge(config, yaml.safe_load((ROOT / file).read_text(encoding="utf-8")))
    changed = merge(config, parse_config(changes))
    if "only" in changed:
        changed["only"]["repetitions"] = int(changed["only"]["repetitions"])
    changed["data"]["offline"] = changed["data"]["offline"] in (True, "true")
    return changed


def targets(papers: list[str]) -> set[str]:
    """`data`, every paper, and every artifact as <paper>_<artifact>."""
    names = {"data"}
    for paper in papers:
        names.add(Path(paper).name)
        for file in (ROOT / "src/papers" / paper).glob("*.yaml"):
            names.add(f"{file.parent.name}_{file.stem}")
    return names


@pytest.mark.parametrize("page", ["SECURITY.md", "tests/faults/README.md"])
def test_every_promise_and_every_attack_names_tests_that_there_are(page):
    _, _, promises = (ROOT / page).read_text(encoding="utf-8").partition("## What holds ")
    rows = [line for line in promises.splitlines() if line.startswith("| ")][1:]
    named = [re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", row) for row in rows]
    assert len(rows) > 10
    assert all(named)
    for file, test in itertools.chain(*named):
        assert f"\ndef {test}(" in (ROOT / file).read_text(encoding="utf-8"), f"{file}::{test}"
