"""Compute the smoke tables as older processors would, and compare them with those of this one.

The compiler of the kernels (NUMBA_CPU_NAME), the linear algebra library (OPENBLAS_CORETYPE),
NumPy (NPY_DISABLE_CPU_FEATURES) and the C library (GLIBC_TUNABLES) choose their instructions by
processor; their variables make them choose as on an older one. Each processor prepares the data,
tunes the methods and runs the experiments again.

    python tests/faults/processors.py [--papers ors pnorm] [--processors nehalem haswell]

Prints a line for each artifact: "equal bytes", or how many values differ and by how much at most.
Measured times are left out. x86-64 processors only.
"""

from __future__ import annotations

import argparse
import csv
import io
import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

import yaml
from project import artifact_paths
from smoke import copy_checkout, snakemake

NEWEST = "AVX512_ICL AVX512_CNL AVX512_CLX AVX512_SKX AVX512CD AVX512F X86_V4"
NO_AVX = {
    "NUMBA_CPU_NAME": "nehalem",
    "NUMBA_CPU_FEATURES": "",
    "OPENBLAS_CORETYPE": "Nehalem",
    "NPY_DISABLE_CPU_FEATURES": f"{NEWEST} FMA3 AVX2 X86_V3",
    "GLIBC_TUNABLES": "glibc.cpu.hwcaps=-AVX2,-FMA,-FMA4,-AVX512F",
}
NO_AVX512 = {
    "NUMBA_CPU_NAME": "haswell",
    "NUMBA_CPU_FEATURES": "",
    "OPENBLAS_CORETYPE": "Haswell",
    "NPY_DISABLE_CPU_FEATURES": NEWEST,
    "GLIBC_TUNABLES": "glibc.cpu.hwcaps=-AVX512F",
}
WITH_AVX512 = {
    "NUMBA_CPU_NAME": "skylake-avx512",
    "NUMBA_CPU_FEATURES": "",
    "OPENBLAS_CORETYPE": "SkylakeX",
}
PROCESSORS = {
    "nehalem": ("sse4_2", NO_AVX),
    "haswell": ("fma", NO_AVX512),
    "skylake": ("avx512f", WITH_AVX512),
}
"""Name -> what this processor must have to play it, and the switches."""


ROUNDING = 1e-14
"""Smaller differences are not compared relatively: the value may be nothing but rounding."""


def playable() -> dict[str, dict[str, str]]:
    """The processors that this one can play, with their switches; empty beyond Linux on x86-64."""
    facts = Path("/proc/cpuinfo")
    flags = facts.read_text().split() if facts.exists() else []
    return {name: switches for name, (needed, switches) in PROCESSORS.items() if needed in flags}


def artifacts(papers: Iterable[str]) -> Iterator[str]:
    """paper/artifact of every artifact that has a table of its own, measured times left out."""
    for file in artifact_paths():
        artifact = yaml.safe_load(file.read_text(encoding="utf-8"))
        wanted = not papers or file.parent.name in papers
        if wanted and "protocol" in artifact and not artifact.get("measured"):
            yield f"{file.parent.name}/{file.stem}"


def tables(folder: Path, names: list[str], switches: dict[str, str]) -> dict[str, str]:
    """The smoke tables of the artifacts, computed with these switches."""
    for part in ("results", "data/prepared", ".snakemake"):
        shutil.rmtree(folder / part, ignore_errors=True)
    targets = {name: f"results/smoke/{name}/table.csv" for name in names}
    snakemake(folder, [], *targets.values(), **switches)
    return {name: (folder / path).read_text(encoding="utf-8") for name, path in targets.items()}


def difference(our_text: str, their_text: str) -> str:
    """What differs between two tables."""
    if our_text == their_text:
        return "equal bytes"
    ours = list(csv.DictReader(io.StringIO(our_text)))
    theirs = list(csv.DictReader(io.StringIO(their_text)))
    if len(ours) != len(theirs):
        return f"{len(ours)} rows against {len(theirs)}"
    count = 0
    absolute = 0.0
    relative = 0.0
    largest = ""
    numeric = ("value", "x")
    for row, their_row in zip(ours, theirs, strict=True):
        labels = [column for column in row if column not in numeric]
        if any(row[column] != their_row[column] for column in labels):
            return f"other labels: {row} against {their_row}"
        for column in numeric:
            if row[column] == their_row[column]:
                continue
            a = float(row[column])
            b = float(their_row[column])
            count += 1
            gap = abs(a - b)
            absolute = max(absolute, gap)
            relative_gap = gap / max(abs(a), abs(b)) if gap > ROUNDING else 0.0
            if relative_gap > relative:
                relative = relative_gap
                curve = f"{row['metric']} of {row['method']}"
                largest = f", relatively by {relative:.1e} ({curve}, {a:g} and {b:g})"
    return f"{count} of {len(ours)} values differ, by {absolute:.1e} at most{largest}"


def main() -> None:
    form = argparse.RawTextHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=form)
    parser.add_argument("--papers", nargs="*", default=[], help="default: all")
    parser.add_argument("--processors", nargs="*", choices=playable(), default=list(playable()))
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as scratch:
        folder = Path(scratch) / "checkout"
        copy_checkout(folder)
        os.chdir(folder)
        names = list(artifacts(arguments.papers))
        expected = tables(folder, names, {})
        for processor in arguments.processors:
            differences = tables(folder, names, playable()[processor])
            print(f"{processor} against this processor", flush=True)
            for name in names:
                print(f"  {name:35} {difference(expected[name], differences[name])}", flush=True)


if __name__ == "__main__":
    main()
