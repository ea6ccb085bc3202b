"""A table of changes: what runs after each, with nothing but the records to decide."""

import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from checkouts import ROOT
from runs import Run

pytestmark = [pytest.mark.workflow, pytest.mark.nightly]

CODE = '''"""A paper in one protocol."""

import importlib
import json
from pathlib import Path

from pydantic import Field

from reproduction.spec.protocol import protocol
from reproduction.spec.settings import OnDataSets
from tiny.helper import scale

HERE = Path(__file__).parent


class Settings(OnDataSets):
    """What varies."""

    shift: float = Field(description="added")
    factor: float = Field(description="multiplied")


@protocol(Settings, labels=("sum",))
def sums(settings, loop):
    """Sums of the data."""
    late = importlib.import_module("tiny.late")
    fact = json.loads((HERE / "two.dots.JSON").read_text())
    rate = float((HERE.parent / "shared/rates.txt").read_text())
    listed = len(list((HERE / "listed").iterdir()))
    for repetition in loop:
        for name, data, _ in loop.data_sets(settings.datasets):
            value = scale(data.arrays["X"].sum()) * settings.factor + settings.shift
            value += fact + rate + listed + late.MORE + repetition.rng("noise").normal()
            yield repetition.row("sum", value, dataset=name, source=data.variant, method="sum")
'''
ARTIFACT = {
    "title": "sums",
    "source": "Tiny, table 1",
    "origin": "ours",
    "kind": "figure",
    "caption": "Sums.",
    "protocol": "code:sums",
    "datasets": ["mine.local"],
    "settings": {"experiment": "tiny", "repetitions": 2, "shift": 1.0, "factor": 2.0},
    "render": "drawing:points",
    "claims": [
        {
            "id": "T-1",
            "kind": "ours",
            "statement": "sums are positive",
            "checks": [{"statistic": "value", "where": {"metric": "sum"}, "above": 0}],
        }
    ],
}
DRAWING = '''"""One figure."""

from reproduction.show import panels


@panels.figure
def points(results):
    """Sums."""
    table = results.select(metric="sum")
    figure, axes = panels.grid_of_panels([""], ["sums"], x_label="repetition", y_label="sum")
    axes.flat[0].plot(table["repetition"], table["value"], "o")
    return figure
'''
FILES = {
    "TITLE": "Tiny",
    "__init__.py": "",
    "code.py": CODE,
    "drawing.py": DRAWING,
    "helper.py": "def scale(x):\n    return x / 10\n\n\ndef unused(x):\n    return x\n",
    "late.py": "MORE = 1.0\n",
    "two.dots.JSON": "3",
    "listed/one.txt": "",
    "table1.yaml": json.dumps(ARTIFACT),
    "../shared/rates.txt": "0.5",
    "../mine.csv": "a,b,label\n" + "".join(f"{i},1,no\n{i + 1},1,yes\n" for i in range(0, 40, 2)),
}
FIGURE = "figures/smoke/tiny/table1.png"
EVERYTHING = ["fetch", "prepare", "experiment", "draw_tiny_table1", "verdicts"]
RESULT = EVERYTHING[2:]
TABLE = "results/smoke/tiny/table1/table.csv"


class Tiny:
    """A project with one paper, and the folder of its runs."""

    def __init__(self, folder: Path) -> None:
        self.project = folder / "project"
        self.table = self.project / "mine.csv"
        self.run = Run(folder / "run")
        for name, text in FILES.items():
            file = self.project / "tiny" / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
        self.configure()

    def configure(self, **options: object) -> None:
        """Write the configuration."""
        spec = {"file": str(self.table), "label": "label", "positive": "yes"}
        local = {"mine": spec}
        content = {"scale": "smoke", "papers": [str(self.project / "tiny")], "formats": ["png"]}
        overlay = content | {"data": {"local": local}} | options
        (self.run.folder / "overlay.yaml").write_text(json.dumps(overlay))

    def edit(self, name: str, old: str, new: str) -> None:
        """Replace a text in a file of the project, which keeps its times."""
        file = self.project / "tiny" / name
        times = os.stat(file).st_atime_ns, os.stat(file).st_mtime_ns
        text = file.read_text()
        assert old in text
        file.write_text(text.replace(old, new, 1))
        os.utime(file, ns=times)

    def set(self, **changes: object) -> None:
        """Change settings of the artifact."""
        file = self.project / "tiny/table1.yaml"
        content = json.loads(file.read_text())
        content["settings"] |= changes
        file.write_text(json.dumps(content))

    def ran(self, *options: str) -> list[str]:
        """Run; the rules whose jobs ran."""
        output = self.run.snakemake("tiny_table1", options=options)
        finished = re.findall(r"^Finished jobid: \d+ \(Rule: (\w+)\)", output, re.M)
        return [rule for rule in EVERYTHING if rule in finished]


def swap_keys(tiny: Tiny) -> None:
    file = tiny.project / "tiny/table1.yaml"
    content = json.loads(file.read_text())
    content["settings"] = dict(reversed(content["settings"].items()))
    file.write_text(json.dumps(content))


def list_another(tiny: Tiny) -> None:
    (tiny.project / "tiny/listed/two.txt").touch()


def lose_record(tiny: Tiny) -> None:
    (tiny.run.folder / TABLE).with_name("record.json").unlink()


def replace_by_older(tiny: Tiny) -> None:
    file = tiny.table
    file.write_text(file.read_text().replace("1,1,yes", "9,1,yes", 1))
    os.utime(file, (1e9, 1e9))


def date_to_the_future(tiny: Tiny, old: str = "", new: str = "") -> None:
    file = tiny.table
    file.write_text(file.read_text().replace(old, new, 1))
    os.utime(file, (4e9, 4e9))


def lengthen_figure(tiny: Tiny) -> None:
    with (tiny.run.folder / FIGURE).open("ab") as file:
        file.write(b" ")


def rewrite(tiny: Tiny, name: str, old: str, new: str) -> None:
    file = tiny.run.folder / name
    file.write_text(file.read_text().replace(old, new))


def date_everything(tiny: Tiny, seconds: float) -> None:
    for number, file in enumerate(sorted(tiny.run.folder.rglob("*"))):
        if ".snakemake" not in file.parts:
            os.utime(file, (seconds - number, seconds - number))


def move(tiny: Tiny) -> None:
    shutil.move(tiny.run.folder, tiny.run.folder.with_name("moved {a} 'b'"))
    tiny.run.folder = tiny.run.folder.with_name("moved {a} 'b'")
    shutil.rmtree(tiny.run.folder / ".cache")


def move_paper(tiny: Tiny) -> None:
    """Move the paper and what lies next to it, but not the user's table."""
    moved = tiny.project.with_name("elsewhere")
    for name in ("tiny", "shared"):
        shutil.move(tiny.project / name, moved / name)
    tiny.project = moved
    tiny.configure()


CHANGES = [
    ("nothing", lambda tiny: None, []),
    ("a setting", lambda tiny: tiny.set(shift=2.0), RESULT),
    ("a setting without .snakemake", lambda tiny: (forget(tiny), tiny.set(shift=3.0)), RESULT),
    ("the code", lambda tiny: tiny.edit("code.py", "value += fact", "value += 1 + fact"), RESULT),
    ("an imported helper", lambda tiny: tiny.edit("helper.py", "/ 10", "/ 11"), RESULT),
    ("a module imported by name", lambda tiny: tiny.edit("late.py", "1.0", "1.5"), RESULT),
    ("data next to the code", lambda tiny: tiny.edit("two.dots.JSON", "3", "4"), RESULT),
    ("data of another folder", lambda tiny: tiny.edit("../shared/rates.txt", "5", "6"), RESULT),
    ("a file in a listed folder", list_another, RESULT),
    ("the drawing", lambda tiny: tiny.edit("drawing.py", '"o"', '"x"'), ["draw_tiny_table1"]),
    ("a claim", lambda tiny: tiny.edit("table1.yaml", '"above": 0', '"above": 1'), ["verdicts"]),
    ("a user's file replaced by an older one", replace_by_older, EVERYTHING),
    ("a user's file of tomorrow", date_to_the_future, []),
    (
        "another user's file of tomorrow",
        lambda tiny: date_to_the_future(tiny, "9,1,yes", "8,1,yes"),
        EVERYTHING,
    ),
    ("a lost table", lambda tiny: (tiny.run.folder / TABLE).unlink(), RESULT),
    ("a lost record", lose_record, RESULT),
    ("an edited table", lambda tiny: rewrite(tiny, TABLE, ",sum,", ",other,"), RESULT),
    (
        "edited verdicts",
        lambda tiny: rewrite(tiny, TABLE.replace("table.csv", "verdicts.csv"), "ran", "reproduced"),
        ["verdicts"],
    ),
    ("an edited figure", lengthen_figure, ["draw_tiny_table1"]),
    ("a lost figure", lambda tiny: (tiny.run.folder / FIGURE).unlink(), ["draw_tiny_table1"]),
    ("an old clock", lambda tiny: date_everything(tiny, 1e9), []),
    ("a clock of tomorrow", lambda tiny: date_everything(tiny, 4e9), []),
    ("a setting under that clock", lambda tiny: tiny.set(shift=5.0), RESULT),
    ("another folder, without caches", move, []),
    ("no .snakemake", lambda tiny: forget(tiny), []),
    ("a comment", lambda tiny: tiny.edit("code.py", "    late", "    # comment\n    late"), []),
    ("a docstring", lambda tiny: tiny.edit("code.py", '"""Sums of', '"""All sums of'), []),
    ("the caption", lambda tiny: tiny.edit("table1.yaml", "Sums.", "All sums."), []),
    ("the order of keys", swap_keys, []),
    ("a paper in another place", move_paper, []),
    ("its code", lambda tiny: tiny.edit("code.py", "1 + fact", "2 + fact"), RESULT),
    ("the seed", lambda tiny: tiny.configure(seed=7), RESULT),
]
"""Name of a change, how it is made, which rules run then."""


def forget(tiny: Tiny) -> None:
    shutil.rmtree(tiny.run.folder / ".snakemake")


def test_every_change_runs_what_depends_on_it_and_nothing_else(tmp_path):
    tiny = Tiny(tmp_path)
    assert tiny.ran() == EVERYTHING
    lines, wrong = [], []
    for name, change, expected in CHANGES:
        change(tiny)
        jobs = tiny.ran()
        line = f"{name:40} expected: {' '.join(expected) or '-':50} seen: {' '.join(jobs) or '-'}"
        lines.append(line)
        if jobs != expected:
            wrong.append(line)
    print("\n".join(lines))
    assert wrong == []


def test_a_paper_with_its_own_data_that_was_moved_and_edited_is_computed(tmp_path):
    paper = tmp_path / "first" / "beans"
    new_paper = [sys.executable, "-P", str(ROOT / "src/scripts/new.py"), "new-paper"]
    subprocess.run([*new_paper, str(paper), "classifier"], check=True, capture_output=True)
    run = Run(tmp_path / "run")
    table = run.folder / "results/smoke/beans/three_classes/table.csv"

    def compute(paper: Path) -> bytes:
        overlay = {"scale": "smoke", "papers": [str(paper)], "formats": ["png"]}
        (run.folder / "overlay.yaml").write_text(json.dumps(overlay))
        run.snakemake("beans_three_classes")
        return table.read_bytes()

    before = compute(paper)
    moved = tmp_path / "second" / "beans"
    moved.parent.mkdir()
    shutil.move(paper, moved)
    code = (moved / "code.py").read_text()
    (moved / "code.py").write_text(code.replace("self.means_ = ", "self.means_ = 2 * "))
    assert compute(moved) != before


def test_a_report_has_the_figure_with_its_caption_and_the_verdicts(tmp_path):
    tiny = Tiny(tmp_path)
    assert tiny.ran() == EVERYTHING
    file = tmp_path / "report.zip"
    tiny.run.snakemake("tiny_table1", options=["--report", str(file)])
    with zipfile.ZipFile(file) as report:
        names = {Path(name).name for name in report.namelist()}
        page = next(name for name in report.namelist() if name.endswith("report.html"))
        text = report.read(page).decode()
    assert {"table1.png", "verdicts.csv"} <= names
    assert "Sums." in text


def test_a_record_of_the_archive_has_every_part_and_names_the_code_that_was_read():
    file = ROOT / "results/reference/pnorm/hadamard/record.json"
    record = json.loads(file.read_text())
    assert set(record) == {"format", "decides", "outputs", "informs"}
    assert {"noisylabels/filters/pnorm.py", "pnorm/code.py"} <= set(record["decides"]["read"])
