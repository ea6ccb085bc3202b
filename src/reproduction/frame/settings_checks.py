"""Settings that a schema cannot judge: noise labels, names that refer to others, numbers that go together."""

import difflib
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any

from reproduction.strict_yaml import ArtifactError

Settings = Mapping[str, Any]

SPOILT = frozenset(',"\r\n')
"""Characters that no label of a result table has."""


def examine(settings: Settings, listed: list[str], flips: bool) -> None:
    """Nothing if the settings of an artifact can be run.

    listed : ids of the artifact's data sets.   flips : its noise are labels of `noise.flips`.
    Raises ArtifactError : the key, what is wrong with it, and what is possible.
    """
    if flips and isinstance(settings.get("noise"), list):
        for number, label in enumerate(settings["noise"]):
            if reason := _noise(label):
                raise ArtifactError(f"noise.{number}: {reason}")
    _labels(settings)
    _references(settings, listed)
    _shared(settings)
    _numbers(settings)


@cache
def _noise(label: str) -> str:
    """Why no labels can be flipped like this, or "": it is tried on ten thousand."""
    import numpy as np

    from noisylabels.noise.flips import corrupt, parse

    try:
        y = np.tile(np.array([-1, 1], dtype=np.int8), 5000)
        needs = {"f": np.zeros(len(y))} if parse(label)[0] == "far_outliers" else {}
        if label.split() != label.split(" "):
            return f"noise {label!r}: words are parted by one space"
        corrupt(y, label, np.random.default_rng(0), **needs)
    except ValueError as error:
        return str(error) if label in str(error) else f"noise {label!r}: {error}"
    return ""


def _labels(settings: Settings) -> None:
    """Names that end in a result table."""
    for key in ("methods", "tasks", "families", "rooms", "conditions", "learners", "gammas", "noise"):
        labels = settings.get(key)
        for label in labels if isinstance(labels, Mapping | list) else ():
            if isinstance(label, str) and (SPOILT & set(label) or label != label.strip() or not label):
                raise ArtifactError(f"{key}: {label!r} is empty or has a comma, a quote or a space at an end")


def _references(settings: Settings, listed: list[str]) -> None:
    methods = settings.get("methods", {})
    _among(settings, "objectives", methods)
    for name, members in settings.get("families", {}).items():
        _known(f"families.{name}", members, methods)
        if name in methods:
            raise ArtifactError(f"families.{name}: a method has this name too; their rows would be mixed")
    _among(settings, "official", listed)
    _among(settings, "all_factors", settings.get("scenarios", []))
    _among(settings, "most", settings.get("tasks", {}))
    _among(settings, "simulated", settings.get("ks", []))
    for key in ("noise", "methods"):
        if "drawn" in settings:
            _known(f"drawn.{key}", settings["drawn"][key], settings[key])
    tasks = {"task": settings.get("task"), **_mapping(settings.get("tasks"), "tasks")}
    for place, task in tasks.items():
        if isinstance(task, Mapping) and task.get("kind") == "speech":
            _known(f"{place}.kind", ["speech"], listed)
            _known(f"{place}.room", {task["room"]} - {"simulated"}, listed)


def _mapping(value: Any, place: str) -> dict[str, Any]:
    return {f"{place}.{name}": entry for name, entry in value.items()} if isinstance(value, Mapping) else {}


def _among(settings: Settings, key: str, known: Iterable[Any]) -> None:
    _known(key, settings.get(key, []), known)


def _known(place: str, names: Iterable[Any], known: Iterable[Any]) -> None:
    known = list(map(str, known))
    for name in map(str, names):
        if name not in known:
            near = difflib.get_close_matches(name, known, n=2)
            hint = f"did you mean {' or '.join(near)}? " if near else ""
            raise ArtifactError(
                f"{place}: {name!r} is unknown here; {hint}known: {', '.join(known) or 'none'}"
            )


def _shared(settings: Settings) -> None:
    """Where a parameter is tuned on one method for all, it has a grid and the method tunes it."""
    shared = settings.get("shared")
    if shared is None:
        if "shared_r" in [*settings.get("modes", []), settings.get("mode")]:
            raise ArtifactError("shared: the mode shared_r needs {parameter: ..., reference: a method}")
        return
    _known("shared.reference", [shared["reference"]], settings["methods"])
    reference = settings["methods"][shared["reference"]]
    _known("shared.parameter", [shared["parameter"]], reference.get("tune", []))


def _numbers(settings: Settings) -> None:
    if "range" in settings and not settings["range"][0] < settings["range"][1]:
        raise ArtifactError(f"range: {settings['range']} is not [low, high] with low < high")
    for size in settings.get("sizes", []):
        if size < 4 or size & (size - 1):
            raise ArtifactError(f"sizes: {size} is no power of two of at least 4")
    task = settings.get("task", {})
    if isinstance(task, Mapping) and "centres" in task:
        lengths = {len(centre) for centre in task["centres"]}
        if len(lengths) > 1 or len(task["centres"]) != len(task["coefficients"]):
            raise ArtifactError(
                "task.centres: all need one length, and task.coefficients one number for each"
            )
