"""Check of a paper in seconds: read its files, then run one repetition of each first cell.

Reading starts no job and no Snakemake. Every fault is one line with the file, the line and what to
do.
"""

from __future__ import annotations

import contextlib
import io
import math
import re
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import yaml
from numpy.typing import NDArray

from reproduction.data import registry
from reproduction.paths import CHECKOUT
from reproduction.plan.plan import Plan, configured
from reproduction.spec.artifact import Artifact, check_together, load
from reproduction.spec.mistakes import ArtifactError
from reproduction.spec.papers import HOME, artifact_files, find_paper
from reproduction.spec.protocol import find_protocol
from reproduction.spec.settings import Method, Noise
from reproduction.spec.strict_yaml import Content

if TYPE_CHECKING:
    from reproduction.data.prepared import Dataset

    DataSets = Mapping[str, Dataset]

Kinds = list[tuple[int, Noise]]
"""Places in ``settings.noise`` and kinds of noise."""
SCALE = "smoke"
BEGINNING = re.compile(r"(?P<file>[^:\n]+\.(yaml|csv))( at scale \w+)?: (?P<rest>.*)")
"""Pattern of the file and the fault at the beginning of a message."""
LONGEST = 20.0
"""Seconds after which no further experiment is started."""


@dataclass
class Report:
    """The findings of a check.

    Attributes
    ----------
    artifacts : dict
        Name -> artifact, of those that can be read.
    faults : list of str
        One line each.
    remarks : list of str
        What was run, and what was not.
    tried : set
        Methods and data sets that were tried once and need not be again.
    """

    artifacts: dict[str, Artifact] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)
    tried: set[object] = field(default_factory=set, repr=False)


def find_folder(name: str) -> tuple[Path, str]:
    """Find the folder of a paper and the artifact that is meant, "" for all.

    Parameters
    ----------
    name : str
        A paper of the repository, the path of a folder, or of one of its artifacts.

    Raises
    ------
    ArtifactError
        If it is not a paper.
    """
    path = Path(name).expanduser().absolute()
    if path.suffix == ".yaml":
        return find_paper(str(path.parent), HOME), path.stem
    is_listed = (HOME / name / "TITLE").is_file() and not path.exists()
    return find_paper(name if is_listed else str(path), HOME), ""


def read_paper(folder: Path, stem: str = "") -> Report:
    """Read every file of a paper, or the one of that stem; a fault in one hides no other."""
    report = Report()
    try:
        find_paper(str(folder), HOME)  # from now on its modules can be imported
        files = artifact_files(folder)
    except ArtifactError as error:
        report.faults.append(str(error))
        return report
    if stem:
        files = [file for file in files if file.stem == stem]
    for file in files:
        try:
            artifact = load(file, SCALE)
            report.artifacts[file.stem] = artifact
            artifact.settings.check_custom()
        except ArtifactError as error:
            report.faults.append(with_line(str(error)))
        except ValueError as error:
            report.faults.append(with_line(f"{file}: {error}"))
    if not report.faults and not stem:
        try:
            check_together(folder, report.artifacts)
        except ArtifactError as error:
            report.faults.append(with_line(str(error)))
    return report


# The line of a fault


def with_line(message: str) -> str:
    """Name the line in a message that begins with a file and a key."""
    beginning = BEGINNING.match(message)
    if beginning is None or re.search(r"\bline \d+", message):
        return message
    file = Path(beginning["file"])
    fault = beginning["rest"]
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return message
    line = find_line(text, fault, file.suffix)
    return f"{file}, line {line}: {fault}" if line else message


def find_line(text: str, message: str, suffix: str = ".yaml") -> int:
    """Find the line of the key that a message names, or of the word that it quotes; 0 if none."""
    lines = text.splitlines()
    first = 1
    last = len(lines)
    if suffix == ".yaml":
        with contextlib.suppress(yaml.YAMLError):
            first, last = _lines_of_key(yaml.compose(text), _keys(message), last)
    quoted = re.findall(r"'([^']+)'", message) or [message.partition(":")[0]]
    word = re.escape(quoted[0].rpartition(".")[2])
    for number in range(first, last + 1):
        if re.search(rf"(?<!\w){word}(?!\w)", lines[number - 1]):
            return number
    return first if suffix == ".yaml" else 0


def _keys(message: str) -> str:
    """Join the keys at the beginning of a message: ``settings: methods.svm: ...``."""
    parts = []
    for part in message.split(": ")[:-1]:
        if not re.fullmatch(r"[\w.+~/ -]+", part):
            break
        parts.append(part)
    return ".".join(parts)


def _lines_of_key(node: yaml.Node | None, keys: str, last: int) -> tuple[int, int]:
    """Follow keys as far as they lead, and find the first and the last line of their value."""
    first = 1
    while node is not None and keys:
        following = None
        if isinstance(node, yaml.MappingNode):
            for key, value in node.value:
                if keys == key.value or keys.startswith(f"{key.value}."):
                    following = key, value, keys[len(key.value) + 1 :]
        elif isinstance(node, yaml.SequenceNode):
            number, _, inner_keys = keys.partition(".")
            if number.isdigit() and int(number) < len(node.value):
                entry = node.value[int(number)]
                following = entry, entry, inner_keys
        if following is None:
            break
        start, node, keys = following
        first = start.start_mark.line + 1
        end = node.end_mark
        last = end.line + 1 if end.column else max(first, end.line)
    return first, last


# The paper


def plan_artifacts(folder: Path, artifacts: Mapping[str, Artifact], scale: str = SCALE) -> Plan:
    """Plan the artifacts of a paper at a scale, given by their names."""
    config = configured(CHECKOUT, scale) | {"papers": [str(folder)]}
    shared = registry.load_registry(CHECKOUT / "config/datasets.yaml")
    declared = registry.of_papers(shared, [folder])
    entries = registry.with_users(declared, config["data"]["local"])
    named = {f"{folder.name}/{name}": artifact for name, artifact in artifacts.items()}
    return Plan(config, named, entries)


def run_paper(folder: Path, report: Report) -> None:
    """Run one repetition of the first cell of every experiment, until `LONGEST` is over."""
    plan = plan_artifacts(folder, report.artifacts)
    start = time.perf_counter()
    for name, artifact in plan.artifacts.items():
        if not artifact.protocol:
            continue
        if time.perf_counter() - start > LONGEST:
            with _silence():
                try_code(plan, name, report)
            reason = f"{LONGEST:g} s are over; name it alone"
            report.remarks.append(f"{artifact.file}: not run, {reason}")
            continue
        _run_artifact(plan, name, report)


# Code and data


def try_code(plan: Plan, name: str, report: Report, data: DataSets | None = None) -> None:
    """Try methods and noise of a paper once on targets that they must handle.

    Parameters
    ----------
    plan : Plan
        The plan.
    name : str
        The artifact.
    report : Report
        Gets faults and remarks.
    data : mapping, optional
        Its prepared data; without it their targets are looked for where they are needed.
    """
    from reproduction.run import learning_check, method_check, noise_check

    artifact = plan.artifacts[name]
    target = noise_check.choose_target(find_protocol(artifact.protocol).targets)
    methods = _list_untried_methods(artifact, target, report)
    kinds = _list_untried_noise(artifact, target, report)
    if target == "two classes":
        labels = [TWO_CLASSES]
    elif data is not None:
        labels = [dataset.arrays["y"] for dataset in data.values() if "y" in dataset.arrays]
    else:
        labels = _find_labels(plan, name) if kinds or methods else []
    if target == "real" and not labels:
        labels = [SOME_VALUES]
    answers = [_in_methods(*learning_check.check_filters(methods))]
    if labels:  # without data, the number of classes is not known
        richest = max(labels, key=_count_values)
        classes = 0 if target == "real" else _count_values(richest)
        answers.append(_in_methods(*method_check.check_classifiers(methods, classes)))
        answers.append(noise_check.check_noise(kinds, richest, target))
    for faults, remarks in answers:
        report.faults += [with_line(f"{artifact.file}: {fault}") for fault in faults]
        report.remarks += [f"{artifact.file}: warning: {remark}" for remark in remarks]


def _in_methods(faults: Iterable[str], remarks: Iterable[str]) -> tuple[list[str], list[str]]:
    """Put the key of the settings in front of what is said of methods."""
    prefix = "settings.methods."
    return [prefix + fault for fault in faults], [prefix + remark for remark in remarks]


TWO_CLASSES = np.array([0, 1])
SOME_VALUES = np.linspace(-1, 1, 101)
"""Targets for an experiment without data."""


def _count_values(y: NDArray[Any]) -> int:
    return len(np.unique(y))


def _list_untried_methods(artifact: Artifact, target: str, report: Report) -> dict[str, Method]:
    """List the methods of the user that were not tried yet, of this scale and of the full one."""
    methods = {}
    listed = artifact.full_settings.select_methods() | artifact.settings.select_methods()
    for label, method in listed.items():
        tried = (method.method, repr(method.parameters), target)
        if method.custom and tried not in report.tried:
            report.tried.add(tried)
            methods[label] = method
    return methods


def _list_untried_noise(artifact: Artifact, target: str, report: Report) -> Kinds:
    """List places and kinds of noise of the user in the same way."""
    kinds = []
    for settings in (artifact.full_settings, artifact.settings):
        listed = getattr(settings, "noise", None)
        for position, noise in enumerate(listed if isinstance(listed, list) else []):
            if not isinstance(noise, Noise) or not noise.custom:
                continue
            tried = (noise.model, repr(noise.parameters), target)
            if tried not in report.tried:
                report.tried.add(tried)
                kinds.append((position, noise))
    return kinds


def _find_labels(plan: Plan, name: str) -> list[NDArray[Any]]:
    """Find the targets of an artifact's data in prepared files, the registry or its own files."""
    from reproduction.data.prepared import load_prepared

    artifact = plan.artifacts[name]
    labels = []
    for dataset in artifact.data_sets(artifact.full_settings):
        arrays: Mapping[str, NDArray[Any]] = {}
        # Data that cannot be fetched or read stop the jobs that need them, with the reason.
        with contextlib.suppress(ValueError, OSError), tempfile.TemporaryDirectory() as temporary:
            (file,) = plan.prepared([dataset])
            classes = plan.entry(dataset).shape.classes
            if Path(file).is_file():
                arrays = load_prepared(file).arrays
            elif classes:
                arrays = {"y": np.repeat([*classes], [*classes.values()])}
            elif plan.entry(dataset).file != registry.REGISTRY:
                arrays = load_prepared(_find_data(plan, file, Path(temporary))).arrays
        if "y" in arrays:
            labels.append(arrays["y"])
    return labels


def try_before_run(files: Sequence[Path], scale: str) -> Content:
    """Try what artifacts of one paper name, before they run.

    Returns
    -------
    dict
        Under ``faults`` and ``remarks`` the name of an artifact -> lines.
    """
    folder = find_paper(str(files[0].parent), HOME)
    artifacts = {file.stem: load(file, scale) for file in files}
    plan = plan_artifacts(folder, artifacts, scale)
    report = Report()
    answer: Content = {"faults": {}, "remarks": {}}
    for name in plan.artifacts:
        with _silence():
            try_code(plan, name, report)
        answer["faults"][name] = [*report.faults]
        answer["remarks"][name] = [*report.remarks]
        report.faults.clear()
        report.remarks.clear()
    return answer


def check_data(plan: Plan, data: DataSets, report: Report) -> None:
    """Say what is doubtful about data sets of the paper, each once."""
    from reproduction.run import data_check

    for name, dataset in data.items():
        entry = plan.entry(name)
        if entry.file == registry.REGISTRY or name in report.tried:
            continue
        report.tried.add(name)
        names = partial(data_check.read_column_names, entry)
        for doubt in data_check.describe_data(dataset.arrays, entry.task, names):
            report.remarks.append(f"{entry.file}: {name}: {doubt}")


# One repetition


def _run_artifact(plan: Plan, name: str, report: Report) -> None:
    from reproduction.data.fetch import FetchError
    from reproduction.run.job import Job
    from reproduction.run.results import write_rows

    artifact = plan.artifacts[name]
    if name in plan.left_out:
        with _silence():
            try_code(plan, name, report)
        report.remarks.append(f"{artifact.file}: not run: {plan.left_out[name]}")
        return
    cell = next(iter(artifact.cells))
    description = _narrowed(plan.job(name, cell))
    start = time.perf_counter()
    with tempfile.TemporaryDirectory() as temporary, _silence() as output:
        try:
            files = [_find_data(plan, path, Path(temporary)) for path in plan.data(name, cell)]
            job = Job.read(description, files)
            try_code(plan, name, report, job.data)
            check_data(plan, job.data, report)
            tuned = job.tune()
            rows, _ = job.run("0:1", tuned)
            if plan.is_run_twice(name):
                job.check_repeatable(rows, "0:1", tuned)
            write_rows(rows, Path(temporary, "table.csv"))
            check_selectors(artifact, Path(temporary, "table.csv"), report)
        except FetchError as error:
            reason = str(error).splitlines()[0]
            remedy = f"./run smoke {artifact.file.parent} fetches it"
            try_code(plan, name, report)
            report.remarks.append(f"{artifact.file}: not run: {reason}; {remedy}")
        except ValueError as error:
            report.faults.append(f"{artifact.file}: {error}")
        else:
            seconds = time.perf_counter() - start
            done = f"{len(rows)} rows of one repetition in {seconds:.1f} s"
            warnings = output.getvalue().count("Warning: ")
            if warnings:
                done += f", {warnings} warnings"
            report.remarks.append(f"{artifact.file}: {done}")


def check_selectors(artifact: Artifact, table: Path, report: Report) -> None:
    """Check that published values and claims choose rows of a table of one repetition.

    Not where the table lacks more than repetitions: by a reduction, or as one of several cells.
    """
    from reproduction.judge.claims import MissingRows, VerdictError
    from reproduction.judge.verdicts import judge
    from reproduction.run.results import read_table

    frame = read_table(table)
    verdicts: list[Any] = []
    for key in ("published", "claims"):
        for entry in artifact.content.get(key) or []:
            try:
                verdicts += judge({key: [entry]}, frame, SCALE).to_dict("records")
            except VerdictError as error:
                if len(artifact.cells) == 1 or not isinstance(error, MissingRows):
                    report.faults.append(with_line(f"{artifact.file}: {error}"))
    if len(artifact.cells) > 1:
        return
    report.faults += [with_line(fault) for fault in artifact.unmatched(verdicts)]
    measured = [row for row in verdicts if not math.isnan(row["estimate"])]
    unit = artifact.find_other_unit(measured)
    if unit and unit.is_factor:  # one repetition shows a wrong factor, but not a small difference
        report.remarks.append(artifact.other_unit(measured))


def _narrowed(description: Content) -> Content:
    """Describe a job with one repetition."""
    settings = dict(description["settings"])
    if "repetitions" in settings:
        settings["repetitions"] = 1
    return description | {"settings": settings}


@contextlib.contextmanager
def _silence() -> Iterator[io.StringIO]:
    """Keep what methods print and warn, and tracebacks, from the terminal."""
    output = io.StringIO()
    with contextlib.redirect_stdout(output), contextlib.redirect_stderr(output):
        yield output


def _find_data(plan: Plan, file: str, temporary: Path) -> Path:
    """Find a prepared data set, or prepare it from files of the paper; nothing is downloaded."""
    from reproduction.data.fetch import fetch
    from reproduction.data.prepare import prepare, write_prepared
    from reproduction.data.transport import Network

    is_of_paper = plan.entry(Path(file).stem).file != registry.REGISTRY
    for folder in (Path.cwd(), CHECKOUT):
        if not is_of_paper and (folder / file).is_file():
            return folder / file
    name = Path(file).stem
    fetch(name, plan.entries, temporary / name, Network(offline=True))
    prepared = temporary / f"{name}.npz"
    write_prepared(prepare(temporary / name), prepared)
    return prepared
