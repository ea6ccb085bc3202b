"""A job of the workflow: one protocol on one cell of an artifact, described as JSON."""

import json
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from noisylabels.seeding import Seeds
from reproduction import code_digest
from reproduction.protocols import walk
from reproduction.protocols.settings import Settings
from reproduction.verdicts.per_point_errors import Points


@contextmanager
def checked(code: str) -> Iterator[None]:
    """Run a job with the code it was planned with (see `code_digest.unchanged`).

    Raises
    ------
    SystemExit : the code was edited meanwhile, or the cache of compiled kernels cannot be read; in one line.
    """
    try:
        with code_digest.unchanged(code):
            yield
    except Exception as error:
        frames = traceback.extract_tb(error.__traceback__)
        if any(Path(frame.filename).match("numba/core/caching.py") for frame in frames):
            traceback.print_exc()
            sys.exit(
                "error: a compiled kernel cannot be read; remove the folder .cache/numba and start again"
            )
        raise


@dataclass(frozen=True)
class Job:
    """Protocol, narrowed settings, seeds and prepared data of one job."""

    protocol: walk.Protocol
    settings: Settings
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
        protocol = walk.find(name)
        settings = protocol.settings.model_validate(settings)
        settings.check_custom()
        return cls(protocol, settings, Seeds(content["seed"], content["experiment"]), data)

    def tune(self) -> dict[str, Any]:
        """Tuned parameters as they come back from a file; {} if the protocol does not tune."""
        if self.protocol.tune is None:
            return {}
        tuned = self.protocol.tune(self.settings, walk.Walk(self.data, self.seeds))
        read: dict[str, Any] = json.loads(json.dumps(tuned, sort_keys=True))
        return read

    def run(self, repetitions: str, tuned: dict[str, Any]) -> tuple[list[dict[str, Any]], Points]:
        """Rows of the result table for a half-open range of repetitions, ``0:5``, and the points tested."""
        start, stop = map(int, repetitions.split(":"))
        points = Points()
        handed = walk.Walk(self.data, self.seeds, range(start, stop), tuned)
        rows = list(self.protocol.run(self.settings, handed))
        return points.take(rows), points
