"""The plan of a checkout without the workflow: pages can be made of whatever is finished."""

from pathlib import Path
from typing import Any

from reproduction import artifact as artifacts
from reproduction import plan
from reproduction.data import registry
from reproduction.data_sources import DataSources as Supply
from reproduction.strict_yaml import read


def configured(root: Path, scale: str) -> dict[str, Any]:
    """``config/config.yaml`` with the overlay of the scale laid over it."""
    config = read(root / "config/config.yaml")
    overlay = root / f"config/{scale}.yaml"
    return artifacts.merge(config, read(overlay) if overlay.is_file() else {})


def planned(root: Path, config: dict[str, Any]) -> plan.Plan:
    """The plan of a configuration.

    Raises
    ------
    ValueError : a mistake in a file of the configuration, in one line.
    """
    loaded = artifacts.load_all(root / "config/experiments", config["papers"], config["scale"])
    known = registry.load_registry(root / "config/datasets.yaml")
    entries = registry.with_users(known, config["data"]["local"])
    return plan.Plan(config, loaded, Supply(entries, config["data"]))
