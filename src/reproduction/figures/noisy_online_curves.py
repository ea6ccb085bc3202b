"""Figures 1 and 2 of the paper on learning from noisy instances: curves of kernels and losses."""

from typing import TYPE_CHECKING, Any

from reproduction.figures import panels, style

if TYPE_CHECKING:
    from matplotlib.figure import Figure


SHADES = {"s = 1": ("vermillion", 1.8), "s = 2": ("orange", 0.9), "s = 4": ("olive", 0.9)}


@panels.figure
def kernels(results: panels.Results[Any]) -> "Figure":
    """Figure 1: the kernel (solid) and its truncation (dashed) against the distance, a panel for each c."""
    name, table, settings = results.artifact, results.table, results.settings_of
    cuts = [f"c = {c:g}" for c in settings[name]["truncations"]]
    figure, axes = panels.grid_of_panels(
        [""], cuts, x_label="distance ||x − x′||", y_label="kernel", height=2.5
    )
    looks: dict[str, dict[str, Any]] = {
        "k": {"color": style.COLOURS["black"], "linestyle": "-", "label": "k = 1 / (1 + ||x − x′||²)"},
        "k_c": {
            "color": style.COLOURS["vermillion"], "linestyle": style.DASHES["dash"], "label": "k cut at c",
        },
    }  # fmt: skip
    for ax, cut in zip(axes[0], cuts, strict=True):
        for method, look in looks.items():
            rows = panels.select(table, name, setting=cut, metric="kernel", method=method).sort_values("x")
            ax.plot(rows["x"], rows["value"], linewidth=1.6, **look)
    panels.shared_legend(figure, [panels.plain_handle(**look) for look in looks.values()])
    return figure


@panels.figure
def losses(results: panels.Results[Any]) -> "Figure":
    """Figure 2: absolute loss (left) and hinge loss (right) with their smoothings."""
    name, table = results.artifact, results.table
    titles = ["absolute loss", "hinge loss"]
    figure, axes = panels.grid_of_panels([""], titles, x_label="", y_label="loss", height=2.6, share_y="none")
    exact = {"color": style.COLOURS["black"], "linestyle": style.DASHES["dash"], "linewidth": 1.2}
    names = list(dict.fromkeys(panels.select(table, name, metric="loss")["method"]))
    for ax, setting, x in zip(axes[0], ("absolute", "hinge"), ("a − y", "y a"), strict=True):
        for method in names:
            rows = panels.select(table, name, setting=setting, metric="loss", method=method).sort_values("x")
            ax.plot(rows["x"], rows["value"], **(exact if method == "exact" else _look(method)))
        ax.set(xlabel=x, ylim=(0, None))
    entries = [
        panels.plain_handle("not smoothed" if m == "exact" else f"smoothed, {m}",
                            **(exact if m == "exact" else _look(m)))
        for m in names
    ]  # fmt: skip
    panels.shared_legend(figure, entries)
    return figure


def _look(method: str) -> dict[str, Any]:
    colour, width = SHADES.get(method, ("grey", 0.9))
    return {"color": style.COLOURS[colour], "linewidth": width}
