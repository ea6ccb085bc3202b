"""From configuration and artifacts to files and job descriptions: everything the rules ask for by a name.

An artifact is named ``<paper>/<artifact>`` here, as in the paths of its files; its repetition with another
root seed is named ``<paper>/<artifact>@<seed>``, has results of its own, and neither figure nor page.
"""

import hashlib
import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from noisylabels import METHODS
from reproduction import code_digest, methods
from reproduction.artifact import Artifact
from reproduction.costs import Costs
from reproduction.data_sources import DataSources
from reproduction.frame import dependencies
from reproduction.methods import DISPLAY
from reproduction.protocols import walk
from reproduction.verdicts import published

TABLE_SUFFIXES = ("html", "csv", "md", "tex")
UNMEASURED = Costs({})


@dataclass(frozen=True)
class Plan:
    """One configuration, its artifacts at its scale, where their data come from, and what jobs cost."""

    config: dict[str, Any]
    loaded: dict[tuple[str, str], Artifact]
    supply: DataSources
    costs: Costs = UNMEASURED

    # Artifacts

    @cached_property
    def results(self) -> str:
        """Folder of the result tables and verdicts of the scale."""
        return f"results/{self.config['scale']}"

    @cached_property
    def figures(self) -> str:
        """Folder of the figures and tables of the scale."""
        return f"figures/{self.config['scale']}"

    @cached_property
    def artifacts(self) -> dict[str, Artifact]:
        """Every artifact by its name."""
        return {f"{paper}/{name}": artifact for (paper, name), artifact in self.loaded.items()}

    @cached_property
    def left_out(self) -> dict[str, str]:
        """Artifact -> why it cannot run here: a data set that no source of the pinned kind has,
        or a class of the user's own that is not to be found.
        """
        lacking = {name: self._lack(artifact) for name, artifact in self.artifacts.items()}
        for name, artifact in self.artifacts.items():
            for used in self._sources(artifact):
                lacking[name] = lacking[name] or (
                    f"it draws {used}: {lacking[used]}" if lacking[used] else ""
                )
        return {name: why for name, why in lacking.items() if why}

    def _lack(self, artifact: Artifact) -> str:
        lacks = map(self.supply.lack, artifact.data_sets(artifact.settings))
        return next(filter(None, lacks), "") or self._missing(artifact)

    def _missing(self, artifact: Artifact) -> str:
        own = artifact.settings.get("methods", {})
        why = ((label, methods.missing(content["method"])) for label, content in own.items())
        return next((f"methods.{label}.method: {reason}" for label, reason in why if reason), "")

    @cached_property
    def shown(self) -> dict[str, Artifact]:
        """The artifacts that are not left out."""
        return {name: artifact for name, artifact in self.artifacts.items() if name not in self.left_out}

    def below(self, scope: str) -> dict[str, Artifact]:
        """Those shown below a scope: "" is all, "ors/" a paper, "ors/fig2/" one artifact."""
        return {name: artifact for name, artifact in self.shown.items() if f"{name}/".startswith(scope)}

    def artifact(self, name: str) -> Artifact:
        """The artifact of a name, with a seed or without.

        Raises ValueError: none of that name, or one that is left out.
        """
        name = name.partition("@")[0]
        if name in self.left_out:
            raise ValueError(f"{name} cannot run: {self.left_out[name]}")
        if name not in self.artifacts:
            raise ValueError(f"there is no artifact {name}")
        return self.artifacts[name]

    def data_sets(self) -> list[str]:
        """Data sets that the shown artifacts use, pinned."""
        named = {name for a in self.shown.values() for name in a.data_sets(a.settings)}
        return sorted({self.supply.pinned(name) for name in named})

    # Experiments

    def _single(self) -> dict[str, bool]:
        own = {name: artifact for name, artifact in self.artifacts.items() if "protocol" in artifact.content}
        return {name: len(a.cells) * len(a.blocks) == 1 for name, a in own.items()}

    def experiments(self, single: bool) -> str:
        """A regular expression for the experiments of one cell and one block, or for the others."""
        names = _any_of(name for name, alone in self._single().items() if alone == single)
        return f"(?:{names})(?:@[0-9]+)?"

    def tunes(self, name: str) -> bool:
        """Does the protocol of the artifact tune parameters before it runs?"""
        protocol = self.artifact(name).content["protocol"]
        if dependencies.is_typed(protocol):
            return walk.find(protocol).tune is not None
        return dependencies.defines(dependencies.protocol_module(protocol), "tune")

    def check_custom(self, name: str) -> None:
        """Import the user's classes that the settings name. Raises ValueError: one cannot be used; why."""
        typed = self.artifact(name).typed
        try:
            if typed is not None:
                typed.check_custom()
        except ValueError as error:
            raise ValueError(f"{self.artifact(name).file}: settings.{error}") from None

    def only_cell(self, name: str) -> str:
        """Name of the cell of an experiment that has one."""
        (cell,) = self.artifact(name).cells
        return cell

    def cell(self, name: str, cell: str = "") -> dict[str, Any]:
        """Settings of a cell of the artifact; without a name those of its only cell."""
        return self.artifact(name).cells[cell or self.only_cell(name)]

    def data(self, name: str, cell: str = "") -> list[str]:
        """Prepared data files of a cell."""
        artifact = self.artifact(name)
        return self.supply.prepared(artifact.data_sets(self.cell(name, cell)))

    def all_data(self, name: str) -> list[str]:
        """Prepared data files of all cells."""
        artifact = self.artifact(name)
        return self.supply.prepared(artifact.data_sets(artifact.settings))

    def code(self, job: str, name: str, cell: str = "") -> str:
        """The code of a job of a cell: its script, and what computes (see `code_digest.stamped`)."""
        return code_digest.stamped(f"scripts/{job}.py", *self._computing(name, cell))

    def computing_code(self, name: str) -> str:
        """Digest of the code that can change numbers of the artifact: its protocol, its methods."""
        return code_digest.digest(self._computing(name))

    def _computing(self, name: str, cell: str = "") -> list[str]:
        artifact = self.artifact(name)
        settings = artifact.cells[cell] if cell else artifact.settings
        methods = [_module(spec["method"]) for spec in settings.get("methods", {}).values()]
        protocol = dependencies.protocol_module(artifact.content["protocol"])
        return [f"reproduction.{protocol}", *methods]

    def job(self, name: str, cell: str = "") -> str:
        """What a job computes, as JSON: a change of it re-runs the job; captions and labels are not in it."""
        artifact = self.artifact(name)
        settings = self.cell(name, cell)
        if "methods" in settings:
            settings = settings | {"methods": {k: _computed(m) for k, m in settings["methods"].items()}}
        return json.dumps(
            {
                "protocol": artifact.content["protocol"],
                "experiment": artifact.settings.get("experiment", name.partition("@")[0]),
                "seed": self.seed(name),
                "settings": settings,
            }
        )

    def repetitions(self, name: str, block: int = 0) -> str:
        """Half-open range of the repetitions of a block, ``0:5``."""
        start, stop = self.artifact(name).blocks[block]
        return f"{start}:{stop}"

    def seed(self, name: str) -> int:
        """Root of the random numbers of an artifact: the one in its name, else that of the configuration."""
        return int(name.partition("@")[2] or self.config["seed"])

    def resources(self, name: str, cell: str, job: str, attempt: int = 1) -> dict[str, int]:
        """``mem_mb`` and ``runtime`` (minutes) to ask a cluster for; see `Costs.resources`."""
        declared = self.artifact(name).content.get("resources", {})
        return self.costs.resources(name.partition("@")[0], cell, job, declared, attempt)

    def group(self, name: str, cell: str, job: str) -> tuple[str, int]:
        """The cluster jobs with which one may share a submission: their group, how many make one."""
        size = self.costs.batch(name.partition("@")[0], cell, job)
        return f"{job}-{name.replace('/', '-')}-x{size}", size

    # Results

    def tuned(self, name: str, cells: Iterable[str] = ()) -> list[str]:
        """Files of tuned parameters of some cells, by default all; none if the protocol does not tune."""
        folder = f"{self.results}/{name}/cells"
        asked = list(cells) or list(self.artifact(name).cells)
        return [f"{folder}/{cell}/tuned.json" for cell in asked] if self.tunes(name) else []

    def parts(self, name: str, suffix: str = "csv") -> list[str]:
        """Tables of all blocks of all cells, in order; with the suffix ``points.npz`` what they tested."""
        artifact, folder = self.artifact(name), f"{self.results}/{name}/cells"
        blocks = range(len(artifact.blocks))
        return [f"{folder}/{cell}/{block}.{suffix}" for cell in artifact.cells for block in blocks]

    def about(self, name: str) -> str:
        """What provenance says of a result, as JSON."""
        artifact = self.artifact(name)
        what = {"paper": artifact.paper, "artifact": artifact.name, "scale": self.config["scale"]}
        what |= {"seed": self.seed(name), "code": self.computing_code(name)}
        return json.dumps(what | {"settings": artifact.settings})

    # Figures and tables

    def _sources(self, artifact: Artifact) -> list[str]:
        own = [artifact.name] if "protocol" in artifact.content else []
        return [f"{artifact.paper}/{name}" for name in own + artifact.content.get("uses", [])]

    def drawn(self, name: str) -> list[str]:
        """Artifacts (without the paper) whose tables are drawn: its own first, then those it uses."""
        return [source.partition("/")[2] for source in self._sources(self.artifact(name))]

    def tables(self, name: str) -> list[str]:
        """Their result tables, in the same order."""
        return [f"{self.results}/{source}/table.csv" for source in self._sources(self.artifact(name))]

    def printed_shown(self, name: str) -> list[str]:
        """The CSV files with the printed values that a table shows beside ours."""
        if self.artifact(name).content["kind"] != "table":
            return []
        return printed_values(self.artifacts[source] for source in self._sources(self.artifact(name)))

    def drawing_code(self, names: Iterable[str]) -> str:
        """The code that draws some artifacts."""
        drawn = [self.artifact(name) for name in names]
        modules = [f"figures.{artifact.content['render'].partition(':')[0]}" for artifact in drawn]
        shown = (self.artifacts[source].content["protocol"] for a in drawn for source in self._sources(a))
        modules += map(dependencies.protocol_module, shown)  # the models of their settings
        return code_digest.stamped("scripts/draw.py", *(f"reproduction.{module}" for module in modules))

    def settings_shown(self, name: str) -> dict[str, Any]:
        """Settings of every artifact that is shown; a table is given the printed values too."""
        artifact = self.artifact(name)
        printed = artifact.content["kind"] == "table"
        shown = dict.fromkeys([artifact.name, *self.drawn(name)])
        return {each: self.artifacts[f"{artifact.paper}/{each}"].shown(printed) for each in shown}

    def shown_digest(self, names: Iterable[str]) -> str:
        """Digest of what some artifacts show beside their tables: a change of it draws them again."""
        shown = [[name, self.artifact(name).content["render"], self.settings_shown(name)] for name in names]
        return hashlib.sha256(json.dumps(shown).encode()).hexdigest()[:16]

    def texts_digest(self) -> str:
        """Digest of all artifacts, captions included: a change of it writes the pages again."""
        texts = json.dumps([artifact.content for artifact in self.artifacts.values()])
        return hashlib.sha256(texts.encode()).hexdigest()[:16]

    def suffixes(self, kind: str) -> list[str]:
        """File formats of a figure or table; the first is the one that pages show."""
        others = [suffix for suffix in self.config["formats"] if suffix != "png"]
        return ["png", *others] if kind == "figure" else list(TABLE_SUFFIXES)

    def drawings(self, name: str) -> list[str]:
        """The files of the figure or table, one for each format."""
        suffixes = self.suffixes(self.artifact(name).content["kind"])
        return [f"{self.figures}/{name}.{suffix}" for suffix in suffixes]

    def outputs(self, name: str) -> list[str]:
        """Figure or table, and provenance, of an artifact."""
        computed = "protocol" in self.artifact(name).content
        return self.drawings(name) + [f"{self.results}/{name}/provenance.json"] * computed

    # Verdicts

    def judged(self, scope: str) -> dict[str, Artifact]:
        """Artifacts below a scope (see `below`) that have claims or printed values.

        Those with measured times are judged by themselves only: what they say differs from run to run.
        """
        return {
            name: artifact
            for name, artifact in self.below(scope).items()
            if (artifact.content.get("claims") or artifact.content.get("published"))
            and (not artifact.content.get("measured") or scope == f"{name}/")
        }

    def pages(self, scope: str) -> list[str]:
        """Scopes that have a page of verdicts: this one, and every artifact below it with measured times."""
        measured = [f"{name}/" for name, a in self.below(scope).items() if a.content.get("measured")]
        return [page for page in dict.fromkeys([scope, *measured]) if self.judged(page)]

    def expectations(self, scope: str) -> str:
        """What they were judged by, as JSON: a change of it judges again, a change of a caption does not."""
        contents = [artifact.content for artifact in self.judged(scope).values()]
        return json.dumps([[content.get(key) for key in ("published", "claims")] for content in contents])

    def printed_data(self, scope: str) -> list[str]:
        """Prepared data of those with printed values: a constant classifier is a control of their margins."""
        printed = [name for name, a in self.judged(scope).items() if a.content.get("published")]
        return sorted({file for name in printed for file in self.all_data(name)})

    def promised(self, scope: str) -> list[str]:
        """Every file of the artifacts below a scope, verdicts included: what a target asks for."""
        files = [file for name in self.below(scope) for file in self.outputs(name)]
        repeated = [name for name in self.below(scope) if len(self.replicas(name)) > 1]
        files += [f"{self.results}/{name}/seeds.html" for name in repeated]
        return files + [f"{self.results}/{page}verdicts.csv" for page in self.pages(scope)]

    # Seeds

    def replicas(self, name: str) -> list[str]:
        """An experiment and its repetitions with the other ``seeds`` of the configuration.

        None of an artifact that computes nothing; measured times are not repeated.
        """
        content = self.artifact(name).content
        if "protocol" not in content or content.get("measured"):
            return []
        others = [seed for seed in self.config.get("seeds", []) if seed != self.config["seed"]]
        return [name, *(f"{name}@{seed}" for seed in others)]

    def replica_tables(self, name: str) -> list[str]:
        """Their result tables, in the same order."""
        return [f"{self.results}/{each}/table.csv" for each in self.replicas(name)]


def _computed(method: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in method.items() if key not in DISPLAY}


def _module(method: str) -> str:
    """The module of a method: of the library by its name, of the user's by ``package.module:Class``."""
    return method.partition(":")[0] if ":" in method else f"noisylabels.{METHODS[method].partition(':')[0]}"


def _any_of(names: Iterable[str]) -> str:
    return "|".join(map(re.escape, names)) or "(?!)"


def printed_values(artifacts: Iterable[Artifact]) -> list[str]:
    """The CSV files with the printed values of artifacts, of those that have any."""
    return paths(published.file_of(a.file) for a in artifacts if a.content.get("published"))


def paths(files: Iterable[Path]) -> list[str]:
    """Paths as the rules name them: relative to the working directory where they lie below it."""
    here = Path.cwd()
    return [str(file.relative_to(here) if file.is_relative_to(here) else file) for file in files]
