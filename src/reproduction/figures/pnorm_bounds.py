"""Figures of the p-norm LMS slides (Kivinen, Warmuth, Hassibi): losses beside their bounds."""

from typing import TYPE_CHECKING, Any

import numpy as np

from reproduction.figures import panels, style
from reproduction.figures.pnorm import THIN, entries

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


KINDS = {"gaussian": "Gaussian rows", "signs": "±1 rows", "heavy": "heavy-tailed rows", "unit": "unit rows"}


@panels.figure
def bounds(results: panels.Results[Any]) -> "Figure":
    """Histograms of ratio and slack, expected bound; below: prediction loss over alpha."""
    from matplotlib.figure import Figure

    name, table, settings = results.artifact, results.table, results.settings_of
    own, expected = settings[name], panels.select(table, name, setting="expected")
    figure = Figure(figsize=(style.WIDTH[3], 5.2))
    top = _strip(figure, 3, 0.60)
    kinds = own["filtering"]["instances"]
    _histograms(top[0], top[1], table, name, kinds)
    _expected(top[2], expected, own["expected"]["noise"] ** 2)
    noises = [f"sd {sd:g}" for sd in own["prediction"]["noises"]]
    for ax, noise in zip(_strip(figure, len(noises), 0.09), noises, strict=True):
        _prediction(
            ax,
            panels.select(table, name, noise=noise, setting=["grid", "tuned"]),
            own["prediction"]["rounds"],
        )
        ax.set(title=f"prediction, noise {noise}", xlabel="α")
    patches = [
        panels.plain_handle(KINDS[k], color=c, marker="s", linestyle="none") for k, c in _shades(kinds)
    ]
    thin = panels.plain_handle("bound", linewidth=0.8)
    dotted = panels.plain_handle("α*", linewidth=0.9, linestyle=style.DASHES["dot"])
    panels.shared_legend(figure, [*entries(panels.methods_in(expected)), thin, dotted, *patches])
    return figure


def _strip(figure: "Figure", count: int, bottom: float) -> list["Axes"]:
    """A row of `count` panels from `bottom` (share of the height), each with room for its own labels."""
    left, right, gap = 0.06, 0.99, 0.055
    width = (right - left - gap * (count - 1)) / count
    return [figure.add_axes((left + i * (width + gap), bottom, width, 0.345)) for i in range(count)]


def _shades(kinds: list[str]) -> list[tuple[str, str]]:
    return [
        (k, style.COLOURS[c]) for k, c in zip(kinds, ("indigo", "teal", "orange", "silver"), strict=False)
    ]


def _histograms(left: "Axes", right: "Axes", table: "pd.DataFrame", name: str, kinds: list[str]) -> None:
    """Configurations by loss / bound, and by the smallest slack of a step; stacked by the kind of rows."""
    ratios = panels.select(table, name, metric="filtering_ratio", setting=kinds)
    slack = panels.select(table, name, metric="smallest_step_slack")
    logs = slack.assign(value=np.log10(np.maximum(slack["value"], 1e-16)))
    for ax, rows, bins in ((left, ratios, np.linspace(0, 1.05, 43)), (right, logs, np.linspace(-16, 0, 33))):
        groups = [rows.loc[rows["setting"] == kind, "value"] for kind in kinds]
        bars: Any = ax.hist(groups, bins=list(bins), stacked=True, color=[c for _, c in _shades(kinds)])[2]
        for container, hatch in zip(bars, ("", "////", "....", "xx"), strict=False):
            for bar in container:
                bar.set(hatch=hatch, edgecolor="white", linewidth=0.3)
    left.axvline(1, color="black", linewidth=1.1)
    most, largest = left.get_ylim()[1], float(ratios["value"].max())
    _note(left, "bound", (0.985, most * 0.93), ha="right")
    _note(left, f"largest {largest:.2f}", (largest, most * 0.45), ha="right", arrow=(largest, most * 0.03))
    left.set(title="filtering loss / bound", xlabel="ratio of a run", ylabel="configurations")
    right.set(title="smallest slack of a step", xlabel="log10 (slack / initial divergence)")


def _prediction(ax: "Axes", rows: "pd.DataFrame", rounds: int) -> None:
    """Prediction loss per round and its bound over alpha."""
    rows = rows.assign(value=rows["value"].where(rows["metric"] == "alpha", rows["value"] / rounds))
    for metric, looks in (("prediction_bound", THIN), ("prediction_loss", {})):
        panels.learning_curves(ax, rows[(rows["metric"] == metric) & (rows["setting"] == "grid")], **looks)
    for method in rows["method"].unique():
        best = rows.loc[(rows["metric"] == "alpha") & (rows["method"] == method), "value"].mean()
        ax.axvline(best, color=style.colour(method), linewidth=0.9, linestyle=style.DASHES["dot"])
    ax.set_xscale("log")
    panels.log_axis(ax.yaxis)
    ax.set_xticks([0.01, 0.1, 1], ["0.01", "0.1", "1"])


def _expected(ax: "Axes", rows: "pd.DataFrame", eps: float) -> None:
    """Mean filtering loss up to T over the noise, and its bound."""
    for metric, looks in (("expected_bound", THIN), ("mean_loss", {})):
        panels.learning_curves(ax, rows[rows["metric"] == metric], **looks)
    ax.set_xscale("log")
    panels.log_axis(ax.yaxis)
    ax.axhline(eps, color="black", linewidth=0.9, linestyle=style.DASHES["dash"])
    _note(ax, "noise variance", (2.2, eps * 0.45))
    ax.set(title="mean filtering loss, white noise", xlabel="rounds T")


def _note(
    ax: "Axes",
    text: str,
    at: tuple[float, float],
    *,
    ha: str = "left",
    arrow: tuple[float, float] | None = None,
) -> None:
    """Small text at a place of the data, with an arrow to another place."""
    looks: dict[str, Any] = {"ha": ha, "fontsize": 8}
    if arrow is None:
        ax.text(*at, text, **looks)
    else:
        ax.annotate(text, arrow, at, arrowprops={"arrowstyle": "->", "linewidth": 0.7}, **looks)


@panels.figure
def hinfinity(results: panels.Results[Any]) -> "Figure":
    """Exact worst ratio over T; the silent adversary; the best of gradient ascent for p > 2."""
    name, table, settings = results.artifact, results.table, results.settings_of
    own = settings[name]
    titles = ["all targets and noise (exact)", "silent adversary", "gradient ascent, p > 2"]
    figure, axes = panels.grid_of_panels(
        [""], titles, x_label="", y_label="ratio", height=2.5, share_y="none"
    )
    exact = panels.select(table, name, setting="worst u and noise")
    looks = _step_looks(own["steps"])
    for method, line in looks.items():
        _plain_curve(axes[0, 0], exact[exact["method"] == method], line)
    axes[0, 0].set(xlabel="rows T", ylim=(0, None))
    axes[0, 0].legend(loc="lower left", fontsize=7.5, handlelength=2.6)
    silent = panels.select(table, name, setting="silent adversary")
    for method, line in _power_looks(silent["method"].unique()).items():
        _plain_curve(axes[0, 1], silent[silent["method"] == method], line)
    axes[0, 1].set(xlabel="rows T")
    axes[0, 1].legend(loc="lower right", fontsize=7.5, handlelength=2.6)
    ascent = panels.select(table, name, setting="ascent")
    filters = panels.methods_in(ascent)
    for place, (method, line) in enumerate(_power_looks(filters).items()):
        values = ascent.loc[ascent["method"] == method, "value"].to_numpy()
        spread = np.linspace(-0.18, 0.18, len(values))
        axes[0, 2].plot(
            place + spread,
            values,
            linestyle="none",
            marker=line["marker"],
            color=line["color"],
            markersize=4.2,
        )
    axes[0, 2].set(xlabel=f"best of {own['starts']} starts, T = {own['ascent_rounds']}", ylim=(0, 1.08))
    axes[0, 2].set_xticks(range(len(filters)), [style.label(each) for each in filters])
    axes[0, 2].set_xlim(-0.5, len(filters) - 0.5)
    for ax in axes[0]:
        ax.axhline(1, color="black", linewidth=0.9, linestyle=style.DASHES["dash"], zorder=1.2)
    for ax in axes[0, :2]:
        ax.set_xscale("log")
    axes[0, 1].set_ylim(0, 1.08)
    axes[0, 0].set_xticks(own["rounds"], [str(t) for t in own["rounds"]])
    axes[0, 0].minorticks_off()
    return figure


def _step_looks(steps: list[float]) -> dict[str, dict[str, Any]]:
    base = style.line("lms")
    marks = iter(("^", "v", "D"))
    looks = {}
    for s in steps:
        if s == 1:
            looks["lms"] = base | {"label": "LMS, η = 1/X²"}
        else:
            colour = style.COLOURS["violet" if s > 1 else "sky"]
            dash = style.DASHES["dash" if s > 1 else "short"]
            looks[f"lms x {s:g}"] = base | {
                "label": f"LMS, η = {s:g}/X²", "color": colour, "linestyle": dash, "marker": next(marks),
            }  # fmt: skip
    return looks | {"rls": style.line("rls") | {"label": "RLS"}}


def _power_looks(filters: Any) -> dict[str, dict[str, Any]]:
    shades, dashes, marks = (
        ("orange", "vermillion", "wine", "indigo"),
        ("dash", "solid", "short", "dot"),
        "^oDv",
    )
    others = [m for m in filters if m != "lms"]
    looks = {
        m: style.line("pnorm_lms")
        | {
            "label": m.replace("=", " = "),
            "color": style.COLOURS[c],
            "linestyle": style.DASHES[d],
            "marker": k,
        }
        for m, c, d, k in zip(others, shades, dashes, marks, strict=False)
    }
    return ({"lms": style.line("lms") | {"label": "LMS (p = 2)"}} if "lms" in filters else {}) | looks


def _plain_curve(ax: "Axes", rows: "pd.DataFrame", line: dict[str, Any]) -> None:
    """Mean over x with its interval, in a look that no method has by its label."""
    means = panels.mean_interval(rows, ["x"]).sort_index()
    x, mean, half = means.index.to_numpy(), means["mean"].to_numpy(), means["half_width"].to_numpy()
    ax.plot(x, mean, **line)
    ax.fill_between(x, mean - half, mean + half, color=line["color"], alpha=0.18, linewidth=0)


@panels.figure
def moving_targets(results: panels.Results[Any]) -> "Figure":
    """Tracking error for jump and drift; loss less noise against the price of the path."""
    name, table = results.artifact, results.table
    titles = ["jump: tracking error", "drift: tracking error", "1 to 16 jumps: (loss − noise) / 1000"]
    figure, axes = panels.grid_of_panels(
        [""], titles, x_label="round t", y_label="", height=2.5, share_y="none"
    )
    tracking = panels.select(table, name, metric="tracking_error")
    for ax, scenario in zip(axes[0], ("jumps 1", "drift"), strict=False):
        for setting, looks in (("U=1 eta=0.2", THIN), ("U=1 eta=1", {})):
            rows = panels.select(tracking, name, noise=scenario, setting=setting)
            panels.learning_curves(ax, rows, **looks)
        panels.log_axis(ax.yaxis)
    ax = axes[0, 2]
    own = table[(table["setting"] == "U=1 eta=1") & table["noise"].str.startswith("jumps")]
    for method in panels.methods_in(own):
        rows = own[own["method"] == method]
        means = {
            m: panels.mean_interval(rows[rows["metric"] == m], ["noise"])
            for m in ("path_price", "excess_loss")
        }
        order = means["path_price"]["mean"].sort_values().index
        x = means["path_price"]["mean"][order].to_numpy() / 1000
        excess = means["excess_loss"].loc[order] / 1000
        panels.curve(ax, x, excess["mean"], excess["half_width"], method)
    limit = ax.get_xlim()[1]
    ax.plot([0, limit], [0, limit], color="black", linewidth=0.9, linestyle=style.DASHES["dash"])
    _note(ax, "slope of the bound", (limit * 0.52, limit * 0.56), ha="right")
    ax.set(xlabel="the bound's term for the path / 1000")
    for panel in axes[0, :2]:
        panel.ticklabel_format(axis="x", useOffset=False)
        panel.tick_params(axis="x", labelrotation=0)
        panel.locator_params(axis="x", nbins=4)
    fifth = panels.plain_handle("a fifth of the theorem's step", linewidth=0.8)
    panels.shared_legend(figure, [*entries(panels.methods_in(tracking)), fifth])
    return figure
