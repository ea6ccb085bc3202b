"""Checks of settings of protocols that are still folders, held against their schemas."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from reproduction.frame import dependencies, labels, method_checks, settings_checks
from reproduction.frame.dependencies import PROJECT, ROOT, SOURCES
from reproduction.frame.schemas import check
from reproduction.strict_yaml import ArtifactError, near, read

if TYPE_CHECKING:
    from reproduction.artifact import Artifact

SCHEMAS = SOURCES.parent / "workflow/schemas"
WRITERS = ("protocols", "noise", "theory", "online")
"""Folders of the library whose words end in result tables."""


@contextmanager
def _at(place: str) -> Iterator[None]:
    """Put the place before a message."""
    try:
        yield
    except ValueError as error:
        raise ArtifactError(f"{place}{error}") from None


def takes_data_sets(protocol: str) -> bool:
    """Has the schema of the settings a key ``datasets``?"""
    schema = SCHEMAS / f"settings/{protocol}.schema.yaml"
    return schema.is_file() and "datasets" in read(schema)["properties"]


def legacy(artifact: "Artifact") -> None:
    """Nothing if the settings can run. Raises ArtifactError : the key, what is wrong, what is possible."""
    file, name = artifact.file, artifact.protocol
    where = f"{file} at scale {artifact.scale}: settings"
    with _at(f"{file}: "):
        _protocol(name)
    check(artifact.settings, SCHEMAS, f"settings/{name}.schema.yaml", where)
    listed = [name.partition(".")[0] for name in artifact.datasets]
    files = dependencies.library_files([dependencies.protocol_module(name)])
    with _at(f"{where}."):
        for each in artifact.settings.get("datasets", []):
            if each not in listed:
                raise ArtifactError(
                    f"datasets: {each!r} is not among the artifact's datasets: {', '.join(listed)}"
                )
        settings_checks.examine(artifact.settings, listed, ROOT / "noise/flips.py" in files)
        method_checks.examine(artifact.settings, False)
    with _at(f"{file}: "):
        code = [file for file in files if file.relative_to(SOURCES).parts[1] in WRITERS]
        full = artifact.full_settings
        words = labels.Labels(full, code)
        sets = {*listed, "synthetic"} if listed else set()
        labels.examine(artifact.content, words, sets, full.get("repetitions", 1))


def _protocol(name: str) -> None:
    """It has a schema of its settings and a function ``run``."""
    schema = SCHEMAS / f"settings/{name}.schema.yaml"
    if not schema.is_file():
        known = [file.name.removesuffix(".schema.yaml") for file in schema.parent.glob("*.*.schema.yaml")]
        raise ArtifactError(f"protocol: no protocol {name!r}{near(name, known)}")
    file = PROJECT / f"protocols/{name.replace('.', '/')}.py"
    if not file.is_file() or not re.search(r"^def run\(", file.read_text(encoding="utf-8"), re.M):
        raise ArtifactError(f"protocol: {name!r} has no function run; expected it in {file}")
