"""What the pages say: an artifact with its runs, verdicts and data; a paper with its findings."""

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
from reproduction.show.left_out_cases import NAMES, describe_left_out_cases
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
    """Decide whether the verdict counts; a reduced run has none."""
    return row["verdict"] not in (RAN, NO_ROWS)


FOLDER = "docs/results"
"""Where the pages of results are, below the checkout and on the site."""


class Keys:
    """Names of the keys of an artifact.

    Parameters
    ----------
    methods : mapping
        Key -> label.
    protocol : str
        Whose metrics are meant.
    """

    def __init__(self, methods: Mapping[str, str], protocol: str) -> None:
        self.methods = methods
        self.protocol = protocol

    def _sentences(self, row: Mapping[str, Any]) -> Sentences:
        x_label = names.x_axis(metric_of(row), self.protocol)
        return Sentences(self._as_html, Markup(), x_label)

    def _as_html(self, column: str, key: str) -> str:
        """Write a key as HTML: its name with the key behind it, or the key."""
        if column == "method":
            name = self.methods.get(key) or names.method(key)
        elif column == "metric":
            name = names.metric(key, self.protocol)
        else:
            name = NAMES.get(column, str)(key)
        if name in ("", key):
            return Markup(escape(key))
        return Markup(f'<span class="named" title="{escape(key)}">{escape(name)}</span>')

    def evidence(self, row: Mapping[str, Any]) -> str:
        """Write the sentence behind a verdict, with names for keys."""
        if row["missing"] and not judges(row):
            return "its data sets or settings are not part of this scale"
        return self._sentences(row).evidence(row)

    def describe_controls(self, row: Mapping[str, Any]) -> str:
        """Write what else passes the checks of a claim; "" for rows of old archives."""
        if "power" not in row:
            return ""
        return self._sentences(row).describe_controls(row)

    def measured(self, row: Mapping[str, Any]) -> str:
        """Write what was measured in the case that decides a claim; "" where it was not judged."""
        has_numbers = row["check"] and judges(row) and not row["missing"]
        if not has_numbers:
            return ""
        return self._sentences(row).measured(row)

    def where(self, row: Mapping[str, Any]) -> str:
        """Write the selector of a published value, with names for keys."""
        selector = value(row["where"])
        return self._sentences(row).words(selector)


class DataSet(NamedTuple):
    """A data set of a result.

    Attributes
    ----------
    id : str
        Its name.
    entry : Entry
        What the registry says of it.
    source : mapping
        Where it was downloaded from, as its preparation noted.
    """

    id: str
    entry: Entry
    source: Mapping[str, Any]


@cache
def _default_papers() -> list[str]:
    """List the papers of a run without options."""
    config = read(CHECKOUT / "config/config.yaml")
    return list(config["papers"])


@dataclass(frozen=True)
class Page:
    """One artifact with its runs.

    Attributes
    ----------
    run : Run
        The run at the scale of the plan, below ``root``.
    reference : Run
        The archived run, below ``home``.
    """

    plan: Plan
    name: str
    run: Run
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
        """The runs to show, the one that counts first: a reduced run follows the archived one."""
        if self.plan.config["scale"] == "full":
            finished = [run for run in (self.run, self.reference) if run]
            return finished[:1]
        return [run for run in (self.reference, self.run) if run]

    @property
    def first(self) -> Run:
        """The run whose verdicts count."""
        if self.runs:
            return self.runs[0]
        return Run(self.plan.config["scale"])

    @property
    def is_kept(self) -> bool:
        """Is the archived run the one that counts here?"""
        return self.first is self.reference

    def kind(self, run: Run) -> str:
        """Name the kind of a run: ``reference``, ``full``, ``part`` or ``reduced``."""
        if run is self.reference:
            return "reference"
        return run.scale if run.scale in JUDGED else "reduced"

    @cached_property
    def part(self) -> Content:
        """The keys of ``only`` if a part was run here, or {}."""
        if self.run.scale != "part":
            return {}
        settings = self.run.provenance.get("settings", {})
        full = self.artifact.full_as_written
        part = {}
        for key in ("datasets", "repetitions"):
            if key in settings and settings[key] != full[key]:
                part[key] = settings[key]
        return part

    @property
    def judged(self) -> list[Row]:
        """Return the verdicts that count, which are not those of a reduced run or of a part."""
        if self.first.scale != "full":
            return []
        return [row for row in self.first.verdicts if judges(row)]

    def label(self, run: Run) -> str:
        """Write what a reader must know before looking at the run."""
        kind = self.kind(run)
        if kind == "reference":
            return "Archived full run"
        if kind == "full":
            return "Full run, made here"
        if kind == "part":
            return f"Part of a full run, made here and judged as such: {self._describe_part()}"
        return f"Run at the reduced scale {run.scale}{self._describe_repetitions()}: not judged"

    def _describe_part(self) -> str:
        parts = []
        for key, selected in self.part.items():
            entries = ", ".join(map(str, listed(selected)))
            parts.append(f"{key}: {entries}")
        return "; ".join(parts)

    def _describe_repetitions(self) -> str:
        """Write how many repetitions a reduced run has; "" where the protocol has none."""
        counts = [artifact.settings.count_repetitions(otherwise=0) for artifact in self.drawn]
        most_repetitions = max(counts)
        if not most_repetitions:
            return ""
        plural = "s" if most_repetitions > 1 else ""
        return f" to {most_repetitions} repetition{plural} (the caption is about the full protocol)"

    @cached_property
    def aged(self) -> str:
        """Say whether settings or code have changed since the archived run."""
        provenance = self.reference.provenance
        commit = runs.describe_commit(provenance)
        has_record = self.reference in self.runs and "made_from" in provenance
        if not has_record or self.name in self.plan.left_out:
            return ""
        # Only at full scale are the settings here those to compare with.
        is_full = self.plan.config["scale"] == "full"
        if is_full and runs.has_other_settings(self.plan, self.name, provenance):
            return f"Out of date: the run at commit {commit} had other settings."
        change = runs.describe_code_change(provenance)
        return f"Same settings; {change}." if change else ""

    @property
    def left_out(self) -> str:
        """Say why the artifact cannot run here, if so."""
        if self.run:
            return ""
        return self.plan.left_out.get(self.name, "")

    @property
    def command(self) -> str:
        """The command that makes it."""
        options = {}
        paper = self.plan.listed_as(self.artifact.paper)
        if paper not in _default_papers():
            options["papers"] = f"[{paper}]"
        if self.part:
            options["only"] = json.dumps(self.part)
        user_files = self._list_user_files()
        if user_files:
            options["data"] = json.dumps({"local": user_files})
        scale = self.plan.config["scale"]
        words = ["./run", "full" if scale in JUDGED else scale, self.key]
        if options:
            words.append("--config")
            words += [shlex.quote(f"{key}={text}") for key, text in options.items()]
        return " ".join(words)

    def _list_user_files(self) -> dict[str, str]:
        """Map data sets to tables of the user, or to FILE if the configuration names none."""
        local = self.plan.config["data"].get("local", {})
        files = {}
        for dataset in self.content.get("datasets", []):
            key, _, _ = dataset.partition(".")
            if key in local or dataset.endswith(".local"):
                files[key] = local.get(key, "FILE")
        return files

    @property
    def added(self) -> bool:
        """Whether the configuration does not list its paper, which only the archived run has."""
        return self.plan.listed_as(self.artifact.paper) not in self.plan.config["papers"]

    @cached_property
    def drawn(self) -> list[Artifact]:
        """The artifacts whose tables are drawn: this one, if it computes, and those it uses."""
        return self.plan.artifacts_shown(self.artifact)

    @property
    def protocol(self) -> str:
        """Name the protocol that made the first drawn table."""
        for artifact in self.drawn:
            if "protocol" in artifact.content:
                return str(artifact.content["protocol"])
        return ""

    @cached_property
    def keys(self) -> Keys:
        """What keys in its claims are called."""
        with names.using(self.artifact.file.parent):
            labels = {key: names.label(self.methods, key) for key in self.methods}
            return Keys(labels, self.protocol)

    @cached_property
    def methods(self) -> names.Methods:
        """The settings of each method by label; without methods, those of what it draws."""
        for artifact in self.drawn:
            methods = artifact.settings.select_methods()
            if methods:
                return methods
        return {}

    @cached_property
    def archived_data(self) -> Content:
        """What the archived run recorded of the data sets of every artifact that is drawn."""
        data: Content = {}
        for artifact in self.drawn:
            folder = self.home / "results/reference" / artifact.paper / artifact.name
            data |= records.facts(folder / records.RECORD).get("data", {})
        return data

    @property
    def has_stand_in(self) -> bool:
        """Whether a data set that is shown is not the one of the paper."""
        variants = [dataset.source.get("variant", "") for dataset in self.data]
        return any("stand-in" in variant for variant in variants)

    @cached_property
    def data(self) -> list[DataSet]:
        """Every data set of the runs that are shown."""
        archived = self.archived_data if self.is_kept else {}
        described: dict[str, DataSet] = {}
        for artifact in self.drawn:
            for name in artifact.content.get("datasets", []):
                key, _, _ = name.partition(".")
                is_shown = key in archived or name in artifact.data_sets(artifact.settings)
                if is_shown and name not in described:
                    described[name] = self._describe_data_set(name)
        return list(described.values())

    def _describe_data_set(self, name: str) -> DataSet:
        pinned = self.plan.pinned(name)
        id, _, _ = name.partition(".")
        source = runs.read_json(self.root / "data/raw" / pinned / "source.json")
        archived = self.archived_data.get(id, {})
        if archived and self.first is not self.run:
            source = archived
        return DataSet(id, self.plan.entry(pinned), source)

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
        summary = self.content.get("summary", "")
        return str(summary or self.content["title"])

    def measured(self, row: Row) -> Markup:
        """Write what we measured for a claim, without its criterion."""
        measured = self.keys.measured(row)
        if measured:
            return Markup(measured)
        sentence, _, _ = str(self.keys.evidence(row)).partition("; ")
        return Markup(f"{sentence}.")

    def describe_left_out_cases(self, row: Row) -> str:
        """Write which cases the checks of a claim leave out; "" where there are none."""
        for claim in self.content.get("claims", []):
            if claim["id"] == row["id"]:
                return describe_left_out_cases(claim, self.keys.methods)
        return ""


def label_of(page: Page, claim: str = "") -> str:
    """Name the anchor of a result, or of a claim on its page."""
    label = f"result-{page.key}"
    if claim:
        label += f"-{claim}"
    label = label.lower()
    label = label.replace("_", "-")
    return label.replace("+", "-plus")


ILLUSTRATES = "This figure is an illustration. No claim or published value is tested here."


def elsewhere(page: Page, by_key: Mapping[str, Page]) -> list[Page]:
    """List the pages that judge the tables which a page draws."""
    pages = []
    for artifact in page.drawn[1:]:
        key = f"{artifact.paper}_{artifact.name}"
        other_page = by_key.get(key)
        if other_page and other_page.first.verdicts:
            pages.append(other_page)
    return pages


def all_pages(plan: Plan, home: Path, root: Path) -> list[Page]:
    """Make a page of every artifact with something to show, or with a reason why there is nothing.

    Parameters
    ----------
    plan : Plan
        The plan of the run.
    home : Path
        Folder of the archived run.
    root : Path
        Folder of the run.
    """
    pages = []
    for name, artifact in plan.artifacts.items():
        source = plan.computed(name) if artifact.uses else name
        run = runs.read_run(plan, name, root, source)
        archived = runs.read_archived(name, home, source)
        pages.append(Page(plan, name, without_rows(run), archived, root, home))
    return [page for page in pages if page.runs or page.left_out]


def without_rows(run: Run) -> Run:
    """Replace the word of a verdict where the run had no rows for a claim or a published value."""
    rows = []
    for row in run.verdicts:
        has_no_rows = row["verdict"] == RAN and row["missing"]
        rows.append(row | {"verdict": NO_ROWS} if has_no_rows else row)
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
        """Write what is not reproduced: ``3 of 14 sentences of the paper``; without patterns."""
        parts = []
        for name in (GROUPS[SENTENCE], GROUPS[PUBLISHED]):
            group = self.groups.get(name, [])
            n_against = sum(map(counts_against, group))
            if group:
                parts.append(f"{n_against} of {count_group(name, len(group))}")
        return " and ".join(parts)

    @property
    def control(self) -> dict[str, str]:
        """The counts of verdicts on the same cells, of our values and of the negative control."""
        rows: list[Row] = []
        for page in self.pages:
            if page.content.get("origin") == "paper":
                rows += [row for row in page.first.agreement if row["status"] == "judged"]
        counts_of_values = with_control(rows)
        texts = {}
        for source, counts in counts_of_values.items():
            if sum(counts):
                texts[source] = " / ".join(map(str, counts))
        return texts

    @property
    def short_title(self) -> str:
        """The authors and the year of a paper, without its name: ``Han, Tsang and Chen (2016)``."""
        authors, mark, _ = self.title.partition("), ")
        return f"{authors})" if mark else self.title.partition(": ")[0]

    @property
    def main_group(self) -> tuple[str, list[Row]]:
        """The claims that the paper's bar counts: sentences; without them patterns, or ours."""
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
        rows = [row for _, row in self.claims]
        return group_headlines(names, rows, self.short_texts)

    @cached_property
    def short_texts(self) -> dict[str, str]:
        """The short text of each claim, by id."""
        return list_short_texts(page.content for page in self.pages)


def by_paper(pages: Iterable[Page]) -> list[Paper]:
    """Group the pages by paper, in the order of the configuration."""
    papers: dict[str, Paper] = {}
    for page in pages:
        name = page.artifact.paper
        folder = page.artifact.file.parent
        if name not in papers:
            title = (folder / "TITLE").read_text(encoding="utf-8").strip()
            papers[name] = Paper(name, title, read_findings(folder), [])
        papers[name].pages.append(page)
    return list(papers.values())
