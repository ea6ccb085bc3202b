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
def _archived_table(name):
    return archived_run.read_summary(ARCHIVE / name / "summary.csv")


def table(name, repetitions):
    """Make a table with some repetitions, spread about the archived means as in a run."""
    archived = _archived_table(name)
    rng = np.random.default_rng(0)
    n = np.ceil(repetitions * archived["n"] / 100).clip(upper=repetitions).astype(int)
    rows = archived.loc[archived.index.repeat(n)]
    rows = rows.assign(repetition=rows.groupby(level=0).cumcount().to_numpy())
    spread = rows["se"].fillna(0) * rng.standard_normal(len(rows))
    return rows.assign(value=rows["mean"] + spread)[COLUMNS].reset_index(drop=True)


class Inputs:
    """Tables, raw settings and published values of an artifact; change them before `draw`."""

    def __init__(self, name, repetitions=6):
        artifacts = load_project("full")
        self.artifact = artifacts[name]
        paper = name.partition("/")[0]
        of_paper = {key: artifacts[f"{paper}/{key}"] for key in self.keys_of(artifacts, paper)}
        self.names = [key for key, artifact in of_paper.items() if artifact.protocol]
        self.tables = {key: table(f"{paper}/{key}", repetitions) for key in self.names}
        is_table = self.artifact.kind == "table"
        self.settings = {}
        self.published = {}
        for key, artifact in of_paper.items():
            settings = copy.deepcopy(artifact.describe(is_table))
            self.published[key] = settings.pop("published", [])
            self.settings[key] = settings

    def keys_of(self, artifacts, paper):
        """List the artifact itself and all that it draws, also by way of another one."""
        keys = [self.artifact.name, *self.artifact.uses]
        for key in self.artifact.uses:
            if not artifacts[f"{paper}/{key}"].protocol:
                keys += artifacts[f"{paper}/{key}"].uses
        return keys

    def shown(self):
        """Make what the workflow would hand over next to the tables."""
        shown = {}
        for table_name, written in self.settings.items():
            content = dict(written)
            protocol = content.pop("protocol", "")
            model = find_protocol(protocol).settings if protocol else Selection
            settings = model.model_validate(content)
            shown[table_name] = Shown(settings, protocol, self.published[table_name])
        return shown

    def results(self):
        typed = {table_name: shown.settings for table_name, shown in self.shown().items()}
        return Results(self.tables, typed, self.published)

    def draw(self):
        """Draw what the workflow would draw."""
        with names.using(self.artifact.file.parent):
            return rendering.find(self.artifact.render)(self.results())

    def rows(self, **wanted):
        """Select rows of the first table."""
        selected = self.tables[self.names[0]]
        for column, value in wanted.items():
            selected = selected[selected[column] == value]
        return selected
