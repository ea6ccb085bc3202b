"""Artifacts: one YAML file is one figure or table of one paper.

An artifact says what to compute (protocol, data sets, settings), how to cut it into jobs (shards), how to
draw it (render) and what was printed or claimed. This module reads the files, checks them against their
schemas and cuts them into cells and blocks. It imports nothing heavy: the workflow calls it whenever it
draws its graph.
"""

import copy
import difflib
import itertools
import json
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from reproduction.frame import checks, names
from reproduction.frame.schemas import check
from reproduction.strict_yaml import ArtifactError, read
from reproduction.verdicts import published

__all__ = ["SCALES", "Artifact", "ArtifactError", "check", "load", "load_all", "merge"]

SCALES = ("smoke", "quick", "full")

NAMED = ("methods", "tasks", "grids")
"""Settings whose keys are names chosen by the artifact; what a reduction says of other names is ignored."""


@dataclass(frozen=True)
class Artifact:
    """One checked artifact at one scale; in ``content``, ``published`` is the list of the printed values."""

    paper: str
    name: str
    scale: str
    content: dict[str, Any]
    file: Path

    @cached_property
    def settings(self) -> dict[str, Any]:
        """Settings of the scale: the full ones with the reduction of the scale laid over them."""
        full = self.content.get("settings", {})
        return merge(full, _fitting(full, _reduction(self.content, "settings", self.scale)))

    @cached_property
    def shards(self) -> dict[str, Any]:
        """How the scale is cut into jobs: ``by`` (keys of the settings), ``repetitions`` (per job)."""
        return merge(self.content.get("shards", {}), _reduction(self.content, "shards", self.scale))

    @cached_property
    def cells(self) -> dict[str, dict[str, Any]]:
        """Cell name -> settings in which every key of ``shards.by`` keeps one of its entries."""
        keys = self.shards.get("by", [])
        options = [self._options(key) for key in keys]
        cells = {}
        for choice in itertools.product(*options):
            name = ",".join(f"{key}={label}" for key, (label, _) in zip(keys, choice, strict=True)) or "all"
            narrowed = dict(zip(keys, (kept for _, kept in choice), strict=True))
            cells[names.shortened(name)] = self.settings | narrowed
        return cells

    def _options(self, key: str) -> list[tuple[str, Any]]:
        try:
            return list(names.distinct(_entries(self.settings[key])))
        except ValueError as error:
            raise ArtifactError(f"shards.by: {key}: {error}") from None

    @cached_property
    def blocks(self) -> list[tuple[int, int]]:
        """Half-open ranges of repetitions, ``shards.repetitions`` long (all of them in one block without
        it).
        """
        total = self.settings.get("repetitions", 1)
        size = self.shards.get("repetitions", total)
        return [(start, min(start + size, total)) for start in range(0, total, size)]

    def shown(self, printed: bool) -> dict[str, Any]:
        """Settings for a figure or table, and the protocol; ``printed``: with the list ``published``."""
        shown = self.settings | {key: self.content[key] for key in ("protocol",) if key in self.content}
        return shown | ({"published": self.content.get("published", [])} if printed else {})

    def data_sets(self, settings: dict[str, Any]) -> list[str]:
        """Those of the artifact's data sets that ``settings.datasets`` names; without that key, all."""
        names: list[str] = self.content.get("datasets", [])
        wanted = settings.get("datasets")
        return [name for name in names if wanted is None or name.partition(".")[0] in wanted]


def _reduction(content: dict[str, Any], part: str, scale: str) -> dict[str, Any]:
    reduction: dict[str, Any] = content.get("reductions", {}).get(scale, {}).get(part, {})
    return reduction


def _fitting(full: dict[str, Any], reduction: dict[str, Any]) -> dict[str, Any]:
    """A reduction without the methods, tasks, grids and data sets that the settings do not have.

    A copy of an artifact may have removed them, and a reduction only makes smaller what is there.
    """
    kept = dict(reduction)
    for key in NAMED:
        if isinstance(kept.get(key), dict):
            kept[key] = {name: entry for name, entry in kept[key].items() if name in full.get(key, {})}
    if "datasets" in kept:
        kept["datasets"] = [name for name in kept["datasets"] if name in full.get("datasets", [])]
        if not kept["datasets"]:
            del kept["datasets"]
    return kept


def merge(base: dict[str, Any], overlay: dict[str, Any]) -> dict[str, Any]:
    """Overlay on base: mappings are merged key by key, everything else is replaced; neither argument is
    changed.
    """
    merged = copy.deepcopy(base)
    for key, value in overlay.items():
        both = isinstance(value, dict) and isinstance(merged.get(key), dict)
        merged[key] = merge(merged[key], value) if both else copy.deepcopy(value)
    return merged


def _entries(value: list[Any] | dict[str, Any]) -> list[tuple[str, Any, Any]]:
    """(name in paths, entry, what a cell keeps of the list or mapping) of every entry."""
    if isinstance(value, dict):
        return [(_slug(key), key, {key: kept}) for key, kept in value.items()]
    return [(_slug(entry), entry, [entry]) for entry in value]


def _slug(entry: object) -> str:
    text = entry if isinstance(entry, str) else json.dumps(entry, separators=(",", ":"))
    return "".join(c if c.isalnum() or c in "._-+" else "-" for c in text).strip("-")


def _printed_values(path: Path, rule: dict[str, Any]) -> list[dict[str, Any]]:
    try:
        return published.read_entries(path, rule)
    except ValueError as error:
        raise ArtifactError(str(error)) from None


def load(path: Path, scale: str, schemas: Path) -> Artifact:
    """Read and check the artifact file ``<folder>/<paper>/<artifact>.yaml`` at a scale.

    Raises
    ------
    ArtifactError : not YAML, an unknown key, a value out of range, an unknown protocol or scale.
    """
    if scale not in SCALES:
        raise ArtifactError(f"scale: {scale!r} is none of {', '.join(SCALES)}")
    content = read(path)
    check(content, schemas, "experiment.schema.yaml", str(path))
    if "published" in content:
        content["published"] = _printed_values(path, content["published"])
    artifact = Artifact(path.parent.name, path.stem, scale, content, path)
    checks.examine(artifact, schemas)
    return artifact


def load_all(folder: Path, papers: list[str], scale: str, schemas: Path) -> dict[tuple[str, str], Artifact]:
    """All artifacts of the papers, keyed by (paper, artifact), in the order of their names.

    Raises
    ------
    ArtifactError : a paper without a folder of artifacts, an artifact that uses one that does not exist.
    """
    files = [file for paper in papers for file in artifact_files(folder, paper)]
    found = {(file.parent.name, file.stem): load(file, scale, schemas) for file in files}
    for artifact in found.values():
        own = {name: other for (paper, name), other in found.items() if paper == artifact.paper}
        _check_uses(artifact, own)
        _check_drawn(artifact, own)
    for paper in papers:
        _check_title(folder / paper / "TITLE")
    return found


def artifact_files(folder: Path, paper: str) -> list[Path]:
    """The files of the artifacts of a paper. Raises ArtifactError: it has none; the message lists papers."""
    files = sorted((folder / paper).glob("*.yaml"))
    if not files:
        known = sorted(path.name for path in folder.iterdir() if path.is_dir())
        near = difflib.get_close_matches(paper, known, n=1)
        hint = f"did you mean {near[0]}? " if near else ""
        raise ArtifactError(
            f"papers: {paper!r} has no artifacts in {folder / paper}; {hint}known: {', '.join(known)}"
        )
    return files


def _check_uses(artifact: Artifact, known: dict[str, Artifact]) -> None:
    """What is drawn with an artifact are tables of others, and there is something to draw."""
    for used in artifact.content.get("uses", []):
        if used not in known:
            near = difflib.get_close_matches(used, known, n=2)
            hint = f"; did you mean {' or '.join(near)}?" if near else ""
            raise ArtifactError(f"{artifact.file}: uses: {artifact.paper} has no artifact {used!r}{hint}")
        if used == artifact.name or "protocol" not in known[used].content:
            why = "is this one" if used == artifact.name else "has no protocol, so no table"
            raise ArtifactError(f"{artifact.file}: uses: {used!r} {why}")


def _check_drawn(artifact: Artifact, known: dict[str, Artifact]) -> None:
    """What an artifact without a protocol draws is in the settings of those whose tables it uses."""
    if "protocol" in artifact.content:
        return
    for key, wanted in artifact.settings.get("drawn", {}).items():
        used = [known[name].settings for name in artifact.content.get("uses", [])]
        there = [name for settings in used for name in settings.get(key, [])]
        for name in wanted:
            if name not in there:
                raise ArtifactError(
                    f"{artifact.file}: settings.drawn.{key}: {name!r} is unknown; known: {', '.join(there)}"
                )


def _check_title(file: Path) -> None:
    try:
        title = file.read_bytes().decode("utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise ArtifactError(f"{file}: no title of the paper can be read: {error}") from None
    if not title:
        raise ArtifactError(f"{file}: is empty; it holds the title of the paper")
