"""Figures of the linear learners on noisy instances: from regret to risk, and averaged copies."""

from typing import TYPE_CHECKING, Any

from reproduction.figures import noisy_online as shared
from reproduction.figures import panels, style

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


GREY = style.COLOURS["grey"]
HORIZONS = (("pink", "^"), ("wine", "D"), ("black", "o"))
SHADES = ("silver", "sky", "teal", "green", "blue", "indigo")


@panels.figure
def online_to_batch(results: panels.Results[Any]) -> "Figure":
    """Excess risk of the mean weights against T, with bound / T and the limit of the naive learner."""
    name, table, settings = results.artifact, results.table, results.settings_of
    methods = list(settings[name]["learners"])
    figure, axes = panels.grid_of_panels(
        [""], [""], x_label="rounds T", y_label="excess risk of the mean weights", height=3.0, width=4.8
    )
    ax = axes[0, 0]
    bounds = table[table["metric"] == "bound"]
    scaled = bounds.assign(value=bounds["value"] / bounds["x"])
    shared.curves(ax, scaled, "bound", methods, **shared.THIN)
    shared.curves(ax, table, "excess_risk", methods)
    limit = table.loc[table["metric"] == "regret_per_round_predicted", "value"].mean()
    ax.axhline(limit, color=GREY, linewidth=0.8, linestyle=style.DASHES["dash"], zorder=1.1)
    shared.decades(ax.yaxis)
    shared.decades(ax.xaxis)
    panels.shared_legend(figure, shared.entries(methods))
    return figure


@panels.figure
def averaging(results: panels.Results[Any]) -> "Figure":
    """Regret per round against the number of averaged copies, and against T."""
    name, table, settings = results.artifact, results.table, results.settings_of
    horizons = settings[name]["horizons"]
    figure, axes = panels.grid_of_panels(
        [""], ["against the copies averaged", "against the rounds"], x_label="",
        y_label="regret per round", height=3.0, width=8.8, share_y="row",
    )  # fmt: skip
    left, right = axes[0]
    rows = table[table["metric"] == "regret_per_round"]
    shown = sorted({horizons[0], horizons[len(horizons) // 2], horizons[-1]})
    for T, (colour, marker) in zip(shown, HORIZONS, strict=False):
        _against_copies(left, rows[rows["x"] == T], f"T = {T}", colour, marker)
    panels.log_axis(left.yaxis)
    means = [method for method in rows["method"].unique() if method.startswith("mean of")]
    for method, colour, marker in zip(means, SHADES, "sPXD^v", strict=False):
        looks: dict[str, Any] = {
            "color": style.COLOURS[colour], "marker": marker, "linestyle": "-", "markersize": 5,
            "label": method.replace("mean of", "naive, mean of"),
        }  # fmt: skip
        shared.curves(right, rows[rows["method"] == method], "regret_per_round", [method], **looks)
    shared.curves(right, rows, "regret_per_round", ["two_copy"])
    shared.decades(right.xaxis)
    left.set(xlabel="copies averaged m")
    right.set(xlabel="rounds T")
    entries = [
        panels.plain_handle(f"T = {T}", color=style.COLOURS[colour], marker=marker, markersize=5)
        for T, (colour, marker) in zip(shown, HORIZONS, strict=False)
    ]
    entries.append(panels.plain_handle("left, level lines: Algorithm 1", linewidth=1.3))
    entries += [
        panels.plain_handle(method.replace("mean of", "naive, mean of"), color=style.COLOURS[colour],
                            marker=marker, markersize=5)
        for method, colour, marker in zip(means, SHADES, "sPXD^v", strict=False)
    ]  # fmt: skip
    panels.shared_legend(figure, [*entries, *shared.entries(["two_copy"], bound=False)])
    return figure


def _against_copies(ax: "Axes", rows: "pd.DataFrame", label: str, colour: str, marker: str) -> None:
    """One horizon: dots of the means of m copies, a line for Algorithm 1."""
    means = panels.mean_interval(rows, ["method"])
    naive = means[means.index.str.startswith("mean of")]
    m = [int(method.split()[-1]) for method in naive.index]
    looks: dict[str, Any] = {"color": style.COLOURS[colour], "marker": marker, "markersize": 5}
    ax.errorbar(m, naive["mean"], naive["half_width"], capsize=2, linewidth=1.0, label=label, **looks)
    ax.axhline(means["mean"]["two_copy"], color=style.COLOURS[colour], linewidth=1.3, zorder=1.3,
               label="_")  # fmt: skip
    ax.set_xscale("log", base=2)
    ax.set_xticks(m, [str(each) for each in m])
    ax.minorticks_off()
