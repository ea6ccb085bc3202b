"""The archived run: what it holds, what of it is out of date, how another run compares.

A `Run` is one artifact as it was run, read from finished files. A result table without its
repetitions is a summary: n, mean, standard error and quantiles of every row key. The archive also
has the table itself and the errors by point, compressed, so that any question about them is judged
again without a run.
"""

import hashlib
import io
import json
import lzma
import shutil
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from reproduction.judge import verdicts as judge
from reproduction.judge.agreement import agreement
from reproduction.judge.claims import SELECTOR, Asked
from reproduction.judge.estimates import rows_of
from reproduction.judge.verdict_files import Row, VerdictFiles, read_verdicts, verify_output
from reproduction.judge.verdicts import VERDICT_COLUMNS, as_text
from reproduction.plan import costs
from reproduction.plan.currency import arrange, compare_read, differences
from reproduction.plan.plan import Plan, unknown_target
from reproduction.run import records, results
from reproduction.run.atomic_files import replacing
from reproduction.run.points import Points
from reproduction.spec.artifact import Artifact
from reproduction.spec.display_keys import without_display
from reproduction.spec.strict_yaml import Content
from reproduction.spec.verdict_words import NOT_JUDGED, PUBLISHED

SHOWN_FORMATS = ("svg", "png", "html")
"""Formats that a page can show."""
LARGEST_ARCHIVE = 40_000_000
"""Bytes of all archived files together."""
LARGEST_FILE = 2_000_000
"""Bytes of one archived file."""
JUDGED_FROM = "judged_from"
"""Key of an artifact, also in the record of an archived run: null where all repetitions count."""
COMPRESSED = ("table.csv", "points.npz")
"""Archived next to the summary: the table with its repetitions, and the errors point by point."""
LONGEST_LIST = 5
"""Names that a line shows before it says that there are more."""
SOURCE_FACTS: tuple[str, ...] = ("source", "variant", "files", "shape")
"""What the record says of each downloaded data set."""
THUMBNAIL_SIZE = (520, 320)
"""Largest width and height in pixels."""
THUMBNAIL_QUALITY = 62
"""Quality of the WebP encoder, at most 100."""

# Runs


@dataclass(frozen=True)
class Run:
    """The files and facts of an artifact at a scale or in the archive; what is missing is empty.

    Attributes
    ----------
    cost : dict
        ``minutes`` of a core, ``mem_mb`` of the largest job, and the number of ``jobs``.
    drawn : Path or None
        The figure (SVG or PNG) or the table (HTML).
    table : Path or None
        The result table or the summary of one.
    thumbnail : Path or None
        A small picture of a figure; only the archive has one.
    """

    scale: str
    verdicts: list[Row] = field(default_factory=list)
    agreement: list[Row] = field(default_factory=list)
    provenance: Content = field(default_factory=dict)
    cost: dict[str, float] = field(default_factory=dict)
    drawn: Path | None = None
    table: Path | None = None
    thumbnail: Path | None = None

    def __bool__(self) -> bool:
        return self.drawn is not None or bool(self.verdicts)


def read_run(plan: Plan, name: str, root: Path, source: str = "") -> Run:
    """Read an artifact as it was run at the scale of the plan.

    Parameters
    ----------
    plan : Plan
        The plan of the run.
    name : str
        The artifact, ``<paper>/<artifact>``.
    root : Path
        Folder of the run.
    source : str, optional
        The artifact whose table it draws, if that is another one.

    Returns
    -------
    Run
        What there is of it.

    Raises
    ------
    ValueError
        If its drawing or its verdicts are not those of their records.
    """
    tables = root / plan.results / (source or name)
    drawn = choose_smallest(root / file for file in plan.drawings(name))
    table = _find_file(tables / "table.csv")
    for file in (drawn, table):
        if file is not None:
            verify_output(file)
    files = VerdictFiles(root, plan.results)
    return Run(
        plan.config["scale"],
        files.rows(name),
        files.rows(name, "agreement.csv"),
        provenance=records.facts(tables / records.RECORD),
        cost=_sum_costs(root / f"logs/{plan.folder}/{name}"),
        drawn=drawn,
        table=table,
    )


def read_archived(name: str, root: Path, source: str = "") -> Run:
    """Read an artifact as the archive has it; ``source`` as in `read_run`."""
    folder = root / "results/reference" / name
    figure = root / "figures/reference" / name
    tables = root / "results/reference" / (source or name)
    provenance = records.facts(folder / records.RECORD)
    drawings = [figure.with_name(f"{figure.name}.{suffix}") for suffix in SHOWN_FORMATS]
    return Run(
        "full",
        read_verdicts(folder / "verdicts.csv"),
        read_verdicts(folder / "agreement.csv"),
        provenance=records.facts(tables / records.RECORD) | provenance,
        cost=provenance.get("cost", {}),
        drawn=choose_smallest(drawings),
        table=_find_file(tables / "summary.csv"),
        thumbnail=_find_file(figure.with_name(f"{figure.name}.thumb.webp")),
    )


def describe_commit(provenance: Content) -> str:
    """Write twelve digits of the commit, and whether the files differed from it."""
    commit = str(provenance.get("commit", "unknown"))
    digits = commit[:12]
    return f"{digits} + changes" if commit.endswith("+") else digits


def _sum_costs(logs: Path) -> dict[str, float]:
    """Sum up the minutes of all jobs, with the memory of the largest in MB; of no jobs: empty."""
    jobs = [costs.times(file) for file in sorted(logs.glob("*.time.tsv"))]
    if not jobs:
        return {}
    seconds, memory = zip(*jobs, strict=True)
    minutes = round(sum(seconds) / 60, 2)
    return {"minutes": minutes, "mem_mb": round(max(memory)), "jobs": len(jobs)}


def choose_smallest(drawings: Iterable[Path]) -> Path | None:
    """Choose the smallest file that exists and that a page can show."""
    shown = [file for file in drawings if file.suffix.removeprefix(".") in SHOWN_FORMATS]
    files = [file for file in shown if file.is_file()]
    return min(files, key=lambda file: file.stat().st_size, default=None)


def _find_file(file: Path) -> Path | None:
    return file if file.is_file() else None


def read_json(file: Path) -> Content:
    """Read a JSON object; of no file: empty. Raises ValueError: no JSON; names the file."""
    if not file.is_file():
        return {}
    try:
        content: Content = json.loads(file.read_bytes())
    except ValueError as error:
        remedy = "delete it and run again"
        raise ValueError(f"{file}: cannot be read ({error}); {remedy}") from None
    return content


QUANTILES = {"q10": 0.1, "median": 0.5, "q90": 0.9}
STATISTICS = ("n", "mean", "se", *QUANTILES)
SUMMARY_COLUMNS = [*SELECTOR, *STATISTICS]


def summarise(table: pd.DataFrame, quantiles: bool = True) -> pd.DataFrame:
    """Compute number, mean, standard error and quantiles over the repetitions of a table.

    The keys are in the order of their first rows; a single repetition has no error and no
    quantiles.
    """
    groups = table.groupby(SELECTOR, sort=False, dropna=False)["value"]
    summary = groups.agg(n="size", mean="mean", se="sem")
    is_constant = (summary["n"] > 1) & (groups.max() == groups.min())
    summary.loc[is_constant, "se"] = 0.0  # not a difference that is rounding alone
    if quantiles:
        for name, share in QUANTILES.items():
            summary[name] = groups.quantile(share)
        summary.loc[summary["n"] == 1, list(QUANTILES)] = float("nan")
    return summary.reset_index()


def read_summary(path: Path) -> pd.DataFrame:
    """Read a written summary, or summarise a result table."""
    with path.open(encoding="utf-8") as lines:
        header = lines.readline().strip().split(",")
    if header != SUMMARY_COLUMNS:
        return summarise(results.read_table(path))
    labels = [column for column in SELECTOR if column != "x"]
    numbers = ("x", *STATISTICS)
    missing = {column: [""] for column in numbers}
    texts = dict.fromkeys(labels, "object")
    return pd.read_csv(path, keep_default_na=False, na_values=missing, dtype=texts)


def write_summary(summary: pd.DataFrame, path: Path) -> None:
    """Write as CSV, means with ten digits as in result tables, the rest with four.

    The same summary always gives the same bytes.
    """
    rounded = summary.copy()
    for column in ("se", *QUANTILES):
        rounded[column] = summary[column].map("{:.4g}".format, na_action="ignore")
    judge.write(rounded[SUMMARY_COLUMNS], path, "%.10g")


# Judge again


class JudgedTables(NamedTuple):
    """Verdicts of an artifact, and their agreement with the paper."""

    verdicts: pd.DataFrame
    agreement: pd.DataFrame


def judge_archived(content: Asked, folder: Path, computed: Path | None = None) -> JudgedTables:
    """Judge an archived artifact with the present claims, values and rules.

    ``computed`` is the folder of the table that it draws, if that is not its own. Without a table
    (the first archived runs had none) a check that needs other rows now is `NOT_JUDGED`.
    Raises ValueError: an archived table is not the one of its record.
    """
    content = _as_archived(content, folder)
    archived = read_verdicts(folder / "verdicts.csv")
    table = unpack(computed or folder, "table.csv")
    packed_points = unpack(computed or folder, "points.npz")
    if table:
        rows = results.read_table(io.BytesIO(table))
        points = Points.read(io.BytesIO(packed_points)) if packed_points else None
        verdicts = judge.judge(content, rows, "full", points)
    else:
        verdicts = judge.unmoved(content, archived)
    constant = {}
    for row in archived:
        if row["kind"] == PUBLISHED:
            constant[row["id"]] = row["constant_error"]
    # A constant error is found with other results; the archived cell is the only source of it.
    verdicts["constant_error"] = [float(constant.get(name) or "nan") for name in verdicts["id"]]
    return JudgedTables(verdicts, agreement(verdicts.assign(paper="", artifact="")))


def _as_archived(content: Asked, folder: Path) -> Asked:
    """The artifact with the `judged_from` of the archived run.

    Which repetitions had been looked at belongs to a run: the next one may have fresh seeds. Where
    the record says nothing the artifact decides.
    """
    facts = records.facts(folder / records.RECORD)
    if JUDGED_FROM not in facts:
        return content
    archived = dict(content)
    archived.pop(JUDGED_FROM, None)
    if facts[JUDGED_FROM] is not None:
        archived[JUDGED_FROM] = facts[JUDGED_FROM]
    return archived


def unpack(folder: Path, name: str) -> bytes:
    """Read a compressed file of the archive, in numbered parts if it is large; "" without one.

    Raises ValueError: it is not the file of its record.
    """
    parts = _find_packed_parts(folder, name)
    if not parts:
        return b""
    content = lzma.decompress(b"".join(file.read_bytes() for file in parts))
    key = f"{name.partition('.')[0]}_sha256"
    recorded = records.facts(folder / records.RECORD).get(key)
    if hashlib.sha256(content).hexdigest() != recorded:
        problem = "not the file that its record.json describes; archive the run again"
        raise ValueError(f"{parts[0]}: {problem}")
    return content


def _find_packed_parts(folder: Path, name: str) -> list[Path]:
    """List the files that `write_parts` wrote, in their order."""
    most_parts = LARGEST_ARCHIVE // LARGEST_FILE
    files = [folder / f"{name}.xz"]
    for number in range(1, 1 + most_parts):
        files.append(folder / f"{name}.{number}.xz")
    return [file for file in files if file.is_file()]


def compare_verdicts(
    content: Asked, folder: Path, computed: Path | None = None
) -> tuple[list[str], list[str]]:
    """List the ids whose archived verdict is out of date, and those that need a run.

    The arguments are those of `judge_archived`.
    """
    verdicts = judge_archived(content, folder, computed).verdicts
    not_judged = list(verdicts.loc[verdicts["verdict"] == NOT_JUDGED, "id"])
    return _list_changed(verdicts, folder), not_judged


def _list_changed(verdicts: pd.DataFrame, folder: Path) -> list[str]:
    """List the published values and claims whose archived row differs from a new one."""
    archived_cells: dict[str, list[str]] = {}
    for row in rows_of(folder / "verdicts.csv"):
        archived_cells[row["id"]] = [row.get(column, "") for column in VERDICT_COLUMNS]
    cells: dict[str, list[str]] = {}
    for verdict in verdicts.to_dict("records"):
        cells[verdict["id"]] = [as_text(verdict[column]) for column in VERDICT_COLUMNS]
    names = dict.fromkeys([*archived_cells, *cells])
    return [name for name in names if archived_cells.get(name) != cells.get(name)]


def judge_again(plan: Plan, names: Iterable[str], home: Path) -> list[str]:
    """Judge archived artifacts again and write their verdicts.

    Returns a line for each artifact where some changed.
    """
    lines = []
    for name in names:
        folder = home / "results/reference" / name
        if not (folder / records.RECORD).is_file():
            continue
        computed = home / "results/reference" / plan.computed(name)
        judged = judge_archived(plan.artifacts[name].content, folder, computed)
        changed = _list_changed(judged.verdicts, folder)
        if changed:
            lines.append(f"{name}: {', '.join(changed)}")
        _write_judged(judged.verdicts, name, folder / "verdicts.csv")
        _write_judged(judged.agreement, name, folder / "agreement.csv")
    return lines or ["no verdict changed"]


def _write_judged(frame: pd.DataFrame, name: str, file: Path) -> None:
    """Write verdicts or agreement with the names of their artifact; nothing if there are none."""
    file.unlink(missing_ok=True)
    if len(frame):
        unnamed = frame.drop(columns=["paper", "artifact"], errors="ignore")
        judge.write(judge.of_artifact(unnamed, *name.split("/")), file)


# Archive a run


class NotFinished(ValueError):
    """A result that cannot be archived; the message says why, and what to run."""


def select_results(plan: Plan, targets: Sequence[str]) -> list[str]:
    """Select the artifacts of targets (papers or ``<paper>_<artifact>``); all without a target.

    Raises ValueError: a target that the configuration does not have.
    """
    for target in targets:
        if target not in plan.targets:
            raise ValueError(unknown_target(target, plan.targets))
    names: dict[str, None] = {}
    for scope in plan.find_scopes(targets):
        names |= dict.fromkeys(plan.artifacts_below(scope))
    return list(names)


def archive_results(
    plan: Plan, names: Iterable[str], root: Path, home: Path, requested: bool
) -> tuple[list[str], bool]:
    """Archive the artifacts that are finished.

    Returns lines for the terminal, and whether it failed: the archive is too large, or a result
    that was ``requested`` by its name could not be archived.
    """
    lines = []
    refused = []
    for name in names:
        try:
            archive_result(plan, name, root, home)
            lines.append(f"{name}: kept")
        except ValueError as error:
            refused.append(str(error))
    size = 0
    for folder in ("results", "figures"):
        files = (home / folder / "reference").rglob("*")
        size += sum(file.stat().st_size for file in files if file.is_file())
    count = f"{len(lines)} archived, {len(refused)} not; {size / 1e6:.1f} MB in all"
    lines += [f"not kept: {line}" for line in refused]
    lines.append(count)
    is_too_large = size > LARGEST_ARCHIVE
    if is_too_large:
        lines.append(f"that is more than {LARGEST_ARCHIVE / 1e6:.0f} MB")
    is_incomplete = requested and bool(refused)
    return lines, is_too_large or is_incomplete


def archive_result(plan: Plan, name: str, root: Path, home: Path) -> None:
    """Copy an artifact of a full run, finished below ``root``, into the archive below ``home``.

    Raises NotFinished: not run, not judged, or run from other settings than those of its file.
    """
    run = read_run(plan, name, root)
    _check_finished(plan, name, run)
    folder = home / "results/reference" / name
    folder.mkdir(parents=True, exist_ok=True)
    _delete_archived_tables(folder)
    if run.table:
        _write_summary_of(run.table, folder / "summary.csv")
        for file in COMPRESSED:
            content = run.table.with_name(file).read_bytes()
            write_parts(folder, file, lzma.compress(content, preset=9))
    if run.verdicts:
        judge.write(pd.DataFrame(run.verdicts), folder / "verdicts.csv")
    if run.agreement:
        judge.write(pd.DataFrame(run.agreement), folder / "agreement.csv")
    _write_record(plan, name, run, root, folder)
    assert run.drawn is not None  # a result without a drawing is not finished
    archive_drawing(run.drawn, home / "figures/reference" / name)


def _delete_archived_tables(folder: Path) -> None:
    """Delete what an earlier run has archived; the next one may have fewer parts, or none."""
    for file in folder.glob("*.xz"):
        file.unlink()
    for name in ("summary.csv", "verdicts.csv", "agreement.csv", "estimates.csv"):
        (folder / name).unlink(missing_ok=True)


def _write_record(plan: Plan, name: str, run: Run, root: Path, folder: Path) -> None:
    """Write the record of a run, with its cost and the origin of its data."""
    artifact = plan.artifact(name)
    record = _read_record_of_run(plan, name, root)
    record["informs"]["cost"] = run.cost
    record["informs"]["data"] = _describe_sources(plan, artifact, root / "data/raw")
    record["informs"]["made_from"] = {"settings": _digest_settings(plan, name)}
    record["informs"][JUDGED_FROM] = artifact.content.get(JUDGED_FROM)
    text = json.dumps(record, indent=1, sort_keys=True)
    with replacing(folder / records.RECORD) as part:
        part.write_text(f"{text}\n", encoding="utf-8")


def _describe_sources(plan: Plan, artifact: Artifact, raw: Path) -> dict[str, Content]:
    """Describe where the data sets of an artifact were downloaded from."""
    described = {}
    for dataset in artifact.data_sets(artifact.settings):
        source = read_json(raw / plan.pinned(dataset) / "source.json")
        facts = {key: source[key] for key in SOURCE_FACTS if key in source}
        described[dataset.partition(".")[0]] = facts
    return described


def _read_record_of_run(plan: Plan, name: str, root: Path) -> records.Record:
    """Read the record of the result table of a run, or of the drawing of what has no table."""
    of_table = root / plan.results / name / records.RECORD
    of_drawing = root / f"{plan.figures}/{name}.{records.RECORD}"
    for file in (of_table, of_drawing):
        if file.is_file():
            return records.read_record(file)
    unknown = {"asked": records.UNKNOWN, "inputs": {}, "read": records.UNKNOWN}
    return {"format": records.FORMAT, "decides": unknown, "outputs": {}, "informs": {}}


def write_parts(folder: Path, name: str, packed: bytes) -> None:
    """Write ``<name>.xz``, or ``<name>.1.xz`` and so on if it is larger than `LARGEST_FILE`."""
    if len(packed) <= LARGEST_FILE:
        (folder / f"{name}.xz").write_bytes(packed)
        return
    starts = range(0, len(packed), LARGEST_FILE)
    for number, start in enumerate(starts, start=1):
        part = packed[start : start + LARGEST_FILE]
        (folder / f"{name}.{number}.xz").write_bytes(part)


def _check_finished(plan: Plan, name: str, run: Run) -> None:
    """Refuse a run that is not finished, has other settings, or was judged with other claims."""
    artifact = plan.artifact(name)
    remedy = f"run ./run full {name.replace('/', '_')}"
    has_table = run.table is not None or not artifact.protocol
    if run.drawn is None or not has_table:
        raise NotFinished(f"{name}: not finished; {remedy}")
    if artifact.protocol and not _is_of_plan(plan, name, run.provenance.get("asked")):
        raise NotFinished(f"{name}: its table comes from other settings or another seed; {remedy}")
    verdicts = judge.unmoved(artifact.content, run.verdicts)
    not_judged = list(verdicts.loc[verdicts["verdict"] == NOT_JUDGED, "id"])
    if not_judged:
        problem = f"are not those of its claims and published values ({not_judged[0]})"
        raise NotFinished(f"{name}: its verdicts {problem}; {remedy}")


def _is_of_plan(plan: Plan, name: str, requested: Any) -> bool:
    """Does a record say that the result is of the settings and the seed of the plan?"""
    if not isinstance(requested, dict):
        return False
    planned = json.loads(json.dumps(plan.job(name)))
    recorded = {key: requested.get(key) for key in planned}
    return arrange(recorded) == arrange(planned)


def _write_summary_of(table: Path, out: Path) -> None:
    """Summarise a result table, with quantiles where they fit into a file of the archive."""
    summary = summarise(results.read_table(table))
    with replacing(out) as part:
        write_summary(summary, part)
        if part.stat().st_size > LARGEST_FILE:
            without_quantiles = summary.assign(**dict.fromkeys(QUANTILES))
            write_summary(without_quantiles, part)
        if part.stat().st_size > LARGEST_FILE:
            limit = f"{LARGEST_FILE / 1e6:.0f} MB"
            raise NotFinished(f"{out}: larger than {limit}; thin the table out in its protocol")


def archive_drawing(drawn: Path, out: Path) -> None:
    """Archive a figure with a thumbnail, or a table for browsers and for the repository."""
    out.parent.mkdir(parents=True, exist_ok=True)
    for suffix in (*SHOWN_FORMATS, "md", "thumb.webp"):
        out.with_name(f"{out.name}.{suffix}").unlink(missing_ok=True)
    is_table = drawn.suffix == ".html"
    suffixes = [".html", ".md"] if is_table else [drawn.suffix]
    for suffix in suffixes:
        shutil.copyfile(drawn.with_suffix(suffix), out.with_name(f"{out.name}{suffix}"))
    picture = drawn.with_suffix(".png")
    if picture.is_file() and not is_table:
        write_thumbnail(picture, out.with_name(f"{out.name}.thumb.webp"))


def write_thumbnail(picture: Path, out: Path) -> None:
    """Write a small WebP of a PNG, for pages that show many."""
    from PIL import Image

    with Image.open(picture) as image:
        small = image.convert("RGB")
        small.thumbnail(THUMBNAIL_SIZE, Image.Resampling.LANCZOS, reducing_gap=2.0)
        small.save(out, "WEBP", quality=THUMBNAIL_QUALITY, method=4)


# List what is out of date


def find_outdated(plan: Plan, names: Iterable[str], home: Path) -> tuple[list[str], bool]:
    """List what changed since artifacts were archived, and whether settings or verdicts did.

    A change of settings makes a result another one. A change of code that computes is reported,
    and may mean nothing. Code that draws is left out: a drawing can be made again from the archived
    tables.
    """
    lines = []
    failed = False
    for name in names:
        provenance = read_archived(name, home).provenance
        if "made_from" not in provenance:
            lines.append(f"{name}: not archived")
            continue
        reason = plan.left_out.get(name)
        if reason:
            lines.append(f"{name}: not compared, it cannot run here: {reason}")
            continue
        target = name.replace("/", "_")
        remedy = f"./run full {target} && ./run reference {target}"
        archive = home / "results/reference"
        content = plan.artifact(name).content
        computed = archive / plan.computed(name)
        changed, not_judged = compare_verdicts(content, archive / name, computed)
        if changed:
            command = f"./run reference --judge {target}"
            ids = _list_first(changed)
            lines.append(f"{name}: other claims or published values ({ids}); {command}")
        if not_judged:
            problem = "cannot be judged from the archived tables"
            lines.append(f"{name}: {', '.join(not_judged)} {problem}; {remedy}")
        has_changed = has_other_settings(plan, name, provenance)
        is_computed = bool(plan.artifact(name).protocol)
        code_change = describe_code_change(provenance) if is_computed else ""
        if has_changed:
            lines.append(f"{name}: out of date, other settings; {remedy}")
        elif code_change:
            commit = describe_commit(provenance)
            lines.append(f"{name}: made at commit {commit}; {code_change}")
        if changed or has_changed:
            failed = True
    return lines or ["the archived results are up to date with the files here"], failed


def _list_first(ids: Sequence[str]) -> str:
    """Write the first few ids, and "..." if there are more."""
    text = ", ".join(ids[:LONGEST_LIST])
    return f"{text} ..." if len(ids) > LONGEST_LIST else text


def _digest_settings(plan: Plan, name: str) -> str:
    """Digest what the artifact's jobs compute, or what it draws if it has none."""
    artifact = plan.artifact(name)
    computed: Any
    if artifact.protocol:
        computed = [json.dumps(plan.job(name, cell)) for cell in artifact.cells]
    else:
        computed = {key: artifact.content.get(key) for key in ("uses", "settings")}
    text = json.dumps(computed, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def has_other_settings(plan: Plan, name: str, provenance: Content) -> bool:
    """Have the settings or the seed of the full protocol changed since an artifact was archived?

    A protocol that only moved has the same settings, and so has a method with another label.
    What draws the tables of others has no settings in its record: there a digest decides, or the
    record is that of the table.
    """
    if "settings" not in provenance:
        archived_digest: str = provenance["made_from"]["settings"]
        return archived_digest != _digest_settings(plan, name)
    source = f"{provenance['paper']}/{provenance['artifact']}"
    described = plan.describe_result(source if source in plan.artifacts else name)
    archived = _select_settings(provenance)
    today = _select_settings(json.loads(json.dumps(described)))
    return any(differences("", archived, today))


def _select_settings(described: Content) -> Content:
    """Select the seed and the settings, without what only concerns the display."""
    settings = without_display(described["settings"])
    return {"seed": described.get("seed"), "settings": settings}


def describe_code_change(provenance: Content) -> str:
    """Say which code has changed since an archived result was computed; "" if none."""
    digests = provenance.get("read", records.UNKNOWN)
    return next(compare_read(digests), "")


# Compare another run with it

ROUNDING = 1e-6
"""Difference of a mean, against its scale, up to which another order of operations explains it."""
NOTHING = 1e-9
"""The smallest scale: where all of a metric is smaller than this, it is rounding alone."""
ENVIRONMENT = ("seed", "processor", "simd", "system", "python", "blas", "blas_kernel")
"""What may explain a difference. The commit does not: it changes with every edit of a text."""
EQUAL = "equal to the last digit"
ROUNDED = "equal within rounding"
JUDGED = "same verdicts"
DIFFERENT = "different"
OTHER = "other settings"
MISSING = "not archived"


class Comparison(NamedTuple):
    """How two runs compare.

    Attributes
    ----------
    state : str
        One of the six phrases from `EQUAL` to `MISSING`.
    detail : str
        How far they differ, or which verdicts changed.
    """

    state: str
    detail: str = ""


def report_differences(plan: Plan, root: Path, home: Path) -> tuple[list[str], bool]:
    """Write a line for every result below ``root``, their count, and how the environments differ.

    Returns the lines, and whether a result is different.
    """
    lines = []
    states = Counter[str]()
    causes = Counter[str]()
    for name, artifact in plan.shown.items():
        if not (root / plan.results / name / "table.csv").is_file():
            continue
        archived = read_archived(name, home)
        try:
            run = read_run(plan, name, root)
            comparison = compare_runs(run, archived, bool(artifact.measured))
            if archived:
                causes.update(_compare_environments(run, archived))
        except ValueError as error:
            comparison = Comparison(DIFFERENT, str(error))
        states[comparison.state] += 1
        line = f"{name:34} {comparison.state}"
        if comparison.detail:
            line += f" ({comparison.detail})"
        lines.append(line)
    if not lines:
        return [f"there are no results in {root / plan.results}"], True
    counts = [f"{count} {state}" for state, count in states.most_common()]
    lines += ["", ", ".join(counts)]
    lines.append("environment differences:" if causes else "made in the same environment")
    for cause, count in causes.most_common():
        word = "result" if count == 1 else "results"
        lines.append(f"  {cause} (in {count} {word})")
    return lines, states[DIFFERENT] > 0


def compare_runs(run: Run, archived: Run, is_timed: bool = False) -> Comparison:
    """Compare a run of an artifact with the archived one.

    Parameters
    ----------
    run : Run
        The run.
    archived : Run
        The same artifact of the archive.
    is_timed : bool, default False
        Whether its table holds measured times, so that only the verdicts can agree.

    Returns
    -------
    Comparison
        How they compare.
    """
    if not archived:
        return Comparison(MISSING)
    if not _have_same_fact(run, archived, "settings_sha256"):
        return Comparison(OTHER, "reduced, or changed since the archived run")
    changes = _list_changes(_map_verdicts(archived), _map_verdicts(run))
    if changes:
        detail = "; ".join(changes[:LONGEST_LIST])
        if len(changes) > LONGEST_LIST:
            detail += f" and {len(changes) - LONGEST_LIST} more"
        return Comparison(DIFFERENT, detail)
    if _have_same_fact(run, archived, "table_sha256"):
        return Comparison(EQUAL)
    if is_timed:
        return Comparison(JUDGED, "measured times differ from run to run")
    distance, metric = measure_distance(run, archived)
    if np.isinf(distance):
        return Comparison(DIFFERENT, "the table has other rows; the verdicts are the same")
    state = ROUNDED if distance <= ROUNDING else JUDGED
    return Comparison(state, f"a mean of {metric} differs most, by {distance:.1e} of its scale")


def _have_same_fact(run: Run, archived: Run, key: str) -> bool:
    return bool(run.provenance.get(key) == archived.provenance.get(key))


def _map_verdicts(run: Run) -> dict[str, str]:
    return {row["id"]: row["verdict"] for row in run.verdicts}


def _list_changes(before: Mapping[str, str], after: Mapping[str, str]) -> list[str]:
    """Write ``key: before -> after`` for each key whose values differ."""
    changes = []
    for key in dict.fromkeys([*before, *after]):
        old_value = before.get(key, "none")
        new_value = after.get(key, "none")
        if old_value != new_value:
            changes.append(f"{key}: {old_value} -> {new_value}")
    return changes


def measure_distance(run: Run, archived: Run) -> tuple[float, str]:
    """Measure the largest difference of a mean against its scale, and name its metric.

    It is infinite where the two tables have other rows.

    Notes
    -----
    The scale of a row is the largest of both means, the median of the archived means of that metric
    which are not 0, and `NOTHING`. So a difference of equal numbers, 1e-16 in one run and 2e-16 in
    the other, counts as none.
    """
    if run.table is None or archived.table is None:
        return np.inf, ""
    ours = _read_sorted_summary(run.table)
    theirs = _read_sorted_summary(archived.table)
    if not _have_same_rows(ours, theirs):
        return np.inf, ""
    our_means = ours["mean"].to_numpy(float)
    their_means = theirs["mean"].to_numpy(float)
    metric = theirs["metric"]
    sizes = theirs["mean"].abs().where(their_means != 0)
    typical = sizes.groupby(metric).transform("median").fillna(NOTHING)
    smallest = np.full(len(our_means), NOTHING)
    scale = np.max([np.abs(our_means), np.abs(their_means), typical, smallest], axis=0)
    distance = np.abs(our_means - their_means) / scale
    return float(distance.max()), str(metric.iloc[np.argmax(distance)])


def _read_sorted_summary(table: Path) -> pd.DataFrame:
    """Read a summary in one order: blocks of another length give the same rows in another one."""
    labels = SELECTOR[:-1]
    summary = read_summary(table).astype(dict.fromkeys(labels, "object"))
    return summary.sort_values([*labels, "x"], ignore_index=True)


def _have_same_rows(ours: pd.DataFrame, theirs: pd.DataFrame) -> bool:
    labels = SELECTOR[:-1]
    if len(ours) != len(theirs):
        return False
    if (ours[labels].to_numpy() != theirs[labels].to_numpy()).any():
        return False
    return bool(np.allclose(ours["x"], theirs["x"], rtol=1e-9, equal_nan=True))


def _compare_environments(run: Run, archived: Run) -> list[str]:
    """List how two environments differ, as in ``processor: AMD EPYC -> Intel Xeon``.

    An archived run may be older than a key of the record; such a key is not compared.
    """
    before = archived.provenance
    after = run.provenance
    keys = [key for key in ENVIRONMENT if key in before and key in after]
    described = [dict(_describe_environment(facts, keys)) for facts in (before, after)]
    return _list_changes(*described)


def _describe_environment(facts: Content, keys: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield pairs of what may explain a difference and its value."""
    for key in keys:
        yield key, str(facts[key])
    for name, version in facts.get("packages", {}).items():
        yield f"package {name}", version
    for name, variant in facts.get("data_variant", {}).items():
        yield f"variant of {name}", variant
    for name, digest in facts.get("data_sha256", {}).items():
        yield f"data {name.removesuffix('.npz')}", digest[:12]
