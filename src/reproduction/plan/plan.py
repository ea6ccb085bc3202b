"""The plan of a run: files and job descriptions, made from the configuration and the artifacts.

An artifact is named ``<paper>/<artifact>`` here, as in the paths of its files.
"""

import difflib
import hashlib
import json
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from reproduction.data import registry
from reproduction.data.registry import LOCAL, Entry, Registry, UserFile
from reproduction.data.transport import MIRROR
from reproduction.plan import code_digest, costs
from reproduction.show import names as names_of
from reproduction.show.panels import Shown
from reproduction.spec import configuration, user_modules
from reproduction.spec.artifact import NAME, SCALES, Artifact, Cell, check_code, load_all, merge
from reproduction.spec.display_keys import without_display
from reproduction.spec.papers import HOME, artifact_files, list_papers
from reproduction.spec.protocol import find_protocol
from reproduction.spec.strict_yaml import Content, read
from reproduction.spec.suggestions import near

TARGETS_OF_TASKS = {"binary": "two classes", "classes": "classes", "regression": "real"}
"""Task in the registry -> what a protocol learns from such a data set."""
TABLE_SUFFIXES = ("html", "csv", "md", "tex")
COMMANDS = [
    "audit",
    "check",
    "compare",
    "export",
    "help",
    "lint",
    "new-artifact",
    "new-method",
    "new-paper",
    "reference",
    "settings",
    "site",
    "test",
    "try",
]
"""Commands of `./run` other than making targets."""
FIRST_OF_PAPER = 1000
"""Priority of the first experiment of a paper."""


@dataclass(frozen=True)
class Plan:
    """The plan of one configuration: artifacts at its scale, their data and the costs of jobs."""

    config: Mapping[str, Any]
    artifacts: dict[str, Artifact]
    entries: Registry
    measured: costs.Measured = field(default_factory=dict)
    usual_seed: int | None = None
    broken: Mapping[str, str] = field(default_factory=dict)
    """Paper -> the mistake in its files for which it is left out."""

    @property
    def folder(self) -> str:
        """Name of the folders of results, figures and logs: the scale, and an unusual seed."""
        scale = self.config["scale"]
        seed = self.config.get("seed")
        if self.usual_seed is None or seed == self.usual_seed:
            return str(scale)
        return f"{scale}-seed{seed}"

    # Artifacts

    @property
    def results(self) -> str:
        """Folder of the result tables and verdicts of the scale."""
        return f"results/{self.folder}"

    @property
    def figures(self) -> str:
        """Folder of the figures and tables of the scale."""
        return f"figures/{self.folder}"

    @cached_property
    def left_out(self) -> dict[str, str]:
        """The artifacts that cannot run here, each with the reason.

        No source has a data set, or the class of a user is not found.
        """
        reasons = {}
        for name, artifact in self.artifacts.items():
            reasons[name] = self.find_lack(artifact)
        for name, artifact in self.artifacts.items():
            for source in self._sources(artifact):
                lacking = reasons.get(source)
                if lacking and not reasons[name]:
                    reasons[name] = f"it draws {source}: {lacking}"
        return {name: reason for name, reason in reasons.items() if reason}

    def find_lack(self, artifact: Artifact) -> str:
        """Say why an artifact cannot run here; "" if it can."""
        return self._lack_of_data(artifact) or _lack_of_code(artifact)

    def _lack_of_data(self, artifact: Artifact) -> str:
        """Say which data of an artifact are missing; "" if none."""
        part = self.config.get("only") or {}
        chosen = part.get("datasets")
        if chosen and artifact.protocol:
            data_sets = artifact.settings.list_data_sets() or []
            if set(chosen).isdisjoint(data_sets):
                return "its settings have none of the data sets in `only`"
        for dataset in artifact.data_sets(artifact.settings):
            try:
                reason = self.lack(dataset)
                if not reason and artifact.protocol:
                    self._check_target(artifact.protocol, dataset)
            except ValueError as error:
                raise ValueError(f"{artifact.file}: datasets: {error}") from None
            if reason:
                return reason
        return ""

    def _check_target(self, protocol: str, dataset: str) -> None:
        """Compare what the registry says of a data set with what a protocol takes.

        The job does the same with the arrays. Raises ValueError: the protocol takes other targets.
        """
        entry = self.entry(dataset)
        if entry.task not in TARGETS_OF_TASKS:
            return
        classes = entry.shape.classes or {}
        values = ", ".join(map(str, classes))
        target = TARGETS_OF_TASKS[entry.task]
        if len(classes) == 2:
            target = "two classes"
        find_protocol(protocol).check_target(dataset, target, values)

    def faults(self, words: Iterable[str]) -> dict[str, str]:
        """Map requested artifacts that are left out for other reasons than data to the reason."""
        scopes = self.find_scopes(words)
        faults: dict[str, str] = {}
        if "" in scopes:
            faults.update(self.broken)
        for name in self.left_out:
            reason = _lack_of_code(self.artifacts[name])
            if reason and f"{name}/".startswith(tuple(scopes)):
                faults[name] = reason
        return faults

    @cached_property
    def shown(self) -> dict[str, Artifact]:
        """Select the artifacts that are not left out."""
        shown = {}
        for name, artifact in self.artifacts.items():
            if name not in self.left_out:
                shown[name] = artifact
        return shown

    def listed_as(self, paper: str) -> str:
        """Find how the configuration names a paper: by its name, or by the path of its folder."""
        for entry in self.config["papers"]:
            if Path(entry).name == paper:
                return str(entry)
        return paper

    def artifacts_below(self, scope: str) -> dict[str, Artifact]:
        """Select the artifacts of a scope: "" is all, "ors/" a paper, "ors/fig2/" one artifact."""
        artifacts = {}
        for name, artifact in self.shown.items():
            if f"{name}/".startswith(scope):
                artifacts[name] = artifact
        return artifacts

    def artifact(self, name: str) -> Artifact:
        """Look up an artifact by its name.

        Raises ValueError: none of that name, or one that is left out.
        """
        if name in self.left_out:
            raise ValueError(f"{name} cannot run: {self.left_out[name]}")
        if name not in self.artifacts:
            raise ValueError(f"there is no artifact {name}")
        return self.artifacts[name]

    def data_sets(self) -> list[str]:
        """List the data sets that the shown artifacts use, with their pins."""
        names = set()
        for artifact in self.shown.values():
            for name in artifact.data_sets(artifact.settings):
                names.add(self.pinned(name))
        return sorted(names)

    def check_custom(self, scopes: Iterable[str]) -> None:
        """Import the user's classes and loaders. Raises ValueError: why one cannot be used."""
        for scope in scopes:
            for artifact in self.artifacts_below(scope).values():
                if artifact.protocol:
                    self._check_custom(artifact)

    def _check_custom(self, artifact: Artifact) -> None:
        for name in artifact.data_sets(artifact.settings):
            entry = self.entry(name)
            if entry.file != registry.REGISTRY:
                configuration.examine_loaders(name, entry)
        try:
            artifact.settings.check_custom()
        except ValueError as error:
            raise ValueError(f"{artifact.file}: {error}") from None

    def find_unusable(self, scopes: Iterable[str]) -> dict[str, str]:
        """Import code of users, and map each paper with a mistake to what cannot be used.

        Its jobs fail with the same words; those of other papers run. Raises ValueError: no other
        paper is requested.
        """
        requested: set[str] = set()
        for scope in scopes:
            requested.update(self.artifacts_below(scope))
        papers = dict.fromkeys(name.partition("/")[0] for name in sorted(requested))
        unusable = {}
        for paper in papers:
            names = [name for name in requested if name.startswith(f"{paper}/")]
            try:
                self.check_custom([f"{name}/" for name in names])
            except ValueError as error:
                unusable[paper] = str(error)
        if unusable and len(unusable) == len(papers):
            raise ValueError("; ".join(unusable.values()))
        return unusable

    # Data sets, named as in artifacts: ``heart``, ``heart.package``

    def pinned(self, name: str) -> str:
        """Add the kind of source that the configuration names: ``heart.packaged``.

        Raises ValueError: not in the registry.
        """
        dataset = registry.with_source(name, self.config["data"]["source"])
        registry.find(self.entries, dataset)
        return dataset

    def lack(self, name: str) -> str:
        """Say in one line why no source of that kind has the data set; "" if one has it.

        Raises ValueError: not in the registry, or the name pins a source that does not exist.
        """
        dataset = self.pinned(name)
        stem, pin, entry = registry.find(self.entries, dataset)
        if self.users(stem):
            return ""
        try:
            sources = registry.sources(stem, entry, pin)
        except ValueError as error:
            is_pinned_by_name = dataset == name and pin not in ("", LOCAL)
            if is_pinned_by_name:
                raise
            return str(error)
        mirror = self.config["data"]["mirror"] or os.environ.get(MIRROR)
        needs_mirror = all(source.name == "mirror" for source in sources)
        if mirror or not needs_mirror or Path(f"data/raw/{dataset}").exists():
            return ""
        remedy = f"data.mirror, or the variable {MIRROR}"
        return f"{stem} comes from a mirror only, and none is set: {remedy}"

    def prepared(self, names: Iterable[str]) -> list[str]:
        """List the prepared files of data sets."""
        return [f"data/prepared/{self.pinned(name)}.npz" for name in names]

    def entry(self, dataset: str) -> Entry:
        """Look up what the registry says of a data set, whether or not the name has a pin."""
        _, _, entry = registry.find(self.entries, dataset)
        return entry

    def users(self, dataset: str) -> UserFile | None:
        """Look up how the configuration describes the user's own file for a data set."""
        stem = dataset.partition(".")[0]
        spec: UserFile | None = self.config["data"]["local"].get(stem)
        return spec

    def local(self, dataset: str) -> list[str]:
        """List the user's own file that replaces a data set, if there is one."""
        spec = self.users(dataset)
        if not spec:
            return []
        return [str(registry.users_file(spec))]

    def fetch_options(self, dataset: str) -> list[str]:
        """Write what the configuration says of sources as options of the script ``fetch.py``."""
        data = self.config["data"]
        spec = self.users(dataset)
        options = []
        if data["mirror"]:
            options.append(f"--mirror={data['mirror']}")
        if spec:
            text = spec if isinstance(spec, str) else json.dumps(spec)
            options += ["--local", text]
        if data["offline"]:
            options.append("--offline")
        return options

    # Jobs

    def is_single(self, name: str) -> bool:
        """Decide whether an experiment is a single job."""
        artifact = self.artifact(name)
        return len(artifact.cells) * len(artifact.blocks) == 1

    def is_run_twice(self, name: str) -> bool:
        """Decide whether the first repetition is run again and compared, as in papers of users."""
        artifact = self.artifact(name)
        return not artifact.file.is_relative_to(HOME) and not artifact.measured

    def experiments(self, single: bool) -> str:
        """Write a regular expression for the experiments of a single job, or for the others."""
        names = []
        for name, artifact in self.shown.items():
            if artifact.protocol and self.is_single(name) == single:
                names.append(re.escape(name))
        matches_nothing = "(?!)"
        return f"(?:{'|'.join(names) or matches_nothing})"

    def cell(self, name: str, cell: str = "") -> Cell:
        """Look up a cell of the artifact; without a name, it is the whole artifact."""
        artifact = self.artifact(name)
        if cell:
            return artifact.cells[cell]
        return Cell(artifact.as_written, artifact.settings)

    def data(self, name: str, cell: str = "") -> list[str]:
        """List the prepared data files of a cell, or of all cells."""
        settings = self.cell(name, cell).settings
        return self.prepared(self.artifact(name).data_sets(settings))

    def job(self, name: str, cell: str = "") -> Content:
        """Describe what a job computes; a change of it runs the job again.

        The job gets it as ``request`` (`scripts/job.py`). Captions and labels are not in it.
        """
        artifact = self.artifact(name)
        return {
            "protocol": artifact.protocol,
            "experiment": artifact.settings.find_experiment(name),
            "seed": self.config["seed"],
            "settings": without_display(self.cell(name, cell).as_written),
        }

    def words(self, name: str) -> list[str]:
        """Write the command line of the one job of a small experiment, for ``job.py``."""
        folder = f"{self.results}/{name}"
        words = ["experiment"]
        words += ["--key", f".cache/keys/{folder}/record.json"]
        words += ["--record", f"{folder}/record.json"]
        words += ["--table", f"{folder}/table.csv"]
        words += ["--points", f"{folder}/points.npz"]
        words += ["--data", *self.data(name)]
        return words

    def repetitions(self, name: str, block: int = 0) -> str:
        """Write the range of the repetitions of a block, such as ``0:5``."""
        start, stop = self.artifact(name).blocks[block]
        return f"{start}:{stop}"

    def resources(self, name: str, cell: str, job: str, attempt: int = 1) -> dict[str, int]:
        """Estimate ``mem_mb`` and ``runtime`` (minutes) of a job.

        They are declared, else measured with a margin, else `costs.DEFAULT`. A cell that was not
        measured, or an experiment in one job, which the full scale may cut in several, is like the
        dearest other cell of its artifact. The second attempt requests twice as much.
        """
        declared = self.artifact(name).resources
        cost = self.measured.get((name, cell, job))
        if cost is None:
            cost = _cost_of_dearest_cell(self.measured, name, job)
        resources = costs.estimate_resources(cost)
        if declared:
            resources |= declared.model_dump(exclude_unset=True)
        return {resource: value * attempt for resource, value in resources.items()}

    def seconds(self, rule: str, wildcards: Mapping[str, str]) -> float:
        """Estimate the seconds of a job from its last run here, or from the recorded full run."""
        artifact = wildcards.get("artifact", "")
        cell = wildcards.get("cell", "")
        job = wildcards.get("block", rule)
        if cell:
            job = f"{cell}.{job}"
        log = Path(f"logs/{self.folder}/{artifact}/{job}.time.tsv")
        if log.is_file() and log.stat().st_size:
            seconds, _ = costs.times(log)
            return seconds
        measured = self.measured.get((artifact, cell, rule))
        if self.config["scale"] == "full" and measured is not None:
            return measured[0]
        first_word = rule.partition("_")[0]
        return costs.TYPICAL.get(first_word, costs.TYPICAL_OF_OTHERS)

    def lead(self, name: str) -> int:
        """Compute the extra priority of the first experiment of a paper; 0 for the others.

        The first of a larger paper starts earlier. Two that start side by side would compile the
        same kernels.
        """
        paper = name.partition("/")[0]
        experiments = []
        for candidate, artifact in self.artifacts_below(f"{paper}/").items():
            if artifact.protocol:
                experiments.append(candidate)
        if name != experiments[0]:
            return 0
        return FIRST_OF_PAPER + len(experiments)

    # Results

    def tuned(self, name: str, cells: Iterable[str] = ()) -> list[str]:
        """List the files of tuned parameters of some cells, by default of all cells.

        There are none if the protocol does not tune.
        """
        artifact = self.artifact(name)
        if find_protocol(artifact.protocol).tune is None:
            return []
        folder = f"{self.results}/{name}/cells"
        return [f"{folder}/{cell}/tuned.json" for cell in cells or artifact.cells]

    def parts(self, name: str, suffix: str = "csv") -> list[str]:
        """List the tables of all blocks of all cells, or with ``points.npz`` the tested points."""
        artifact = self.artifact(name)
        files = []
        for cell in artifact.cells:
            for block in range(len(artifact.blocks)):
                files.append(f"{self.results}/{name}/cells/{cell}/{block}.{suffix}")
        return files

    def describe_result(self, name: str) -> Content:
        """Describe where a result belongs, for its record."""
        artifact = self.artifact(name)
        return {
            "paper": artifact.paper,
            "artifact": artifact.name,
            "scale": self.config["scale"],
            "seed": self.config["seed"],
            "settings": artifact.as_written,
        }

    # Figures and tables

    def _sources(self, artifact: Artifact) -> list[str]:
        """List the artifacts whose tables are drawn: this one, then those that it uses."""
        shown = [f"{source.paper}/{source.name}" for source in self.artifacts_shown(artifact)]
        return [name for name in shown if self.artifacts[name].protocol]

    def drawn(self, name: str) -> dict[str, str]:
        """Map artifacts, without the paper, to tables to draw: this one, then those it uses."""
        tables = {}
        for source in self._sources(self.artifact(name)):
            short_name = source.partition("/")[2]
            tables[short_name] = f"{self.results}/{source}/table.csv"
        return tables

    def shown_with(self, name: str) -> dict[str, Shown]:
        """Collect what a figure or table shows of its artifact, then of those that it uses."""
        return show(self.artifacts_shown(self.artifact(name)))

    def artifacts_shown(self, artifact: Artifact) -> list[Artifact]:
        """List the artifact that is drawn, then those that it uses.

        One without a protocol is followed by those that it uses in turn.
        """
        names = [artifact.name]
        for source in artifact.uses:
            names.append(source)
            if not self.artifacts[f"{artifact.paper}/{source}"].protocol:
                names += self.artifacts[f"{artifact.paper}/{source}"].uses
        return [self.artifacts[f"{artifact.paper}/{name}"] for name in dict.fromkeys(names)]

    def _described(self, artifact: Artifact) -> Content:
        """Say what a figure or table shows next to result tables, in the words of the files."""
        is_table = artifact.kind == "table"
        shown = self.artifacts_shown(artifact)
        return {part.name: part.describe(printed=is_table) for part in shown}

    def drawing(self, name: str) -> Content:
        """Describe what an artifact shows next to its tables; a change of it draws it again."""
        artifact = self.artifact(name)
        return {
            "names": names_of.read_names(artifact.file.parent),
            "render": artifact.render,
            "settings": self._described(artifact),
        }

    def texts_digest(self) -> str:
        """Digest all artifacts with their captions; a change of it writes the pages again."""
        texts = []
        for artifact in self.artifacts.values():
            texts.append([artifact.content, names_of.read_names(artifact.file.parent)])
        return _digest(texts)

    def drawings(self, name: str) -> list[str]:
        """List the files of the figure or table, one for each format; pages show the first."""
        suffixes: Sequence[str] = TABLE_SUFFIXES
        if self.artifacts[name].kind == "figure":
            suffixes = sorted(self.config["formats"], key=lambda suffix: suffix != "png")
        return [f"{self.figures}/{name}.{suffix}" for suffix in suffixes]

    def outputs(self, name: str) -> list[str]:
        """List the files of the figure or table of an artifact, and its record."""
        files = self.drawings(name)
        if self.artifact(name).protocol:
            files.append(f"{self.results}/{name}/record.json")
        return files

    def warnings_file(self, name: str) -> Path:
        """Return the file with the warnings of `early_check` about an artifact."""
        return Path(f"logs/{self.folder}/{name}/warnings.txt")

    def read_warnings(self, names: Iterable[str]) -> list[str]:
        """Read the warnings about artifacts, each once."""
        lines: list[str] = []
        for file in map(self.warnings_file, names):
            if file.is_file():
                lines += file.read_text(encoding="utf-8").splitlines()
        return [*dict.fromkeys(lines)]

    # Verdicts

    def judged(self, scope: str) -> dict[str, Artifact]:
        """Select the artifacts of a scope (see `artifacts_below`) with claims or published values.

        Those with measured times are judged by themselves only: their verdicts differ from run to
        run.
        """
        judged = {}
        for name, artifact in self.artifacts_below(scope).items():
            has_expectations = artifact.claims or artifact.published
            is_in_scope = not artifact.measured or scope == f"{name}/"
            if has_expectations and is_in_scope:
                judged[name] = artifact
        return judged

    def judged_files(self, scope: str, file: str) -> list[str]:
        """List the files of that name of the artifacts that are judged, in the same order."""
        return [f"{self.results}/{self.computed(name)}/{file}" for name in self.judged(scope)]

    def computed(self, name: str) -> str:
        """Name what computes the table of an artifact: itself, or the first it uses, if any."""
        artifact = self.artifacts[name]
        if artifact.protocol:
            return name
        sources = self._sources(artifact)
        return sources[0] if sources else name

    def pages(self, scope: str) -> list[str]:
        """List the scopes that are judged separately: papers, and results with measured times."""
        artifacts = self.artifacts_below(scope)
        scopes = {scope: None}
        if not scope:
            scopes = {f"{artifact.paper}/": None for artifact in artifacts.values()}
        for name, artifact in artifacts.items():
            if artifact.measured:
                scopes[f"{name}/"] = None
        return [page for page in scopes if self.judged(page)]

    def expectations(self, scope: str) -> str:
        """Digest the claims and published values of a scope; a change of it judges again."""
        expectations = []
        for artifact in self.judged(scope).values():
            content = artifact.content
            expectations.append([content.get("published"), content.get("claims")])
        return _digest(expectations)

    def published_data(self, scope: str) -> list[str]:
        """List the prepared data of artifacts with published values.

        A constant classifier is scored on them as a baseline.
        """
        files = set()
        for name, artifact in self.judged(scope).items():
            if artifact.published:
                files.update(self.data(self.computed(name)))
        return sorted(files)

    def promised(self, scope: str) -> list[str]:
        """List every file of the artifacts of a scope, and their verdicts: what a target needs."""
        files = []
        for name in self.artifacts_below(scope):
            files += self.outputs(name)
        for page in self.pages(scope):
            files.append(f"{self.results}/{page}verdicts.csv")
        return files

    # Targets: each paper, and each artifact as <paper>_<artifact>

    @cached_property
    def targets(self) -> dict[str, str]:
        """The targets, each with the scope (see `artifacts_below`) of the files that it needs."""
        targets = {}
        for artifact in self.artifacts.values():
            targets[artifact.paper] = f"{artifact.paper}/"
        for name in self.shown:
            targets[name.replace("/", "_")] = f"{name}/"
        return targets

    def refusals(self, home: Path) -> dict[str, str]:
        """Map targets that cannot be made to the reason: missing data, or a paper left out.

        Parameters
        ----------
        home : Path
            Folder of the repository's papers; files of those that are not listed are not read.
        """
        refusals = {}
        for name, reason in self.left_out.items():
            refusals[name.replace("/", "_")] = f"{name} cannot run: {reason}"
        listed = {artifact.paper for artifact in self.artifacts.values()}
        for paper, reason in self.broken.items():
            names = [f"{paper}_{file.stem}" for file in Path(self.listed_as(paper)).glob("*.yaml")]
            refusals |= dict.fromkeys((paper, *names), reason)
        for paper in list_papers(home):
            if paper in listed or paper in self.broken:
                continue
            papers = ",".join([*self.config["papers"], paper])
            remedy = f"add it, or for one run: --config 'papers=[{papers}]'"
            reason = f"`papers` in config/config.yaml does not list {paper}; {remedy}"
            names = [f"{paper}_{file.stem}" for file in artifact_files(home / paper)]
            for target in (paper, *names):
                if NAME.fullmatch(target):
                    refusals[target] = reason
        return refusals

    def find_scopes(self, targets: Iterable[str]) -> list[str]:
        """Find the scopes of some targets; without a target, or for ``all``, that of everything.

        Files have no scope.
        """
        targets = list(targets)
        if not targets or "all" in targets:
            return [""]
        return [self.targets[target] for target in targets if target in self.targets]

    def drawn_together(self, words: Iterable[str]) -> dict[str, list[str]]:
        """Map scopes to the artifacts that one job draws: a paper, or one artifact requested alone.

        words : of the command line. Whatever they are, every artifact is drawn by one job.
        """
        requested = {self.targets[word].strip("/") for word in words if word in self.targets}
        together: dict[str, list[str]] = {}
        for name in self.shown:
            paper = name.partition("/")[0]
            is_alone = name in requested and paper not in requested
            scope = name if is_alone else paper
            together.setdefault(scope, []).append(name)
        return together


def _cost_of_dearest_cell(measured: costs.Measured, name: str, job: str) -> costs.Cost | None:
    """Find the largest measured cost of a cell of an artifact, for a kind of job."""
    similar = []
    for (artifact, _, kind), cost in measured.items():
        if artifact == name and job in (kind, "experiment"):
            similar.append(cost)
    return max(similar, default=None)


def _lack_of_code(artifact: Artifact) -> str:
    """Say which of an artifact's methods is not found, "" if all are."""
    for label, spec in artifact.settings.select_methods().items():
        reason = _lack_of_module(artifact, label, spec.method)
        if reason:
            return reason
    return ""


def _lack_of_module(artifact: Artifact, label: str, method: str) -> str:
    """Say why the module of a user's method is not found, "" if it is found or needs none.

    Raises ValueError: its name is nearly that of a file of the paper, or its file cannot be read.
    """
    module, _, user_class = method.partition(":")
    if not user_class:
        return ""
    file = user_modules.module_file(module)
    if file is not None:
        if file.suffix == ".py":
            code_digest.digest_code(file)  # names a line that cannot be read
        return ""
    reason = f"methods.{label}.method: {method!r}: no module {module!r}"
    paper = artifact.file.parent
    modules = [file.stem for file in paper.glob("*.py")]
    if difflib.get_close_matches(module, modules):
        raise ValueError(f"{artifact.file}: settings.{reason}{near(module, modules)}")
    if module.partition(".")[0] != paper.name:
        return f"{reason}; is its folder on PYTHONPATH?"
    modules_of_paper = [f"{paper.name}.{name}" for name in modules]
    raise ValueError(f"{artifact.file}: settings.{reason}{near(module, modules_of_paper)}")


def show(artifacts: Sequence[Artifact]) -> dict[str, Shown]:
    """Collect what a figure or table shows of artifacts; the one that is drawn comes first."""
    is_table = artifacts[0].kind == "table"
    shown = {}
    for artifact in artifacts:
        published = artifact.values if is_table else ()
        shown[artifact.name] = Shown(artifact.settings, artifact.protocol, published)
    return shown


def _digest(content: object) -> str:
    text = json.dumps(content)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def unknown_target(name: str, targets: Iterable[str]) -> str:
    """Write the message for a name that is not a target, with the nearest targets."""
    close = []
    for command in difflib.get_close_matches(name, COMMANDS, n=1):
        close.append(f"the command ./run {command}")
    close += difflib.get_close_matches(name, targets, n=3)
    hint = "it would be a paper, or <paper>_<artifact>"
    if close:
        hint = f"did you mean {', '.join(close)}?"
    path = f"name a paper outside the repository by its path, as in ./run full FOLDER/{name}"
    return f"there is no target {name}; {hint} ({path})"


def configured(root: Path, folder: str) -> Content:
    """Read ``config/config.yaml`` with the file of the scale and the seed laid over it."""
    scale, _, seed = folder.partition("-seed")
    overlay = root / f"config/{scale}.yaml"
    laid_over = read(overlay) if overlay.is_file() else {"scale": scale}
    if seed:
        laid_over = {**laid_over, "seed": int(seed)}
    return merge(read(root / "config/config.yaml"), laid_over)


def is_results_folder(name: str) -> bool:
    """Decide whether a word names a folder of results: a scale, or a scale with another seed."""
    scales = "|".join(SCALES)
    return re.fullmatch(rf"({scales})(-seed[0-9]{{1,18}})?", name) is not None


def planned(
    root: Path,
    config: Mapping[str, Any],
    every: bool = False,
    run: bool = False,
) -> Plan:
    """Make the plan of a configuration.

    Parameters
    ----------
    root : Path
        The checkout.
    config : dict
        What ``config/config.yaml`` and the files over it say.
    every : bool, default False
        With all papers of the repository, after those that the configuration lists.
    run : bool, default False
        Check the files of the user's that take the place of data sets, too. The code that
        artifacts name is checked later, for those that run: see `without_wrong_code`.

    Raises
    ------
    ValueError
        If one of its files has a mistake; one line.
    """
    home = root / "src/papers"
    papers = list(config["papers"])
    if every:
        papers += list_papers(home)
    broken: dict[str, str] = {}
    loaded = load_all(
        home,
        papers,
        config["scale"],
        config.get("only"),
        broken if run else None,
        with_code=not run,
    )
    folders = dict.fromkeys(artifact.file.parent for artifact in loaded.values())
    shared = registry.load_registry(root / "config/datasets.yaml")
    declared = registry.of_papers(shared, folders)
    if run:
        homes = dict.fromkeys([home, *(folder.parent for folder in folders)])
        configuration.examine_local(config["data"]["local"], declared, *homes)
    entries = registry.with_users(declared, config["data"]["local"])
    measured = costs.read(root / "workflow/recorded/jobs.csv")
    usual_seed = read(root / "config/config.yaml").get("seed")
    plan = Plan(config, loaded, entries, measured, usual_seed, broken)
    return _without_broken(plan) if run else plan


def _without_broken(plan: Plan) -> Plan:
    """Leave out papers whose data sets or classes have a mistake, unless that leaves nothing."""
    mistakes: dict[str, str] = {}
    for artifact in plan.artifacts.values():
        try:
            plan.find_lack(artifact)
        except ValueError as error:
            mistakes.setdefault(artifact.paper, str(error))
    return leave_out(plan, mistakes)


def without_wrong_code(plan: Plan, names: Iterable[str]) -> Plan:
    """Leave out papers whose settings do not fit the classes or drawings that they name.

    Parameters
    ----------
    plan : Plan
        The plan.
    names : iterable of str
        The artifacts to check, which will run. The records of the others say that they ran with
        these settings and this code.

    Returns
    -------
    Plan
        The plan itself if there is no mistake.

    Raises
    ------
    ValueError
        If no paper is left.
    """
    mistakes: dict[str, str] = {}
    for name in names:
        artifact = plan.artifacts[name]
        try:
            check_code(artifact)
        except ValueError as error:
            mistakes.setdefault(artifact.paper, str(error))
    return leave_out(plan, mistakes) if mistakes else plan


def leave_out(plan: Plan, mistakes: Mapping[str, str]) -> Plan:
    """Leave out papers with a mistake, unless that leaves nothing."""
    broken = {**plan.broken, **mistakes}
    shown = {}
    for name, artifact in plan.artifacts.items():
        if artifact.paper not in broken:
            shown[name] = artifact
    if broken and not shown:
        raise ValueError("; ".join(broken.values()))
    return replace(plan, artifacts=shown, broken=broken)


def passed_over(plan: Plan, checkout: Path, root: Path) -> str:
    """Name in one line the papers with results below ``root`` that no page shows; "" if none."""
    shown = {artifact.paper for artifact in plan.artifacts.values()}
    shown.update(list_papers(checkout / "src/papers"))
    tables = (root / plan.results).glob("*/*/table.csv")
    papers = {file.parents[1].name for file in tables} - shown
    if not papers:
        return ""
    names = ", ".join(sorted(papers))
    reason = "its folder is not in `papers`; ./run site --papers FOLDER shows it"
    return f"left out of the pages: {names} ({reason})"


def of_run(root: Path, config: Mapping[str, Any], files: Iterable[Path]) -> Plan:
    """Check every file of the configuration and the user's own data, then plan the run."""
    configuration.examine(config, files)
    if config.get("only"):
        config = {**config, "scale": "part"}
    plan = planned(root, config, run=True)
    _ = plan.left_out  # names a data set that is not in the registry
    return plan
