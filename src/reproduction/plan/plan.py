"""From configuration and artifacts to files and job descriptions: everything the rules ask for by a name.

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
from reproduction.spec.artifact import NAME, SCALES, Artifact, Cell, load_all, merge
from reproduction.spec.papers import HOME, artifact_files, list_papers
from reproduction.spec.protocol import find_protocol
from reproduction.spec.settings import DISPLAY
from reproduction.spec.strict_yaml import Content, near, read

TARGETS_OF_TASKS = {"binary": "two classes", "classes": "classes", "regression": "real"}
"""Task of the registry -> what a protocol learns from such a data set."""
TABLE_SUFFIXES = ("html", "csv", "md", "tex")
# What `./run` does beside making targets.
COMMANDS = ["audit", "check", "compare", "export", "help", "lint", "new-artifact", "new-method", "new-paper"]
COMMANDS += ["reference", "site", "test", "try"]


@dataclass(frozen=True)
class Plan:
    """One configuration, its artifacts at its scale, where their data come from, and what jobs cost."""

    config: Mapping[str, Any]
    artifacts: dict[str, Artifact]
    entries: Registry
    measured: costs.Measured = field(default_factory=dict)
    usual_seed: int | None = None
    broken: Mapping[str, str] = field(default_factory=dict)
    """Paper -> the mistake in its files, for which it is left out."""

    @property
    def folder(self) -> str:
        """Name of its folders of results, figures, logs and pages: the scale, and an unusual seed."""
        scale, seed = self.config["scale"], self.config.get("seed")
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
        """Artifact -> why it cannot run here: no source has a data set, or a user's class is not found."""
        lacking = {}
        for name, artifact in self.artifacts.items():
            lacking[name] = self.find_lack(artifact)
        for name, artifact in self.artifacts.items():
            for used in filter(lacking.get, self._sources(artifact)):
                lacking[name] = lacking[name] or f"it draws {used}: {lacking[used]}"
        return {name: why for name, why in lacking.items() if why}

    def find_lack(self, artifact: Artifact) -> str:
        """Say why an artifact cannot run here; "" if it can. Raises ValueError: a mistake."""
        return self._lack(artifact) or self._lack_of_code(artifact)

    def _lack(self, artifact: Artifact) -> str:
        kept = (self.config.get("only") or {}).get("datasets")
        if kept and artifact.protocol and not set(kept) & {*(artifact.settings.list_data_sets() or [])}:
            return "its settings have none of the data sets in `only`"
        for dataset in artifact.data_sets(artifact.settings):
            try:
                if why := self.lack(dataset):
                    return why
                if artifact.protocol:
                    self._check_target(artifact.protocol, dataset)
            except ValueError as error:
                raise ValueError(f"{artifact.file}: datasets: {error}") from None
        return ""

    def _lack_of_code(self, artifact: Artifact) -> str:
        for label, spec in artifact.settings.select_methods().items():
            method = spec.method
            module, _, user = method.partition(":")
            file = user_modules.module_file(module) if user else None
            if file is not None and file.suffix == ".py":
                code_digest.digest_code(file)  # names a line that cannot be read
            elif user and file is None:
                why, paper = f"methods.{label}.method: {method!r}: no module {module!r}", artifact.file.parent
                modules = [file.stem for file in paper.glob("*.py")]
                if difflib.get_close_matches(module, modules):
                    raise ValueError(f"{artifact.file}: settings.{why}{near(module, modules)}")
                if module.partition(".")[0] != paper.name:
                    return f"{why}; is its folder on PYTHONPATH?"
                there = near(module, [f"{paper.name}.{file.stem}" for file in paper.glob("*.py")])
                raise ValueError(f"{artifact.file}: settings.{why}{there}")
        return ""

    def _check_target(self, protocol: str, dataset: str) -> None:
        """Compare what the registry says of a data set with what a protocol takes.

        The job does the same with the arrays. Raises ValueError: the protocol takes other targets.
        """
        entry = self.entry(dataset)
        if entry.task in TARGETS_OF_TASKS:
            classes = entry.shape.classes or {}
            values = ", ".join(map(str, classes))
            target = "two classes" if len(classes) == 2 else TARGETS_OF_TASKS[entry.task]
            find_protocol(protocol).check_target(dataset, target, values)

    def faults(self, words: Iterable[str]) -> dict[str, str]:
        """List what was asked for and is left out for another reason than its data: name -> why."""
        scopes = self.asked(words)
        found = {}
        for paper, why in self.broken.items():
            if "" in scopes:
                found[paper] = why
        for name in self.left_out:
            why = self._lack_of_code(self.artifacts[name])
            if why and f"{name}/".startswith(tuple(scopes)):
                found[name] = why
        return found

    @cached_property
    def shown(self) -> dict[str, Artifact]:
        """The artifacts that are not left out."""
        return {name: artifact for name, artifact in self.artifacts.items() if name not in self.left_out}

    def listed_as(self, paper: str) -> str:
        """How the configuration names a paper: by its name, or by the path of its folder."""
        return next((entry for entry in self.config["papers"] if Path(entry).name == paper), paper)

    def below(self, scope: str) -> dict[str, Artifact]:
        """Those shown below a scope: "" is all, "ors/" a paper, "ors/fig2/" one artifact."""
        return {name: artifact for name, artifact in self.shown.items() if f"{name}/".startswith(scope)}

    def artifact(self, name: str) -> Artifact:
        """The artifact of a name.

        Raises ValueError: none of that name, or one that is left out.
        """
        if name in self.left_out:
            raise ValueError(f"{name} cannot run: {self.left_out[name]}")
        if name not in self.artifacts:
            raise ValueError(f"there is no artifact {name}")
        return self.artifacts[name]

    def data_sets(self) -> list[str]:
        """Data sets that the shown artifacts use, pinned."""
        named = (name for a in self.shown.values() for name in a.data_sets(a.settings))
        return sorted(set(map(self.pinned, named)))

    def check_custom(self, scopes: Iterable[str]) -> None:
        """Import the user's classes and loaders. Raises ValueError: one cannot be used; why."""
        for artifact in (a for scope in scopes for a in self.below(scope).values() if a.protocol):
            for name in artifact.data_sets(artifact.settings):
                if (entry := self.entry(name)).file != registry.REGISTRY:
                    configuration.examine_loaders(name, entry)
            try:
                artifact.settings.check_custom()
            except ValueError as error:
                raise ValueError(f"{artifact.file}: {error}") from None

    def find_unusable(self, scopes: Iterable[str]) -> dict[str, str]:
        """Import what users wrote, paper by paper: paper -> what cannot be used.

        Its jobs fail with the same words; those of other papers run. Raises ValueError: no other
        paper is asked for.
        """
        asked = {name for scope in scopes for name in self.below(scope)}
        papers = dict.fromkeys(name.partition("/")[0] for name in sorted(asked))
        unusable = {}
        for paper in papers:
            try:
                self.check_custom([f"{name}/" for name in asked if name.startswith(f"{paper}/")])
            except ValueError as error:
                unusable[paper] = str(error)
        if unusable and len(unusable) == len(papers):
            raise ValueError("; ".join(unusable.values()))
        return unusable

    # Data sets, named as in artifacts: ``heart``, ``heart.package``

    def pinned(self, name: str) -> str:
        """The name with the kind of source that the configuration asks for: ``heart.packaged``.

        Raises ValueError: not in the registry.
        """
        dataset = registry.with_source(name, self.config["data"]["source"])
        registry.find(self.entries, dataset)
        return dataset

    def lack(self, name: str) -> str:
        """Why no source of that kind has the data set, in one line; "" if one has it.

        Raises ValueError: not in the registry, or the name itself pins a source that does not exist.
        """
        dataset = self.pinned(name)
        stem, pin, entry = registry.find(self.entries, dataset)
        if self.users(stem):
            return ""
        try:
            found = registry.sources(stem, entry, pin)
        except ValueError as error:
            if dataset == name and pin not in ("", LOCAL):
                raise
            return str(error)
        mirror = self.config["data"]["mirror"] or os.environ.get(MIRROR)
        if mirror or any(source.name != "mirror" for source in found) or Path(f"data/raw/{dataset}").exists():
            return ""
        return f"{stem} comes from a mirror only, and none is set: data.mirror, or the variable {MIRROR}"

    def prepared(self, names: Iterable[str]) -> list[str]:
        """The prepared files of data sets."""
        return [f"data/prepared/{self.pinned(name)}.npz" for name in names]

    def entry(self, dataset: str) -> Entry:
        """What the registry says of a data set, with a pin or without."""
        return registry.find(self.entries, dataset)[2]

    def users(self, dataset: str) -> UserFile | None:
        """The user's own file in place of a data set, as the configuration describes it."""
        spec: UserFile | None = self.config["data"]["local"].get(dataset.partition(".")[0])
        return spec

    def local(self, dataset: str) -> list[str]:
        """The user's own file in place of a data set, if there is one."""
        return [str(registry.users_file(spec))] if (spec := self.users(dataset)) else []

    def fetch_options(self, dataset: str) -> list[str]:
        """What the configuration says about sources, as options of the script ``fetch.py``."""
        data, spec = self.config["data"], self.users(dataset)
        options = [f"--mirror={data['mirror']}"] if data["mirror"] else []
        options += ["--local", spec if isinstance(spec, str) else json.dumps(spec)] if spec else []
        return options + ["--offline"] * bool(data["offline"])

    # Jobs

    def is_single(self, name: str) -> bool:
        """Is an experiment one job?"""
        artifact = self.artifact(name)
        return len(artifact.cells) * len(artifact.blocks) == 1

    def is_run_twice(self, name: str) -> bool:
        """Whether the first repetition is run again and compared: papers of users at smoke scale."""
        artifact = self.artifact(name)
        is_own = not artifact.file.is_relative_to(HOME)
        return self.config["scale"] == "smoke" and is_own and not artifact.measured

    def experiments(self, single: bool) -> str:
        """A regular expression for the experiments of one cell and one block, or for the others."""
        computed = [name for name, artifact in self.shown.items() if artifact.protocol]
        names = [re.escape(name) for name in computed if self.is_single(name) == single]
        return f"(?:{'|'.join(names) or '(?!)'})"

    def cell(self, name: str, cell: str = "") -> Cell:
        """A cell of the artifact; without a name the whole of it."""
        artifact = self.artifact(name)
        return artifact.cells[cell] if cell else Cell(artifact.as_written, artifact.settings)

    def data(self, name: str, cell: str = "") -> list[str]:
        """Prepared data files of a cell, or of all."""
        return self.prepared(self.artifact(name).data_sets(self.cell(name, cell).settings))

    def job(self, name: str, cell: str = "") -> Content:
        """What a job computes: a change of it runs the job again; captions and labels are not in it."""
        artifact = self.artifact(name)
        part = self.cell(name, cell)
        settings = dict(part.as_written)
        for label in part.settings.select_methods():
            written = settings["methods"][label]
            read = {key: value for key, value in written.items() if key not in DISPLAY}
            settings["methods"] = settings["methods"] | {label: read}
        experiment = artifact.settings.find_experiment(name)
        what = {"protocol": artifact.protocol, "experiment": experiment, "seed": self.config["seed"]}
        return what | {"settings": settings}

    def words(self, name: str) -> list[str]:
        """The words of the one job of a small experiment, for ``job.py``."""
        folder = f"{self.results}/{name}"
        options = {"--key": f".cache/keys/{folder}/record.json", "--record": f"{folder}/record.json"}
        options |= {"--table": f"{folder}/table.csv", "--points": f"{folder}/points.npz"}
        named = [word for pair in options.items() for word in pair]
        return ["experiment", *named, "--data", *self.data(name)]

    def repetitions(self, name: str, block: int = 0) -> str:
        """Half-open range of the repetitions of a block, ``0:5``."""
        start, stop = self.artifact(name).blocks[block]
        return f"{start}:{stop}"

    def resources(self, name: str, cell: str, job: str, attempt: int = 1) -> dict[str, int]:
        """``mem_mb`` and ``runtime`` (minutes): declared, else measured with a margin, else `costs.DEFAULT`.

        A cell that was not measured, or an experiment in one job, which the full scale may cut in several, is
        like the dearest other cell of its artifact. The second attempt asks for twice as much.
        """
        declared = self.artifact(name).resources
        like = (c for (a, _, kind), c in self.measured.items() if a == name and job in (kind, "experiment"))
        asked = costs.asked(self.measured.get((name, cell, job)) or max(like, default=None))
        asked |= declared.model_dump(exclude_unset=True) if declared else {}
        return {resource: value * attempt for resource, value in asked.items()}

    def seconds(self, rule: str, wildcards: Mapping[str, str]) -> float:
        """How long a job is expected to take: as it last took here, else as recorded of the full scale."""
        scale, artifact, cell = self.config["scale"], wildcards.get("artifact", ""), wildcards.get("cell", "")
        log_folder = f"logs/{self.folder}/{artifact}"
        job = ".".join(filter(None, (cell, wildcards.get("block", rule))))
        log, key = Path(f"{log_folder}/{job}.time.tsv"), (artifact, cell, rule)
        if log.is_file() and log.stat().st_size:
            return costs.times(log)[0]
        if scale == "full" and key in self.measured:
            return self.measured[key][0]
        return costs.TYPICAL.get(rule.partition("_")[0], 3.0)

    def lead(self, name: str) -> int:
        """How early the first experiment of a paper starts: 1000, more in a larger paper; of others 0.

        Two that start side by side would compile the same kernels.
        """
        paper = [each for each in self.below(f"{name.partition('/')[0]}/") if self.artifacts[each].protocol]
        return (1000 + len(paper)) * (name == paper[0])

    # Results

    def tuned(self, name: str, cells: Iterable[str] = ()) -> list[str]:
        """Files of tuned parameters of some cells, by default all; none if the protocol does not tune."""
        artifact, folder = self.artifact(name), f"{self.results}/{name}/cells"
        tunes = find_protocol(artifact.protocol).tune is not None
        return [f"{folder}/{cell}/tuned.json" for cell in cells or artifact.cells] if tunes else []

    def parts(self, name: str, suffix: str = "csv") -> list[str]:
        """Tables of all blocks of all cells, in order; with the suffix ``points.npz`` what they tested."""
        artifact, folder = self.artifact(name), f"{self.results}/{name}/cells"
        blocks = range(len(artifact.blocks))
        return [f"{folder}/{cell}/{block}.{suffix}" for cell in artifact.cells for block in blocks]

    def about(self, name: str) -> Content:
        """What the record of a result says of where it belongs."""
        artifact = self.artifact(name)
        what = {"paper": artifact.paper, "artifact": artifact.name, "scale": self.config["scale"]}
        return what | {"seed": self.config["seed"], "settings": artifact.as_written}

    # Figures and tables

    def _sources(self, artifact: Artifact) -> list[str]:
        own = [artifact.name] if artifact.protocol else []
        return [f"{artifact.paper}/{name}" for name in own + artifact.uses]

    def drawn(self, name: str) -> dict[str, str]:
        """Artifacts (without the paper) whose tables are drawn, with these: its own, then those it uses."""
        sources = self._sources(self.artifact(name))
        return {source.partition("/")[2]: f"{self.results}/{source}/table.csv" for source in sources}

    def shown_with(self, name: str) -> dict[str, Shown]:
        """What a figure or table shows of its own artifact, then of those that it uses."""
        return show(self.artifacts_shown(self.artifact(name)))

    def artifacts_shown(self, artifact: Artifact) -> list[Artifact]:
        """The artifact that is drawn, then those that it uses."""
        names = dict.fromkeys([f"{artifact.paper}/{artifact.name}", *self._sources(artifact)])
        return [self.artifacts[name] for name in names]

    def _described(self, artifact: Artifact) -> Content:
        """What a figure or table shows besides tables, in the words of the files."""
        shown = self.artifacts_shown(artifact)
        return {each.name: each.describe(printed=artifact.kind == "table") for each in shown}

    def drawing(self, name: str) -> Content:
        """What an artifact shows next to its tables: a change of it draws it again."""
        artifact = self.artifact(name)
        called = names_of.read_names(artifact.file.parent)
        return {"names": called, "render": artifact.render, "settings": self._described(artifact)}

    def texts_digest(self) -> str:
        """Digest of all artifacts, captions included: a change of it writes the pages again."""
        return _digest([[a.content, names_of.read_names(a.file.parent)] for a in self.artifacts.values()])

    def drawings(self, name: str) -> list[str]:
        """The files of the figure or table, one for each format; the first is the one that pages show."""
        figure = sorted(self.config["formats"], key=lambda suffix: suffix != "png")
        suffixes = figure if self.artifacts[name].kind == "figure" else TABLE_SUFFIXES
        return [f"{self.figures}/{name}.{suffix}" for suffix in suffixes]

    def outputs(self, name: str) -> list[str]:
        """Figure or table, and record of the result, of an artifact."""
        computed = bool(self.artifact(name).protocol)
        return self.drawings(name) + [f"{self.results}/{name}/record.json"] * computed

    # Verdicts

    def judged(self, scope: str) -> dict[str, Artifact]:
        """Artifacts below a scope (see `below`) that have claims or published values.

        Those with measured times are judged by themselves only: what they say differs from run to run.
        """
        judged = ((name, a) for name, a in self.below(scope).items() if a.claims or a.published)
        return {name: artifact for name, artifact in judged if not artifact.measured or scope == f"{name}/"}

    def judged_files(self, scope: str, file: str) -> list[str]:
        """Their files of that name, in the same order."""
        return [f"{self.results}/{self.computed(name)}/{file}" for name in self.judged(scope)]

    def computed(self, name: str) -> str:
        """The artifact with the table of an artifact: itself, or the first that it uses."""
        artifact = self.artifact(name)
        return name if artifact.protocol else f"{artifact.paper}/{artifact.uses[0]}"

    def pages(self, scope: str) -> list[str]:
        """Scopes that are judged apart: this one, and every artifact below it with measured times."""
        measured = [f"{name}/" for name, a in self.below(scope).items() if a.measured]
        return [page for page in dict.fromkeys([scope, *measured]) if self.judged(page)]

    def expectations(self, scope: str) -> str:
        """Digest of what they are judged by: a change of it judges again, a change of a caption does not."""
        contents = [artifact.content for artifact in self.judged(scope).values()]
        return _digest([[content.get(key) for key in ("published", "claims")] for content in contents])

    def published_data(self, scope: str) -> list[str]:
        """Prepared data of those with published values: a constant classifier is scored as a baseline."""
        published = [name for name, artifact in self.judged(scope).items() if artifact.published]
        return sorted({file for name in published for file in self.data(self.computed(name))})

    def promised(self, scope: str) -> list[str]:
        """Every file of the artifacts below a scope, verdicts included: what a target asks for."""
        files = [file for name in self.below(scope) for file in self.outputs(name)]
        return files + [f"{self.results}/{page}verdicts.csv" for page in self.pages(scope)]

    # Targets: each paper, and each artifact as <paper>_<artifact>

    @cached_property
    def targets(self) -> dict[str, str]:
        """Target -> the scope (see `below`) of the files that it asks for."""
        papers = {artifact.paper: f"{artifact.paper}/" for artifact in self.artifacts.values()}
        return papers | {name.replace("/", "_"): f"{name}/" for name in self.shown}

    def refusals(self, home: Path) -> dict[str, str]:
        """Target -> why it cannot be made: it lacks a data set, or ``papers`` does not list its paper.

        home: of the repository's papers; the files of those that are not listed are not read.
        """
        found = {name.replace("/", "_"): f"{name} cannot run: {why}" for name, why in self.left_out.items()}
        known = {artifact.paper for artifact in self.artifacts.values()}
        for paper, why in self.broken.items():
            known.add(paper)
            names = [f"{paper}_{file.stem}" for file in Path(self.listed_as(paper)).glob("*.yaml")]
            found |= dict.fromkeys((paper, *names), why)
        for paper in list_papers(home):
            if paper in known:
                continue
            once = f"--config 'papers=[{','.join([*self.config['papers'], paper])}]'"
            why = f"`papers` in config/config.yaml does not list {paper}; add it, or for one run: {once}"
            names = [f"{paper}_{file.stem}" for file in artifact_files(home / paper)]
            found |= {target: why for target in (paper, *names) if NAME.fullmatch(target)}
        return found

    def asked(self, words: Iterable[str]) -> list[str]:
        """The scopes of some targets; of none, or of ``all``, the one of everything. Files have none."""
        given = list(words)
        if not given or "all" in given:
            return [""]
        return [self.targets[word] for word in given if word in self.targets]

    def drawn_together(self, words: Iterable[str]) -> dict[str, list[str]]:
        """Scope -> the artifacts that one job draws: all of a paper, or one that is asked for alone.

        words : of the command line. Whatever they are, every artifact is drawn by one job.
        """
        asked = {self.targets[word].strip("/") for word in words if word in self.targets}
        together: dict[str, list[str]] = {}
        for name in self.shown:
            paper = name.partition("/")[0]
            alone = name in asked and paper not in asked
            together.setdefault(name if alone else paper, []).append(name)
        return together


def show(artifacts: Sequence[Artifact]) -> dict[str, Shown]:
    """What a figure or table shows of artifacts, its own first."""
    shown = {}
    for artifact in artifacts:
        published = artifact.values if artifacts[0].kind == "table" else ()
        shown[artifact.name] = Shown(artifact.settings, artifact.protocol, published)
    return shown


def _digest(content: object) -> str:
    return hashlib.sha256(json.dumps(content).encode()).hexdigest()[:16]


def unknown_target(name: str, known: Iterable[str]) -> str:
    """The message for a name that is not a target, with the nearest ones."""
    commands = [f"the command ./run {each}" for each in difflib.get_close_matches(name, COMMANDS, n=1)]
    close = commands + difflib.get_close_matches(name, known, n=3)
    hint = f"did you mean {', '.join(close)}?" if close else "it would be a paper, or <paper>_<artifact>"
    return f"there is no target {name}; {hint}"


def configured(root: Path, folder: str) -> Content:
    """``config/config.yaml`` with the overlay of the scale over it, and the seed of a folder of results."""
    scale, _, seed = folder.partition("-seed")
    overlay = root / f"config/{scale}.yaml"
    laid_over = read(overlay) if overlay.is_file() else {"scale": scale}
    if seed:
        laid_over = {**laid_over, "seed": int(seed)}
    return merge(read(root / "config/config.yaml"), laid_over)


def is_results_folder(name: str) -> bool:
    """Is it the name of a folder of results: a scale, or a scale with another seed?"""
    return re.fullmatch(rf"({'|'.join(SCALES)})(-seed[0-9]{{1,18}})?", name) is not None


def planned(root: Path, config: Mapping[str, Any], every: bool = False, run: bool = False) -> Plan:
    """The plan of a configuration. Raises ValueError: a mistake in one of its files, in one line.

    every : with all papers of the repository, after those that the configuration lists.
    run : check the files of the user's that take the place of data sets, too.
    """
    home, only = root / "src/papers", config.get("only")
    papers = [*config["papers"], *(list_papers(home) if every else ())]
    broken: dict[str, str] = {}
    loaded = load_all(home, papers, config["scale"], only, broken if run else None)
    folders = dict.fromkeys(artifact.file.parent for artifact in loaded.values())
    known = registry.of_papers(registry.load_registry(root / "config/datasets.yaml"), folders)
    if run:
        homes = dict.fromkeys([home, *(folder.parent for folder in folders)])
        configuration.examine_local(config["data"]["local"], known, *homes)
    entries = registry.with_users(known, config["data"]["local"])
    measured = costs.read(root / "workflow/recorded/jobs.csv")
    usual_seed = read(root / "config/config.yaml").get("seed")
    made = Plan(config, loaded, entries, measured, usual_seed, broken)
    return _without_broken(made) if run else made


def _without_broken(made: Plan) -> Plan:
    """Leave out papers whose data sets or classes have a mistake, unless that leaves nothing."""
    broken = dict(made.broken)
    for artifact in made.artifacts.values():
        try:
            made.find_lack(artifact)
        except ValueError as error:
            broken.setdefault(artifact.paper, str(error))
    shown = {name: each for name, each in made.artifacts.items() if each.paper not in broken}
    if broken and not shown:
        raise ValueError("; ".join(broken.values()))
    return replace(made, artifacts=shown, broken=broken)


def passed_over(made: Plan, checkout: Path, root: Path) -> str:
    """One line that names papers with results below ``root`` that no page shows; "" without any."""
    known = {artifact.paper for artifact in made.artifacts.values()} | set(
        list_papers(checkout / "src/papers")
    )
    found = {file.parents[1].name for file in (root / made.results).glob("*/*/table.csv")} - known
    why = "its folder is not in `papers`; ./run site --papers FOLDER shows it"
    return f"not shown on the pages: {', '.join(sorted(found))} ({why})" if found else ""


def of_run(root: Path, config: Mapping[str, Any], files: Iterable[Path]) -> Plan:
    """`planned` of a run, every file of its configuration and the user's own data checked."""
    configuration.examine(config, files)
    made = planned(root, {**config, "scale": "part"} if config.get("only") else config, run=True)
    _ = made.left_out  # names a data set that is not in the registry
    return made
