"""A job of an experiment: tune a cell, run a block of repetitions, do both, or collect blocks."""

import argparse
import json
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reproduction.run import compute_ahead

if TYPE_CHECKING:
    from reproduction.run.job import Job

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("kind", choices=("tune", "run", "experiment", "collect"))
parser.add_argument("--key", type=Path, required=True, help="what the plan requests, as JSON")
parser.add_argument("--record", type=Path, required=True, help="for what the result was made from")
parser.add_argument("--data", nargs="*", type=Path, default=[], help="prepared data sets (.npz)")
parser.add_argument("--tuned", nargs="*", type=Path, default=[], help="tuned parameters of cells")
parser.add_argument("--parts", nargs="*", type=Path, help="tables of the blocks, in order")
parser.add_argument("--tested", nargs="*", type=Path, help="their points")
parser.add_argument("--out", type=Path, help="for tuned parameters (JSON)")
parser.add_argument("--table", type=Path, help="for tidy rows (CSV)")
parser.add_argument("--points", type=Path, help="for what was tested, point by point (.npz)")


def compute(options: argparse.Namespace) -> None:
    """Do the job. Imports are made here: a job that another one computed for it needs none."""
    from reproduction.run import records

    with records.making(options.key, options.record) as result:
        tuned = {}
        for file in options.tuned:
            tuned[file.parent.name] = json.loads(file.read_text(encoding="utf-8"))
        if options.kind == "collect":
            collect(options)
        else:
            with kernels_readable():
                tuned |= work(options, result.request, result.context, tuned)
        result.outputs = [options.table, options.points]
        if options.kind == "tune":
            result.outputs = [options.out]
        if "about" in result.context:
            description = result.context["about"]
            result.informs = records.describe_numbers(description, tuned, options.data)


def collect(options: argparse.Namespace) -> None:
    """Join the tables and the points of all blocks."""
    from reproduction.run import points, results
    from reproduction.run.atomic_files import replacing

    with replacing(options.table) as part:
        results.concatenate(options.parts, part)
    with replacing(options.points) as part:
        points.collect(options.tested, part)


def work(
    options: argparse.Namespace,
    request: dict[str, Any],
    context: dict[str, Any],
    tuned: dict[str, Any],
) -> dict[str, Any]:
    """Tune, run or both; return the parameters that were tuned, by cell.

    request : what `Plan.job` describes, and the repetitions.
    context : the cell, and whether the first repetition is run again and compared.
    """
    from reproduction.run import results
    from reproduction.run.atomic_files import replacing
    from reproduction.run.job import Job

    cell = context["cell"]
    job = Job.read(request, options.data)
    if options.kind != "run":
        tuned_here = job.tune()
        if tuned_here:
            tuned = {cell: tuned_here}
    if options.kind == "tune":
        with replacing(options.out) as part:
            text = json.dumps(tuned.get(cell, {}), indent=1, sort_keys=True)
            part.write_text(text + "\n", encoding="utf-8")
        return tuned
    parameters: dict[str, Any] = next(iter(tuned.values()), {})
    if context.get("is_run_twice"):
        refuse_wrong_methods(job)
    rows, points = job.run(request["repetitions"], parameters)
    if context.get("is_run_twice"):
        job.check_repeatable(rows, request["repetitions"], parameters)
    with replacing(options.table) as part:
        results.write_rows(rows, part)
    with replacing(options.points) as part:
        points.write(part)
    return tuned


def refuse_wrong_methods(job: "Job") -> None:
    """Refuse a job with a method of a user that learns the wrong way round."""
    if any(method.custom for method in job.settings.select_methods().values()):
        from reproduction.run import learning_check

        learning_check.refuse_wrong_methods(job)


@contextmanager
def kernels_readable() -> Iterator[None]:
    """Say what to do where the cache of compiled functions cannot be read."""
    try:
        yield
    except Exception as error:
        files = [frame.filename for frame in traceback.extract_tb(error.__traceback__)]
        if not any(Path(file).match("numba/core/caching.py") for file in files):
            raise
        traceback.print_exc()
        remedy = "remove the folder .cache/numba and start again"
        raise SystemExit(f"error: a compiled kernel cannot be read; {remedy}") from None


compute_ahead.run(sys.argv[1:], parser.parse_args, compute)
