"""How everything looks: one colour, dash and marker per method, sizes, fonts, and byte-stable files.

A method is known by its label in the artifact. The methods of the papers are listed in `LOOKS`; any
other label gets a look of its own that depends on nothing but the label: the same in every figure.
"""

import hashlib
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from reproduction.figures import names

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Colours that stay apart with the common kinds of colour blindness (Okabe and Ito 2008; Tol 2021, "muted").
COLOURS = {
    "black": "#000000",
    "indigo": "#332288",
    "wine": "#882255",
    "green": "#117733",
    "blue": "#0072B2",
    "violet": "#AA4499",
    "vermillion": "#D55E00",
    "olive": "#8A8A1F",
    "pink": "#CC79A7",
    "teal": "#44AA99",
    "sky": "#56B4E9",
    "orange": "#E69F00",
    "grey": "#777777",
    "silver": "#A6A6A6",
}
DASHES: dict[str, Any] = {
    "solid": "-",
    "dash": (0, (5, 1.6)),
    "dot": (0, (1.1, 1.3)),
    "dashdot": (0, (5, 1.4, 1.1, 1.4)),
    "dashdotdot": (0, (5, 1.3, 1.1, 1.3, 1.1, 1.3)),
    "short": (0, (2.6, 1.3)),
}
MARKERS = "osD^vX*<>Phpd8"


class Look(NamedTuple):
    """Names of a colour and a dash, and a marker; a control (an oracle) is a thin plain line."""

    colour: str
    dash: str
    marker: str
    control: bool = False


LOOKS = {
    # controls: what no method can have
    "clean": Look("silver", "solid", "<", True),
    "opt": Look("grey", "dash", "d", True),
    "two_noisy": Look("grey", "dot", "h", True),
    # ORS: rules for the step on a noisy label
    "noisy": Look("black", "solid", "s"),
    "beta": Look("vermillion", "solid", "o"),
    "one": Look("sky", "dash", "^"),
    "one_pred": Look("blue", "solid", "D"),
    "two": Look("green", "dashdot", "v"),
    "two_full": Look("olive", "dashdotdot", ">"),
    "one_pred_u": Look("violet", "dash", "P"),
    "two_u": Look("orange", "short", "X"),
    # ORS: who gets several labels
    "const": Look("black", "solid", "s"),
    "begin": Look("orange", "solid", "^"),
    "auto": Look("blue", "solid", "D"),
    "self_tuned": Look("vermillion", "solid", "o"),
    # adaptive filters with variable step, and the LMS family
    "lms": Look("olive", "dashdot", "<"),
    "nlms": Look("black", "dash", "s"),
    "sm_nlms": Look("pink", "solid", "^"),
    "npvss_nlms": Look("teal", "dash", "v"),
    "jo_nlms": Look("indigo", "solid", "X"),
    "jo_nlms_mean": Look("indigo", "dot", "d"),
    "inlms": Look("wine", "dashdot", ">"),
    "rls": Look("green", "solid", "*"),
    "rls_unweighted": Look("green", "dot", "p"),
    "pnorm_lms": Look("vermillion", "solid", "o"),
    "normalized_pnorm_lms": Look("vermillion", "dash", "h"),
    "pnlms": Look("sky", "short", "D"),
    "eg": Look("orange", "dash", "^"),
    "eg_pm": Look("wine", "short", "v"),
    "za_lms": Look("teal", "dashdotdot", "P"),
    # stochastic gradient descent with robust losses
    "log": Look("black", "solid", "s"),
    "hinge": Look("grey", "dash", "^"),
    "squared_hinge": Look("pink", "dashdot", "v"),
    "asgd": Look("green", "dashdot", "v"),
    "ramp": Look("sky", "short", "P"),
    "smooth_ramp": Look("blue", "solid", "D"),
    "rgomp": Look("vermillion", "solid", "o"),
    "pegasos": Look("olive", "dot", "<"),
    "liblinear_primal": Look("pink", "dashdotdot", "X"),
    "liblinear_dual": Look("violet", "dash", ">"),
    "rgomp c=0.5": Look("orange", "dot", "<"),
    "rgomp c=1": Look("pink", "dash", "^"),
    "rgomp c=2": Look("vermillion", "solid", "o"),
    "rgomp c=4": Look("wine", "dashdot", ">"),
    "smooth_ramp s=-0.7": Look("sky", "dash", "v"),
    "smooth_ramp s=-1": Look("blue", "solid", "D"),
    "smooth_ramp s=-2": Look("indigo", "dashdot", "P"),
    # kernel methods and boosting
    "klr": Look("black", "solid", "s"),
    "rklr": Look("vermillion", "solid", "o"),
    "mklr": Look("olive", "dashdot", "<"),
    "rmklr": Look("blue", "solid", "D"),
    "rkfd": Look("green", "dashdot", "v"),
    "kfd": Look("grey", "dot", "h"),
    "svm": Look("orange", "dash", "^"),
    "rlr": Look("teal", "short", "X"),
    "logistic": Look("black", "dash", "s"),
    "forest": Look("green", "solid", "^"),
    "gradient_boosting": Look("orange", "dashdot", "v"),
    "stpmkl_like": Look("olive", "dash", "^"),
    "S=3": Look("orange", "solid", "o"),
    "S=5": Look("pink", "dash", "s"),
    "S=7": Look("vermillion", "dashdot", "^"),
    "S=11": Look("violet", "short", "v"),
    "S=15": Look("indigo", "dashdotdot", "P"),
    "S=21": Look("blue", "solid", "D"),
    "S=41": Look("teal", "dot", "X"),
    "T=5": Look("sky", "dash", "v"),
    "T=10": Look("blue", "solid", "D"),
    "T=30": Look("indigo", "dashdot", "P"),
    "newton": Look("vermillion", "short", "^"),
    "exact prior": Look("green", "dot", "s"),
    "adaboost": Look("teal", "short", "P"),
    "rboost": Look("wine", "solid", "X"),
    "AdaBoost": Look("black", "dot", "s"),
    "AdaBoost/LR": Look("black", "solid", "s"),
    "AdaBoost/LR reweighted": Look("grey", "dash", "^"),
    "AdaBoost/rLR": Look("vermillion", "solid", "o"),
    "rBoost": Look("wine", "solid", "X"),
    "rBoost/LR": Look("teal", "dashdot", "v"),
    "rBoost/rLR": Look("violet", "dash", "P"),
    "rBoost-fixed/LR": Look("blue", "solid", "D"),
    "rBoost-fixed/LR reweighted": Look("sky", "short", ">"),
    "rBoost-fixed/rLR": Look("indigo", "dashdot", "<"),
    "GentleBoost": Look("olive", "dashdotdot", "p"),
    "ModestBoost": Look("pink", "dash", "h"),
    # who says what the crowd meant
    "majority vote": Look("grey", "dash", "^"),
    "one-coin EM": Look("orange", "dashdot", "v"),
    "two-coin EM": Look("vermillion", "solid", "o"),
}
_ROLES = {"clean": "control", "opt": "oracle", "two_noisy": "control"}

WIDTH = {1: 4.6, 2: 7.2, 3: 9.0}
"""Inches, by the number of columns of panels."""

_RC: Any = {
    "font.family": "DejaVu Sans",  # comes with matplotlib: the same letters everywhere
    "font.size": 9,
    "axes.titlesize": 9.5,
    "axes.labelsize": 9,
    "xtick.labelsize": 8,
    "ytick.labelsize": 8,
    "legend.fontsize": 8.5,
    "axes.linewidth": 0.7,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.grid.which": "major",
    "axes.axisbelow": True,
    "axes.titlepad": 5,
    "axes.formatter.useoffset": False,
    "grid.color": "#E4E4E4",
    "grid.linewidth": 0.6,
    "lines.linewidth": 1.5,
    "lines.solid_capstyle": "round",
    "legend.frameon": False,
    "legend.columnspacing": 1.6,
    "savefig.dpi": 200,
    "svg.hashsalt": "noisylabels",
    "path.simplify_threshold": 0.2,
}
_METADATA = {
    ".png": {"Software": None},
    ".pdf": {"CreationDate": None, "Creator": None, "Producer": None},
    ".svg": {"Date": None, "Creator": None},
}


@contextmanager
def context() -> Iterator[None]:
    """Fonts, lines and grids of the project, for everything drawn inside the ``with`` block.

    Settings of the user's own matplotlibrc have no effect inside.
    """
    import matplotlib

    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(_RC)
        yield


def look_of(method: str) -> Look:
    """The look of a method: that of `LOOKS`, or one chosen by the digest of its label."""
    if method in LOOKS:
        return LOOKS[method]
    number = int.from_bytes(hashlib.sha256(method.encode()).digest()[:8], "big")
    colours, dashes = list(COLOURS)[1:-2], list(DASHES)  # black and greys are taken
    number, i = divmod(number, len(colours))
    number, j = divmod(number, len(dashes))
    return Look(colours[i], dashes[j], MARKERS[number % len(MARKERS)])


def colour(method: str) -> str:
    """Colour of a method as #RRGGBB."""
    return COLOURS[look_of(method).colour]


def label(method: str) -> str:
    """Name of a method in a legend, and its role where it is no real method."""
    return f"{names.method(method)} ({_ROLES[method]})" if method in _ROLES else names.method(method)


def line(method: str) -> dict[str, Any]:
    """Keyword arguments of ``plot`` for the curve of a method, its legend label included."""
    chosen = look_of(method)
    thin = {"linewidth": 1.0, "marker": "", "zorder": 2.0}
    thick = {"linewidth": 1.5, "marker": chosen.marker, "markersize": _size(chosen.marker), "zorder": 2.5}
    return {
        "color": COLOURS[chosen.colour],
        "linestyle": DASHES[chosen.dash],
        "markeredgecolor": "white",
        "markeredgewidth": 0.5,
        "label": label(method),
    } | (thin if chosen.control else thick)


def svg_line(method: str) -> dict[str, str]:
    """``colour`` and ``dash`` of a curve as SVG writes them: "" for a solid line, else lengths in pixels."""
    chosen = look_of(method)
    dash = DASHES[chosen.dash]
    lengths = [] if isinstance(dash, str) else dash[1]
    return {"colour": COLOURS[chosen.colour], "dash": " ".join(f"{1.8 * length:g}" for length in lengths)}


def hollow(method: str) -> dict[str, Any]:
    """Changes of `line` and `dot` that empty the markers: the second of two kinds of values of a method."""
    return {"markerfacecolor": "white", "markeredgecolor": colour(method), "markeredgewidth": 1.0}


def band(method: str) -> float:
    """Opacity of the band that shows the interval of a curve."""
    return 0.10 if look_of(method).control else 0.16


def dot(method: str) -> dict[str, Any]:
    """Keyword arguments of ``errorbar`` for one value of a method with its interval."""
    chosen = look_of(method)
    shade = COLOURS[chosen.colour]
    return {
        "color": shade,
        "linestyle": "none",
        "marker": chosen.marker,
        "markersize": _size(chosen.marker) + 0.5,
        "markeredgecolor": shade,
        "markeredgewidth": 1.0,
        "elinewidth": 1.0,
        "capsize": 2.0,
        "label": label(method),
    }


def _size(marker: str) -> float:
    return {"*": 8.0, "X": 6.2, "P": 6.2, "D": 4.6, "d": 5.8, "s": 4.8}.get(marker, 5.4)


def save(figure: "Figure", paths: Iterable[str | Path]) -> None:
    """Write the figure once per path, in the format of the suffix (png, pdf, svg).

    The same figure gives the same bytes: no dates, no versions, no random ids. Files appear when complete.

    Raises
    ------
    ValueError : a suffix other than .png, .pdf or .svg; nothing is written.
    """
    targets = [Path(path) for path in paths]
    for path in targets:
        if path.suffix not in _METADATA:
            raise ValueError(f"{path}: figures are written as {', '.join(_METADATA)}")
    with context():
        for path in targets:
            part = path.with_name(f".{path.name}.part")
            try:
                figure.savefig(part, format=path.suffix[1:], metadata=_METADATA[path.suffix])
                os.replace(part, path)
            finally:
                part.unlink(missing_ok=True)
