"""How everything looks: one colour, dash and marker per method, sizes, fonts, and byte-stable files.

The methods of a paper have their looks in a file ``names.yaml``, by their labels in the artifacts. Any other
label gets a look that depends on the label alone: the same in every figure.
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
    """Names of a colour and a dash, and a marker; a control (an oracle) is a thin plain line."""

    colour: str
    dash: str
    marker: str
    control: bool = False


WIDTH = {1: 4.6, 2: 7.2, 3: 9.0}
"""Inches, by the number of columns of panels."""

_METADATA = {
    ".png": {"Software": None},
    ".pdf": {"CreationDate": None, "Creator": None, "Producer": None},
    ".svg": {"Date": None, "Creator": None},
}


@contextmanager
def context() -> Iterator[None]:
    """Fonts, lines and grids of the project, for everything drawn inside the ``with`` block.

    They are in ``house.mplstyle``; settings of the user's own matplotlibrc have no effect inside.
    """
    import matplotlib

    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(matplotlib.rc_params_from_file(STYLE, use_default_template=False))
        yield


def look_of(method: str) -> Look:
    """The look of a method: that of a ``names.yaml``, or one chosen by the digest of its label."""
    entry = names.listed("methods").get(method, {})
    if "look" in entry:
        chosen, dash, marker = entry["look"].split()
        return Look(chosen, dash, marker, "role" in entry)
    number = int.from_bytes(hashlib.sha256(method.encode()).digest()[:8], "big")
    # black and greys are taken
    colours = list(COLOURS)[1:-2]
    dashes = list(DASHES)
    number, i = divmod(number, len(colours))
    number, j = divmod(number, len(dashes))
    return Look(colours[i], dashes[j], names.MARKERS[number % len(names.MARKERS)])


def colour(method: str) -> str:
    """Colour of a method as #RRGGBB."""
    return COLOURS[look_of(method).colour]


def label(method: str) -> str:
    """Name of a method in a legend, with its role if it is a control."""
    role = names.listed("methods").get(method, {}).get("role")
    return f"{names.method(method)} ({role})" if role else names.method(method)


def line(method: str) -> Looks:
    """Keyword arguments of ``plot`` for the curve of a method, its legend label included."""
    _, dash, marker, control = look_of(method)
    thin = {"linewidth": 1.0, "marker": "", "zorder": 2.0}
    thick = {"linewidth": 1.5, "marker": marker, "markersize": _size(marker), "zorder": 2.5}
    edge = {"markeredgecolor": "white", "markeredgewidth": 0.5}
    own = {"color": colour(method), "linestyle": DASHES[dash], "label": label(method)}
    return own | edge | (thin if control else thick)


def svg_line(method: str) -> dict[str, str]:
    """``colour`` and ``dash`` of a curve as SVG writes them: "" for a solid line, else lengths in pixels."""
    dash = DASHES[look_of(method).dash]
    lengths = [] if isinstance(dash, str) else dash[1]
    return {"colour": colour(method), "dash": " ".join(f"{1.8 * length:g}" for length in lengths)}


def hollow(method: str) -> Looks:
    """Changes of `line` and `dot` that empty the markers: the second of two kinds of values of a method."""
    return {"markerfacecolor": "white", "markeredgecolor": colour(method), "markeredgewidth": 1.0}


def band(method: str) -> float:
    """Opacity of the band that shows the interval of a curve."""
    return 0.10 if look_of(method).control else 0.16


def dot(method: str) -> Looks:
    """Keyword arguments of ``errorbar`` for one value of a method with its interval."""
    shade = colour(method)
    marker = look_of(method).marker
    bar = {"linestyle": "none", "elinewidth": 1.0, "capsize": 2.0}
    edge = {"markeredgecolor": shade, "markeredgewidth": 1.0, "markersize": _size(marker) + 0.5}
    return {"color": shade, "marker": marker, "label": label(method)} | bar | edge


def _size(marker: str) -> float:
    return {"*": 8.0, "X": 6.2, "P": 6.2, "D": 4.6, "d": 5.8, "s": 4.8}.get(marker, 5.4)


def save(figure: "Figure", paths: Iterable[str | Path]) -> None:
    """Write the figure once per path, in the format of the suffix (png, pdf, svg).

    The same figure gives the same bytes: no dates, versions or random ids. Files appear when complete.

    Raises ValueError : a suffix other than .png, .pdf or .svg; nothing is written.
    """
    targets = [Path(path) for path in paths]
    for path in targets:
        if path.suffix not in _METADATA:
            raise ValueError(f"{path}: figures are written as {', '.join(_METADATA)}")
    with context(), ExitStack() as files:
        for path in targets:
            part = files.enter_context(replacing(path))
            figure.savefig(part, format=path.suffix[1:], metadata=_METADATA[path.suffix])
