"""Compute the smoke tables as older processors would, and compare them with those of this processor.

The compiler of the kernels (NUMBA_CPU_NAME), the linear algebra library (OPENBLAS_CORETYPE),
NumPy (NPY_DISABLE_CPU_FEATURES) and the C library (GLIBC_TUNABLES) choose their instructions by processor,
and can be told to choose as on an older one.
Data are prepared, methods tuned and experiments run anew for each.

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
WITH_AVX512 = {"NUMBA_CPU_NAME": "skylake-avx512", "NUMBA_CPU_FEATURES": "", "OPENBLAS_CORETYPE": "SkylakeX"}
PROCESSORS = {
    "nehalem": ("sse4_2", NO_AVX),
    "haswell": ("fma", NO_AVX512),
    "skylake": ("avx512f", WITH_AVX512),
}
"""Name -> what this processor must have to play it, and the switches."""


ROUNDING = 1e-14
"""A smaller difference is not looked at relatively: where it is large, the value is nothing but rounding."""


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
    targets = {name: folder / f"results/smoke/{name}/table.csv" for name in names}
    snakemake(folder, [], *(str(path.relative_to(folder)) for path in targets.values()), **switches)
    return {name: path.read_text(encoding="utf-8") for name, path in targets.items()}


def difference(here: str, there: str) -> str:
    """What differs between two tables."""
    if here == there:
        return "equal bytes"
    ours, theirs = (list(csv.DictReader(io.StringIO(text))) for text in (here, there))
    if len(ours) != len(theirs):
        return f"{len(ours)} rows against {len(theirs)}"
    count, absolute, relative, where = 0, 0.0, 0.0, ""
    for row, other in zip(ours, theirs, strict=True):
        if any(row[column] != other[column] for column in row if column not in ("value", "x")):
            return f"other labels: {row} against {other}"
        for column in ("value", "x"):
            if row[column] == other[column]:
                continue
            a = float(row[column])
            b = float(other[column])
            count += 1
            absolute = max(absolute, abs(a - b))
            if abs(a - b) > ROUNDING and abs(a - b) / max(abs(a), abs(b)) > relative:
                relative = abs(a - b) / max(abs(a), abs(b))
                where = (
                    f", relatively by {relative:.1e} ({row['metric']} of {row['method']}, {a:g} and {b:g})"
                )
    return f"{count} of {len(ours)} values differ, by {absolute:.1e} at most{where}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
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
            found = tables(folder, names, playable()[processor])
            print(f"{processor} against this processor", flush=True)
            for name in names:
                print(f"  {name:35} {difference(expected[name], found[name])}", flush=True)


if __name__ == "__main__":
    main()
