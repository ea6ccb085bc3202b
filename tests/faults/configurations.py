"""Attack the configuration: make each key of the artifacts, registry and run wrong in turn.

    python tests/faults/configurations.py [--cases N] [--seed S]

Each wrong file is loaded in this process by the code that the workflow uses. It should be refused
within five seconds of one core, in one line that names the file and the key. What is accepted, or
raises anything else, is listed.
"""

import argparse
import copy
import random
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import yaml

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "src"))

from project import artifact_paths  # noqa: E402

from reproduction.data.registry import load_registry  # noqa: E402
from reproduction.spec import configuration  # noqa: E402
from reproduction.spec.artifact import Artifact, load, merge  # noqa: E402
from reproduction.spec.papers import (  # noqa: E402
    HOME,
    find_paper,
    full_name,
)
from reproduction.spec.protocol import find_protocol  # noqa: E402
from reproduction.spec.strict_yaml import read  # noqa: E402

EXPERIMENTS = ROOT / "src/papers"
REGISTRY = ROOT / "config/datasets.yaml"
LIMIT = 5.0  # seconds of one core within which a mistake is named
MISSING = object()
KeyPath = tuple[Any, ...]

WORDS = """
title source caption deviations notes statement expected reason experiment label shown note
not_comparable id place licence citation variant member path version archive name mirror file
positive columns package homepage url loader short summary
"""
FREE = set(WORDS.split())
"""Keys of free text, where no program could see a typo; a `loader` is found by its job."""

NAMES = {
    "methods",
    "tasks",
    "grids",
    "families",
    "rooms",
    "conditions",
    "packages",
    "datasets",
    "local",
}
"""Keys below which an artifact or the registry chooses names."""


class Case(NamedTuple):
    """A wrong value at a key of a file: what the file was, what loads it, its printed values."""

    source: str
    key_path: KeyPath
    kind: str
    value: Any
    content: Any
    loads: Callable[[Path], Any]
    printed: Path | None = None

    def text(self) -> str:
        """YAML of the content with the value at the key, or with none."""
        changed = inner = copy.deepcopy(self.content)
        for name in self.key_path[:-1]:
            inner = inner[name]
        inner[self.key_path[-1]] = self.value
        if self.value is MISSING:
            del inner[self.key_path[-1]]
        return str(yaml.safe_dump(changed, sort_keys=False, allow_unicode=True))


def key_paths(value: Any, key_path: KeyPath = ()) -> Iterator[tuple[KeyPath, Any]]:
    """Every key and entry below a value; of a long list the first three."""
    for name, entry in value.items() if isinstance(value, dict) else enumerate(value[:3]):
        yield (*key_path, name), entry
        if isinstance(entry, dict | list):
            yield from key_paths(entry, (*key_path, name))


def wrong_values(key_path: KeyPath, value: Any) -> Iterator[tuple[str, Any]]:
    """(kind, value) of values that no schema or program should take in the place of a right one."""
    # a number is a right x and a right margin
    is_number_wrong = isinstance(value, dict | str) and not {"x", "margin"} & set(key_path)
    yield "wrong type", 7 if is_number_wrong else {"nonsense": {}}
    if isinstance(value, dict):
        yield "unknown key", value | {"nonsense": {"no": "sense"}}
        yield "numeric key", value | {7: value}
        if value and key_path[-1] not in NAMES and not FREE & set(value):
            misspelt = dict(value)
            last, entry = misspelt.popitem()
            yield "misspelt key", misspelt | {f"{last}q": entry}
    if isinstance(value, list) and "x" not in key_path:
        yield "number for a list", 7
        yield "entry of another type", [*value, {"nonsense": 1}]
    if isinstance(value, bool):
        yield "word for a truth", "maybe"
    elif isinstance(value, int | float):
        yield "NaN", float("nan")
        yield "infinite", float("inf")
        yield "text", "many"
    if isinstance(value, str) and value and not FREE & set(map(str, key_path)):
        middle = len(value) // 2
        yield "typo", value[:middle] + "qz" + value[middle:]


class Source(NamedTuple):
    """A correct file: its name and content, what loads it, and its published values."""

    name: str
    content: Any
    loads: Callable[[Path], Any]
    published_file: Path | None = None


def artifact_sources() -> Iterator[Source]:
    """List an artifact of each protocol, one without, and all that have published values."""
    protocols: set[str] = set()
    for file in artifact_paths():
        content = read(file)
        protocol = content.get("protocol", "")
        has_published = "published" in content
        if has_published or protocol not in protocols:
            protocols.add(protocol)
            content.pop("reductions", None)
            name = f"{file.parent.name}/{file.stem}"
            published_file = file.with_suffix(".published.csv") if has_published else None
            yield Source(name, content, load_artifact, published_file)


def run_sources() -> Iterator[Source]:
    """List the configuration of a run, and a small registry of data sets."""
    run = read(ROOT / "config/config.yaml")
    run["data"]["local"] = {"heart": {"file": str(REGISTRY), "label": "kind", "columns": ["a"]}}
    yield Source("run/config", run, load_run)
    registry = read(REGISTRY, keys=str | int)
    data_sets = {name: registry["datasets"][name] for name in ("speech", "heart", "mnist38")}
    content = {"packages": registry["packages"], "datasets": data_sets}
    yield Source("run/datasets", content, load_registry)


def required_keys(source: Source) -> Iterator[KeyPath]:
    """List the keys that an artifact and the settings of its protocol must have."""
    models: dict[KeyPath, Any] = {}
    if source.loads is load_artifact:
        models[()] = Artifact
    if protocol := source.content.get("protocol"):
        paper, _, _ = source.name.partition("/")
        models["settings",] = find_protocol(full_name(protocol, HOME / paper)).settings
    for parents, model in models.items():
        for key, field in model.model_fields.items():
            if field.is_required() and key != "datasets":
                yield (*parents, key)


def every_case() -> Iterator[Case]:
    """List every wrong value at every key of every source.

    Files that are broken as a whole are in tests/spec/test_strict_yaml.py.
    """
    for source in (*artifact_sources(), *run_sources()):
        wrong = []
        for key_path, value in key_paths(source.content):
            wrong += [(key_path, *wrong_value) for wrong_value in wrong_values(key_path, value)]
        wrong += [(key_path, "missing", MISSING) for key_path in required_keys(source)]
        for wrong_value in wrong:
            yield Case(
                source.name,
                *wrong_value,
                source.content,
                source.loads,
                source.published_file,
            )


def load_artifact(file: Path) -> Any:
    """Load an artifact at full scale and check its custom classes, as a run does."""
    artifact = load(file, "full")
    try:
        artifact.settings.check_custom()
    except ValueError as error:
        raise ValueError(f"{file}: {error}") from None
    return artifact


def load_run(file: Path) -> Any:
    """A second configuration of a run, laid over ours."""
    base = ROOT / "config/config.yaml"
    configuration.examine(read(base), [base, file])
    overlay = merge(read(base), read(file))
    try:
        for paper in overlay["papers"]:
            find_paper(paper, EXPERIMENTS)
        configuration.examine_local(overlay["data"]["local"], load_registry(REGISTRY), EXPERIMENTS)
    except ValueError as error:
        raise ValueError(f"{file}: {error}") from None  # in a run the key stands first


def cases(largest_number: int, seed: int) -> list[Case]:
    """Choose cases of every key of every file, as far as the largest number allows."""
    all_cases = [*every_case()]
    turns = Counter[tuple[str, str]]()
    random.Random(seed).shuffle(all_cases)

    def turn(case: Case) -> int:
        key = (case.source, str(case.key_path[-1]))
        turns[key] += 1
        return turns[key]

    return sorted(all_cases, key=turn)[:largest_number]


def answer(case: Case, folder: Path) -> tuple[str, str]:
    """(refused, accepted, traceback, unclear or slow; what was said)."""
    file = folder / f"{case.source}.yaml"
    file.parent.mkdir(parents=True, exist_ok=True)
    for module in (HOME / file.parent.name).glob("*.py"):
        shutil.copyfile(module, file.parent / module.name)
    file.write_text(case.text(), encoding="utf-8")
    printed = file.with_suffix(".published.csv")
    printed.unlink(missing_ok=True)
    if case.printed:
        printed.write_bytes(case.printed.read_bytes())
    begun = time.process_time()
    try:
        case.loads(file)
        return "accepted", ""
    except ValueError as error:
        message = str(error)
    except Exception as error:
        return "traceback", f"{type(error).__name__}: {error}"
    if time.process_time() - begun > LIMIT:
        return "slow", message
    is_one_line = "\n" not in message and len(message) < 1500
    names_file = message.startswith(str(file.with_suffix("")))
    words = [word for word in case.key_path if isinstance(word, str)]
    names_key = "line " in message or any(word in message for word in words[-2:])
    if is_one_line and names_file and names_key:
        return "refused", message
    return "unclear", message


def main() -> None:
    description = "Attack the configuration; see the top of this file."
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--cases", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    counts: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        for case in cases(arguments.cases, arguments.seed):
            outcome, message = answer(case, Path(folder))
            counts[outcome] += 1
            if outcome != "refused":
                print(f"{outcome}: {case.source}: {case.key_path}: {case.kind}: {message[:300]!r}")
    total = counts.total()
    numbers = ", ".join(f"{number} {outcome}" for outcome, number in counts.most_common())
    print(f"{total} wrong files: {numbers}")
    share = counts["refused"] / total
    print(f"{share:.1%} answered by one line with file and key within {LIMIT:g} s")


if __name__ == "__main__":
    main()
