"""Write a working paper, artifact or method of your own into a folder of yours, to be changed from there."""

import argparse
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
HOME = ROOT / "src/papers"
EXAMPLE = HOME / "_templates/example_paper"
RUN = "./run"

parser = argparse.ArgumentParser(prog=RUN, description=__doc__)
parser.add_argument("what", choices=("new-paper", "new-artifact", "new-method"))
parser.add_argument("place", type=Path, help="new-paper PROJECT/PAPER, then new-artifact PROJECT/PAPER/NAME")
given = parser.parse_args()
place: Path = given.place.expanduser().absolute()
paper = place if given.what == "new-paper" else place.parent


def written(source: str, target: Path) -> None:
    """Copy a file of the example, with the names of this paper in the place of its own."""
    names = {"example": paper.name, "Example": paper.name.capitalize(), "LISTED": listed()}
    names |= {
        "HERE": str(paper.relative_to(ROOT) if paper.is_relative_to(ROOT) else paper),
        "EX": target.name.partition(".")[0].upper(),
    }
    names |= {"table1": target.stem} if source.startswith("table1") else {}
    text = (EXAMPLE / source).read_text(encoding="utf-8")
    target.write_text(re.sub(r"\w+", lambda word: names.get(word[0], word[0]), text), encoding="utf-8")


def listed() -> str:
    """How a configuration names the paper."""
    return paper.name if paper.parent == HOME else str(paper)


if not re.fullmatch(r"[a-z][a-z0-9_]*", place.name):
    rule = "is not a name for a module of Python; use small letters, digits and _"
    sys.exit(f"{given.what}: {place.name!r} {rule}")
if paper.parent != HOME and (HOME / paper.name).is_dir():
    sys.exit(f"{given.what}: the repository has a paper {paper.name}; choose another name for the folder")
if given.what != "new-paper" and not (paper / "TITLE").is_file():
    sys.exit(f"{given.what}: {paper} is not a paper: it has no TITLE; {RUN} new-paper {paper} makes one")
suffix = {"new-paper": "", "new-artifact": ".yaml", "new-method": ".py"}[given.what]
if (target := place.with_name(place.name + suffix)).exists():
    sys.exit(f"{given.what}: {target} is there already, and is left as it is")
try:
    if given.what == "new-paper":
        place.mkdir(parents=True)
        (place / "__init__.py").touch()  # its tests may have the names of other papers'
        for name in (file.name for file in EXAMPLE.iterdir() if file.is_file() and file.name != "method.py"):
            written(name, place / name)
    elif given.what == "new-artifact":
        written("table1.yaml", target)
        written("table1.published.csv", target.with_suffix(".published.csv"))
    else:
        written("method.py", target)
except OSError as error:
    sys.exit(f"{given.what}: cannot write {place}: {error.strerror}")
print(target)
if given.what == "new-method":
    method = f'{place.name}: {{method: "{place.name}:Majority"}}'
    print(f"In an artifact, below settings.methods: {method}")
print(f"Try it: {RUN} smoke {paper.name} --config 'papers=[{listed()}]'")
