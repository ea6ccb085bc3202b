"""Write a working paper, artifact or method of your own into a folder of yours, to be changed from there."""

import argparse
import os
import re
import sys
from pathlib import Path

CONFIG = Path(__file__).resolve().parents[2] / "config"
EXAMPLE = CONFIG / "example_paper"
RUN = os.environ.get("NOISYLABELS_COMMAND", "./run")

parser = argparse.ArgumentParser(prog=RUN, description=__doc__)
parser.add_argument("what", choices=("new-paper", "new-artifact", "new-method"))
parser.add_argument("place", type=Path, help="new-paper PROJECT/PAPER, then new-artifact PROJECT/PAPER/NAME")
given = parser.parse_args()
place: Path = given.place.expanduser().absolute()
paper = place if given.what == "new-paper" else place.parent
at_home = RUN != "./run" and Path.cwd() == paper.parent  # the folder of a project is found without its name


def written(source: str, target: Path) -> None:
    """Copy a file of the example, with the names of this paper in the place of its own."""
    project, root = paper.parent, CONFIG.parent
    project = project.relative_to(root) if project.is_relative_to(root) else project
    names = {"example": paper.name, "Example": paper.name.capitalize(), "PROJECT": str(project)}
    names |= {"HERE": str(project / paper.name), "EX": target.name.partition(".")[0].upper()}
    names |= {"table1": target.stem} if source.startswith("table1") else {}
    text = (EXAMPLE / source).read_text(encoding="utf-8").replace("./run", RUN)
    if at_home:
        text = re.sub(r" --(config project=|project )PROJECT", "", text).replace(
            "typed in the checkout", f"typed in {project}"
        )
    target.write_text(re.sub(r"\w+", lambda word: names.get(word[0], word[0]), text), encoding="utf-8")


if not re.fullmatch(r"[a-z][a-z0-9_]*", place.name):
    rule = "is no name for a module of Python; use small letters, digits and _"
    sys.exit(f"{given.what}: {place.name!r} {rule}")
if (CONFIG / "experiments" / paper.name).is_dir():
    sys.exit(f"{given.what}: the repository has a paper {paper.name}; choose another name for the folder")
if given.what != "new-paper" and not (paper / "TITLE").is_file():
    sys.exit(f"{given.what}: {paper} is no paper: it has no TITLE; {RUN} new-paper {paper} makes one")
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
    method = f'{place.name}: {{method: "{paper.name}.{place.name}:Majority"}}'
    print(f"In an artifact, below settings.methods: {method}")
project = "" if at_home else f" --config project={paper.parent}"
print(f"Try it: {RUN} smoke {paper.name}{project}")
