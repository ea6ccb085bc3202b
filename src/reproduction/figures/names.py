"""What readers see in the place of keys: names of methods, kinds of noise and axes, all from ``names.yaml``.

Which methods a figure shows, in which order and as what is up to the artifact. Keys of a method there:
    shown : the only panel or table that shows it (a word that the figure knows); without it, all do.
    role : control, a method that sees what no other can; reference, the one the others are compared with.
    label : its name in running text.   note : a sentence below the tables that show it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reproduction.strict_yaml import read

if TYPE_CHECKING:
    import pandas as pd

FILE = Path(__file__).with_name("names.yaml")
KINDS = {"independent": "symmetric", "negative_only": "asymmetric"}
"""Name of a flip law -> what the slides of Kaban and Bootkrajang call it."""

Methods = Mapping[str, Any]
"""The methods in the settings of an artifact, by their labels in the result table."""


@cache
def listed(section: str) -> Mapping[str, Any]:
    """A section of ``names.yaml``."""
    found: Mapping[str, Any] = read(FILE)[section]
    return found


def method(key: str) -> str:
    """The name of a method; the key itself where none is listed."""
    return str(listed("methods").get(key, {}).get("name", key))


def data_set(key: str) -> str:
    """``ida_flare_solar`` -> ``flare solar``: without the collection that it comes from."""
    return key.removeprefix("ida_").replace("_", " ")


def flips(noise: str) -> str:
    """``independent 0.3`` -> ``30 % symmetric``; ``independent 0`` -> ``clean labels``; others as listed."""
    law, *rates = noise.split() or [""]
    if law == "class_conditional":
        positive, negative = (f"{100 * float(rate):g} %" for rate in rates)
        return f"{positive} of class +, {negative} of class −"
    if law not in KINDS:
        return str(listed("noise").get(noise, noise))
    return f"{100 * float(rates[0]):g} % {KINDS[law]}" if float(rates[0]) else "clean labels"


noise = flips
"""The name of any kind of noise."""


def setting(key: str) -> str:
    """The name of a setting."""
    return str(listed("settings").get(key, key))


def of_table(frame: pd.DataFrame, methods: Iterable[str], noises: Iterable[str]) -> pd.DataFrame:
    """The table with names for keys of methods and of kinds of noise: in header, sections and cells."""
    found = {key: method(key) for key in methods}
    found |= {f"{key}, printed": f"{name}, printed" for key, name in found.items()}
    found |= {key: noise(key) for key in noises if key}
    named = frame.replace(found).rename(columns=found, index=found)
    named.attrs = dict(frame.attrs)
    return named


# Axes


def metric(key: str, protocol: str = "") -> str:
    """Name of a metric, with its unit where it has one; a key that is not listed, in words."""
    own = listed("protocols").get(protocol, {}).get("metrics", {})
    return str((listed("metrics") | own).get(key, key.replace("_", " ")))


def x_axis(key: str, protocol: str) -> str:
    """What a metric of a protocol is drawn against; "x" where it is not listed."""
    entry = listed("protocols").get(protocol, {})
    return str(entry.get("x_of", {}).get(key, entry.get("x", "x")))


def first_metric(protocol: str, render: str = "") -> str:
    """The metric to show first, of a drawing function or else of a protocol; "" where none is listed."""
    return str(listed("opens").get(render, listed("protocols").get(protocol, {}).get("opens", "")))


# Methods of an artifact


def _entry(spec: Any, key: str, default: str = "") -> str:
    """A key of a method, of typed settings or of a mapping."""
    found = spec.get(key) if isinstance(spec, Mapping) else getattr(spec, key, None)
    return str(found) if found else default


def shown_in(methods: Methods, place: str) -> list[str]:
    """The methods that the panel or table shows, in the artifact's order."""
    return [key for key, spec in methods.items() if _entry(spec, "shown", place) == place]


def with_role(methods: Methods, role: str) -> list[str]:
    """The methods of that role, in the artifact's order."""
    return [key for key, spec in methods.items() if _entry(spec, "role") == role]


def reference(methods: Methods) -> str:
    """The method with the role `reference`, else the first one."""
    return [*with_role(methods, "reference"), *methods][0]


def label(methods: Methods, key: str) -> str:
    """The name of a method in running text."""
    return _entry(methods[key], "label", method(key))


def notes(methods: Methods) -> list[str]:
    """The sentences that belong below a table of these methods."""
    return [note for spec in methods.values() if (note := _entry(spec, "note"))]
