"""What the axes of curves say: names of metrics with their units, and of what they are drawn against."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from reproduction.strict_yaml import read

FILE = Path(__file__).with_name("axes.yaml")


@cache
def _sections() -> Mapping[str, Mapping[str, Any]]:
    found: Mapping[str, Mapping[str, Any]] = read(FILE)
    return found


def _of(protocol: str) -> Mapping[str, Any]:
    found: Mapping[str, Any] = _sections()["protocols"].get(protocol, {})
    return found


def metric(key: str, protocol: str = "") -> str:
    """Name of a metric, with its unit where it has one; a key that is not listed, in words."""
    named = _sections()["metrics"] | _of(protocol).get("metrics", {})
    return str(named.get(key, key.replace("_", " ")))


def x(key: str, protocol: str) -> str:
    """What a metric of a protocol is measured against; "x" where it is not listed."""
    own = _of(protocol)
    return str(own.get("x_of", {}).get(key, own.get("x", "x")))


def opens(protocol: str, render: str = "") -> str:
    """The metric to be shown first, of a drawing function or else of a protocol; "" where none is listed."""
    return str(_sections()["opens"].get(render, _of(protocol).get("opens", "")))
