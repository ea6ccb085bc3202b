"""The command `reference`: keep what is finished, or list what has grown old, a line for each artifact."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from reproduction import targets
from reproduction.plan import Plan
from reproduction.reference import judging, make, runs, state

WHOLE = 20_000_000
"""Bytes of the whole reference."""


def chosen(made: Plan, asked: Sequence[str]) -> list[str]:
    """The artifacts of some targets (papers or ``<paper>_<artifact>``); of none: all.

    Raises
    ------
    ValueError : a target that the configuration does not have.
    """
    known = targets.scopes(made)
    for target in asked:
        if target not in known:
            raise ValueError(targets.unknown(target, known))
    scopes = [known[target] for target in asked] or [""]
    return list(dict.fromkeys(name for scope in scopes for name in made.below(scope)))


def kept(made: Plan, names: Iterable[str], root: Path, home: Path, asked: bool) -> tuple[list[str], bool]:
    """Keep the artifacts that are finished; (lines, whether one that was asked for could not be kept)."""
    lines, refused = [], []
    for name in names:
        try:
            make.keep(made, name, root, home)
            lines.append(f"{name}: kept")
        except ValueError as error:
            refused.append(str(error))
    size = total(home)
    count = f"{len(lines)} kept, {len(refused)} not; {size / 1e6:.1f} MB in all"
    large = [f"that is more than {WHOLE / 1e6:.0f} MB"] * (size > WHOLE)
    lines += [f"not kept: {line}" for line in refused]
    return [*lines, count, *large], bool(large) or bool(refused and asked)


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


def total(home: Path) -> int:
    """Bytes of the reference."""
    folders = (home / "results/reference", home / "figures/reference")
    return sum(file.stat().st_size for folder in folders for file in folder.rglob("*") if file.is_file())


def old(made: Plan, names: Iterable[str], home: Path) -> tuple[list[str], bool]:
    """What changed since artifacts were kept; (lines, whether settings did).

    A change of settings makes a result another one. A change of code is reported, and may mean nothing.
    """
    lines, failed = [], False
    for name in names:
        provenance = runs.reference(name, home).provenance
        kept = provenance.get("made_from")
        if kept is None:
            lines.append(f"{name}: not in the reference")
            continue
        moved, waiting = judging.moved(made.artifact(name).content, home / "results/reference" / name)
        failed = failed or bool(moved)
        if moved:
            some, command = ", ".join(moved[:5]), f"./run reference --judge {name.replace('/', '_')}"
            lines.append(f"{name}: other claims or published values ({some} ...); {command}")
        if waiting:
            lines.append(f"{name}: {', '.join(waiting)} cannot be judged from what is kept; {mend(name)}")
        if state.other_settings(made, name, kept):
            failed = True
            lines.append(f"{name}: OLD, other settings; {mend(name)}")
        elif state.other_code(made, name, kept):
            commit = provenance.get("commit", "unknown")[:12]
            lines.append(f"{name}: made with earlier code (commit {commit})")
    return lines or ["the reference is what the files here would give"], failed


def mend(name: str) -> str:
    """The commands that make an old result of the reference new."""
    target = name.replace("/", "_")
    return f"./run --cores 2 -- {target} && ./run reference {target}"
