"""What a kept result was made from, and what changed since: declarations strictly, code as a notice."""

import hashlib
import json
import subprocess
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from noisylabels.frame import plan
from noisylabels.frame.plan import Plan

DECLARED = ("settings", "claims and published values")
"""What an artifact declares: a result whose declarations changed is not the artifact's any more."""


def declared(made: Plan, name: str) -> dict[str, str]:
    """Digest of each of `DECLARED`; captions, labels and notes are in none of them."""
    artifact = made.artifact(name)
    computed: Any = {key: artifact.content.get(key) for key in ("uses", "settings")}
    if "protocol" in artifact.content:
        computed = [made.job(name, cell) for cell in artifact.cells]
    judged = [artifact.content.get(key) for key in ("published", "claims")]
    texts = (json.dumps(what, sort_keys=True) for what in (computed, judged))
    return dict(zip(DECLARED, map(_digest, texts), strict=True))


def code(made: Plan, name: str, checkout: Path) -> list[Path]:
    """Files of code that the artifact's table, drawing and verdicts come from."""
    artifact = made.artifact(name)
    files = {*made.drawing_code(name), *plan.script("verdicts")}
    if "protocol" in artifact.content:
        cells = [(job, cell) for cell in artifact.cells for job in ("run", "tune")[: 1 + made.tunes(name)]]
        files.update(file for job, cell in cells for file in made.code(job, name, cell))
    paths = [Path(file).resolve() for file in sorted(files)]
    return [path for path in paths if path.is_relative_to(checkout)]


def blobs(files: Iterable[Path], checkout: Path, commit: str = "") -> dict[str, str]:
    """Path -> the name that Git gives to the file's content, as it is now or as it was at a commit."""
    known = _at(commit, checkout) if commit else {}
    names = {str(file.relative_to(checkout)): file for file in files}
    return {name: (known.get(name) or _blob(file.read_bytes()))[:12] for name, file in names.items()}


def changes(made: Plan, name: str, kept: Mapping[str, Any], checkout: Path) -> tuple[list[str], list[str]]:
    """(declarations, files of code) that changed since the result was kept.

    kept : the key ``made_from`` of its provenance.
    """
    now = declared(made, name)
    declarations = [key for key in DECLARED if now[key] != kept["declared"].get(key)]
    files = blobs(code(made, name, checkout), checkout)
    return declarations, [file for file, blob in files.items() if blob != kept["code"].get(file)]


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _blob(content: bytes) -> str:
    return hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()


def _at(commit: str, checkout: Path) -> dict[str, str]:
    """Path -> content of every file of a commit; of one that is not there, nothing."""
    command = ["git", "ls-tree", "-r", commit]
    done = subprocess.run(command, cwd=checkout, capture_output=True, text=True)
    lines = [line.partition("\t") for line in done.stdout.splitlines()]
    return {path: about.split()[2] for about, _, path in lines}
