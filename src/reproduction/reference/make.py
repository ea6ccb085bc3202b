"""Make the reference from a full run: means, estimates, verdicts, provenance and figure of an artifact."""

import csv
import json
import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from reproduction.atomic import replacing
from reproduction.plan import Plan
from reproduction.reference import judging, runs, state, summary
from reproduction.reference.thumbnails import thumbnail
from reproduction.results import read_table, verify

LARGEST = 2_000_000
"""Bytes of a file of the reference."""


class NotFinished(ValueError):
    """A result that cannot become the reference; the message says why, and what to run."""


def keep(made: Plan, name: str, root: Path, home: Path) -> None:
    """Put the artifact of a full run, finished below ``root``, into the reference below ``home``.

    Raises
    ------
    NotFinished : not run, not judged, or run from other settings than those of its file.
    """
    run = runs.own(made, name, root)
    _examine(made, name, run)
    results, figures = home / "results/reference" / name, home / "figures/reference" / name
    results.mkdir(parents=True, exist_ok=True)
    if run.table:
        _summary(run.table, results / "summary.csv")
    _rows(run.estimates, results / "estimates.csv")
    content = made.artifact(name).content
    judging.write(judging.judged(content, run.estimates, run.verdicts), name, results)
    told = run.provenance | {"cost": run.cost, "data": data(made, name, root)}
    told["made_from"] = state.made_from(made, name, run.provenance)
    with replacing(results / "provenance.json") as part:
        part.write_text(json.dumps(told, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    _drawn(run, figures)


def _examine(made: Plan, name: str, run: runs.Run) -> None:
    artifact, mend = made.artifact(name), f"run ./run --cores 2 -- {name.replace('/', '_')}"
    if run.drawn is None or ("protocol" in artifact.content and run.table is None):
        raise NotFinished(f"{name}: not finished; {mend}")
    if "protocol" in artifact.content and (
        run.provenance.get("settings") != json.loads(json.dumps(artifact.settings))
        or run.provenance.get("seed") != made.config["seed"]
    ):
        raise NotFinished(f"{name}: its table comes from other settings or another seed; {mend}")
    if lacking := judging.not_judged(artifact.content, run.estimates, run.verdicts):
        raise NotFinished(
            f"{name}: its verdicts are not those of its claims and published values ({lacking[0]}); {mend}"
        )
    if run.table:
        verify(run.table)


def data(made: Plan, name: str, root: Path) -> dict[str, Any]:
    """Data set -> source, variant and files of what the artifact used."""
    artifact, found = made.artifact(name), {}
    for each in artifact.data_sets(artifact.settings):
        record = runs.json_of(root / "data/raw" / made.supply.pinned(each) / "source.json")
        about = {key: record[key] for key in ("source", "variant", "files", "shape") if key in record}
        found[each.partition(".")[0]] = about
    return found


def _summary(table: Path, out: Path) -> None:
    """With quantiles where they fit into a file of the reference."""
    found = summary.summarised(read_table(table))
    with replacing(out) as part:
        summary.write(found, part)
        if part.stat().st_size > LARGEST:
            summary.write(found.assign(**dict.fromkeys(summary.QUANTILES)), part)
        if part.stat().st_size > LARGEST:
            raise NotFinished(
                f"{out}: larger than {LARGEST / 1e6:.0f} MB; thin the table out in its protocol"
            )


def _rows(rows: list[runs.Row], out: Path) -> None:
    """A table of text; of no rows, no file."""
    if not rows:
        out.unlink(missing_ok=True)
        return
    with replacing(out) as part, part.open("w", encoding="utf-8", newline="") as lines:
        writer = csv.DictWriter(lines, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def _drawn(run: runs.Run, out: Path) -> None:
    """The figure in its smaller format with a thumbnail, or the table for browsers and for the repository."""
    assert run.drawn is not None
    out.parent.mkdir(parents=True, exist_ok=True)
    suffixes = [".html", ".md"] if run.drawn.suffix == ".html" else [run.drawn.suffix]
    for left in _files(out):
        left.unlink()
    for suffix in suffixes:
        shutil.copyfile(run.drawn.with_suffix(suffix), out.with_name(out.name + suffix))
    picture = run.drawn.with_suffix(".png")
    if picture.is_file() and run.drawn.suffix != ".html":
        thumbnail(picture, out.with_name(f"{out.name}.thumb.webp"))


def _files(out: Path) -> Iterable[Path]:
    suffixes = (*(f".{suffix}" for suffix in runs.DRAWN), ".md", ".thumb.webp")
    return [file for suffix in suffixes if (file := out.with_name(out.name + suffix)).is_file()]
