"""The reference run that the repository keeps: what it holds, when it is old, how another run compares.

A `Run` is one artifact as it was run, read from finished files. A result table without its repetitions is a
summary: n, mean, standard error and quantiles of every row key. The table itself and the errors by point are
kept compressed, so that any question about them is judged again without a run.
"""

import hashlib
import io
import json
import lzma
import shutil
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
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
from reproduction.spec.settings import without_display
from reproduction.spec.strict_yaml import Content
from reproduction.spec.verdict_words import NOT_JUDGED, PUBLISHED

DRAWN = ("svg", "png", "html")
"""Formats that a page can show."""
JUDGED_BY = ("verdicts", "agreement")
WHOLE, LARGEST = 40_000_000, 2_000_000
"""Bytes of the whole reference, and of a file of it."""
FIRST_JUDGED = "judged_from"
"""Key of an artifact, also in the record of an archived run: null where all repetitions count."""
KEPT = ("table.csv", "points.npz")
"""What is kept compressed next to the summary: the repetitions, and the errors point by point."""
THUMBNAIL = (520, 320)
"""Largest width and height in pixels."""

# Runs


@dataclass(frozen=True)
class Run:
    """What is there of an artifact at a scale, or in the reference; what is missing is empty.

    table : its result table or the summary of one.   thumbnail : of a figure, for the reference only.
    drawn : the figure (SVG or PNG) or the table (HTML).   cost : ``minutes``, ``mem_mb`` and ``jobs``.
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


def own(plan: Plan, name: str, root: Path, source: str = "") -> Run:
    """The artifact as it was run at the scale of the plan.

    source : the artifact that the table and its provenance are of, if it is another.
    Raises ValueError: its drawing or its verdicts are not those of their records.
    """
    scale, tables = plan.config["scale"], root / plan.results / (source or name)
    files = VerdictFiles(root, plan.results)
    drawn = smallest(root / file for file in plan.drawings(name))
    table = _there(tables / "table.csv")
    for file in filter(None, (drawn, table)):
        verify_output(file)
    return Run(
        scale,
        files.rows(name),
        files.rows(name, "agreement.csv"),
        provenance=records.facts(tables / records.RECORD),
        cost=_cost(root / f"logs/{plan.folder}/{name}"),
        drawn=drawn,
        table=table,
    )


def kept(name: str, root: Path, source: str = "") -> Run:
    """The artifact as the reference keeps it; ``source`` as in `own`."""
    folder = root / "results/reference" / name
    drawn = root / "figures/reference" / name
    tables = root / "results/reference" / (source or name)
    if _there(folder / "summary.csv"):  # it had its own table when it was archived
        tables = folder
    provenance = records.facts(folder / records.RECORD)
    return Run(
        "full",
        read_verdicts(folder / "verdicts.csv"),
        read_verdicts(folder / "agreement.csv"),
        provenance=records.facts(tables / records.RECORD) | provenance,
        cost=provenance.get("cost", {}),
        drawn=smallest(drawn.with_name(f"{drawn.name}.{suffix}") for suffix in DRAWN),
        table=_there(tables / "summary.csv"),
        thumbnail=_there(drawn.with_name(f"{drawn.name}.thumb.webp")),
    )


def commit_of(provenance: Content) -> str:
    """Twelve digits of the commit, and whether the files differed from it."""
    commit = str(provenance.get("commit", "unknown"))
    return commit[:12] + " + changes" * commit.endswith("+")


def _cost(logs: Path) -> dict[str, float]:
    """Minutes of a core of all jobs, the memory of the largest in MB, and their number; of no jobs: empty."""
    jobs = [costs.times(file) for file in sorted(logs.glob("*.time.tsv"))]
    if not jobs:
        return {}
    seconds, memory = zip(*jobs, strict=True)
    return {"minutes": round(sum(seconds) / 60, 2), "mem_mb": round(max(memory)), "jobs": len(jobs)}


def smallest(drawn: Iterable[Path]) -> Path | None:
    """The smallest of the files of a figure or table that is there and that a page can show."""
    files = (file for file in drawn if file.suffix[1:] in DRAWN and file.is_file())
    return min(files, key=lambda file: file.stat().st_size, default=None)


def _there(file: Path) -> Path | None:
    return file if file.is_file() else None


def json_of(file: Path) -> Content:
    """A JSON object; of no file: empty. Raises ValueError: no JSON; names the file."""
    if not file.is_file():
        return {}
    try:
        found: Content = json.loads(file.read_bytes())
    except ValueError as error:
        remedy = "delete it and run again"
        raise ValueError(f"{file}: cannot be read ({error}); {remedy}") from None
    return found


QUANTILES = {"q10": 0.1, "median": 0.5, "q90": 0.9}
SUMMARY = [*SELECTOR, "n", "mean", "se", *QUANTILES]


def summarised(table: pd.DataFrame, quantiles: bool = True) -> pd.DataFrame:
    """m = sum(v)/n, se = s/sqrt(n) with s^2 = sum((v-m)^2)/(n-1), quantiles, for each `SELECTOR` of a table.

    The keys are in the order of their first rows; a single repetition has no error and no quantiles.
    """
    groups = table.groupby(SELECTOR, sort=False, dropna=False)["value"]
    found = groups.agg(n="size", mean="mean", se="sem")
    is_constant = (found["n"] > 1) & (groups.max() == groups.min())
    found.loc[is_constant, "se"] = 0.0  # not a difference that is rounding alone
    if quantiles:
        for name, share in QUANTILES.items():
            found[name] = groups.quantile(share)
        found.loc[found["n"] == 1, list(QUANTILES)] = float("nan")
    return found.reset_index()


def read_summary(path: Path) -> pd.DataFrame:
    """The columns `SUMMARY` of a summary that was written, or of a result table."""
    with path.open(encoding="utf-8") as lines:
        header = lines.readline().strip().split(",")
    if header != SUMMARY:
        return summarised(results.read_table(path))
    missing = {key: [""] for key in SUMMARY[6:]}
    texts = dict.fromkeys(SUMMARY[:6], "object")
    return pd.read_csv(path, keep_default_na=False, na_values=missing, dtype=texts)


def write_summary(summary: pd.DataFrame, path: Path) -> None:
    """Write as CSV, means with ten digits as in result tables, the rest with four; always the same bytes."""
    rough = {name: summary[name].map("{:.4g}".format, na_action="ignore") for name in ("se", *QUANTILES)}
    judge.write(summary.assign(**rough)[SUMMARY], path, "%.10g")


# Judge again


class Judged(NamedTuple):
    """Verdicts of an artifact, and their agreement with the paper."""

    verdicts: pd.DataFrame
    agreement: pd.DataFrame


def again(content: Asked, folder: Path) -> Judged:
    """What follows now from what a folder of the reference keeps.

    Without its table (kept before tables were) a check that needs other rows now is `NOT_JUDGED`.
    Raises ValueError : a kept table that is not the one of its provenance.
    """
    content = _as_archived(content, folder)
    before = read_verdicts(folder / "verdicts.csv")
    table, points = (unpack(folder, name) for name in KEPT)
    if table:
        rows = results.read_table(io.BytesIO(table))
        frame = judge.judge(content, rows, "full", Points.read(io.BytesIO(points)) if points else None)
    else:
        frame = judge.unmoved(content, before)
    constant = {row["id"]: row["constant_error"] for row in before if row["kind"] == PUBLISHED}
    frame["constant_error"] = [float(constant.get(name) or "nan") for name in frame["id"]]
    return Judged(frame, agreement(frame.assign(paper="", artifact="")))


def _as_archived(content: Asked, folder: Path) -> Asked:
    """The artifact with the `judged_from` of the archived run.

    Which repetitions had been looked at belongs to a run: the next one may have fresh seeds. Where
    the record says nothing the artifact decides.
    """
    facts = records.facts(folder / records.RECORD)
    if FIRST_JUDGED not in facts:
        return content
    other = {key: value for key, value in content.items() if key != FIRST_JUDGED}
    if facts[FIRST_JUDGED] is None:
        return other
    return other | {FIRST_JUDGED: facts[FIRST_JUDGED]}


def unpack(folder: Path, name: str) -> bytes:
    """Read a file that `keep` compressed, in numbered parts if it is large; of none: empty."""
    numbers = ["", *(f".{number}" for number in range(1, 1 + WHOLE // LARGEST))]
    parts = [file for number in numbers if (file := folder / f"{name}{number}.xz").is_file()]
    if not parts:
        return b""
    content = lzma.decompress(b"".join(file.read_bytes() for file in parts))
    recorded = records.facts(folder / records.RECORD).get(f"{name.partition('.')[0]}_sha256")
    if hashlib.sha256(content).hexdigest() != recorded:
        raise ValueError(f"{parts[0]}: not the file that its record.json describes; archive the run again")
    return content


def find_parts(artifacts: Mapping[str, Artifact], name: str, archive: Path) -> list[str]:
    """List the archived results whose rows are those of an experiment today: itself, then others.

    A result that draws the table of an experiment today may have been an experiment when it was
    archived: then it has a table in the archive.
    """
    parts = [name]
    for other, artifact in artifacts.items():
        if artifact.protocol or not artifact.uses:
            continue
        source = f"{artifact.paper}/{artifact.uses[0]}"
        if source == name and (archive / other / "summary.csv").is_file():
            parts.append(other)
    return parts


def read_table_text(artifacts: Mapping[str, Artifact], name: str, archive: Path) -> bytes:
    """Read the archived table of an experiment, as CSV; with the rows of its `find_parts`.

    An experiment that is not archived has an empty table.
    """
    tables = [unpack(archive / part, "table.csv") for part in find_parts(artifacts, name, archive)]
    if not tables[0]:
        return b""
    return tables[0] + b"".join(table.partition(b"\n")[2] for table in tables[1:])


def moved(content: Asked, folder: Path) -> tuple[list[str], list[str]]:
    """(published values and claims whose kept row is not what follows now, those that need a run)."""
    found = again(content, folder).verdicts
    waiting = list(found.loc[found["verdict"] == NOT_JUDGED, "id"])
    return _list_changed(found, folder), waiting


def _list_changed(found: pd.DataFrame, folder: Path) -> list[str]:
    """List the published values and claims whose archived row is not the one that was found now."""
    before = {row["id"]: row for row in rows_of(folder / "verdicts.csv")}
    archived_cells: dict[str, list[str]] = {}
    for name, row in before.items():
        archived_cells[name] = [row.get(column, "") for column in VERDICT_COLUMNS]
    cells: dict[str, list[str]] = {}
    for name, judged in zip(found["id"], found.to_dict("records"), strict=True):
        cells[name] = [as_text(judged[column]) for column in VERDICT_COLUMNS]
    names = dict.fromkeys([*archived_cells, *cells])
    return [name for name in names if archived_cells.get(name) != cells.get(name)]


def judge_again(made: Plan, names: Iterable[str], home: Path) -> list[str]:
    """Judge kept artifacts again and write their verdicts; a line for each artifact where some changed."""
    lines = []
    for name in names:
        folder = home / "results/reference" / name
        if not (folder / records.RECORD).is_file():
            continue
        content = made.artifacts[name].content
        judged = again(content, folder)
        changed = _list_changed(judged.verdicts, folder)
        if changed:
            lines.append(f"{name}: {', '.join(changed)}")
        for table, frame in judged._asdict().items():
            plain = frame.drop(columns=["paper", "artifact"], errors="ignore")
            (folder / f"{table}.csv").unlink(missing_ok=True)
            if len(frame):
                judge.write(judge.of_artifact(plain, *name.split("/")), folder / f"{table}.csv")
    return lines or ["no verdict changed"]


# Keep


class NotFinished(ValueError):
    """A result that cannot become the reference; the message says why, and what to run."""


def chosen(made: Plan, asked: Sequence[str]) -> list[str]:
    """The artifacts of some targets (papers or ``<paper>_<artifact>``); of none: all.

    Raises ValueError: a target that the configuration does not have.
    """
    if unknown := [target for target in asked if target not in made.targets]:
        raise ValueError(unknown_target(unknown[0], made.targets))
    names: dict[str, None] = {}
    for scope in made.find_scopes(asked):
        names |= dict.fromkeys(made.artifacts_below(scope))
    return list(names)


def keep_all(made: Plan, names: Iterable[str], root: Path, home: Path, asked: bool) -> tuple[list[str], bool]:
    """Keep the artifacts that are finished; (lines, whether a requested one could not be kept)."""
    lines, refused = [], []
    for name in names:
        try:
            keep(made, name, root, home)
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
    is_too_large = size > WHOLE
    if is_too_large:
        lines.append(f"that is more than {WHOLE / 1e6:.0f} MB")
    return lines, is_too_large or bool(refused and asked)


def keep(made: Plan, name: str, root: Path, home: Path) -> None:
    """Put the artifact of a full run, finished below ``root``, into the reference below ``home``.

    Raises NotFinished: not run, not judged, or run from other settings than those of its file.
    """
    run = own(made, name, root)
    _examine(made, name, run)
    folder = home / "results/reference" / name
    folder.mkdir(parents=True, exist_ok=True)
    for outdated in (*folder.glob("*.xz"), *(folder / f"{kind}.csv" for kind in (*JUDGED_BY, "estimates"))):
        outdated.unlink(missing_ok=True)
    if run.table:
        _keep_summary(run.table, folder / "summary.csv")
        for file in KEPT:
            write_parts(folder, file, lzma.compress(run.table.with_name(file).read_bytes(), preset=9))
    for kind, rows in zip(JUDGED_BY, (run.verdicts, run.agreement), strict=True):
        if rows:
            judge.write(pd.DataFrame(rows), folder / f"{kind}.csv")
    data = {}
    artifact = made.artifact(name)
    for each in artifact.data_sets(artifact.settings):
        source = json_of(root / "data/raw" / made.pinned(each) / "source.json")
        used = {key: source[key] for key in ("source", "variant", "files", "shape") if key in source}
        data[each.partition(".")[0]] = used
    record = _record_of_run(made, name, root)
    record["informs"] |= {"cost": run.cost, "data": data, "made_from": {"settings": _settings(made, name)}}
    record["informs"][FIRST_JUDGED] = artifact.content.get(FIRST_JUDGED)
    with replacing(folder / records.RECORD) as part:
        part.write_text(json.dumps(record, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    assert run.drawn is not None  # a result without a drawing is not finished
    keep_drawing(run.drawn, home / "figures/reference" / name)


def _record_of_run(made: Plan, name: str, root: Path) -> records.Record:
    """The record of the result table of a run, or of the drawing of what has no table."""
    for file in (
        root / made.results / name / records.RECORD,
        root / f"{made.figures}/{name}.{records.RECORD}",
    ):
        if file.is_file():
            return records.read_record(file)
    unknown = {"asked": records.UNKNOWN, "inputs": {}, "read": records.UNKNOWN}
    return {"format": records.FORMAT, "decides": unknown, "outputs": {}, "informs": {}}


def write_parts(folder: Path, name: str, packed: bytes) -> None:
    """Write ``<name>.xz``, or ``<name>.1.xz`` and so on if it is larger than `LARGEST`."""
    for start in range(0, len(packed), LARGEST):
        number = f".{start // LARGEST + 1}" if len(packed) > LARGEST else ""
        (folder / f"{name}{number}.xz").write_bytes(packed[start : start + LARGEST])


def _examine(made: Plan, name: str, run: Run) -> None:
    artifact = made.artifact(name)
    remedy = f"run ./run full {name.replace('/', '_')}"
    if run.drawn is None or (artifact.protocol and run.table is None):
        raise NotFinished(f"{name}: not finished; {remedy}")
    if artifact.protocol and not _is_of_plan(made, name, run.provenance.get("asked")):
        raise NotFinished(f"{name}: its table comes from other settings or another seed; {remedy}")
    found = judge.unmoved(artifact.content, run.verdicts)
    if lacking := list(found.loc[found["verdict"] == NOT_JUDGED, "id"]):
        others = f"are not those of its claims and published values ({lacking[0]})"
        raise NotFinished(f"{name}: its verdicts {others}; {remedy}")


def _is_of_plan(made: Plan, name: str, asked: Any) -> bool:
    """Does a record say that the result is of the settings and the seed of the plan?"""
    if not isinstance(asked, dict):
        return False
    planned = json.loads(json.dumps(made.job(name)))
    return arrange({key: asked.get(key) for key in planned}) == arrange(planned)


def _keep_summary(table: Path, out: Path) -> None:
    """With quantiles where they fit into a file of the reference."""
    found = summarised(results.read_table(table))
    with replacing(out) as part:
        write_summary(found, part)
        if part.stat().st_size > LARGEST:
            write_summary(found.assign(**dict.fromkeys(QUANTILES)), part)
        if part.stat().st_size > LARGEST:
            most = f"{LARGEST / 1e6:.0f} MB"
            raise NotFinished(f"{out}: larger than {most}; thin the table out in its protocol")


def keep_drawing(drawn: Path, out: Path) -> None:
    """Archive a figure with a thumbnail, or a table for browsers and for the repository."""
    out.parent.mkdir(parents=True, exist_ok=True)
    for suffix in (*DRAWN, "md", "thumb.webp"):
        out.with_name(f"{out.name}.{suffix}").unlink(missing_ok=True)
    table = drawn.suffix == ".html"
    picture = drawn.with_suffix(".png")
    for suffix in [".html", ".md"] if table else [drawn.suffix]:
        shutil.copyfile(drawn.with_suffix(suffix), out.with_name(out.name + suffix))
    if picture.is_file() and not table:
        thumbnail(picture, out.with_name(f"{out.name}.thumb.webp"))


def thumbnail(picture: Path, out: Path) -> None:
    """A small WebP of a PNG, for pages that show many."""
    from PIL import Image

    with Image.open(picture) as image:
        small = image.convert("RGB")
        small.thumbnail(THUMBNAIL, Image.Resampling.LANCZOS, reducing_gap=2.0)
        small.save(out, "WEBP", quality=62, method=4)


# List what is old


def old(made: Plan, names: Iterable[str], home: Path) -> tuple[list[str], bool]:
    """What changed since artifacts were kept; (lines, whether settings or verdicts did).

    A change of settings makes a result another one. A change of code is reported, and may mean nothing.
    """
    lines, failed = [], False
    for name in names:
        provenance = kept(name, home).provenance
        target = name.replace("/", "_")
        remedy = f"./run full {target} && ./run reference {target}"
        if "made_from" not in provenance:
            lines.append(f"{name}: not archived")
            continue
        if why := made.left_out.get(name):
            lines.append(f"{name}: not compared, it cannot run here: {why}")
            continue
        changed, waiting = moved(made.artifact(name).content, home / "results/reference" / name)
        if changed:
            some = ", ".join(changed[:5]) + (" ..." if len(changed) > 5 else "")
            command = f"./run reference --judge {target}"
            lines.append(f"{name}: other claims or published values ({some}); {command}")
        if waiting:
            lines.append(f"{name}: {', '.join(waiting)} cannot be judged from the archived tables; {remedy}")
        other = other_settings(made, name, provenance)
        if other:
            lines.append(f"{name}: out of date, other settings; {remedy}")
        elif code := other_code(provenance):
            lines.append(f"{name}: made at commit {commit_of(provenance)}; {code}")
        failed = failed or bool(changed) or other
    return lines or ["the archived results are up to date with the files here"], failed


def _settings(made: Plan, name: str) -> str:
    """Digest of what the artifact's jobs compute, or of what it draws if it has none."""
    artifact = made.artifact(name)
    computed: Any = {key: artifact.content.get(key) for key in ("uses", "settings")}
    if artifact.protocol:
        computed = [json.dumps(made.job(name, cell)) for cell in artifact.cells]
    return hashlib.sha256(json.dumps(computed, sort_keys=True).encode()).hexdigest()[:16]


def other_settings(made: Plan, name: str, provenance: Content) -> bool:
    """Have the settings or the seed of the full protocol changed since an artifact was archived?

    A protocol that only moved has the same settings, and so has a method with another label.
    What draws the tables of others has no settings in its record: there a digest decides, or the
    provenance is that of the table.
    """
    if "settings" not in provenance:
        return bool(provenance["made_from"]["settings"] != _settings(made, name))
    source = f"{provenance['paper']}/{provenance['artifact']}"
    now = json.loads(json.dumps(made.describe_result(source if source in made.artifacts else name)))
    results = []
    for described in (provenance, now):
        settings = without_display(described["settings"])
        results.append({"seed": described.get("seed"), "settings": settings})
    return any(differences("", *results))


def other_code(provenance: Content) -> str:
    """What code has changed since an archived result was computed; "" if none."""
    return next(compare_read(provenance.get("read", records.UNKNOWN)), "")


# Compare another run with it

ROUNDING = 1e-6
"""Difference of a mean, against its scale, up to which another order of operations explains it."""
NOTHING = 1e-9
"""The smallest scale: where all of a metric is smaller than this, it is rounding and nothing else."""
PROVENANCE = ("seed", "processor", "simd", "system", "python", "blas", "blas_kernel")
"""What may explain a difference; the commit is not among them, it changes with every edit of a text."""
EQUAL, ROUNDED, JUDGED = "equal to the last digit", "equal within rounding", "same verdicts"
DIFFERENT, OTHER, MISSING = "different", "other settings", "not archived"


class Comparison(NamedTuple):
    """``state`` is one of the six words; ``detail`` says how far, or which verdicts changed."""

    state: str
    detail: str = ""


def report(made: Plan, root: Path, home: Path) -> tuple[list[str], bool]:
    """A line for every result below ``root``, their count, what differs around them; is one different?"""
    lines = []
    states = Counter[str]()
    causes = Counter[str]()
    for name, artifact in made.shown.items():
        if not (root / made.results / name / "table.csv").is_file():
            continue
        theirs = kept(name, home)
        try:
            ours = own(made, name, root)
            found = compared(ours, theirs, bool(artifact.measured))
            causes.update(_differences(ours, theirs) if theirs else [])
        except ValueError as error:
            found = Comparison(DIFFERENT, str(error))
        states[found.state] += 1
        lines.append(f"{name:34} {found.state}" + (f" ({found.detail})" if found.detail else ""))
    if not lines:
        return [f"there are no results in {root / made.results}"], True
    lines += ["", ", ".join(f"{count} {state}" for state, count in states.most_common())]
    lines += ["environment differences:" if causes else "made in the same environment"]
    for cause, count in causes.most_common():
        lines.append(f"  {cause} (in {count} {'result' if count == 1 else 'results'})")
    return lines, bool(states[DIFFERENT])


def compared(ours: Run, theirs: Run, timed: bool = False) -> Comparison:
    """How a run of an artifact compares with the reference.

    timed : its table holds measured times, so that only the verdicts can agree.
    """
    if not theirs:
        return Comparison(MISSING)
    if ours.provenance.get("settings_sha256") != theirs.provenance.get("settings_sha256"):
        return Comparison(OTHER, "reduced, or changed since the archived run")
    was, now = ({row["id"]: row["verdict"] for row in run.verdicts} for run in (theirs, ours))
    if changed := _changes(was, now):
        more = f" and {len(changed) - 5} more" if len(changed) > 5 else ""
        return Comparison(DIFFERENT, "; ".join(changed[:5]) + more)
    if ours.provenance.get("table_sha256") == theirs.provenance.get("table_sha256"):
        return Comparison(EQUAL)
    if timed:
        return Comparison(JUDGED, "measured times differ from run to run")
    apart, metric = distance(ours, theirs)
    if np.isinf(apart):
        return Comparison(DIFFERENT, "the table has other rows; the verdicts are the same")
    far = f"a mean of {metric} differs most, by {apart:.1e} of its scale"
    return Comparison(ROUNDED if apart <= ROUNDING else JUDGED, far)


def _changes(was: Mapping[str, str], now: Mapping[str, str]) -> list[str]:
    """``key: was -> now`` where they differ."""
    every = {key: (was.get(key, "none"), now.get(key, "none")) for key in {**was, **now}}
    return [f"{key}: {a} -> {b}" for key, (a, b) in every.items() if a != b]


def distance(ours: Run, theirs: Run) -> tuple[float, str]:
    """max |m - m_ref| / scale over the rows of the summaries, and its metric; inf where they have other rows.

    scale = max(|m|, |m_ref|, median |m_ref| of that metric's rows which are not 0, `NOTHING`): a difference
    of equal numbers, 1e-16 here and 2e-16 there, is none.
    """
    if ours.table is None or theirs.table is None:
        return np.inf, ""
    texts = SELECTOR[:-1]
    order = [*texts, "x"]  # blocks of another length give the same rows in another order
    as_words = dict.fromkeys(texts, "object")
    a = read_summary(ours.table).astype(as_words).sort_values(order, ignore_index=True)
    b = read_summary(theirs.table).astype(as_words).sort_values(order, ignore_index=True)
    if len(a) != len(b) or (a[texts].to_numpy() != b[texts].to_numpy()).any():
        return np.inf, ""
    if not np.allclose(a["x"], b["x"], rtol=1e-9, equal_nan=True):
        return np.inf, ""
    x = a["mean"].to_numpy(float)
    y = b["mean"].to_numpy(float)
    typical = b["mean"].abs().where(y != 0).groupby(b["metric"]).transform("median").fillna(NOTHING)
    apart = np.abs(x - y) / np.max([np.abs(x), np.abs(y), typical, np.full(len(x), NOTHING)], axis=0)
    return float(apart.max()), str(b["metric"].iloc[np.argmax(apart)])


def _differences(ours: Run, theirs: Run) -> list[str]:
    """What differs in where the two were made: ``processor: AMD EPYC -> Intel Xeon``.

    A reference may be older than a key of the provenance.
    """
    both = [run.provenance for run in (theirs, ours)]
    flat = []
    for made in both:
        facts = {key: str(made[key]) for key in PROVENANCE if all(key in each for each in both)}
        facts |= {f"package {name}": version for name, version in made.get("packages", {}).items()}
        facts |= {f"variant of {name}": variant for name, variant in made.get("data_variant", {}).items()}
        digests = made.get("data_sha256", {})
        facts |= {f"data {name.removesuffix('.npz')}": digest[:12] for name, digest in digests.items()}
        flat.append(facts)
    return _changes(*flat)
