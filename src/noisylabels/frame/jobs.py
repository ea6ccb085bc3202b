"""A job of the workflow: one protocol on one cell of an artifact, described as JSON."""

import importlib
import json
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from noisylabels.points import Points
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

    def tune(self) -> dict[str, Any]:
        """Tuned parameters as they come back from a file; {} if the protocol does not tune."""
        if not hasattr(self.protocol, "tune"):
            return {}
        tuned = self.protocol.tune(self.settings, self.data, self.seeds)
        read: dict[str, Any] = json.loads(json.dumps(tuned, sort_keys=True))
        return read

    def run(self, repetitions: str, tuned: dict[str, Any]) -> tuple[list[dict[str, Any]], Points]:
        """Rows of the result table for a half-open range of repetitions, ``0:5``, and the points tested."""
        start, stop = map(int, repetitions.split(":"))
        points = Points()
        rows = self.protocol.run(self.settings, self.data, self.seeds, range(start, stop), tuned)
        return points.take(rows), points
