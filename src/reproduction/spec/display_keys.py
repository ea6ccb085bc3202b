"""The keys of settings that only figures and tables read."""

from collections.abc import Mapping
from typing import Any

DISPLAY = ("label", "role", "shown", "note")
"""Keys of a method that only figures and tables read."""


def without_display(written: Mapping[str, Any]) -> dict[str, Any]:
    """Leave out of the written settings what no experiment reads."""
    settings = dict(written)
    methods = written.get("methods")
    if not isinstance(methods, Mapping):
        return settings
    settings["methods"] = {label: _read_by_experiments(method) for label, method in methods.items()}
    return settings


def _read_by_experiments(method: Any) -> Any:
    if not isinstance(method, Mapping):
        return method
    return {key: entry for key, entry in method.items() if key not in DISPLAY}
