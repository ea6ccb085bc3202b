"""Artifacts: one YAML file is one figure or table of one paper.

An artifact says what to compute (protocol, data sets, settings), how to cut it into jobs (shards), how to
draw it (render) and what was printed or claimed. This module reads the files, checks them against their
schemas and cuts them into cells and blocks. It imports nothing heavy: the workflow calls it whenever it
draws its graph.
"""

import copy
import itertools
import json
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from noisylabels.verdicts import published

SCALES = ("smoke", "quick", "full")


class ArtifactError(ValueError):
    """A mistake in an artifact file, with the file and the key."""


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
        return _merged(self.content, "settings", self.scale)

    @cached_property
    def shards(self) -> dict[str, Any]:
        """How the scale is cut into jobs: ``by`` (keys of the settings), ``repetitions`` (per job)."""
        return _merged(self.content, "shards", self.scale)

    @cached_property
    def cells(self) -> dict[str, dict[str, Any]]:
        """Cell name -> settings in which every key of ``shards.by`` keeps one of its entries."""
        keys = self.shards.get("by", [])
        options = [_entries(self.settings[key]) for key in keys]
        cells = {}
        for choice in itertools.product(*options):
            name = ",".join(f"{key}={label}" for key, (label, _) in zip(keys, choice, strict=True)) or "all"
            narrowed = dict(zip(keys, (kept for _, kept in choice), strict=True))
            cells[name] = self.settings | narrowed
        return cells

    @cached_property
    def blocks(self) -> list[tuple[int, int]]:
        """Half-open ranges of repetitions, ``shards.repetitions`` long (all of them in one block without
        it).
        """
        total = self.settings.get("repetitions", 1)
        size = self.shards.get("repetitions", total)
        return [(start, min(start + size, total)) for start in range(0, total, size)]

    def shown(self, printed: bool) -> dict[str, Any]:
        """Settings as a figure or table function gets them; ``printed``: with the list ``published``."""
        return self.settings | ({"published": self.content.get("published", [])} if printed else {})

    def data_sets(self, settings: dict[str, Any]) -> list[str]:
        """Those of the artifact's data sets that ``settings.datasets`` names; without that key, all."""
        names: list[str] = self.content.get("datasets", [])
        wanted = settings.get("datasets")
        return [name for name in names if wanted is None or name.partition(".")[0] in wanted]


def _merged(content: dict[str, Any], part: str, scale: str) -> dict[str, Any]:
    reduction = content.get("reductions", {}).get(scale, {}).get(part, {})
    return merge(content.get(part, {}), reduction)


def merge(base: dict[str, Any], overlay: dict[str, Any]) -> dict[str, Any]:
    """Overlay on base: mappings are merged key by key, everything else is replaced; neither argument is
    changed.
    """
    merged = copy.deepcopy(base)
    for key, value in overlay.items():
        both = isinstance(value, dict) and isinstance(merged.get(key), dict)
        merged[key] = merge(merged[key], value) if both else copy.deepcopy(value)
    return merged


def _entries(value: list[Any] | dict[str, Any]) -> list[tuple[str, Any]]:
    if isinstance(value, dict):
        return [(_slug(key), {key: kept}) for key, kept in value.items()]
    return [(_slug(entry), [entry]) for entry in value]


def _slug(entry: object) -> str:
    text = entry if isinstance(entry, str) else json.dumps(entry, separators=(",", ":"))
    return "".join(c if c.isalnum() or c in "._-+" else "-" for c in text).strip("-")


def _read_yaml(path: Path) -> Any:
    import yaml

    try:
        return yaml.load(path.read_text(encoding="utf-8"), getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    except yaml.YAMLError as error:
        raise ArtifactError(f"{path}: not valid YAML: {' '.join(str(error).split())}") from None


@cache
def _validator(schemas: Path, schema: str) -> Any:
    from jsonschema import Draft202012Validator
    from referencing import Registry, Resource
    from referencing.jsonschema import DRAFT202012

    @cache
    def retrieve(uri: str) -> Resource[Any]:
        return Resource.from_contents(_read_yaml(schemas / uri), default_specification=DRAFT202012)

    return Draft202012Validator(_read_yaml(schemas / schema), registry=Registry(retrieve=retrieve))  # type: ignore[call-arg]


def check(content: object, schemas: Path, schema: str, where: str) -> None:
    """Validate against the JSON Schema ``schemas / schema`` (written as YAML; ``$ref`` is relative to
    ``schemas``).

    Raises
    ------
    ArtifactError : one line with the place, the key and what is wrong.
    """
    from jsonschema.exceptions import best_match

    error = best_match(_validator(schemas, schema).iter_errors(content))
    if error is not None:
        key = ".".join(str(part) for part in error.absolute_path) or "top level"
        raise ArtifactError(f"{where}: {key}: {error.message} (allowed: {schemas / schema})")


def _check_settings(artifact: Artifact, schemas: Path, where: str) -> None:
    schema = f"settings/{artifact.content['protocol']}.schema.yaml"
    if not (schemas / schema).is_file():
        protocol = artifact.content["protocol"]
        raise ArtifactError(
            f"{where}: protocol: no protocol {protocol!r}; expected its settings schema {schemas / schema}"
        )
    check(artifact.settings, schemas, schema, f"{where} at scale {artifact.scale}: settings")
    listed = [name.partition(".")[0] for name in artifact.content.get("datasets", [])]
    for name in artifact.settings.get("datasets", []):
        if name not in listed:
            raise ArtifactError(
                f"{where} at scale {artifact.scale}: settings.datasets: {name!r} is not among the artifact's "
                f"datasets: {', '.join(listed)}"
            )


def _check_shards(artifact: Artifact, where: str) -> None:
    for key in artifact.shards.get("by", []):
        if not isinstance(artifact.settings.get(key), list | dict) or not artifact.settings[key]:
            raise ArtifactError(
                f"{where}: shards.by: {key!r} must be a non-empty list or mapping of the settings"
            )


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
    content = _read_yaml(path)
    check(content, schemas, "experiment.schema.yaml", str(path))
    if "published" in content:
        content["published"] = _printed_values(path, content["published"])
    artifact = Artifact(path.parent.name, path.stem, scale, content, path)
    if "protocol" in content:
        _check_settings(artifact, schemas, str(path))
        _check_shards(artifact, str(path))
    return artifact


def load_all(folder: Path, papers: list[str], scale: str, schemas: Path) -> dict[tuple[str, str], Artifact]:
    """All artifacts of the papers, keyed by (paper, artifact), in the order of their names.

    Raises
    ------
    ArtifactError : a paper without a folder of artifacts, an artifact that uses one that does not exist.
    """
    found = {}
    for paper in papers:
        files = sorted((folder / paper).glob("*.yaml"))
        if not files:
            known = sorted(p.name for p in folder.iterdir() if p.is_dir())
            raise ArtifactError(
                f"papers: {paper!r} has no artifacts in {folder / paper}; known: {', '.join(known)}"
            )
        for file in files:
            found[paper, file.stem] = load(file, scale, schemas)
    for (paper, name), artifact in found.items():
        for used in artifact.content.get("uses", []):
            if (paper, used) not in found:
                raise ArtifactError(f"{folder / paper / name}.yaml: uses: {paper} has no artifact {used!r}")
    return found
