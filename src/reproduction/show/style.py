"""How everything looks: one colour, dash and marker per method, sizes, fonts, byte-stable files.

The methods of a paper have their looks in a file ``names.yaml``, by their labels in the artifacts.
Any other label gets a look that depends on the label alone: the same in every figure.
"""

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from reproduction.run.atomic_files import replacing
from reproduction.show import names

if TYPE_CHECKING:
    from matplotlib.figure import Figure

COLOURS: Mapping[str, str] = names.listed("colours")
Looks = dict[str, Any]
"""Keyword arguments of a matplotlib artist."""
DASHES: Looks = {
    key: (0, tuple(lengths)) if lengths else "-" for key, lengths in names.listed("dashes").items()
}
STYLE = Path(__file__).with_name("house.mplstyle")


class Look(NamedTuple):
    """Colour, dash and marker of a method; a control (an oracle) is a thin plain line."""

    colour: str
    dash: str
    marker: str
    control: bool = False


WIDTH = {1: 4.6, 2: 7.2, 3: 9.0}
"""Width of a figure in inches, by the number of columns of panels."""
PIXELS_PER_POINT = 1.8
"""Of dashes in the plots of pages."""
MARKER_SIZES = {"*": 8.0, "X": 6.2, "P": 6.2, "D": 4.6, "d": 5.8, "s": 4.8}
"""Points; chosen so that all markers look equally large."""
USUAL_MARKER_SIZE = 5.4

_METADATA = {
    ".png": {"Software": None},
    ".pdf": {"CreationDate": None, "Creator": None, "Producer": None},
    ".svg": {"Date": None, "Creator": None},
}


@contextmanager
def context() -> Iterator[None]:
    """Use the fonts, lines and grids of the project inside the ``with`` block.

    They are in ``house.mplstyle``; settings of the user's own matplotlibrc have no effect inside.
    """
    import matplotlib

    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        parameters = matplotlib.rc_params_from_file(STYLE, use_default_template=False)
        matplotlib.rcParams.update(parameters)
        yield


def look_of(method: str) -> Look:
    """Look up the look of a method in ``names.yaml``, or choose one by the digest of its label."""
    entry = names.listed("methods").get(method, {})
    if "look" in entry:
        colour_name, dash, marker = entry["look"].split()
        return Look(colour_name, dash, marker, "role" in entry)
    digest = hashlib.sha256(method.encode()).digest()
    number = int.from_bytes(digest[:8], "big")
    # Black and the greys are for methods that names.yaml lists.
    colours = list(COLOURS)[1:-2]
    dashes = list(DASHES)
    number, colour_index = divmod(number, len(colours))
    number, dash_index = divmod(number, len(dashes))
    marker_index = number % len(names.MARKERS)
    return Look(colours[colour_index], dashes[dash_index], names.MARKERS[marker_index])


def colour(method: str) -> str:
    """Look up the colour of a method as #RRGGBB."""
    return COLOURS[look_of(method).colour]


def label(method: str) -> str:
    """Name a method in a legend, with its role if it is a control."""
    name = names.method(method)
    role = names.listed("methods").get(method, {}).get("role")
    return f"{name} ({role})" if role else name


def line(method: str) -> Looks:
    """Collect the keyword arguments of ``plot`` for the curve of a method and its label."""
    look = look_of(method)
    looks: Looks = {
        "color": colour(method),
        "linestyle": DASHES[look.dash],
        "label": label(method),
        "markeredgecolor": "white",
        "markeredgewidth": 0.5,
    }
    if look.control:
        return looks | {"linewidth": 1.0, "marker": "", "zorder": 2.0}
    marker = {"marker": look.marker, "markersize": _size(look.marker)}
    return looks | {"linewidth": 1.5, "zorder": 2.5} | marker


def svg_line(method: str) -> dict[str, str]:
    """Write ``colour`` and ``dash`` of a curve as SVG does: pixels, or "" for a solid line."""
    dash = DASHES[look_of(method).dash]
    lengths = [] if isinstance(dash, str) else dash[1]
    pixels = [f"{PIXELS_PER_POINT * length:g}" for length in lengths]
    return {"colour": colour(method), "dash": " ".join(pixels)}


def hollow(method: str) -> Looks:
    """Collect the changes of `line` and `dot` that empty the markers.

    They mark the second of two kinds of values of a method.
    """
    edge = {"markeredgecolor": colour(method), "markeredgewidth": 1.0}
    return {"markerfacecolor": "white"} | edge


def band(method: str) -> float:
    """Choose the opacity of the band that shows the interval of a curve."""
    return 0.10 if look_of(method).control else 0.16


def dot(method: str) -> Looks:
    """Collect the keyword arguments of ``errorbar`` for one value of a method with its interval."""
    shade = colour(method)
    marker = look_of(method).marker
    return {
        "color": shade,
        "marker": marker,
        "label": label(method),
        "linestyle": "none",
        "elinewidth": 1.0,
        "capsize": 2.0,
        "markeredgecolor": shade,
        "markeredgewidth": 1.0,
        "markersize": _size(marker) + 0.5,
    }


def _size(marker: str) -> float:
    return MARKER_SIZES.get(marker, USUAL_MARKER_SIZE)


def save(figure: "Figure", paths: Iterable[str | Path]) -> None:
    """Write the figure once per path, in the format of the suffix (png, pdf, svg).

    The same figure gives the same bytes: no dates, versions or random ids. Files appear when
    complete.

    Raises ValueError: a suffix other than .png, .pdf or .svg; nothing is written.
    """
    targets = [Path(path) for path in paths]
    for path in targets:
        if path.suffix not in _METADATA:
            raise ValueError(f"{path}: figures are written as {', '.join(_METADATA)}")
    with context(), ExitStack() as files:
        for path in targets:
            part = files.enter_context(replacing(path))
            suffix = path.suffix
            figure.savefig(part, format=suffix.removeprefix("."), metadata=_METADATA[suffix])
