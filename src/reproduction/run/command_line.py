"""Commands of the experiments, and how `./run` reads its words: scale, targets, options."""

import json
import os
import re
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import NoReturn

from noisylabels.command_line import name_program
from reproduction.paths import CHECKOUT
from reproduction.spec.strict_yaml import read

HELP_ON_OPTIONS = """\
A target is a paper (ors), a result of it (ors_fig2), data, or the path of a paper of yours.
Options of this project: --verbose prints what Snakemake prints.
All other options are Snakemake's; `snakemake --help` lists them. The usual ones:
  -n              preview: what would run, for how long, and why
  --cores 2       run at most two jobs at a time
  --config seed=7 'only={repetitions: 5}'    change a setting for this run
  --forceall      make every result again"""
SCALES = ("smoke", "full")
"""Words that name a scale; the first is the default."""
DRY = ("-n", "--dry-run", "--dryrun", "-np")
OWN_DISPLAY = ("-p", "--printshellcmds", "-q", "--quiet", "--logger")
CORES = ("-c", "--cores", "-j", "--jobs")
PART_OF_FULL = "a part of the full one: ./run full --config 'only={repetitions: 5}'"
TYPED_IN = "NOISYLABELS_TYPED_IN"
"""Environment variable with the folder in which a command was typed."""
GROUPED_DIGITS = re.compile(r"(?<![\w.])[0-9]+_[0-9_]+(?![\w.])")
"""Pattern of numbers such as 1_000, which YAML reads as 1000 and JSON refuses."""


@dataclass
class Request:
    """A run that somebody requested."""

    scale: str
    targets: list[str]
    arguments: list[str]
    """Options for Snakemake."""
    dry: bool = False
    remarks: list[str] = field(default_factory=list)
    """Lines to print before the run."""


def read_request(words: Iterable[str]) -> Request:
    """Turn words into a run.

    The first word may name the scale, targets follow, then options of Snakemake. Only the word
    decides on the scale.

    Raises ValueError: an old form, or two scales; one line that names the form to use.
    """
    remaining = list(words)
    named = remaining.pop(0) if remaining and remaining[0] in SCALES else ""
    scale = named or SCALES[0]
    words_of_targets = _take_targets(remaining)
    targets, papers = find_papers(words_of_targets)
    if papers:
        if set(targets) & set(words_of_targets):
            papers = [*read(CHECKOUT / "config/config.yaml")["papers"], *papers]
        _add_papers(remaining, papers)
        if {*targets} == {Path(paper).name for paper in papers}:
            # check everything that is planned, as a paper with a mistake does not stop the others
            targets = []
    files = _take_values(remaining, ("--configfile", "--configfiles"))
    verbose = _take_flag(remaining, ("--verbose",))
    _check_old_forms(remaining, targets)
    remarks = [] if named else [f"This is the {scale} scale; the papers' settings: ./run full"]
    files = [file for file in files if not _is_scale_file(file, scale, named, remarks)]
    if scale != "full":
        files.insert(0, f"config/{scale}.yaml")
    dry = any(word in DRY for word in remaining)

    arguments = []
    if not verbose and not any(word.startswith(OWN_DISPLAY) for word in remaining):
        arguments += ["--logger", "preview" if dry else "console"]
    if not any(word.startswith("--profile") for word in remaining):
        arguments += ["--profile", "workflow/profiles/default"]
        if not any(word.startswith(CORES) for word in remaining):
            arguments += ["--cores", "all"]
    if files:
        arguments += ["--configfile", *files]
    arguments += remaining
    if targets:
        if "--" not in remaining:
            arguments.append("--")
        arguments += targets
    return Request(scale, _all_targets(targets, remaining), arguments, dry, remarks)


def find_papers(words: Iterable[str]) -> tuple[list[str], list[str]]:
    """Find the folders with papers among targets.

    A word with a slash, or one that begins with a point or ``~``, is a path, of a paper or of a
    folder with papers, seen from where the command was typed.

    Parameters
    ----------
    words : iterable of str
        Targets and paths.

    Returns
    -------
    targets, papers : list of str
        The targets, names of papers in place of paths; and the folders of these papers.

    Raises
    ------
    ValueError
        If a path is not a folder, or holds no paper.
    """
    targets: list[str] = []
    papers: list[str] = []
    typed_in = os.environ.get(TYPED_IN, os.getcwd())
    for word in words:
        if "/" not in word and not word.startswith((".", "~")):
            targets.append(word)
            continue
        folder = Path(os.path.normpath(Path(typed_in, Path(word).expanduser())))
        if not folder.is_dir():
            raise ValueError(f"{word}: there is no folder {folder}")
        folders = [folder]
        if not (folder / "TITLE").is_file():
            folders = [title.parent for title in sorted(folder.glob("*/TITLE"))]
        if not folders:
            remedy = "a paper is a folder with a file TITLE; ./run new-paper FOLDER makes one"
            raise ValueError(f"{word}: {folder} is not a paper and contains none; {remedy}")
        targets += [paper.name for paper in folders]
        papers += [str(paper) for paper in folders]
    return targets, papers


def _add_papers(remaining: list[str], papers: list[str]) -> None:
    """Put the key ``papers`` into the words of ``--config``."""
    if any(word.startswith("papers=") for word in remaining):
        raise ValueError("a paper is named by its path or by --config papers=, not by both")
    word = f"papers={json.dumps(papers)}"
    for index, option in enumerate(remaining):
        if option in ("--config", "-C"):
            remaining.insert(index + 1, word)
            return
    position = remaining.index("--") if "--" in remaining else len(remaining)
    remaining[position:position] = ["--config", word]


def _take_targets(remaining: list[str]) -> list[str]:
    """Remove the words before the first option, and return them."""
    targets = []
    while remaining and not remaining[0].startswith("-"):
        targets.append(remaining.pop(0))
    return targets


def _take_values(remaining: list[str], options: tuple[str, ...]) -> list[str]:
    """Remove options that take several values, and return the values."""
    values = []
    unmatched: list[str] = []
    taking = False
    for index, word in enumerate(remaining):
        name, equals, value = word.partition("=")
        if word == "--":
            unmatched += remaining[index:]
            break
        if name in options:
            taking = not equals
            values += [value] if equals else []
        elif taking and not word.startswith("-"):
            values.append(word)
        else:
            taking = False
            unmatched.append(word)
    remaining[:] = unmatched
    return values


def _take_flag(remaining: list[str], flags: tuple[str, ...]) -> bool:
    """Remove a flag, and decide whether it was given."""
    unmatched = [word for word in remaining if word not in flags]
    is_present = len(unmatched) < len(remaining)
    remaining[:] = unmatched
    return is_present


def _all_targets(targets: list[str], remaining: list[str]) -> list[str]:
    """List the targets before the options and those behind ``--``."""
    if "--" not in remaining:
        return [*targets]
    start = remaining.index("--") + 1
    return [*targets, *remaining[start:]]


def _is_scale_file(file: str, scale: str, named: str, remarks: list[str]) -> bool:
    """Decide whether a file chose the scale in version 1."""
    path = Path(file)
    if path.parent.name != "config" or path.stem not in ("smoke", "quick"):
        return False
    if path.stem == "quick":
        raise ValueError(f"--configfile {file}: this scale is gone; {PART_OF_FULL}")
    if scale != path.stem:
        rule = f"the scale is a word: ./run {path.stem}"
        raise ValueError(f"--configfile {file}: {rule}; you typed {named}")
    remarks[:] = [f"The scale is a word now: ./run {scale} in place of --configfile {file}"]
    return True


def _check_old_forms(remaining: list[str], targets: list[str]) -> None:
    for word in [*targets, *_all_targets([], remaining)]:
        if word in SCALES:
            raise ValueError(f"the scale is the first word: ./run {word}, then targets and options")
        if word == "quick":
            raise ValueError(f"the scale quick is gone; {PART_OF_FULL}")
    for word in remaining:
        if re.match(r"scale=", word):
            commands = f"./run {SCALES[0]} or ./run {SCALES[1]}"
            raise ValueError(f"--config {word}: the scale is a word: {commands}")


def check_values(words: Iterable[str]) -> None:
    """Check the words of ``--config``: each is key=value, without grouped digits.

    Raises ValueError: names the word, and the form to use.
    """
    for word in words:
        if not re.match(r"[A-Za-z]\w+=", word, re.ASCII):
            raise ValueError(f"--config: {word} is not key=value, as in seed=7; targets follow --")
        grouped = GROUPED_DIGITS.search(word)
        if grouped:
            plain = grouped[0].replace("_", "")
            raise ValueError(f"--config: {word}: write the number {grouped[0]} as {plain}")


def check_scale(content: object, file: str, scale: str) -> None:
    """Refuse a configuration file that chooses another scale than the command.

    Raises ValueError: names the file, and the word to use.
    """
    chosen = content.get("scale", scale) if isinstance(content, dict) else scale
    if chosen != scale:
        raise ValueError(
            f"{file}: scale: the scale is a word of the command: ./run {chosen} "
            f"(this is {scale}); remove the key"
        )


# Commands, in addition to those of the library


def run_workflow(words: list[str]) -> NoReturn:
    """Start Snakemake in the checkout with the requested options."""
    os.chdir(CHECKOUT)
    _become("start", words)


def _become(script: str, words: list[str]) -> NoReturn:
    """Replace this process by a script of the project."""
    sources = str(CHECKOUT / "src")
    path = [sources, *filter(None, [os.environ.get("PYTHONPATH")])]
    os.environ["PYTHONPATH"] = os.pathsep.join(dict.fromkeys(path))
    os.environ.setdefault("MPLBACKEND", "Agg")
    for library in ("OMP", "OPENBLAS", "MKL", "NUMBA"):
        # more threads would change the last bits of results
        os.environ[f"{library}_NUM_THREADS"] = "1"
    file = str(CHECKOUT / f"src/scripts/{script}.py")
    os.execv(sys.executable, [sys.executable, "-P", file, *words])


def _in_checkout(script: str, words: list[str]) -> NoReturn:
    os.chdir(CHECKOUT)
    _become(script, words)


def _shell(command: str, words: list[str]) -> NoReturn:
    os.execvp("bash", ["bash", str(CHECKOUT / "run"), command, *words])


def _of_scale(scale: str, words: list[str]) -> None:
    if {"-h", "--help"} & {*words}:
        form, summary, _ = COMMANDS[scale]
        print(f"usage: {name_program()} {scale} {form}\n\n{summary}\n\n{HELP_ON_OPTIONS}")
    else:
        run_workflow([scale, *words])


def _new(kind: str, words: list[str]) -> NoReturn:
    _become("new", [kind, *words])


COMMANDS: dict[str, tuple[str, str, Callable[[list[str]], None]]] = {
    "smoke": (
        "[TARGET ...] [OPTIONS]",
        "Every figure and table at its smallest, and their pages, in minutes; the default.",
        partial(_of_scale, "smoke"),
    ),
    "full": (
        "[TARGET ...] [OPTIONS]",
        "The papers' settings, judged. A target is a paper or a figure: ors, ors_fig2; options are "
        "Snakemake's: --cores 2; -n previews.",
        partial(_of_scale, "full"),
    ),
    "site": (
        "[--papers FOLDER ...] [--out FOLDER]",
        "The whole site: results, documentation and reference.",
        partial(_in_checkout, "site"),
    ),
    "export": (
        "[SCALE] [TARGET ...] [--out FOLDER]",
        "Figures (PDF), tables (LaTeX), verdicts and report of a finished run in one folder.",
        partial(_become, "export"),
    ),
    "compare": (
        "[FOLDER]",
        "How a run compares with the archived one in results/reference.",
        partial(_in_checkout, "compare"),
    ),
    "reference": ("[NAME ...]", "Archive a finished full run.", partial(_in_checkout, "reference")),
    "try": (
        "FILE --label COLUMN",
        "The papers' methods on your own table: a page with their errors.",
        partial(_become, "trial"),
    ),
    "check": (
        "FOLDER",
        "Is a paper right? Its files in a second, then one repetition of each experiment.",
        partial(_become, "check"),
    ),
    "settings": (
        "[PROTOCOL]",
        "What an artifact may say: kinds of noise, columns, and the settings of each protocol.",
        partial(_become, "settings"),
    ),
    "new-paper": (
        "FOLDER [classifier|filter|online]",
        "A working paper to start from.",
        partial(_new, "new-paper"),
    ),
    "new-artifact": ("FOLDER/NAME", "A figure or table of it.", partial(_new, "new-artifact")),
    "new-method": ("FOLDER/NAME", "A method of it.", partial(_new, "new-method")),
    "lint": ("", "Lint, format and types: seconds, before a long run.", partial(_shell, "lint")),
    "test": ("[--all] [PATH]", "Lint, a smoke run and the tests.", partial(_shell, "test")),
}
"""Name of a command -> the words behind it, what it does, and how."""
