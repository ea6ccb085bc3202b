"""Write a working paper, artifact or method into a folder of yours, to be changed from there."""

import argparse
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "src"))

from noisylabels.command_line import name_program  # noqa: E402
from reproduction.spec.papers import HOME, NOT_ARTIFACTS, check_folder_name  # noqa: E402

TEMPLATES = HOME / "_templates"

TEMPLATE_OF_WORD = {
    "complete": "example_paper",
    "classifier": "classifier",
    "filter": "filter",
    "online": "online",
}
"""What `new-paper` takes as its second word -> folder in `TEMPLATES`; the first is the default."""
METHODS = {
    "filters.base": ("filter.py", "SignLMS"),
    "partial_fit": ("online.py", "Perceptron"),
    "": ("classifier.py", "Majority"),
}
"""What the code of a paper holds -> the file of a new method, and its class."""
OF_ONE_ARTIFACT = (
    "title",
    "summary",
    "source",
    "origin",
    "kind",
    "caption",
    "published",
    "judged_from",
    "calibrated",
    "claims",
    "deviations",
    "notes",
)
"""Keys that a copy of an artifact does not have: what it is, what was published and claimed."""

SUMMARIES = {
    "new-paper": "Write a working paper into a folder of yours, to be changed from there.",
    "new-artifact": "Write a figure or table of your paper, from one that it has.",
    "new-method": "Write a class of a method into your paper.",
}
KINDS_OF_PAPER = "complete (own protocol, figure and published values), classifier (two and "
KINDS_OF_PAPER += "K classes), filter (own noise) or online"


def make_parser(command: str) -> argparse.ArgumentParser:
    """Make the parser of one of the three commands."""
    program = f"{name_program()} {command}"
    parser = argparse.ArgumentParser(prog=program, description=SUMMARIES[command])
    of_paper = command == "new-paper"
    place_help = "the folder of the paper" if of_paper else "FOLDER/NAME, in the folder of a paper"
    parser.add_argument("place", type=Path, help=place_help)
    if of_paper:
        parser.add_argument("template", nargs="?", choices=[*TEMPLATE_OF_WORD], help=KINDS_OF_PAPER)
    if command == "new-method":
        kinds = ("classifier", "filter", "online")
        parser.add_argument("template", nargs="?", choices=kinds, help="by default as the paper")
    return parser


def main() -> None:
    """Write what the command names, and say how to try it."""
    command = sys.argv[1]
    options = make_parser(command).parse_args(sys.argv[2:])
    path: Path = options.place.expanduser().absolute()
    paper = path if command == "new-paper" else path.parent
    suffix = {"new-paper": "", "new-artifact": ".yaml", "new-method": ".py"}[command]
    target = path.with_name(path.name + suffix)
    check(command, path, paper, target)
    try:
        if command == "new-paper":
            write_paper(path, TEMPLATES / TEMPLATE_OF_WORD[options.template or "complete"])
        elif command == "new-artifact":
            write_artifact(paper, target)
        else:
            class_name = write_method(paper, target, options.template)
    except OSError as error:
        sys.exit(f"{command}: cannot write {path}: {error.strerror}")
    print(target)
    if command == "new-method":
        method = f'{path.name}: {{method: "{path.name}:{class_name}"}}'
        print(f"In an artifact, below settings.methods: {method}")
    print(f"Check it: {name_program()} check {shown(paper)}")
    print(f"Try it: {name_program()} smoke {shown(paper)}")


def check(command: str, path: Path, paper: Path, target: Path) -> None:
    """End with one line if nothing can be written there."""
    if not re.fullmatch(r"[a-z][a-z0-9_]*", path.name):
        rule = "is not a name for a module of Python; use small letters, digits and _"
        sys.exit(f"{command}: {path.name!r} {rule}")
    if command == "new-paper":
        try:
            check_folder_name(path)
        except ValueError as error:
            sys.exit(f"{command}: {error}")
    if paper.parent != HOME and (HOME / paper.name).is_dir():
        rule = "choose another name for the folder"
        sys.exit(f"{command}: the repository has a paper {paper.name}; {rule}")
    if command != "new-paper" and not (paper / "TITLE").is_file():
        remedy = f"{name_program()} new-paper {paper} makes one"
        sys.exit(f"{command}: {paper} is not a paper: it has no TITLE; {remedy}")
    if target.exists():
        sys.exit(f"{command}: {target} exists and is not changed; choose another name")


def write_paper(folder: Path, template: Path) -> None:
    """Write all files of a template."""
    folder.mkdir(parents=True)
    (folder / "__init__.py").touch()  # tests of papers may share a file name
    for file in sorted(template.iterdir()):
        if file.is_file():
            write(file, folder / file.name, folder)


def write_artifact(paper: Path, target: Path) -> None:
    """Write a new artifact: a copy of another, without what belongs to that one alone.

    A paper without one to copy gets one that has a stock protocol.
    """
    from reproduction.judge.paper_check import Report, read_paper

    is_empty = all(file.name in NOT_ARTIFACTS for file in paper.glob("*.yaml"))
    report = Report() if is_empty else read_paper(paper)
    computed = []
    for artifact in report.artifacts.values():
        has_fault = any(fault.startswith(str(artifact.file)) for fault in report.faults)
        if artifact.protocol and not has_fault:
            computed.append(artifact)
    if not computed and report.faults:
        remedy = f"{name_program()} check {shown(paper)} lists its faults"
        sys.exit(f"new-artifact: no artifact of {paper.name} can be read and copied; {remedy}")
    if not computed:
        write(TEMPLATES / "methods/any_methods.yaml", target, paper)
        return
    copied = computed[0]
    text = without_keys(copied.file.read_text(encoding="utf-8"), OF_ONE_ARTIFACT)
    first = f"# From {copied.file.name}: change the settings, the data sets and what draws it.\n"
    target.write_text(first + text, encoding="utf-8")


def without_keys(text: str, keys: tuple[str, ...]) -> str:
    """Leave out keys of the top level of a YAML file, with their values; comments stay."""
    lines = []
    is_kept = True
    for line in text.splitlines(keepends=True):
        key = re.match(r"""["']?(\w+)["']?\s*:""", line)
        if key:
            is_kept = key[1] not in keys
        elif line.startswith("#"):
            is_kept = True
        if is_kept:
            lines.append(line)
    return "".join(lines)


def write_method(paper: Path, target: Path, template: str | None) -> str:
    """Write a method of the kind of the paper's others, or of the one that is named; its class."""
    code = "".join(file.read_text(encoding="utf-8") for file in sorted(paper.glob("*.py")))
    for word, (file, class_name) in METHODS.items():
        is_chosen = file == f"{template}.py" if template else word in code
        if is_chosen:
            write(TEMPLATES / "methods" / file, target, paper)
            return class_name
    sys.exit("new-method: the kind is classifier, filter or online")


def write(source: Path, target: Path, paper: Path) -> None:
    """Copy a file of a template, with the names of this paper."""
    names = {"example": paper.name, "Example": paper.name.capitalize(), "LISTED": listed(paper)}
    names |= {"HERE": shown(paper), "EX": target.name.partition(".")[0].upper()}
    if source.name.startswith("table1"):
        names["table1"] = target.name.partition(".")[0]
    text = source.read_text(encoding="utf-8")
    named = re.sub(r"\w+", lambda word: names.get(word[0], word[0]), text)
    target.write_text(named, encoding="utf-8")


def shown(paper: Path) -> str:
    """Write the path of a paper, relative to the checkout if it is inside."""
    return str(paper.relative_to(ROOT) if paper.is_relative_to(ROOT) else paper)


def listed(paper: Path) -> str:
    """Write how a configuration names the paper."""
    return paper.name if paper.parent == HOME else str(paper)


main()
