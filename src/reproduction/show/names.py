"""What readers see instead of keys: names of methods, kinds of noise and axes, all from ``names.yaml``.

A paper has its names in ``names.yaml`` of its folder (see `using`); what all papers share is in `FILE`. Which
methods a figure shows, in which order and as what is up to the artifact. Keys of a method there:
    shown : the only panel or table that shows it (a word that the figure knows); without it, all do.
    role : control, which sees what no other method can; reference, with which the others are compared.
    label : its name in running text.   note : a sentence below the tables that show it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field, field_validator

from reproduction.spec import noise_kinds
from reproduction.spec.metrics import Better
from reproduction.spec.metrics import better as better_by_name
from reproduction.spec.papers import full_name
from reproduction.spec.strict_yaml import Content, Model, check, near, read
from reproduction.spec.user_modules import module_file

if TYPE_CHECKING:
    import pandas as pd

FILE = Path(__file__).with_name("names.yaml")
MARKERS = "osD^vX*<>Phpd8"

KINDS = {name: kind.name for name, kind in noise_kinds.KINDS.items() if kind.name}
"""Kind of noise -> what readers see behind its rate."""

Methods = Mapping[str, Any]
"""The methods in the settings of an artifact, by their labels in the result table."""


class _Method(Model):
    name: str | None = None
    look: str | None = None
    role: str | None = None

    @field_validator("look")
    @classmethod
    def _drawable(cls, look: str) -> str:
        parts = look.split()
        known = (_shared()["colours"], _shared()["dashes"], MARKERS)
        if len(parts) != 3:
            raise ValueError(f"{look!r}: a colour, a dash and a marker are expected, such as `blue dash o`")
        for word, words in zip(parts, known, strict=True):
            if word not in [*words]:
                raise ValueError(f"{word!r} is unknown{near(word, words, 3)}")
        return look


class _Metric(Model):
    name: str | None = None
    better: Better | None = None
    scale: Literal["log", "linear"] | None = None


class _Axes(Model):
    x: str | None = None
    x_of: dict[str, str] = Field(default={})
    opens: str | None = None
    metrics: dict[str, str | _Metric] = Field(default={})


class _Names(Model):
    """The file of a paper."""

    methods: dict[str, _Method] = Field(default={})
    noise: dict[str, str] = Field(default={})
    settings: dict[str, str] = Field(default={})
    metrics: dict[str, str | _Metric] = Field(default={})
    protocols: dict[str, _Axes] = Field(default={})
    opens: dict[str, str] = Field(default={})


_names: ContextVar[Content] = ContextVar("names")
"""The names of the paper that is drawn or shown."""


@cache
def _shared() -> Content:
    return read(FILE)


@cache
def read_names(paper: Path) -> Content:
    """What ``names.yaml`` in the folder of a paper says, protocols and drawings named in full; {} without it.

    Raises ArtifactError : one line with the file and the key.
    """
    file = paper / FILE.name
    if not file.is_file():
        return {}
    found = check(_Names, read(file), file).model_dump(exclude_unset=True)
    for section in ("protocols", "opens"):
        if section in found:
            found[section] = {full_name(key, paper): entry for key, entry in found[section].items()}
    return found


@contextmanager
def using(paper: Path) -> Iterator[None]:
    """Use the names of a paper, by its folder, for everything inside the ``with`` block.

    `scripts/draw.py` does so around each drawing; legends get their words from `style.label`.
    """
    token = _names.set(read_names(paper))
    try:
        yield
    finally:
        _names.reset(token)


def listed(section: str, protocol: str = "") -> Mapping[str, Any]:
    """A section of ``names.yaml``: what all papers share, a protocol's paper says, this one says."""
    found = {**_shared().get(section, {})}
    if file := module_file(protocol.partition(":")[0]) if protocol else None:
        found |= read_names(file.parent).get(section, {})
    return found | _names.get({}).get(section, {})


def method(key: str) -> str:
    """The name of a method; of ``loss way``, both names; the key itself where none is listed."""
    found, (loss, _, way) = listed("methods"), key.partition(" ")
    if key not in found and loss in found and way in listed("ways"):
        return f"{method(loss)}, {listed('ways')[way]}"
    return str(found.get(key, {}).get("name", key))


def data_set(key: str) -> str:
    """Name a data set without its collection: ``ida_flare_solar`` -> ``flare solar``."""
    return key.removeprefix("ida_").replace("_", " ")


def flips(noise: str) -> str:
    """``independent 0.3`` -> ``30 % symmetric``; ``independent 0`` -> ``clean labels``; others as listed.

    Your own paper may list any of them under another name.
    """
    if noise in listed("noise"):
        return str(listed("noise")[noise])
    law, *rates = noise.split() or [""]
    if law == "class_conditional":
        positive, negative = (f"{100 * float(rate):g} %" for rate in rates)
        return f"{positive} of class +, {negative} of class −"
    if law not in KINDS:
        return noise
    return f"{100 * float(rates[0]):g} % {KINDS[law]}" if float(rates[0]) else "clean labels"


noise = flips
"""The name of any kind of noise."""


def setting(key: str) -> str:
    """The name of a setting."""
    return str(listed("settings").get(key, key))


def of_table(frame: pd.DataFrame, methods: Iterable[str], noises: Iterable[str]) -> pd.DataFrame:
    """The table with names for keys of methods and of kinds of noise: in header, sections and cells."""
    found = {key: method(key) for key in methods}
    found |= {f"{key}, published": f"{name}, published" for key, name in found.items()}
    found |= {key: noise(key) for key in noises if key}
    named = frame.replace(found).rename(columns=found, index=found)
    named.attrs = dict(frame.attrs)
    return named


def _metric(key: str, protocol: str) -> Mapping[str, Any]:
    """What is listed of a metric: its name, and which values are better."""
    of_protocol = listed("protocols", protocol).get(protocol, {}).get("metrics", {})
    entry = {**listed("metrics", protocol), **of_protocol}.get(key, {})
    return {"name": entry} if isinstance(entry, str) else entry


def metric(key: str, protocol: str = "") -> str:
    """Name of a metric, with its unit where it has one; a key that is not listed, in words."""
    return str(_metric(key, protocol).get("name") or key.replace("_", " "))


def better(key: str, protocol: str = "") -> str | None:
    """Which values of a metric are better, "higher" or "lower"; None where nobody says it.

    ``names.yaml`` says it, ``auc: {name: AUC, better: higher}``; of metrics of scikit-learn it is known.
    """
    return _metric(key, protocol).get("better") or better_by_name(key)


def scale(key: str, protocol: str = "") -> str | None:
    """The scale of the axis of a metric, "log" or "linear"; None where ``names.yaml`` does not say it."""
    return _metric(key, protocol).get("scale")


def x_axis(key: str, protocol: str) -> str:
    """What a metric of a protocol is drawn against; "x" where it is not listed."""
    entry = listed("protocols", protocol).get(protocol, {})
    return str(entry.get("x_of", {}).get(key, entry.get("x", "x")))


def first_metric(protocol: str, render: str = "") -> str:
    """The metric to show first, of a drawing function or else of a protocol; "" where none is listed."""
    return str(
        listed("opens", render).get(render, listed("protocols", protocol).get(protocol, {}).get("opens", ""))
    )


def _entry(spec: Any, key: str, default: str = "") -> str:
    """Look up a key of a method."""
    return str(getattr(spec, key, None) or default)


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
