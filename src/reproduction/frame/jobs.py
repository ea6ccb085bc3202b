"""A job of the workflow: one protocol on one cell of an artifact, described as JSON."""

import importlib
import json
from dataclasses import dataclass
from typing import Any

from noisylabels.seeding import Seeds
from reproduction.frame import dependencies
from reproduction.protocols import walk
from reproduction.verdicts.per_point_errors import Points


@dataclass(frozen=True)
class Job:
    """Protocol module, narrowed settings, seeds and prepared data of one job."""

    protocol: Any
    settings: Any
    seeds: Seeds
    data: dict[str, Any]

    @classmethod
    def read(cls, text: str, data_files: list[str]) -> "Job":
        """From the JSON ``{protocol, experiment, seed, settings}`` and the prepared data files."""
        content = json.loads(text)
        data = {}
        if data_files:
            from reproduction.data.prepare import load_prepared

            loaded = [load_prepared(file) for file in data_files]
            data = {dataset.id: dataset for dataset in loaded}
        name, settings = content["protocol"], content["settings"]
        if dependencies.is_typed(name):
            protocol: Any = walk.find(name)
            settings = protocol.settings.model_validate(settings)
            settings.check_custom()
        else:
            protocol = importlib.import_module(f"reproduction.protocols.{name}")
        return cls(protocol, settings, Seeds(content["seed"], content["experiment"]), data)

    def tune(self) -> dict[str, Any]:
        """Tuned parameters as they come back from a file; {} if the protocol does not tune."""
        tune: Any = getattr(self.protocol, "tune", None)
        if tune is None:
            return {}
        if isinstance(self.protocol, walk.Protocol):
            tuned = tune(self.settings, walk.Walk(self.data, self.seeds))
        else:
            tuned = tune(self.settings, self.data, self.seeds)
        read: dict[str, Any] = json.loads(json.dumps(tuned, sort_keys=True))
        return read

    def run(self, repetitions: str, tuned: dict[str, Any]) -> tuple[list[dict[str, Any]], Points]:
        """Rows of the result table for a half-open range of repetitions, ``0:5``, and the points tested."""
        start, stop = map(int, repetitions.split(":"))
        points = Points()
        if isinstance(self.protocol, walk.Protocol):
            handed = walk.Walk(self.data, self.seeds, range(start, stop), tuned)
            rows = list(self.protocol.run(self.settings, handed))
        else:
            rows = self.protocol.run(self.settings, self.data, self.seeds, range(start, stop), tuned)
        return points.take(rows), points
