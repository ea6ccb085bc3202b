"""What every artifact is drawn from: tables with few repetitions around the archived means."""

import copy
from functools import cache

import numpy as np
from project import ROOT, load_project

from reproduction.judge import archived_run
from reproduction.run.results import COLUMNS
from reproduction.show import names, rendering
from reproduction.show.panels import Results, Shown
from reproduction.spec.protocol import find_protocol
from reproduction.spec.settings import Selection

ARCHIVE = ROOT / "results/reference"


@cache
def _kept(name):
    return archived_run.read_summary(ARCHIVE / name / "summary.csv")


def table(name, few):
    """Make a table with ``few`` repetitions, spread about the archived means as in a run."""
    kept = _kept(name)
    rng = np.random.default_rng(0)
    n = np.ceil(few * kept["n"] / 100).clip(upper=few).astype(int)
    rows = kept.loc[kept.index.repeat(n)]
    rows = rows.assign(repetition=rows.groupby(level=0).cumcount().to_numpy())
    spread = rows["se"].fillna(0) * rng.standard_normal(len(rows))
    return rows.assign(value=rows["mean"] + spread)[COLUMNS].reset_index(drop=True)


class Inputs:
    """Tables, raw settings and published values of an artifact; change them before `draw`."""

    def __init__(self, name, few=6):
        every = load_project("full")
        self.artifact = every[name]
        paper = name.partition("/")[0]
        shown = [self.artifact.name, *self.artifact.uses]
        for used in self.artifact.uses:
            if not every[f"{paper}/{used}"].protocol:
                shown += every[f"{paper}/{used}"].uses
        self.names = [each for each in shown if every[f"{paper}/{each}"].protocol]
        self.tables = {used: table(f"{paper}/{used}", few) for used in self.names}
        printed = self.artifact.kind == "table"
        self.settings = {
            used: copy.deepcopy(every[f"{paper}/{used}"].describe(printed)) for used in dict.fromkeys(shown)
        }
        self.published = {used: shown.pop("published", []) for used, shown in self.settings.items()}

    def shown(self):
        """Make what the workflow would hand over next to the tables."""
        shown = {}
        for used, written in self.settings.items():
            content = dict(written)
            protocol = content.pop("protocol", "")
            model = find_protocol(protocol).settings if protocol else Selection
            settings = model.model_validate(content)
            shown[used] = Shown(settings, protocol, self.published[used])
        return shown

    def results(self):
        typed = {used: shown.settings for used, shown in self.shown().items()}
        return Results(self.tables, typed, self.published)

    def draw(self):
        """Draw what the workflow would draw."""
        with names.using(self.artifact.file.parent):
            return rendering.find(self.artifact.render)(self.results())

    def rows(self, **where):
        """Select rows of the first table."""
        found = self.tables[self.names[0]]
        for column, value in where.items():
            found = found[found[column] == value]
        return found
