"""Everything that can be known to be wrong with an artifact before its first job, in one line each."""

import difflib
import math
import re
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reproduction.frame import dependencies, labels, method_checks, names, settings_checks
from reproduction.frame.methods import PROJECT, ROOT, SOURCES
from reproduction.frame.schemas import check
from reproduction.protocols import walk
from reproduction.strict_yaml import ArtifactError
from reproduction.verdicts import expectations

if TYPE_CHECKING:
    from reproduction.frame.artifacts import Artifact

MOST = 100_000
"""Jobs of an artifact."""

WRITERS = ("protocols", "noise", "theory", "online")
"""Folders of the library whose words end in result tables."""


@contextmanager
def _at(place: str) -> Iterator[None]:
    """Put the place before a message."""
    try:
        yield
    except ValueError as error:
        raise ArtifactError(f"{place}{error}") from None


def examine(artifact: "Artifact", schemas: Path) -> None:
    """Nothing if the artifact can run, be drawn and be judged.

    Raises
    ------
    ArtifactError : the file, the key, what is wrong, and what is possible.
    """
    content, file = artifact.content, artifact.file
    for what, name in (("paper", artifact.paper), ("artifact", artifact.name)):
        if not names.allowed(name):
            raise ArtifactError(f"{file}: the {what} {name!r} is no name: {names.RULE}")
    with _at(f"{file}: "):
        _render(content["render"])
        expectations.examine(content)
    if "protocol" not in content:
        return
    where = f"{file} at scale {artifact.scale}: settings"
    if dependencies.is_typed(content["protocol"]):
        with _at(f"{file}: "):
            typed = walk.find(content["protocol"])
        with _at(f"{where}: "):
            typed.settings.model_validate(artifact.settings)
    else:
        with _at(f"{file}: "):
            _protocol(content["protocol"], schemas)
        check(artifact.settings, schemas, f"settings/{content['protocol']}.schema.yaml", where)
    listed = [name.partition(".")[0] for name in content.get("datasets", [])]
    files = dependencies.library_files([dependencies.protocol_module(content["protocol"])])
    with _at(f"{where}."):
        _datasets(artifact.settings, listed)
        settings_checks.examine(artifact.settings, listed, ROOT / "noise/flips.py" in files)
        method_checks.examine(artifact.settings, PROJECT / "protocols/tuning.py" in files)
    with _at(f"{file} at scale {artifact.scale}: "):
        _shards(artifact)
    with _at(f"{file}: "):
        _selectors(artifact, files, listed)


def _render(name: str) -> None:
    module, _, function = name.partition(":")
    folder = PROJECT / "figures"
    known = [file.stem for file in folder.glob("[a-z]*.py") if _functions(file)]
    if module not in known:
        raise ArtifactError(f"render: {name!r}: no module {module!r}; known: {', '.join(sorted(known))}")
    functions = _functions(folder / f"{module}.py")
    if function not in functions:
        near = difflib.get_close_matches(function, functions) or sorted(functions)
        raise ArtifactError(f"render: {name!r}: no function {function!r}; close names: {', '.join(near)}")


_OFFERED = re.compile(r"^@(?:panels\.)?(?:figure|table)\ndef (\w+)\(", re.MULTILINE)


@cache
def _functions(file: Path) -> frozenset[str]:
    """The functions of a module of figures that it offers to artifacts."""
    return frozenset(_OFFERED.findall(file.read_text("utf-8")))


def _protocol(name: str, schemas: Path) -> None:
    """It has a schema of its settings and a function ``run``."""
    schema = schemas / f"settings/{name}.schema.yaml"
    folder = PROJECT / "protocols"
    if not schema.is_file():
        known = [file.name.removesuffix(".schema.yaml") for file in schema.parent.glob("*.*.schema.yaml")]
        near = difflib.get_close_matches(name, known, n=2)
        hint = f"; did you mean {' or '.join(near)}?" if near else ""
        raise ArtifactError(f"protocol: no protocol {name!r}; expected its settings schema {schema}{hint}")
    file = folder / f"{name.replace('.', '/')}.py"
    if not file.is_file() or "\ndef run(" not in file.read_text("utf-8"):
        raise ArtifactError(f"protocol: {name!r} has no function run; expected it in {file}")


def _datasets(settings: dict[str, Any], listed: list[str]) -> None:
    for name in settings.get("datasets", []):
        if name not in listed:
            raise ArtifactError(
                f"datasets: {name!r} is not among the artifact's datasets: {', '.join(listed)}"
            )


def _shards(artifact: "Artifact") -> None:
    by = artifact.shards.get("by", [])
    for key in by:
        if not isinstance(artifact.settings.get(key), list | dict) or not artifact.settings[key]:
            raise ArtifactError(f"shards.by: {key!r} must be a non-empty list or mapping of the settings")
    cells = math.prod(len(artifact.settings[key]) for key in by)
    repetitions = artifact.settings.get("repetitions", 1)
    jobs = cells * -(-repetitions // artifact.shards.get("repetitions", repetitions))
    if jobs > MOST:
        raise ArtifactError(f"shards: {jobs} jobs; at most {MOST} are allowed, raise shards.repetitions")
    _ = artifact.cells  # names that would be equal in paths are an error


def _selectors(artifact: "Artifact", files: list[Path], listed: list[str]) -> None:
    """Claims and printed values speak of the full settings, at every scale."""
    content = artifact.content
    if not (content.get("claims") or content.get("published")):
        return
    code = [file for file in files if file.relative_to(SOURCES).parts[1] in WRITERS]
    full = content.get("settings", {})
    known = labels.Labels(full, code)
    labels.examine(content, known, {*listed, "synthetic"} if listed else set(), full.get("repetitions", 1))
