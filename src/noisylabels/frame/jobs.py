"""A job of the workflow: one protocol on one cell of an artifact, described as JSON."""

import importlib
import json
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from noisylabels.seeding import Seeds


@dataclass(frozen=True)
class Job:
    """Protocol module, narrowed settings, seeds and prepared data of one job."""

    protocol: ModuleType
    settings: dict[str, Any]
    seeds: Seeds
    data: dict[str, Any]

    @classmethod
    def read(cls, text: str, data_files: list[str]) -> "Job":
        """From the JSON ``{protocol, experiment, seed, settings}`` and the prepared data files."""
        content = json.loads(text)
        data = {}
        if data_files:
            from noisylabels.datasets.prepare import load_prepared

            loaded = [load_prepared(file) for file in data_files]
            data = {dataset.id: dataset for dataset in loaded}
        protocol = importlib.import_module(f"noisylabels.protocols.{content['protocol']}")
        return cls(protocol, content["settings"], Seeds(content["seed"], content["experiment"]), data)
