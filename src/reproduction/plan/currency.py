"""Which results are current, by a comparison of their records with the present plan.

Snakemake compares times. So each job has a small key file among its inputs, with what the job is
requested. It is older than everything but the record of a result that is not current. The other
inputs are ``ancient``: no clock decides. Only the main process writes keys.
"""

import json
import os
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from reproduction.plan import code_digest
from reproduction.run import reading, records
from reproduction.run.atomic_files import replacing

KEYS = Path(".cache/keys")
OLDER, OLD = 1.0, 2.0
"""Times of outdated records and of keys, in seconds since 1970."""
LONGEST = 40
"""Largest number of characters of a setting in a reason."""
NOT_MADE = "not made yet"


@dataclass(frozen=True)
class Step:
    """A job of the plan, with everything that its result depends on.

    Attributes
    ----------
    record : str
        Path of the record of its result.
    request : dict
        Settings, seed and the like. The script of the job reads it from the key, as ``request``
        of `records.making`; key and record call it ``asked``.
    inputs : tuple of str
        Files.
    context : dict
        What the job needs besides and what decides nothing. The script reads it from the key, as
        ``context``; the key calls it ``given``.
    sources : bool
        See `records.making`.
    artifact : str
        The artifact whose methods or drawing the job imports, if it does.
    """

    record: str
    request: Mapping[str, Any]
    inputs: tuple[str, ...] = ()
    context: Mapping[str, Any] = field(default_factory=dict)
    sources: bool = False
    artifact: str = ""


def key_of(record: str) -> str:
    """Name the file with the key of the job that writes a record."""
    return f"{KEYS}/{record}"


class Decisions(dict[str, str]):
    """Collect why the job of each record runs, in one line; "" if its result is current."""

    def follows(self, file: str) -> bool:
        """Decide whether a job of this plan makes a file again."""
        for record in records.places_of_record(Path(file)):
            if str(record) in self:
                return self[str(record)] != ""
        return False


def decide(steps: Iterable[Step]) -> Decisions:
    """Decide why each job runs; a step follows those whose results it reads."""
    decisions = Decisions()
    for step in steps:
        decisions[step.record] = next(reasons(step, decisions), "")
    for name, sources in _DIGESTS:
        file = reading.find(name)
        if file is not None and file.suffix == ".py" and not sources:
            code_digest.save_definitions(file)
    return decisions


def write_keys(steps: Iterable[Step], decisions: Mapping[str, str]) -> None:
    """Write the key of every job, with times that say to Snakemake whether the job runs.

    Snakemake passes over a newer file of the same content, so the key of a job that makes a result
    again is always another. A result that is not there needs none.
    """
    for step in steps:
        key = Path(key_of(step.record))
        reason = decisions[step.record]
        content: dict[str, Any] = {
            "asked": step.request,
            "given": step.context,
            "inputs": step.inputs,
            "why": reason,
        }
        if reason and os.path.isfile(step.record):
            content["planned"] = time.time_ns()
        text = json.dumps(content)
        if not key.is_file() or key.read_text(encoding="utf-8") != text:
            key.parent.mkdir(parents=True, exist_ok=True)
            with replacing(key) as part:
                part.write_text(text, encoding="utf-8")
        _date(key, Path(step.record), is_current=not reason)


def _date(key: Path, record: Path, is_current: bool) -> None:
    """Set the times of a key and a record, by which Snakemake sees whether the result is current.

    They are long past, so that no clock matters: a job must not end before the time of its inputs.
    So a result that another clock dated to the future is dated to the present, too.
    """
    now = time.time()
    time_of_key = OLD
    if not record.is_file():
        time_of_key = now
    elif not is_current:
        os.utime(record, (OLDER, OLDER))
    else:
        if record.stat().st_mtime <= OLD:
            os.utime(record)
        for name in records.read_record(record)["outputs"]:
            if (record.parent / name).stat().st_mtime > now:
                os.utime(record.parent / name)
    os.utime(key, (time_of_key, time_of_key))


def reasons(step: Step, decisions: Decisions) -> Iterator[str]:
    """Yield a line for everything that differs between a record and the plan."""
    path = Path(step.record)
    if not path.is_file():
        yield NOT_MADE if not _has_outputs(path) else "its record is lost"
        return
    try:
        record = records.read_record(path)
    except ValueError as error:
        yield str(error)
        return
    decides = record["decides"]
    yield from _compare_settings(decides["asked"], json.loads(json.dumps(step.request)))
    yield from compare_read(decides["read"], step.sources)
    yield from _compare_inputs(decides["inputs"], step.inputs, decisions)
    for name, digest in record["outputs"].items():
        file = path.parent / name
        if not file.is_file():
            yield f"{file} is lost"
        elif code_digest.digest_bytes(file) != digest:
            yield f"{file} was edited"


def _has_outputs(record: Path) -> bool:
    """Decide whether the file that the record would describe exists."""
    stem = record.name.removesuffix(records.RECORD)
    outputs = record.parent.glob(f"{stem}*")
    return any(file.is_file() for file in outputs)


def _compare_settings(before: Any, now: Any) -> Iterator[str]:
    if json.dumps(before) == json.dumps(now) or arrange(before) == arrange(now):
        return
    for name, old, new in differences("", before, now):
        yield f"{name}: {_shorten(old)} -> {_shorten(new)}"
        return
    yield "the order of its settings"


def arrange(content: Any, depth: int = 0) -> str:
    """Write settings as a text that is equal for settings that mean the same.

    The names in ``methods`` and the like keep their order, which legends and rows have; options
    have none.
    """
    entries = []
    if isinstance(content, dict):
        names = list(content)
        has_labels = depth == 2 and all(isinstance(value, dict) for value in content.values())
        if not has_labels:
            names.sort()
        for name in names:
            value = arrange(content[name], depth + 1)
            entries.append(f"{name}:{value}")
        return "{" + ",".join(entries) + "}"
    if isinstance(content, list):
        for value in content:
            entries.append(arrange(value, depth + 1))
        return "[" + ",".join(entries) + "]"
    return json.dumps(content)


def differences(name: str, before: Any, now: Any) -> Iterator[tuple[str, Any, Any]]:
    """Yield the path and both values of each setting that differs."""
    if isinstance(before, dict) and isinstance(now, dict):
        for key in dict.fromkeys([*before, *now]):
            path = f"{name}.{key}" if name else str(key)
            yield from differences(path, before.get(key), now.get(key))
    elif before != now:
        yield name, before, now


def _shorten(value: Any) -> str:
    if value is None:
        return "nothing"
    text = json.dumps(value)
    if len(text) <= LONGEST:
        return text
    return f"{text[:LONGEST]}..."


def compare_read(before: Mapping[str, str] | str, sources: bool = False) -> Iterator[str]:
    """Yield a line for each change of the code and files that a job has read."""
    if isinstance(before, str):
        yield "the code that made it was not recorded"
        return
    for name, digest in before.items():
        now = _digest_now(name, sources)
        if now == digest or name in reading.NOT_RECORDED:
            continue
        file = reading.find(name.removesuffix(reading.LISTED))
        if file is None:
            yield f"{name} is not there any more"
        elif name.endswith(reading.LISTED):
            yield f"the folder {name} has other files"
        elif file.suffix == ".py":
            function = code_digest.changed_definition(digest, file)
            code = f"{name}: {function}" if function else name
            yield f"code {code} was edited"
        else:
            yield f"the file {name} was edited"


_DIGESTS: dict[tuple[str, bool], str] = {}


def _digest_now(name: str, sources: bool) -> str:
    """Compute the digest of a file that jobs read, once for all jobs."""
    if (name, sources) not in _DIGESTS:
        _DIGESTS[name, sources] = records.digest_read(name, sources)
    return _DIGESTS[name, sources]


def _compare_inputs(
    before: Mapping[str, str],
    now: Iterable[str],
    decisions: Decisions,
) -> Iterator[str]:
    for file in now:
        if file not in before:
            yield f"it reads {file} now"
        elif not os.path.isfile(file):
            if not decisions.follows(file):
                yield f"{file} is lost"
        elif code_digest.digest_bytes(Path(file)) != before[file] and not decisions.follows(file):
            yield f"{file} has changed"
    for file in before:
        if file not in now:
            yield f"it does not read {file} any more"
    for file in now:
        if decisions.follows(file):
            yield f"follows {file}"
            return
