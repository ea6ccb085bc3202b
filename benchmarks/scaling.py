# ruff: noqa: E402 - the thread variables must be set before NumPy is imported
"""How time and memory of every method grow: ``python benchmarks/scaling.py`` (ten minutes).

A size is doubled until one call takes ``--seconds`` of the processor. At each size the method and its peer
take turns, and the fastest turn of each counts: a busy machine slows both. The exponent is the slope of log
time over log size through the last four sizes; memory is what Python allocated at the peak of one more call
at the last two sizes (what compiled code allocates by itself is not seen).

Writes ``benchmarks/recorded/scaling.json`` and ``scaling.csv``, and the pictures of ``docs/scaling.md``,
with what moved since the file that was there: as ratios to
the peer of the same process, which hold on other machines.
"""

import argparse
import csv
import io
import json
import os
import platform
import statistics
import sys
import time
import tracemalloc
import warnings
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

for _name in ("OMP", "OPENBLAS", "MKL", "NUMBA"):
    os.environ[f"{_name}_NUM_THREADS"] = "1"

import numpy as np
import pages
from scaling_lines import D_FIXED, INPUTS, N_FIXED, ROOMS, T_FIXED, Call, Line

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ROOT = Path(__file__).resolve().parents[1]
RECORD = ROOT / "benchmarks/recorded/scaling.json"
TABLE = ROOT / "benchmarks/recorded/scaling.csv"
PAGE = ROOT / "docs/scaling.md"
LARGEST = 1 << 21
NEAR = 0.1
"""Exponents this near to the theory agree with it."""

MOVED = 1.25
"""Ratios to the peer that changed by less are noise."""


def seconds_of(call: Call) -> float:
    start = time.process_time()
    call()
    return max(time.process_time() - start, 1e-7)


def measured(line: Line, limit: float, turns: int) -> dict[str, Any]:
    """Sizes, seconds and the peer's seconds of a line, and its exponents."""
    sizes, ours, theirs, size = [], [], [], line.start
    line.make(size)()  # compiles
    while size <= LARGEST:
        call, (peer, times) = line.make(size), line.peer(size)
        pairs = [(seconds_of(call), times * seconds_of(peer)) for _ in range(turns)]
        sizes.append(size)
        ours.append(min(pair[0] for pair in pairs))
        theirs.append(min(pair[1] for pair in pairs))
        if ours[-1] > limit and len(sizes) >= 3:
            break
        size *= 2
    bytes_ = [allocated(line.make(each)) for each in sizes[-2:]]
    return {
        "room": line.room,
        "method": line.method,
        "against": line.against,
        "theory": list(line.theory),
        "peer": line.peer_name,
        "sizes": sizes,
        "seconds": [float(f"{value:.3g}") for value in ours],
        "peer_seconds": [float(f"{value:.3g}") for value in theirs],
        "exponent": round(slope(sizes, ours), 2),
        "mb": round(bytes_[1] / 1e6, 2),
        "memory_exponent": round(slope(sizes[-2:], bytes_), 2),
    }


def slope(sizes: list[int], values: list[float]) -> float:
    """Least squares through the last four points of log value over log size."""
    return float(np.polyfit(np.log(sizes[-4:]), np.log(values[-4:]), 1)[0])


def allocated(call: Call) -> float:
    """Bytes at the peak of a call, beyond those before it; at least one."""
    tracemalloc.start()
    call()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return max(peak, 1.0)


def machine() -> dict[str, Any]:
    """What the numbers depend on, and the speed of light: bytes a core can read in a second."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text(encoding="utf-8").splitlines() if info.is_file() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    block = np.ones(1 << 23)
    reading = statistics.median(seconds_of(block.sum) for _ in range(5))
    packages = ("numpy", "numba", "scikit-learn", "padasip")
    return {
        "processor": names[0] if names else platform.processor(),
        "load": round(os.getloadavg()[0], 1),
        "python": platform.python_version(),
        "packages": {name: version(name) for name in packages},
        "read_gb_per_second": round(block.nbytes / reading / 1e9, 1),
    }


PICTURE = "![Seconds against what grows, of {0} and their peers](_static/scaling_{0}.svg)"


def ratio(line: dict[str, Any]) -> float:
    """Our time over the peer's, median over the sizes."""
    return statistics.median(a / b for a, b in zip(line["seconds"], line["peer_seconds"], strict=True))


def key(line: dict[str, Any]) -> tuple[str, str, str]:
    return line["method"], line["against"], line["peer"]


def agrees(line: dict[str, Any]) -> bool:
    low, high = line["theory"]
    return low - NEAR <= line["exponent"] <= high + NEAR


def blocks(found: dict[str, Any], before: dict[str, Any]) -> dict[str, str]:
    """The tables of the page, by their names there."""
    made = {room: PICTURE.format(room) for room in _there(found)}
    old = {key(line): ratio(line) for line in before.get("lines", [])}
    moved = []
    for line in found["lines"]:
        if key(line) in old:
            change = ratio(line) / old[key(line)]
            if not 1 / MOVED < change < MOVED:
                moved.append((line["method"], line["against"], line["peer"], f"{change:.2f}"))
    head = ("method", "against", "peer", "time / peer's, now over then")
    made["moved"] = pages.table(head, moved) if moved else "Nothing by more than a quarter."
    there = found["machine"]
    versions = ", ".join(f"{name} {number}" for name, number in there["packages"].items())
    made["machine"] = (
        f"Measured on {there['processor']}, at a load of {there['load']}; a core reads "
        f"{there['read_gb_per_second']} GB/s. Python {there['python']}, {versions}."
    )
    near = sum(map(agrees, found["lines"]))
    made["summary"] = f"{near} of {len(found['lines'])} exponents lie within {NEAR} of the theory."
    return made


def _there(found: dict[str, Any]) -> list[str]:
    """The rooms that were measured."""
    return list(dict.fromkeys(line["room"] for line in found["lines"]))


COLUMNS = (
    "part",
    "method",
    "against",
    "up to",
    "seconds",
    "exponent",
    "theory",
    "agrees",
    "megabytes",
    "memory exponent",
    "time over peer's",
    "peer",
)


def format_table(found: dict[str, Any]) -> str:
    """Format what was measured as CSV, a line for each method and each quantity that grows."""
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow(COLUMNS)
    for line in found["lines"]:
        low, high = (f"{value:g}" for value in line["theory"])
        rows.writerow(
            [
                line["room"],
                line["method"],
                line["against"],
                line["sizes"][-1],
                f"{line['seconds'][-1]:.3g}",
                f"{line['exponent']:.2f}",
                low if low == high else f"{low} to {high}",
                "yes" if agrees(line) else "no",
                f"{line['mb']:.1f}",
                f"{line['memory_exponent']:.2f}",
                f"{ratio(line):.2g}",
                line["peer"],
            ]
        )
    return text.getvalue()


AXES = {"T": "rows T", "n": "rows n", "d": "inputs d", "models": "models"}

BESIDE = {
    ("filters", "T"): D_FIXED,
    ("filters", "d"): T_FIXED,
    ("classifiers", "n"): INPUTS,
    ("classifiers", "d"): N_FIXED,
}
"""The other side of the matrix of rows, where all methods of a panel have the same."""


def drawn(found: dict[str, Any], room: str) -> "Figure":
    """Seconds against size, a panel for each quantity; dashed: peers, dotted: the limit of the memory."""
    from matplotlib.figure import Figure

    from reproduction.show.names import MARKERS
    from reproduction.show.style import COLOURS

    lines = [line for line in found["lines"] if line["room"] == room]
    wanted = list(dict.fromkeys(line["against"] for line in lines))
    figure = Figure(figsize=(4.6 * len(wanted) + 1.6, 4.2), layout="constrained")
    names = list(dict.fromkeys(line["method"] for line in lines))
    colours = list(COLOURS.values())
    for axes, against in zip(figure.subplots(1, len(wanted), squeeze=False)[0], wanted, strict=True):
        here = [line for line in lines if line["against"] == against]
        for line in here:
            place = names.index(line["method"])
            cycle = place // len(colours)
            look = {
                "color": colours[place % len(colours)],
                "linestyle": ("-", "-.")[cycle % 2],
                "marker": MARKERS[(place + cycle) % len(MARKERS)],
                "markersize": 3,
            }
            axes.plot(line["sizes"], line["seconds"], label=line["method"], linewidth=1, **look)
        for peer in dict.fromkeys(line["peer"] for line in here):
            longest = max(
                (line for line in here if line["peer"] == peer), key=lambda line: len(line["sizes"])
            )
            axes.plot(longest["sizes"], longest["peer_seconds"], "k--", linewidth=1)
            axes.annotate(
                peer, (longest["sizes"][-1], longest["peer_seconds"][-1]), fontsize=6, ha="right", va="bottom"
            )
        if (room, against) in BESIDE:
            sizes = np.array(sorted({size for line in here for size in line["sizes"]}))
            reading = sizes * BESIDE[room, against] * 8 / found["machine"]["read_gb_per_second"] / 1e9
            axes.plot(sizes, reading, ":", color="#777777", linewidth=1)
            i = len(sizes) // 3  # where there is room below the line
            axes.annotate("reading the rows once", (sizes[i], reading[i]), fontsize=6, ha="left", va="top")
        axes.set(xscale="log", yscale="log", xlabel=AXES[against], ylabel="seconds of one core")
    handles = {
        label: h for axes in figure.axes for h, label in zip(*axes.get_legend_handles_labels(), strict=True)
    }
    figure.legend(handles.values(), handles.keys(), loc="outside right upper", fontsize=7, frameon=False)
    return figure


def publish(found: dict[str, Any], before: dict[str, Any]) -> None:
    """Write the record, the pictures and the tables."""
    from reproduction.show.style import context, save

    RECORD.parent.mkdir(exist_ok=True)
    RECORD.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    TABLE.write_text(format_table(found), encoding="utf-8")
    for name, block in blocks(found, before).items():
        pages.write(PAGE, name, block)
    with context():
        for room in _there(found):
            save(drawn(found, room), [ROOT / f"docs/_static/scaling_{room}.svg"])


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seconds", type=float, default=0.1, help="of the longest call of a line")
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument(
        "--rooms", nargs="+", choices=ROOMS, default=list(ROOMS), help="the others keep what is recorded"
    )
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")  # of fits that a few rounds do not finish

    before = json.loads(RECORD.read_text(encoding="utf-8")) if RECORD.is_file() else {}
    kept = [line for line in before.get("lines", []) if line["room"] not in arguments.rooms]
    lines, failed = collected(arguments.rooms, arguments.seconds, arguments.turns)
    publish({"machine": machine(), "lines": sorted([*kept, *lines], key=place)}, before)
    if failed:
        sys.exit("\n".join(["not measured:", *failed]))


def collected(rooms: list[str], limit: float, turns: int) -> tuple[list[dict[str, Any]], list[str]]:
    """The lines of the rooms, and why others could not be measured: one must not cost the minutes of all."""
    lines, failed = [], []
    for line in (line for room in rooms for line in ROOMS[room]()):
        name = f"{line.room:12} {line.method:26} {line.against:7}"
        try:
            lines.append(measured(line, limit, turns))
        except Exception as error:
            failed.append(f"{name} {type(error).__name__}: {error}")
            continue
        print(f"{name} {lines[-1]['exponent']:5.2f}", file=sys.stderr, flush=True)
    return lines, failed


def place(line: dict[str, Any]) -> tuple[int, str, int, str]:
    """Where a line stands in its table: by room and method, inputs last."""
    return list(ROOMS).index(line["room"]), line["method"], int(line["against"] == "d"), line["peer"]


if __name__ == "__main__":
    main()
