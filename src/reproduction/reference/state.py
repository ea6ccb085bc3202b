"""What a kept result was made from, and what changed since: settings strictly, code as a notice."""

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from reproduction.code_digest import CHECKOUT as CHECKOUT
from reproduction.plan import Plan


def made_from(made: Plan, name: str, provenance: Mapping[str, Any]) -> dict[str, Any]:
    """Digests of the settings, and of the code that computed the table; no captions, no labels."""
    return {"settings": settings(made, name), "code": provenance.get("code", "")}


def settings(made: Plan, name: str) -> str:
    """Digest of what the artifact's jobs compute, or of what it draws if it has none."""
    artifact = made.artifact(name)
    computed: Any = {key: artifact.content.get(key) for key in ("uses", "settings")}
    if "protocol" in artifact.content:
        computed = [made.job(name, cell) for cell in artifact.cells]
    return hashlib.sha256(json.dumps(computed, sort_keys=True).encode()).hexdigest()[:16]


def other_settings(made: Plan, name: str, kept: Mapping[str, Any]) -> bool:
    """Did the settings change since? ``kept`` is the key ``made_from`` of a provenance."""
    return settings(made, name) != kept.get("settings", kept.get("declared", {}).get("settings"))


def other_code(made: Plan, name: str, kept: Mapping[str, Any]) -> bool:
    """Is the code that computes the table another now? That of a result kept before there were digests is."""
    computes = "protocol" in made.artifacts[name].content and name not in made.left_out
    return computes and made.computing_code(name) != kept["code"]
