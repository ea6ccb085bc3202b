"""What a kept result was made from, and what changed since: declarations strictly, code as a notice."""

import hashlib
import json
import subprocess
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from reproduction.frame import dependencies, plan
from reproduction.frame.plan import Plan

CHECKOUT = dependencies.SCRIPTS.parents[1]
"""Where the code is; a path of code is told from here."""

DECLARED = ("settings",)
"""What an artifact declares: a result whose declarations changed is not the artifact's any more."""


def declared(made: Plan, name: str) -> dict[str, str]:
    """Digest of each of `DECLARED`; captions, labels and notes are in none of them."""
    artifact = made.artifact(name)
    computed: Any = {key: artifact.content.get(key) for key in ("uses", "settings")}
    if "protocol" in artifact.content:
        computed = [made.job(name, cell) for cell in artifact.cells]
    return {"settings": _digest(json.dumps(computed, sort_keys=True))}


def code(made: Plan, name: str) -> list[Path]:
    """Files of code that the artifact's table, drawing and verdicts come from."""
    artifact = made.artifact(name)
    files = {*made.drawing_code(name), *plan.script("verdicts")}
    if "protocol" in artifact.content:
        cells = [(job, cell) for cell in artifact.cells for job in ("run", "tune")[: 1 + made.tunes(name)]]
        files.update(file for job, cell in cells for file in made.code(job, name, cell))
    paths = [Path(file).resolve() for file in sorted(files)]
    return [path for path in paths if path.is_relative_to(CHECKOUT)]


def blobs(files: Iterable[Path], commit: str = "") -> dict[str, str]:
    """Path -> the name that Git gives to the file's content, as it is now or as it was at a commit."""
    known = _at(commit) if commit else {}
    names = {str(file.relative_to(CHECKOUT)): file for file in files}
    return {name: (known.get(name) or _blob(file.read_bytes()))[:12] for name, file in names.items()}


def changed_declarations(made: Plan, name: str, kept: Mapping[str, Any]) -> list[str]:
    """Those of `DECLARED` that changed since; ``kept`` is the key ``made_from`` of a provenance."""
    now = declared(made, name)
    return [key for key in DECLARED if now[key] != kept["declared"].get(key)]


def changed_code(kept: Mapping[str, Any]) -> list[str]:
    """Files of code that changed, or went, since."""
    return [name for name, blob in kept["code"].items() if _present(CHECKOUT / name)[:12] != blob]


@cache
def _present(file: Path) -> str:
    return _blob(file.read_bytes()) if file.is_file() else ""


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _blob(content: bytes) -> str:
    return hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()


def _at(commit: str) -> dict[str, str]:
    """Path -> content of every file of a commit; of one that is not there, nothing."""
    command = ["git", "ls-tree", "-r", commit]
    done = subprocess.run(command, cwd=CHECKOUT, capture_output=True, text=True)
    lines = [line.partition("\t") for line in done.stdout.splitlines()]
    return {path: about.split()[2] for about, _, path in lines}
