"""Methods of an artifact's settings before anything is imported: names, parameters, grids, purpose."""

import difflib
import re
from collections.abc import Iterable, Mapping
from typing import Any

from reproduction import methods
from reproduction.frame import signatures
from reproduction.strict_yaml import ArtifactError

OWN = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*:[A-Za-z_]\w*")
"""A class of the user's own, ``package.module:Class``; the job imports it, a plan does not."""

POINTS = 10_000
"""Most values of a grid."""


def examine(settings: Mapping[str, Any], filters: bool) -> None:
    """Nothing if every method of the settings exists and takes what it is given.

    filters : the protocol runs filters (otherwise classifiers).
    Raises ArtifactError : the key, what is wrong with it, and what is possible.
    """
    for name, grid in settings.get("grids", {}).items():
        _grid(f"grids.{name}", grid)
    for label, content in settings.get("methods", {}).items():
        where = f"methods.{label}"
        for name, grid in content.get("grids", {}).items():
            _grid(f"{where}.grids.{name}", grid)
        _tuned(where, content, settings.get("grids", {}) | content.get("grids", {}))
        name = content["method"]
        if ":" in name:
            if not OWN.fullmatch(name):
                raise ArtifactError(f"{where}.method: {name!r} is not of the form package.module:Class")
            if not signatures.lacking(name):
                _parameters(where, name, content)
        elif name not in methods.known():
            raise ArtifactError(f"{where}.{methods.unknown(name)}")
        else:
            _kind(where, name, filters)
            _selected(where, name, content)
            _parameters(where, name, content)
        for number, loss in enumerate(content.get("losses", [])):
            _known(
                f"{where}.losses.{number}", set(loss) - {"loss"}, signatures.of_function(LOSSES, loss["loss"])
            )


LOSSES = "losses.margin"


def lacking(settings: Mapping[str, Any]) -> str:
    """Why the first class of the user's own that cannot be had cannot be had, or ""."""
    for label, content in settings.get("methods", {}).items():
        name = content["method"]
        if ":" in name and (why := signatures.lacking(name)):
            return f"methods.{label}.method: {name!r}: {why}"
    return ""


def _grid(where: str, grid: Any) -> None:
    if not isinstance(grid, Mapping):
        return
    first, last, step = grid["log10"]
    form = "log10 is [first, last, step], powers of ten"
    if step == 0 or (last - first) / step < 0:
        raise ArtifactError(f"{where}.log10: step {step} does not lead from {first} to {last}; {form}")
    if (last - first) / step > POINTS:
        raise ArtifactError(f"{where}.log10: {(last - first) / step:.3g} steps, {POINTS} are allowed; {form}")
    if max(abs(first), abs(last)) > 300:
        raise ArtifactError(f"{where}.log10: 10^{first} to 10^{last} leaves the range of numbers; {form}")


def _tuned(where: str, content: Mapping[str, Any], grids: Mapping[str, Any]) -> None:
    for name in content.get("tune", []):
        if name not in grids:
            known = ", ".join(grids) or "none"
            raise ArtifactError(f"{where}.tune: {name!r} has no grid; add it to `grids`, which has {known}")
        if name in content.get("parameters", {}):
            raise ArtifactError(f"{where}.tune: {name!r} is fixed by `parameters` too; keep one")


def _kind(where: str, name: str, filters: bool) -> None:
    is_filter = methods.known()[name].split(".")[1] == "filters"
    if is_filter != filters:
        folder = "filters" if filters else "classifiers"
        known = [method for method, module in methods.known().items() if module.split(".")[1] == folder]
        raise ArtifactError(f"{where}.method: {name!r} is none of the {folder}: {', '.join(sorted(known))}")


def _selected(where: str, name: str, content: Mapping[str, Any]) -> None:
    """`selection` and `grid` are for methods with `fit_many`; those of other protocols have neither key."""
    for key in ("selection", "grid"):
        if key in content and not signatures.has(name, "fit_many"):
            raise ArtifactError(f"{where}.{key}: {name} has nothing to be selected (no fit_many); drop it")
    if "selection" in content and "grid" not in content and not signatures.has(name, "GRID"):
        raise ArtifactError(f"{where}.grid: {name} has no GRID of its own; give it a grid")


def _parameters(where: str, name: str, content: Mapping[str, Any]) -> None:
    """A kernel method takes the keywords of its fit, `widths` too; the others those of their class."""
    function = next((f for f in ("fit_distances", "fit_many") if signatures.has(name, f)), "__init__")
    fit = signatures.keywords(name, function) or []
    known = signatures.keywords(name)
    if known is None:
        return
    known = [*known, *fit, "widths"] if function != "__init__" else known
    _known(f"{where}.parameters", content.get("parameters", {}), known)
    _known(f"{where}.tune", content.get("tune", []), known)
    functions = dict.fromkeys(["__init__", function])
    for each in functions:
        _types(f"{where}.parameters", content.get("parameters", {}), signatures.types(name, each))
        _choices(f"{where}.parameters", content.get("parameters", {}), signatures.choices(name, each))


def _types(where: str, parameters: Mapping[str, Any], known: Mapping[str, set[str]]) -> None:
    """A number for a word, a word for a number, a mapping in a list."""
    for name, value in parameters.items():
        if isinstance(value, list) and (strange := [entry for entry in value if isinstance(entry, Mapping)]):
            raise ArtifactError(f"{where}.{name}: {strange[0]!r} in a list; numbers or words are expected")
        kind = "None" if value is None else type(value).__name__
        wanted = known.get(name, {kind})
        if kind not in wanted and not (kind == "int" and "float" in wanted):
            words = " or ".join(sorted(wanted))
            raise ArtifactError(f"{where}.{name}: {value!r} is of type {kind}; {words} is expected")


def _choices(where: str, parameters: Mapping[str, Any], known: Mapping[str, list[Any]]) -> None:
    """A word that is none of those that the annotation lists."""
    for name, value in parameters.items():
        if name in known and value not in known[name]:
            near = difflib.get_close_matches(str(value), map(str, known[name]), n=1)
            hint = f"did you mean {near[0]}? " if near else ""
            words = ", ".join(map(str, known[name]))
            raise ArtifactError(f"{where}.{name}: {value!r} is unknown; {hint}known: {words}")


def _known(where: str, names: Iterable[str], known: list[str]) -> None:
    for name in names:
        if name not in known:
            near = difflib.get_close_matches(name, known, n=1)
            hint = f"did you mean {near[0]}? " if near else ""
            raise ArtifactError(
                f"{where}: no parameter {name!r}; {hint}known: {', '.join(dict.fromkeys(known)) or 'none'}"
            )
