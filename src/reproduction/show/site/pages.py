"""What the pages say: an artifact with its runs, verdicts, data and words; a paper with its findings."""

import json
import shlex
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cache, cached_property
from html import escape
from pathlib import Path
from typing import Any, NamedTuple

from markupsafe import Markup

from reproduction.data.registry import Entry
from reproduction.judge import archived_run as runs
from reproduction.judge.archived_run import Run
from reproduction.judge.claims import JUDGED, listed
from reproduction.judge.estimates import value
from reproduction.judge.sentences import Sentences, metric_of, with_control
from reproduction.judge.verdict_files import Row
from reproduction.paths import CHECKOUT
from reproduction.plan.plan import Plan
from reproduction.run import records
from reproduction.show import names
from reproduction.show.headlines import (
    Findings,
    Headline,
    group_headlines,
    list_short_texts,
    read_findings,
    write_summary,
)
from reproduction.spec.artifact import Artifact
from reproduction.spec.strict_yaml import Content, read
from reproduction.spec.verdict_words import (
    GROUPS,
    NO_ROWS,
    OURS,
    PATTERN,
    PUBLISHED,
    RAN,
    SENTENCE,
    count_group,
    counts_against,
    group_verdicts,
    is_claim,
    select_deciding,
)


def judges(row: Mapping[str, str]) -> bool:
    """Is the verdict one? A reduced run has none."""
    return row["verdict"] not in (RAN, NO_ROWS)


NAMES = {"setting": names.setting, "noise": names.noise, "dataset": names.data_set}
"""Columns whose labels have names for readers, but for methods and metrics."""


FOLDER = "docs/results"
"""Where the pages of results are, below the checkout and on the site."""


class Keys:
    """What the keys of an artifact are called.

    methods : key -> label.   protocol : whose metrics are meant.
    """

    def __init__(self, methods: Mapping[str, str], protocol: str) -> None:
        self.methods, self.protocol = methods, protocol

    def _sentences(self, row: Mapping[str, Any]) -> Sentences:
        return Sentences(self._named, Markup(), names.x_axis(metric_of(row), self.protocol))

    def _named(self, column: str, key: str) -> str:
        """The key as HTML: its name with the key behind it, or the key."""
        own = {
            "method": self.methods.get(key) or names.method(key),
            "metric": names.metric(key, self.protocol),
        }
        name = own[column] if column in own else NAMES.get(column, str)(key)
        if name in ("", key):
            return Markup(escape(key))
        return Markup(f'<span class="named" title="{escape(key)}">{escape(name)}</span>')

    def evidence(self, row: Mapping[str, Any]) -> str:
        """The sentence behind a verdict, with names for keys."""
        if row["missing"] and not judges(row):
            return "its data sets or settings are not part of this scale"
        return self._sentences(row).evidence(row)

    def describe_controls(self, row: Mapping[str, Any]) -> str:
        """What else passes the checks of a claim; "" for rows that were judged before it was known."""
        return self._sentences(row).describe_controls(row) if "power" in row else ""

    def measured(self, row: Mapping[str, Any]) -> str:
        """What was measured in the case that decides a claim; "" where it was not judged."""
        has_numbers = row["check"] and judges(row) and not row["missing"]
        return self._sentences(row).measured(row) if has_numbers else ""

    def where(self, row: Mapping[str, Any]) -> str:
        """The selector of a published value, with names for keys."""
        return self._sentences(row).words(value(row["where"]))


class DataSet(NamedTuple):
    """``about`` : what the registry says of it.   source : where it came from, as its preparation noted."""

    id: str
    about: Entry
    source: Mapping[str, Any]


@cache
def _default_papers() -> list[str]:
    """The papers of a run for which nothing else is said."""
    return list(read(CHECKOUT / "config/config.yaml")["papers"])


@dataclass(frozen=True)
class Page:
    """One artifact: ``own`` is the run at the plan's scale below ``root``, ``reference`` the repository's."""

    plan: Plan
    name: str
    own: Run
    reference: Run
    root: Path
    home: Path

    @cached_property
    def artifact(self) -> Artifact:
        """Its file, also of one that is left out."""
        return self.plan.artifacts[self.name]

    @property
    def content(self) -> Content:
        """The keys of its file."""
        return self.artifact.content

    @property
    def key(self) -> str:
        """``ors_fig2``: the target of the workflow and the name of the page."""
        return self.name.replace("/", "_")

    @cached_property
    def runs(self) -> list[Run]:
        """What there is to show, first what counts: a reduced run comes after the reference."""
        full = self.plan.config["scale"] == "full"
        there = [self.own, self.reference] if full else [self.reference, self.own]
        return [run for run in there if run][: 1 if full else 2]

    @property
    def first(self) -> Run:
        """The run whose verdicts count."""
        return (self.runs or [Run(self.plan.config["scale"])])[0]

    @property
    def is_kept(self) -> bool:
        """Is what counts here the repository's reference?"""
        return self.first is self.reference

    def kind(self, run: Run) -> str:
        """``reference``, ``full`` or ``reduced``."""
        if run is self.reference:
            return "reference"
        return run.scale if run.scale in JUDGED else "reduced"

    @cached_property
    def part(self) -> Content:
        """The keys of ``only`` by which a part was run here; {} of everything else."""
        run = self.own.provenance.get("settings", {})
        full = self.artifact.full_as_written
        keys = ("datasets", "repetitions") if self.own.scale == "part" else ()
        return {key: run[key] for key in keys if key in run and run[key] != full[key]}

    @property
    def judged(self) -> list[Row]:
        """The verdicts that count: neither of a reduced run nor of a part."""
        return [row for row in self.first.verdicts if judges(row)] if self.first.scale == "full" else []

    def label(self, run: Run) -> str:
        """What a reader must know before looking at the run."""
        counts = [each.settings.count_repetitions(otherwise=0) for each in self.drawn]
        most = max(counts)
        plural = "s" if max(counts) > 1 else ""
        part = "; ".join(f"{key}: {', '.join(map(str, listed(kept)))}" for key, kept in self.part.items())
        shortened = f" to {most} repetition{plural} (the caption is about the full protocol)" if most else ""
        return {
            "reference": "Archived full run",
            "full": "Full run, made here",
            "part": f"Part of a full run, made here and judged as such: {part}",
            "reduced": f"Run at the reduced scale {run.scale}{shortened}: not judged",
        }[self.kind(run)]

    @cached_property
    def aged(self) -> str:
        """Say whether settings or code have changed since the archived run."""
        provenance = self.reference.provenance
        commit = runs.describe_commit(provenance)
        is_kept = self.reference in self.runs and "made_from" in provenance
        if not is_kept or self.name in self.plan.left_out:
            return ""
        if self.plan.config["scale"] == "full" and runs.has_other_settings(self.plan, self.name, provenance):
            return f"Out of date: the run at commit {commit} had other settings."
        changed = runs.describe_code_change(self.reference.provenance)
        return f"Same settings; {changed}." if changed else ""

    @property
    def left_out(self) -> str:
        """Why the artifact cannot run here, if it cannot and did not."""
        return "" if self.own else self.plan.left_out.get(self.name, "")

    @property
    def command(self) -> str:
        """What to type to have it made; FILE for a user's own table that the configuration does not name."""
        scale = self.plan.config["scale"]
        local = self.plan.config["data"].get("local", {})
        read = {name.partition(".")[0]: name for name in self.content.get("datasets", [])}
        own = {key: local.get(key, "FILE") for key in read if key in local or read[key].endswith(".local")}
        listed = self.plan.listed_as(self.artifact.paper)
        values = [] if listed in _default_papers() else [f"papers=[{listed}]"]
        if self.part:
            values.append(f"only={json.dumps(self.part)}")
        if own:
            values.append(f"data={json.dumps({'local': own})}")
        words = ["./run", "full" if scale in JUDGED else scale, self.key]
        if values:
            words += ["--config", *map(shlex.quote, values)]
        return " ".join(words)

    @property
    def added(self) -> bool:
        """Whether the configuration does not list its paper, which only the archived run has."""
        return self.plan.listed_as(self.artifact.paper) not in self.plan.config["papers"]

    @cached_property
    def drawn(self) -> list[Artifact]:
        """The artifacts whose tables are drawn: this one, if it computes, and those that it uses."""
        return self.plan.artifacts_shown(self.artifact)

    @property
    def protocol(self) -> str:
        """Protocol that made the table that is drawn first."""
        return next((each.content["protocol"] for each in self.drawn if "protocol" in each.content), "")

    @cached_property
    def keys(self) -> Keys:
        """What keys in its claims are called."""
        with names.using(self.artifact.file.parent):
            return Keys({key: names.label(self.methods, key) for key in self.methods}, self.protocol)

    @cached_property
    def methods(self) -> names.Methods:
        """Label -> what the settings say of the method; of an artifact without any, those that it draws."""
        for artifact in self.drawn:
            methods = artifact.settings.select_methods()
            if methods:
                return methods
        return {}

    @cached_property
    def archived_data(self) -> Content:
        """What the archived run recorded of the data sets of every artifact that is drawn."""
        found: Content = {}
        for artifact in self.drawn:
            folder = self.home / "results/reference" / artifact.paper / artifact.name
            found |= records.facts(folder / records.RECORD).get("data", {})
        return found

    @property
    def has_stand_in(self) -> bool:
        """Whether a data set that is shown is not the one of the paper."""
        return any("stand-in" in each.source.get("variant", "") for each in self.data)

    @cached_property
    def data(self) -> list[DataSet]:
        """Every data set of the runs that are shown."""
        kept = self.archived_data if self.is_kept else {}
        sets = [
            name
            for each in self.drawn
            for name in each.content.get("datasets", [])
            if name.partition(".")[0] in kept or name in each.data_sets(each.settings)
        ]
        return [self._data_set(name) for name in dict.fromkeys(sets)]

    def _data_set(self, name: str) -> DataSet:
        pinned = self.plan.pinned(name)
        id = name.partition(".")[0]
        here = runs.read_json(self.root / "data/raw" / pinned / "source.json")
        kept = self.archived_data.get(id, {})
        return DataSet(id, self.plan.entry(pinned), here if self.first is self.own else kept or here)

    @property
    def claims(self) -> list[Row]:
        """The rows of its claims, in the first run."""
        return [row for row in self.first.verdicts if is_claim(row)]

    @property
    def published_values(self) -> list[Row]:
        """The rows of its published values, in the first run."""
        return [row for row in self.first.verdicts if row["kind"] == PUBLISHED]

    @property
    def summary(self) -> str:
        """What the result shows, in a plain sentence; its title where none is written."""
        return str(self.content.get("summary", "") or self.content["title"])

    def measured(self, row: Row) -> Markup:
        """Write what we measured for a claim, without its criterion."""
        measured = self.keys.measured(row)
        if measured:
            return Markup(measured)
        return Markup(str(self.keys.evidence(row)).partition("; ")[0] + ".")


def label_of(page: Page, claim: str = "") -> str:
    """Name the anchor of a result, or of a claim on its page."""
    label = f"result-{page.key}-{claim}" if claim else f"result-{page.key}"
    return label.lower().replace("_", "-").replace("+", "-plus")


ILLUSTRATES = "This figure is an illustration. No claim or published value is tested here."


def elsewhere(page: Page, by_key: Mapping[str, Page]) -> list[Page]:
    """Where claims and published values are judged that rest on the tables which a page draws."""
    keys = [f"{each.paper}_{each.name}" for each in page.drawn[1:]]
    return [by_key[key] for key in keys if key in by_key and by_key[key].first.verdicts]


def all_pages(plan: Plan, home: Path, root: Path) -> list[Page]:
    """A page of every artifact of which there is something to show, or that says why there is nothing.

    home : where the reference is.   root : where the run is.
    """
    pages = []
    for name, artifact in plan.artifacts.items():
        source = plan.computed(name) if artifact.uses else name
        here = runs.read_run(plan, name, root, source)
        kept = runs.read_archived(name, home, source)
        pages.append(Page(plan, name, without_rows(here), kept, root, home))
    return [page for page in pages if page.runs or page.left_out]


def without_rows(run: Run) -> Run:
    """The run with another word where it had no rows for a claim or a published value."""
    other = {"verdict": NO_ROWS}
    rows = [row | other if row["verdict"] == RAN and row["missing"] else row for row in run.verdicts]
    return replace(run, verdicts=rows)


@dataclass(frozen=True)
class Paper:
    """A paper: its title, what is said of it in short, and the pages of its artifacts."""

    name: str
    title: str
    findings: Findings
    pages: list[Page]

    @property
    def added(self) -> bool:
        """Was it added by the recipe? Its verdicts are not among the totals."""
        return bool(self.pages[0].added)

    @property
    def rows(self) -> list[Row]:
        """The verdicts that count, see `select_deciding`."""
        pages = [page for page in self.pages if page.first.scale != "part"]
        rows: list[Row] = []
        for page in pages:
            rows += page.first.verdicts
        return select_deciding(rows)

    @property
    def groups(self) -> dict[str, list[Row]]:
        """The same by what they are."""
        return group_verdicts(self.rows)

    @property
    def against(self) -> str:
        """Write what is not reproduced: ``3 of 14 sentences of the paper``; patterns do not count."""
        parts = []
        for name in (GROUPS[SENTENCE], GROUPS[PUBLISHED]):
            group = self.groups.get(name, [])
            n_against = sum(map(counts_against, group))
            if group:
                parts.append(f"{n_against} of {count_group(name, len(group))}")
        return " and ".join(parts)

    @property
    def control(self) -> dict[str, str]:
        """Whose values -> reproduced / inconclusive / not reproduced: ours and a control, same cells."""
        rows: list[Row] = []
        for page in self.pages:
            if page.content.get("origin") == "paper":
                rows += [row for row in page.first.agreement if row["status"] == "judged"]
        counts_of_values = with_control(rows)
        texts = {}
        for whose, counts in counts_of_values.items():
            if sum(counts):
                texts[whose] = " / ".join(map(str, counts))
        return texts

    @property
    def short_title(self) -> str:
        """The authors and the year of a paper, without its name: ``Han, Tsang and Chen (2016)``."""
        authors, mark, _ = self.title.partition("), ")
        return f"{authors})" if mark else self.title.partition(": ")[0]

    @property
    def main_group(self) -> tuple[str, list[Row]]:
        """The claims that the bar of the paper is about: its sentences, else its patterns, else ours."""
        for kind in (SENTENCE, PATTERN, OURS):
            name = GROUPS[kind]
            if name in self.groups:
                return name, self.groups[name]
        return GROUPS[SENTENCE], []

    @cached_property
    def claims(self) -> list[tuple[Page, Row]]:
        """Every claim with its page."""
        claims = []
        for page in self.pages:
            claims += [(page, row) for row in page.claims]
        return claims

    @property
    def headlines(self) -> dict[str, list[Headline]]:
        """The headlines of the paper's page, by verdict."""
        return self.group_headlines(self.findings.headlines)

    @property
    def summary(self) -> str:
        """The headlines of the front page, in a line."""
        return write_summary(self.group_headlines(self.findings.summary))

    def group_headlines(self, names: Iterable[str]) -> dict[str, list[Headline]]:
        """Group claims of the paper by verdict."""
        return group_headlines(names, (row for _, row in self.claims), self.short_texts)

    @cached_property
    def short_texts(self) -> dict[str, str]:
        """Id -> what a headline says, for all claims."""
        return list_short_texts(page.content for page in self.pages)


def by_paper(pages: Iterable[Page]) -> list[Paper]:
    """The pages paper by paper, in the order of the configuration."""
    found: dict[str, Paper] = {}
    for page in pages:
        name, folder = page.artifact.paper, page.artifact.file.parent
        if name not in found:
            title = (folder / "TITLE").read_text(encoding="utf-8").strip()
            found[name] = Paper(name, title, read_findings(folder), [])
        found[name].pages.append(page)
    return list(found.values())
