"""Images found by a web search (Kaban and Bootkrajang, LABELNOISE 2017)."""

from typing import TYPE_CHECKING, Any

from reproduction.figures import panels, style, tables

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D


@panels.table
def errors(results: panels.Results[Any]) -> "pd.DataFrame":
    """Test error per method beside the printed one, and how many of its first images are bikes."""
    import pandas as pd

    artifact, table, settings = results.artifact, results.table, results.settings_of
    own = settings[artifact]
    where = {"metric": "error", "method": list(own["methods"])}
    values = panels.select(table, artifact, **where).set_index(["method", "repetition"])["value"]
    best = tables.lowest(values.groupby("method").mean())
    rows = []
    for method in own["methods"]:
        spread = values[method].std()
        text = f"{values[method].mean():.2f}" + (f" ± {spread:.2f}" if spread == spread else "")
        found = panels.select(table, artifact, metric="positive", method=method)["value"].mean()
        row = {"method": method, "error / %": f"**{text}**" if method in best else text}
        row["printed"] = tables.printed(own["published"], method=method)
        rows.append(row | {f"bikes among the first {own['ranks']}": f"{own['ranks'] * found:.1f}"})
    frame = pd.DataFrame(rows)
    noise = panels.select(table, artifact, metric="noise_share")["value"].mean()
    splits = values.index.unique("repetition").size
    over = f"mean ± standard deviation over {splits} random splits" if splits > 1 else "of one random split"
    frame.attrs["note"] = (
        f"Test error in %, {over}; the lowest {'mean' if splits > 1 else 'error'} is bold. "
        f"{noise:.1f} % of the training labels are wrong."
    )
    return frame


@panels.figure
def ranked(results: panels.Results[Any]) -> "Figure":
    """The first images of every ranking as squares, a row per split, dark where it is a bike."""
    from matplotlib.colors import ListedColormap

    artifact, table, settings = results.artifact, results.table, results.settings_of
    own = settings[artifact]
    methods = list(own["methods"])
    figure, axes = panels.grid_of_panels([""], methods, x_label="rank", y_label="splits", height=2.4)
    colours = ListedColormap([style.COLOURS["silver"], style.COLOURS["indigo"]])
    for ax, method in zip(axes[0], methods, strict=True):
        rows = panels.select(table, artifact, metric="positive", method=method)
        squares = rows.pivot_table(index="repetition", columns="x", values="value").to_numpy()
        edges = {"edgecolors": "white", "linewidth": 0.6}
        ax.pcolormesh(squares, cmap=colours, vmin=0, vmax=1, **edges)
        ax.set_title(f"{style.label(method)}: {100 * squares.mean():.0f} % bikes")
        ax.grid(visible=False)
        ax.set_xlim(0, squares.shape[1])
        ax.set_ylim(len(squares), 0)
        ticks = [rank for rank in (1, 10, 20, 30, 40, 50) if rank <= squares.shape[1]]
        ax.set_xticks([rank - 0.5 for rank in ticks], [str(rank) for rank in ticks])
        ax.set_yticks([])
    panels.shared_legend(figure, [_square(colours(1), "bike"), _square(colours(0), "something else")])
    return figure


def _square(colour: object, label: str) -> "Line2D":
    return panels.plain_handle(label, color=colour, marker="s", linestyle="none", markersize=7)
