# ruff: noqa: E402 - the thread variables must be set before NumPy is imported
"""How time and memory of every method grow: ``python benchmarks/scaling.py`` (ten minutes).

A size is doubled until one call takes ``--seconds`` of the processor. At each size the method and
its peer take turns, and the fastest turn of each counts: a busy machine slows both. The exponent is
the slope of log time over log size through the last four sizes; memory is what Python allocated at
the peak of one more call at the last two sizes, without what compiled code allocates by itself.

Writes ``benchmarks/recorded/scaling.json`` and ``scaling.csv``, and the pictures of
``docs/scaling.md``, with what moved since the file that was there: as ratios to the peer of the
same process, which other machines have too.
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
    from matplotlib.axes import Axes
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
    sizes = []
    ours = []
    theirs = []
    size = line.start
    line.make(size)()  # compiles
    while size <= LARGEST:
        call = line.make(size)
        peer, times = line.peer(size)
        our_turns = []
        their_turns = []
        for _ in range(turns):
            our_turns.append(seconds_of(call))
            their_turns.append(times * seconds_of(peer))
        sizes.append(size)
        ours.append(min(our_turns))
        theirs.append(min(their_turns))
        if ours[-1] > limit and len(sizes) >= 3:
            break
        size *= 2
    last_sizes = sizes[-2:]
    bytes_ = [allocated(line.make(size)) for size in last_sizes]
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
        "memory_exponent": round(slope(last_sizes, bytes_), 2),
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
    times = zip(line["seconds"], line["peer_seconds"], strict=True)
    return statistics.median(ours / theirs for ours, theirs in times)


def key(line: dict[str, Any]) -> tuple[str, str, str]:
    return line["method"], line["against"], line["peer"]


def agrees(line: dict[str, Any]) -> bool:
    low, high = line["theory"]
    return low - NEAR <= line["exponent"] <= high + NEAR


def blocks(record: dict[str, Any], before: dict[str, Any]) -> dict[str, str]:
    """Format the parts of the page, by their names there."""
    lines = record["lines"]
    parts = {room: PICTURE.format(room) for room in _measured_rooms(record)}
    old_ratios = {key(line): ratio(line) for line in before.get("lines", [])}
    moved = []
    for line in lines:
        if key(line) in old_ratios:
            change = ratio(line) / old_ratios[key(line)]
            if not 1 / MOVED < change < MOVED:
                moved.append((line["method"], line["against"], line["peer"], f"{change:.2f}"))
    head = ("method", "against", "peer", "time / peer's, now over then")
    parts["moved"] = pages.table(head, moved) if moved else "Nothing by more than a quarter."
    machine = record["machine"]
    versions = ", ".join(f"{name} {number}" for name, number in machine["packages"].items())
    parts["machine"] = (
        f"Measured on {machine['processor']}, at a load of {machine['load']}; a core reads "
        f"{machine['read_gb_per_second']} GB/s. Python {machine['python']}, {versions}."
    )
    near = sum(map(agrees, lines))
    parts["summary"] = f"{near} of {len(lines)} exponents lie within {NEAR} of the theory."
    return parts


def _measured_rooms(record: dict[str, Any]) -> list[str]:
    return list(dict.fromkeys(line["room"] for line in record["lines"]))


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


def format_table(record: dict[str, Any]) -> str:
    """Format what was measured as CSV, a line for each method and each quantity that grows."""
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow(COLUMNS)
    for line in record["lines"]:
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

OTHER_SIZE = {
    ("filters", "T"): D_FIXED,
    ("filters", "d"): T_FIXED,
    ("classifiers", "n"): INPUTS,
    ("classifiers", "d"): N_FIXED,
}
"""The other side of the matrix of rows, where all methods of a panel have the same."""


def drawn(record: dict[str, Any], room: str) -> "Figure":
    """Draw seconds against size, a panel for each quantity; dashed: peers, dotted: the memory."""
    from matplotlib.figure import Figure

    lines = [line for line in record["lines"] if line["room"] == room]
    quantities = list(dict.fromkeys(line["against"] for line in lines))
    figure = Figure(figsize=(4.6 * len(quantities) + 1.6, 4.2), layout="constrained")
    methods = list(dict.fromkeys(line["method"] for line in lines))
    panels = figure.subplots(1, len(quantities), squeeze=False)[0]
    handles = {}
    for axes, against in zip(panels, quantities, strict=True):
        lines_of_panel = [line for line in lines if line["against"] == against]
        for line in lines_of_panel:
            look = _look(methods.index(line["method"]))
            axes.plot(line["sizes"], line["seconds"], label=line["method"], linewidth=1, **look)
        _draw_peers(axes, lines_of_panel)
        if (room, against) in OTHER_SIZE:
            bytes_of_size = OTHER_SIZE[room, against] * 8
            speed = record["machine"]["read_gb_per_second"] * 1e9
            _draw_reading(axes, lines_of_panel, bytes_of_size / speed)
        axes.set(xscale="log", yscale="log", xlabel=AXES[against], ylabel="seconds of one core")
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
            handles[label] = handle
    figure.legend(
        handles.values(),
        handles.keys(),
        loc="outside right upper",
        fontsize=7,
        frameon=False,
    )
    return figure


def _look(number: int) -> dict[str, Any]:
    """Choose colour, dash and marker of the method of that number."""
    from reproduction.show.names import MARKERS
    from reproduction.show.style import COLOURS

    colours = list(COLOURS.values())
    cycle = number // len(colours)
    return {
        "color": colours[number % len(colours)],
        "linestyle": ("-", "-.")[cycle % 2],
        "marker": MARKERS[(number + cycle) % len(MARKERS)],
        "markersize": 3,
    }


def _draw_peers(axes: "Axes", lines: list[dict[str, Any]]) -> None:
    """Draw the longest line of each peer, with its name at the end."""
    longest: dict[str, dict[str, Any]] = {}
    for line in lines:
        peer = line["peer"]
        if peer not in longest or len(line["sizes"]) > len(longest[peer]["sizes"]):
            longest[peer] = line
    for peer, line in longest.items():
        axes.plot(line["sizes"], line["peer_seconds"], "k--", linewidth=1)
        end = (line["sizes"][-1], line["peer_seconds"][-1])
        axes.annotate(peer, end, fontsize=6, ha="right", va="bottom")


def _draw_reading(axes: "Axes", lines: list[dict[str, Any]], seconds_of_size: float) -> None:
    """Draw how long a core takes to read the rows once."""
    all_sizes: set[int] = set()
    for line in lines:
        all_sizes.update(line["sizes"])
    sizes = np.array(sorted(all_sizes))
    reading = sizes * seconds_of_size
    axes.plot(sizes, reading, ":", color="#777777", linewidth=1)
    i = len(sizes) // 3  # where there is room below the line
    start = (sizes[i], reading[i])
    axes.annotate("reading the rows once", start, fontsize=6, ha="left", va="top")


def publish(record: dict[str, Any], before: dict[str, Any]) -> None:
    """Write the record, the pictures and the tables."""
    from reproduction.show.style import context, save

    RECORD.parent.mkdir(exist_ok=True)
    RECORD.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    TABLE.write_text(format_table(record), encoding="utf-8")
    for name, block in blocks(record, before).items():
        pages.write(PAGE, name, block)
    with context():
        for room in _measured_rooms(record):
            save(drawn(record, room), [ROOT / f"docs/_static/scaling_{room}.svg"])


def main() -> None:
    form = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=form)
    seconds = "of the longest call of a line"
    parser.add_argument("--seconds", type=float, default=0.1, help=seconds)
    parser.add_argument("--turns", type=int, default=3)
    others = "the others keep what is recorded"
    parser.add_argument("--rooms", nargs="+", choices=ROOMS, default=list(ROOMS), help=others)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")  # of fits that a few rounds do not finish

    before = json.loads(RECORD.read_text(encoding="utf-8")) if RECORD.is_file() else {}
    old_lines = [line for line in before.get("lines", []) if line["room"] not in arguments.rooms]
    lines, failed = collected(arguments.rooms, arguments.seconds, arguments.turns)
    lines = sorted([*old_lines, *lines], key=place)
    publish({"machine": machine(), "lines": lines}, before)
    if failed:
        sys.exit("\n".join(["not measured:", *failed]))


def collected(
    rooms: list[str],
    limit: float,
    turns: int,
) -> tuple[list[dict[str, Any]], list[str]]:
    """Measure the lines of the rooms, and say why others failed: one must not cost the rest."""
    lines = []
    failed = []
    for room in rooms:
        for line in ROOMS[room]():
            name = f"{line.room:12} {line.method:26} {line.against:7}"
            try:
                lines.append(measured(line, limit, turns))
            except Exception as error:
                failed.append(f"{name} {type(error).__name__}: {error}")
                continue
            print(f"{name} {lines[-1]['exponent']:5.2f}", file=sys.stderr, flush=True)
    return lines, failed


def place(line: dict[str, Any]) -> tuple[int, str, int, str]:
    """Give the place of a line in its table: by room and method, inputs last."""
    room = list(ROOMS).index(line["room"])
    inputs_last = int(line["against"] == "d")
    return room, line["method"], inputs_last, line["peer"]


if __name__ == "__main__":
    main()
