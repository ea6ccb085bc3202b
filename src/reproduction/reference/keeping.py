"""The command `reference`: keep what is finished, judge it again, or list what has grown old."""

import hashlib
import json
import shutil
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from reproduction import results
from reproduction.plan import Plan, unknown_target
from reproduction.reference import judging, runs
from reproduction.results import replacing

WHOLE, LARGEST = 20_000_000, 2_000_000
"""Bytes of the whole reference, and of a file of it."""

WIDTH, HEIGHT = 520, 320
"""Largest size of a thumbnail in pixels."""


class NotFinished(ValueError):
    """A result that cannot become the reference; the message says why, and what to run."""


def chosen(made: Plan, asked: Sequence[str]) -> list[str]:
    """The artifacts of some targets (papers or ``<paper>_<artifact>``); of none: all.

    Raises
    ------
    ValueError : a target that the configuration does not have.
    """
    known = made.targets
    if unknown := [target for target in asked if target not in known]:
        raise ValueError(unknown_target(unknown[0], known))
    scopes = [known[target] for target in asked] or [""]
    return list(dict.fromkeys(name for scope in scopes for name in made.below(scope)))


def remedy(name: str) -> str:
    """The commands that make an old result of the reference new."""
    target = name.replace("/", "_")
    return f"./run --cores 2 -- {target} && ./run reference {target}"


# Keep


def kept(made: Plan, names: Iterable[str], root: Path, home: Path, asked: bool) -> tuple[list[str], bool]:
    """Keep the artifacts that are finished; (lines, whether one that was asked for could not be kept)."""
    lines, refused = [], []
    for name in names:
        try:
            keep(made, name, root, home)
            lines.append(f"{name}: kept")
        except ValueError as error:
            refused.append(str(error))
    folders = (home / "results/reference", home / "figures/reference")
    size = sum(file.stat().st_size for folder in folders for file in folder.rglob("*") if file.is_file())
    count = f"{len(lines)} kept, {len(refused)} not; {size / 1e6:.1f} MB in all"
    large = [f"that is more than {WHOLE / 1e6:.0f} MB"] * (size > WHOLE)
    lines += [f"not kept: {line}" for line in refused]
    return [*lines, count, *large], bool(large) or bool(refused and asked)


def keep(made: Plan, name: str, root: Path, home: Path) -> None:
    """Put the artifact of a full run, finished below ``root``, into the reference below ``home``.

    Raises
    ------
    NotFinished : not run, not judged, or run from other settings than those of its file.
    """
    run, content = runs.own(made, name, root), made.artifact(name).content
    _examine(made, name, run)
    folder, figure = home / "results/reference" / name, home / "figures/reference" / name
    folder.mkdir(parents=True, exist_ok=True)
    if run.table:
        _keep_summary(run.table, folder / "summary.csv")
    estimates = folder / "estimates.csv"
    estimates.unlink(missing_ok=True)
    if run.estimates:
        pd.DataFrame(run.estimates).to_csv(estimates, index=False, lineterminator="\n")
    judging.write(judging.judged(content, run.estimates, run.verdicts), name, folder)
    from_ = {"settings": _settings(made, name), "code": run.provenance.get("code", "")}
    about = run.provenance | {"cost": run.cost, "data": _data(made, name, root), "made_from": from_}
    with replacing(folder / "provenance.json") as part:
        part.write_text(json.dumps(about, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    _keep_drawing(run, figure)


def _examine(made: Plan, name: str, run: runs.Run) -> None:
    artifact, mend = made.artifact(name), f"run ./run --cores 2 -- {name.replace('/', '_')}"
    if run.drawn is None or (artifact.protocol and run.table is None):
        raise NotFinished(f"{name}: not finished; {mend}")
    made_as = [run.provenance.get("settings"), run.provenance.get("seed")]
    if artifact.protocol and made_as != [json.loads(json.dumps(artifact.settings)), made.config["seed"]]:
        raise NotFinished(f"{name}: its table comes from other settings or another seed; {mend}")
    if lacking := judging.not_judged(artifact.content, run.estimates, run.verdicts):
        raise NotFinished(
            f"{name}: its verdicts are not those of its claims and published values ({lacking[0]}); {mend}"
        )
    if run.table:
        results.verify(run.table)


def _data(made: Plan, name: str, root: Path) -> dict[str, Any]:
    """Data set -> source, variant and files of what the artifact used."""
    artifact, found = made.artifact(name), {}
    for each in artifact.data_sets(artifact.settings):
        record = runs.json_of(root / "data/raw" / made.supply.pinned(each) / "source.json")
        about = {key: record[key] for key in ("source", "variant", "files", "shape") if key in record}
        found[each.partition(".")[0]] = about
    return found


def _keep_summary(table: Path, out: Path) -> None:
    """With quantiles where they fit into a file of the reference."""
    found = runs.summarised(results.read_table(table))
    with replacing(out) as part:
        runs.write_summary(found, part)
        if part.stat().st_size > LARGEST:
            runs.write_summary(found.assign(**dict.fromkeys(runs.QUANTILES)), part)
        if part.stat().st_size > LARGEST:
            raise NotFinished(
                f"{out}: larger than {LARGEST / 1e6:.0f} MB; thin the table out in its protocol"
            )


def _keep_drawing(run: runs.Run, out: Path) -> None:
    """The figure in its smaller format with a thumbnail, or the table for browsers and for the repository."""
    assert run.drawn is not None
    out.parent.mkdir(parents=True, exist_ok=True)
    for suffix in (*runs.DRAWN, "md", "thumb.webp"):
        out.with_name(f"{out.name}.{suffix}").unlink(missing_ok=True)
    for suffix in [".html", ".md"] if run.drawn.suffix == ".html" else [run.drawn.suffix]:
        shutil.copyfile(run.drawn.with_suffix(suffix), out.with_name(out.name + suffix))
    picture = run.drawn.with_suffix(".png")
    if picture.is_file() and run.drawn.suffix != ".html":
        thumbnail(picture, out.with_name(f"{out.name}.thumb.webp"))


def thumbnail(picture: Path, out: Path) -> None:
    """A small WebP of a PNG, for pages that show many."""
    from PIL import Image

    with Image.open(picture) as image:
        small = image.convert("RGB")
        small.thumbnail((WIDTH, HEIGHT), Image.Resampling.LANCZOS, reducing_gap=2.0)
        small.save(out, "WEBP", quality=62, method=4)


# Judge again


def judged(made: Plan, names: Iterable[str], home: Path) -> list[str]:
    """Judge kept artifacts again and write their verdicts; a line for each artifact where some moved."""
    lines = []
    for name in names:
        folder = home / "results/reference" / name
        if (folder / "provenance.json").is_file():
            content = made.artifact(name).content
            moved, _ = judging.moved(content, folder)
            judging.write(judging.again(content, folder), name, folder)
            lines += [f"{name}: {', '.join(moved)}"] * bool(moved)
    return lines or ["every verdict is what it was"]


# List what is old


def old(made: Plan, names: Iterable[str], home: Path) -> tuple[list[str], bool]:
    """What changed since artifacts were kept; (lines, whether settings or verdicts did).

    A change of settings makes a result another one. A change of code is reported, and may mean nothing.
    """
    lines, failed = [], False
    for name in names:
        provenance = runs.reference(name, home).provenance
        if (kept := provenance.get("made_from")) is None:
            lines.append(f"{name}: not in the reference")
            continue
        moved, waiting = judging.moved(made.artifact(name).content, home / "results/reference" / name)
        if moved:
            some, command = ", ".join(moved[:5]), f"./run reference --judge {name.replace('/', '_')}"
            lines.append(f"{name}: other claims or published values ({some} ...); {command}")
        if waiting:
            lines.append(f"{name}: {', '.join(waiting)} cannot be judged from what is kept; {remedy(name)}")
        settings = kept.get("settings", kept.get("declared", {}).get("settings"))
        if settings != _settings(made, name):
            lines.append(f"{name}: OLD, other settings; {remedy(name)}")
        elif other_code(made, name, kept):
            commit = provenance.get("commit", "unknown")[:12]
            lines.append(f"{name}: made with earlier code (commit {commit})")
        failed = failed or bool(moved) or settings != _settings(made, name)
    return lines or ["the reference is what the files here would give"], failed


def _settings(made: Plan, name: str) -> str:
    """Digest of what the artifact's jobs compute, or of what it draws if it has none."""
    artifact = made.artifact(name)
    computed: Any = {key: artifact.content.get(key) for key in ("uses", "settings")}
    if artifact.protocol:
        computed = [made.job(name, cell) for cell in artifact.cells]
    return hashlib.sha256(json.dumps(computed, sort_keys=True).encode()).hexdigest()[:16]


def other_code(made: Plan, name: str, kept: Mapping[str, Any]) -> bool:
    """Is the code that computes the table another now? ``kept`` is the key ``made_from`` of a provenance.

    That of a result kept before there were digests is.
    """
    if not made.artifacts[name].protocol or name in made.left_out:
        return False
    return made.computing_code(name) != str(kept["code"])
