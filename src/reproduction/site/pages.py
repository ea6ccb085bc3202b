"""What each page tells: an artifact with its runs, data, code and words, put together for the templates."""

import json
import shlex
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from markupsafe import Markup

from reproduction.artifact import Artifact
from reproduction.figures.names import label
from reproduction.plan import Plan
from reproduction.reference import keeping, runs
from reproduction.reference.runs import Row, Run
from reproduction.site import states, text
from reproduction.site.keys import Keys
from reproduction.verdicts.sentences import value


@dataclass(frozen=True)
class Page:
    """One artifact: ``own`` is the run at the plan's scale below ``root``, ``reference`` the repository's."""

    plan: Plan
    name: str
    own: Run
    reference: Run
    root: Path

    @property
    def artifact(self) -> Artifact:
        """Its file, also of one that is left out."""
        return self.plan.artifacts[self.name]

    @property
    def content(self) -> dict[str, Any]:
        """The keys of its file."""
        return self.artifact.content

    @property
    def key(self) -> str:
        """``ors_fig2``: the target of the workflow and the name of the page."""
        return self.name.replace("/", "_")

    @property
    def scale(self) -> str:
        """The scale of the plan."""
        scale: str = self.plan.config["scale"]
        return scale

    @property
    def runs(self) -> list[Run]:
        """What there is to show, first what counts: a reduced run stands after the reference."""
        there = [self.own, self.reference] if self.scale == "full" else [self.reference, self.own]
        return [run for run in there if run][: 1 if self.scale == "full" else 2]

    @property
    def first(self) -> Run:
        """The run whose verdicts count."""
        return (self.runs or [Run(self.scale)])[0]

    @property
    def second(self) -> Run | None:
        """The reduced run beside the reference."""
        return self.runs[1] if len(self.runs) > 1 else None

    @property
    def is_kept(self) -> bool:
        """Is what counts here the repository's reference?"""
        return self.first is self.reference

    def kind(self, run: Run) -> str:
        """``reference``, ``full`` or ``reduced``."""
        return "reference" if run is self.reference else "full" if run.scale == "full" else "reduced"

    def label(self, run: Run) -> str:
        """What a reader must know before looking at the run."""
        return {
            "reference": "Reference: the full protocol, as the repository keeps it",
            "full": "Full protocol, run here",
            "reduced": f"This run, scale {run.scale}: reduced{self._shortened}, read no numbers from it",
        }[self.kind(run)]

    @property
    def _shortened(self) -> str:
        """How many repetitions there are where a caption tells of all."""
        counts = {each.settings["repetitions"] for each in self._drawn if "repetitions" in each.settings}
        if not counts:
            return ""
        count = max(counts)
        return f" to {count} repetition{'s' if count > 1 else ''} (the caption tells of the full protocol)"

    @cached_property
    def aged(self) -> str:
        """Whether the code that computes it changed since the reference was made, if that is shown."""
        kept = self.reference.provenance.get("made_from")
        if self.reference not in self.runs or not kept or not keeping.other_code(self.plan, self.name, kept):
            return ""
        return f"Made with earlier code (commit {self.reference.provenance.get('commit', 'unknown')[:12]})."

    @property
    def left_out(self) -> str:
        """Why the artifact cannot run here, if it cannot and did not."""
        return "" if self.own else self.plan.left_out.get(self.name, "")

    @property
    def command(self) -> str:
        """What to type to have it made."""
        overlay = "" if self.scale == "full" else f"--configfile config/{self.scale}.yaml "
        return f"./run {overlay}{self._own_files}--cores 2 -- {self.key}"

    @property
    def _own_files(self) -> str:
        """The files of one's own that it reads, as `--config`; FILE where the configuration names none."""
        local = self.plan.config["data"].get("local", {})
        read = {name.partition(".")[0]: name for name in self.content.get("datasets", [])}
        own = {key: local.get(key, "FILE") for key in read if key in local or read[key].endswith(".local")}
        return f"--config {shlex.quote('data=' + json.dumps({'local': own}))} " if own else ""

    @cached_property
    def _drawn(self) -> list[Artifact]:
        """The artifacts whose tables are drawn: this one, if it computes, and those that it uses."""
        uses = [self.plan.artifacts[f"{self.artifact.paper}/{name}"] for name in self.content.get("uses", [])]
        return [self.artifact, *uses]

    @property
    def protocol(self) -> str:
        """Protocol that made the table that is drawn first."""
        return next((each.content["protocol"] for each in self._drawn if "protocol" in each.content), "")

    @cached_property
    def keys(self) -> Keys:
        """What keys in its claims are called."""
        return Keys({key: label(self.methods, key) for key in self.methods}, self.protocol)

    @property
    def uses(self) -> list[str]:
        """Keys of the artifacts whose tables are drawn, but for its own."""
        return [f"{self.artifact.paper}_{name}" for name in self.content.get("uses", [])]

    @cached_property
    def methods(self) -> dict[str, dict[str, Any]]:
        """Label -> what the settings say of the method; of an artifact without any, those that it draws."""
        return next((found for each in self._drawn if (found := each.settings.get("methods"))), {})

    @cached_property
    def data(self) -> list[dict[str, Any]]:
        """Every data set of the runs that are shown: what the registry says of it, and where it came from."""
        kept = self.reference.provenance.get("data", {}) if self.is_kept else {}
        sets = [
            name
            for each in self._drawn
            for name in each.content.get("datasets", [])
            if name.partition(".")[0] in kept or name in each.data_sets(each.settings)
        ]
        return [self._data_set(name) for name in dict.fromkeys(sets)]

    def _data_set(self, name: str) -> dict[str, Any]:
        pinned = self.plan.supply.pinned(name)
        entry = self.plan.supply.entry(pinned)
        here = runs.json_of(self.root / "data/raw" / pinned / "source.json")
        kept = self.reference.provenance.get("data", {}).get(name.partition(".")[0], {})
        told = {key: entry.get(key, "") for key in ("title", "licence", "citation", "homepage", "note")}
        source = here if self.first is self.own else kept or here
        return {"id": name.partition(".")[0], **told, "source": source}

    def claims(self) -> list[dict[str, Any]]:
        """Claims with their verdict in the first run and, beside it, their figures in the second."""
        return self._told("claim")

    def published(self) -> list[dict[str, Any]]:
        """Printed values, likewise, each with the selector of its rows."""
        return [row | {"selector": value(row["where"])} for row in self._told("published")]

    def _told(self, kind: str) -> list[dict[str, Any]]:
        beside = {row["id"]: row for row in (self.second.verdicts if self.second else [])}
        return [
            dict(row) | {"beside": beside.get(row["id"])}
            for row in self.first.verdicts
            if row["kind"] == kind
        ]

    @property
    def counts(self) -> dict[str, int]:
        """Verdict -> number, of the run that counts."""
        return states.counted(self.first.verdicts)

    @property
    def tones(self) -> dict[str, int]:
        """Tone -> number, of the run that counts."""
        return states.toned(self.first.verdicts)

    @property
    def printed_counts(self) -> dict[str, int]:
        """Verdict -> number, of the printed values only."""
        return states.counted(row for row in self.first.verdicts if row["kind"] == "published")

    @property
    def printed_tones(self) -> dict[str, int]:
        """Tone -> number, of the printed values only."""
        return states.toned(row for row in self.first.verdicts if row["kind"] == "published")

    @property
    def seeds(self) -> Markup:
        """The tables of what differs between root seeds, if the run here was repeated with others."""
        file = self.root / self.plan.results / self.name / "seeds.html"
        repeated = self.name not in self.plan.left_out and len(self.plan.replicas(self.name)) > 1
        return Markup(file.read_text(encoding="utf-8") if repeated and file.is_file() else "")

    @property
    def searched(self) -> str:
        """Everything that the search looks at, in lower case."""
        content = self.content
        words = [self.key, content["title"], content["source"], text.stripped(content["caption"])]
        words += [*self.methods, *(str(spec.get("method", "")) for spec in self.methods.values())]
        words += [label(self.methods, key) for key in self.methods]
        words += [f"{each['id']} {each['title']}" for each in self.data]
        words += [claim["statement"] for claim in content.get("claims", [])]
        return " ".join(dict.fromkeys(" ".join(words).lower().replace("_", " ").split()))

    @property
    def is_calibrated(self) -> bool:
        """Was something chosen by its closeness to what is judged here? The artifact says so itself."""
        return bool(self.content.get("calibrated"))

    @property
    def data_status(self) -> str:
        """``real``, ``generated``, ``stand-in``, or the variants of the sets: what the verdicts are about."""
        found = [each["source"].get("variant", "") for each in self.data]
        if not found:
            return "generated by the protocol"
        if any("stand-in" in variant for variant in found):
            return "stand-in" if all("stand-in" in variant for variant in found) else "partly stand-ins"
        others = sorted({variant for variant in found if variant not in ("", "canonical")})
        return ", ".join(others) or "as published"


@dataclass(frozen=True)
class Paper:
    """A paper: its title, what `findings.yaml` says of it, and the pages of its artifacts."""

    name: str
    title: str
    told: dict[str, Any]
    pages: list[Page]

    @property
    def tones(self) -> dict[str, int]:
        """Tone -> number, over all artifacts."""
        return states.toned(self.rows)

    @property
    def counts(self) -> dict[str, int]:
        """Verdict -> number, over all artifacts."""
        return states.counted(self.rows)

    @property
    def rows(self) -> list[Row]:
        """The verdicts that count, of all artifacts."""
        return [row for page in self.pages for row in page.first.verdicts]

    @property
    def minutes(self) -> float:
        """Of all jobs together, of the runs that count."""
        return sum(page.first.cost.get("minutes", 0.0) for page in self.pages)


def all_pages(plan: Plan, home: Path, root: Path) -> list[Page]:
    """A page of every artifact of which there is something to show, or that says why there is nothing.

    home : where the reference is.   root : where the run is.
    """
    pages = []
    for name, artifact in plan.artifacts.items():
        uses = artifact.content.get("uses", [])
        source = f"{artifact.paper}/{uses[0]}" if uses and "protocol" not in artifact.content else name
        here, kept = runs.own(plan, name, root, source), runs.reference(name, home, source)
        pages.append(Page(plan, name, _without_rows(here), kept, root))
    return [page for page in pages if page.runs or page.left_out]


def _without_rows(run: Run) -> Run:
    """The run with a word of its own where it had no rows for a claim or a printed value."""
    own = {"verdict": states.NO_ROWS}
    rows = [row | own if row["verdict"] == "ran" and row["missing"] else row for row in run.verdicts]
    return replace(run, verdicts=rows)


def by_paper(pages: Iterable[Page], told: dict[str, Any]) -> list[Paper]:
    """The pages paper by paper, in the order of the configuration."""
    sorted_in: dict[str, list[Page]] = {}
    for page in pages:
        sorted_in.setdefault(page.artifact.paper, []).append(page)
    return [Paper(name, _title(of), told.get(name, {}), of) for name, of in sorted_in.items()]


def _title(pages: list[Page]) -> str:
    return (pages[0].artifact.file.parent / "TITLE").read_text(encoding="utf-8").strip()
