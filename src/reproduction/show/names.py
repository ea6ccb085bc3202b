"""What readers see instead of keys: names of methods, kinds of noise and axes.

A paper has its names in ``names.yaml`` of its folder (see `using`); what all papers share is in
`FILE`. Which methods a figure shows, in which order and as what is up to the artifact. Keys of a
method there:

- ``shown``: the only panel or table that shows it (a word that the figure knows); without it, all
  do.
- ``role``: control, which sees what no other method can; reference, which the others are compared
  with.
- ``label``: its name in running text.
- ``note``: a sentence below the tables that show it.
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
from reproduction.spec.mistakes import check
from reproduction.spec.models import Model
from reproduction.spec.papers import full_name
from reproduction.spec.strict_yaml import Content, read
from reproduction.spec.suggestions import near
from reproduction.spec.user_modules import module_file

if TYPE_CHECKING:
    import pandas as pd

FILE = Path(__file__).with_name("names.yaml")
MARKERS = "osD^vX*<>Phpd8"

KINDS = {name: kind.name for name, kind in noise_kinds.KINDS.items() if kind.name}
"""Kind of noise -> words that follow its rate."""

Methods = Mapping[str, Any]
"""The methods of an artifact by their labels in the result table."""


class _Method(Model):
    name: str | None = None
    look: str | None = None
    role: str | None = None

    @field_validator("look")
    @classmethod
    def _drawable(cls, look: str) -> str:
        parts = look.split()
        if len(parts) != 3:
            rule = "a colour, a dash and a marker are expected, such as `blue dash o`"
            raise ValueError(f"{look!r}: {rule}")
        vocabularies = (_shared()["colours"], _shared()["dashes"], MARKERS)
        for word, vocabulary in zip(parts, vocabularies, strict=True):
            if word not in [*vocabulary]:
                raise ValueError(f"{word!r} is unknown{near(word, vocabulary, 3)}")
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
    """Return the file of a paper."""

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
    """Read ``names.yaml`` in the folder of a paper, protocols and drawings named in full.

    Without the file it is empty. Raises ArtifactError: one line with the file and the key.
    """
    file = paper / FILE.name
    if not file.is_file():
        return {}
    sections = check(_Names, read(file), file).model_dump(exclude_unset=True)
    for section in ("protocols", "opens"):
        if section in sections:
            entries = sections[section].items()
            sections[section] = {full_name(key, paper): entry for key, entry in entries}
    return sections


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
    """Collect a section of ``names.yaml``: later files replace entries of earlier ones.

    First what all papers share, then the paper of a protocol, then the paper that is drawn.
    """
    entries = {**_shared().get(section, {})}
    module, _, _ = protocol.partition(":")
    file = module_file(module) if module else None
    if file is not None:
        entries |= read_names(file.parent).get(section, {})
    return entries | _names.get({}).get(section, {})


def method(key: str) -> str:
    """Name a method, or both parts of ``loss way``; a key that is not listed names itself."""
    methods = listed("methods")
    ways = listed("ways")
    loss, _, way = key.partition(" ")
    if key not in methods and loss in methods and way in ways:
        return f"{method(loss)}, {ways[way]}"
    return str(methods.get(key, {}).get("name", key))


def data_set(key: str) -> str:
    """Name a data set without its collection: ``ida_flare_solar`` -> ``flare solar``."""
    return key.removeprefix("ida_").replace("_", " ")


def flips(noise: str) -> str:
    """Name a kind of noise: ``independent 0.3`` is ``30 % symmetric``.

    Your own paper may list any of them under another name.
    """
    own_names = listed("noise")
    if noise in own_names:
        return str(own_names[noise])
    kind, *rates = noise.split() or [""]
    if kind == "class_conditional":
        positive, negative = (f"{100 * float(rate):g} %" for rate in rates)
        return f"{positive} of class +, {negative} of class −"
    if kind not in KINDS:
        return noise
    rate = float(rates[0])
    return f"{100 * rate:g} % {KINDS[kind]}" if rate else "clean labels"


noise = flips
"""The name of any kind of noise."""


def setting(key: str) -> str:
    """Name a setting."""
    return str(listed("settings").get(key, key))


def of_table(frame: pd.DataFrame, methods: Iterable[str], noises: Iterable[str]) -> pd.DataFrame:
    """Put names for keys of methods and of kinds of noise in header, sections and cells."""
    name_of_key = {}
    for key in methods:
        name_of_key[key] = method(key)
    for key, name in list(name_of_key.items()):
        name_of_key[f"{key}, published"] = f"{name}, published"
    for key in noises:
        if key:
            name_of_key[key] = noise(key)
    named = frame.replace(name_of_key).rename(columns=name_of_key, index=name_of_key)
    named.attrs = dict(frame.attrs)
    return named


def _metric(key: str, protocol: str) -> Mapping[str, Any]:
    """Look up what is listed of a metric: its name, and which values are better."""
    entries = dict(listed("metrics", protocol))
    entries |= listed("protocols", protocol).get(protocol, {}).get("metrics", {})
    entry = entries.get(key, {})
    return {"name": entry} if isinstance(entry, str) else entry


def metric(key: str, protocol: str = "") -> str:
    """Name a metric, with its unit where it has one; a key that is not listed, in words."""
    name = _metric(key, protocol).get("name")
    return str(name or key.replace("_", " "))


def better(key: str, protocol: str = "") -> str | None:
    """Look up which values of a metric are better, "higher" or "lower"; None where it is not known.

    ``names.yaml`` says it, ``auc: {name: AUC, better: higher}``, or the metric is one of
    scikit-learn.
    """
    direction = _metric(key, protocol).get("better")
    return direction or better_by_name(key)


def scale(key: str, protocol: str = "") -> str | None:
    """Look up the scale of a metric's axis, "log" or "linear"; None where it is not listed."""
    return _metric(key, protocol).get("scale")


def x_axis(key: str, protocol: str) -> str:
    """Name what a metric of a protocol is drawn against; "x" where it is not listed."""
    entry = listed("protocols", protocol).get(protocol, {})
    name = entry.get("x", "x")
    return str(entry.get("x_of", {}).get(key, name))


def first_metric(protocol: str, render: str = "") -> str:
    """Look up the metric to show first, of a drawing function or else of a protocol.

    It is "" where none is listed.
    """
    of_drawings = listed("opens", render)
    if render in of_drawings:
        return str(of_drawings[render])
    of_protocol = listed("protocols", protocol).get(protocol, {})
    return str(of_protocol.get("opens", ""))


def _entry(spec: Any, key: str, default: str = "") -> str:
    """Look up a key of a method."""
    return str(getattr(spec, key, None) or default)


def shown_in(methods: Methods, panel: str) -> list[str]:
    """Select the methods that the panel or table shows, in the artifact's order."""
    return [key for key, spec in methods.items() if _entry(spec, "shown", panel) == panel]


def with_role(methods: Methods, role: str) -> list[str]:
    """Select the methods of that role, in the artifact's order."""
    return [key for key, spec in methods.items() if _entry(spec, "role") == role]


def reference(methods: Methods) -> str:
    """Find the method with the role `reference`, else the first one."""
    return [*with_role(methods, "reference"), *methods][0]


def label(methods: Methods, key: str) -> str:
    """Name a method in running text."""
    return _entry(methods[key], "label", method(key))


def notes(methods: Methods) -> list[str]:
    """List the sentences that belong below a table of these methods."""
    entries = [_entry(spec, "note") for spec in methods.values()]
    return [note for note in entries if note]
