"""Names for readers in the place of keys: those of ``names.yaml``, for figures and tables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from reproduction.strict_yaml import read

if TYPE_CHECKING:
    import pandas as pd

FILE = Path(__file__).with_name("names.yaml")
KINDS = {"independent": "symmetric", "negative_only": "asymmetric"}
"""Name of a flip law -> what the slides of Kaban and Bootkrajang call it."""
CLEAN = "clean labels"


@cache
def _sections() -> Mapping[str, Mapping[str, str]]:
    found: Mapping[str, Mapping[str, str]] = read(FILE)
    return found


def method(key: str) -> str:
    """The name of a method; the key itself where none is listed."""
    return _sections()["methods"].get(key, key)


def data_set(key: str) -> str:
    """``ida_flare_solar`` -> ``flare solar``: without the collection that it comes from."""
    return key.removeprefix("ida_").replace("_", " ")


def flips(noise: str) -> str:
    """``independent 0.3`` -> ``30 % symmetric``; ``independent 0`` -> ``clean labels``."""
    law, rate = noise.split()
    return f"{100 * float(rate):g} % {KINDS[law]}" if float(rate) else CLEAN


def noise(key: str) -> str:
    """The name of a kind of noise."""
    return flips(key) if key.partition(" ")[0] in KINDS else _sections()["noise"].get(key, key)


def setting(key: str) -> str:
    """The name of a setting."""
    return _sections()["settings"].get(key, key)


def of_table(frame: pd.DataFrame, methods: Iterable[str], noises: Iterable[str]) -> pd.DataFrame:
    """The table with names for keys of methods and of kinds of noise: in header, sections and cells."""
    found = {key: method(key) for key in methods}
    found |= {f"{key}, printed": f"{name}, printed" for key, name in found.items()}
    found |= {key: noise(key) for key in noises if key}
    named = frame.replace(found).rename(columns=found, index=found)
    named.attrs = dict(frame.attrs)
    return named
