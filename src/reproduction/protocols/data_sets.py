"""The data sets that the settings of a protocol name, each with seeds of its own."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from noisylabels.seeding import Seeds


def data_sets(
    settings: dict[str, Any], data: dict[str, Any], seeds: Seeds
) -> Iterator[tuple[str, Any, Seeds]]:
    """(id, data set, seeds of its own) of the data sets that the settings name.

    Raises ValueError : a data set that the artifact does not list.
    """
    by_name = {identifier.partition(".")[0]: dataset for identifier, dataset in data.items()}
    for name in settings["datasets"]:
        if name not in by_name:
            known = ", ".join(sorted(by_name))
            raise ValueError(f"settings.datasets: {name!r} is not among the artifact's datasets: {known}")
        yield name, by_name[name], Seeds(seeds.seed, seeds.experiment, name)
