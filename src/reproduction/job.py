"""A job of the workflow: one protocol on one cell of an artifact, described as JSON."""

import json
import sys
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from noisylabels.seeding import Seeds
from reproduction import code_digest
from reproduction.protocols import walk
from reproduction.protocols.settings import Settings
from reproduction.strict_yaml import Content
from reproduction.verdicts.per_point_errors import Points

if TYPE_CHECKING:
    from reproduction.data.prepare import Dataset


@contextmanager
def checked(code: str) -> Iterator[None]:
    """Run a job with the code it was planned with, see `code_digest.unchanged`.

    Raises SystemExit: the code was edited meanwhile, or the cache of compiled kernels cannot be read.
    """
    try:
        with code_digest.unchanged(code):
            yield
    except Exception as error:
        frames = traceback.extract_tb(error.__traceback__)
        if not any(Path(frame.filename).match("numba/core/caching.py") for frame in frames):
            raise
        traceback.print_exc()
        sys.exit("error: a compiled kernel cannot be read; remove the folder .cache/numba and start again")


class Order(NamedTuple):
    """What a job is asked for: it alone, with the data, decides what comes out."""

    protocol: str
    experiment: str
    seed: int
    settings: Content


@dataclass(frozen=True)
class Job:
    """Protocol, narrowed settings, seeds and prepared data of one job."""

    protocol: walk.Protocol
    settings: Settings
    seeds: Seeds
    data: "dict[str, Dataset]"

    @classmethod
    def read(cls, text: str, data_files: Sequence[str | Path]) -> "Job":
        """From an `Order` as JSON and the prepared data files."""
        order = Order(**json.loads(text))
        data = {}
        if data_files:
            from reproduction.data.prepare import load_prepared

            data = {dataset.id: dataset for dataset in map(load_prepared, data_files)}
        protocol = walk.find(order.protocol)
        settings = protocol.settings.model_validate(order.settings)
        settings.check_custom()
        return cls(protocol, settings, Seeds(order.seed, order.experiment), data)

    def tune(self) -> Content:
        """Tuned parameters as they come back from a file; {} if the protocol does not tune."""
        tune = self.protocol.tune
        tuned = tune(self.settings, walk.Walk(self.data, self.seeds)) if tune else {}
        read: Content = json.loads(json.dumps(tuned, sort_keys=True))
        return read

    def run(self, repetitions: str, tuned: Content) -> tuple[list[walk.Row], Points]:
        """Rows of the result table for a half-open range of repetitions, ``0:5``, and the points tested."""
        start, stop = map(int, repetitions.split(":"))
        points = Points()
        handed = walk.Walk(self.data, self.seeds, range(start, stop), tuned)
        return points.take(self.protocol.run(self.settings, handed)), points
