"""Figure of Algorithm 4: regret for many pairs of kernel and loss."""

from typing import TYPE_CHECKING, Any

from reproduction.figures import noisy_online as shared
from reproduction.figures import panels

if TYPE_CHECKING:
    from matplotlib.figure import Figure


METHODS = ["analytic", "plug_in"]
COLUMNS = 4


def title(name: str, task: dict[str, Any]) -> str:
    """Row, kernel and loss of a task."""
    kernel = task["kernel"]
    if isinstance(kernel, dict):
        kernel = "(1 + a)²/4" if "polynomial" in kernel else "Gaussian"
    loss = task["loss"].replace("smoothed_absolute", "smooth abs.").replace("smoothed_h", "smooth h")
    return f"{name}: {kernel}, {loss}" + (f" s = {task['s']:g}" if "s" in task else "")


@panels.figure
def losses_and_kernels(results: panels.Results[Any]) -> "Figure":
    """A panel for each task: regret with the larger step (thick) and the theorem's (thin), bound dotted."""
    name, table, settings = results.artifact, results.table, results.settings_of
    own = settings[name]
    tasks = list(own["tasks"])
    lines = -(-len(tasks) // COLUMNS)
    figure, axes = panels.grid_of_panels(
        [""] * lines, [""] * COLUMNS, x_label="", y_label="regret", height=1.75, width=11.0,
        share_y="none", between=0.62, left=0.8,
    )  # fmt: skip
    small, large = (f"m = {factor:g}" for factor in (min(own["factors"]), max(own["factors"])))
    for ax, task in zip(axes.flat, tasks, strict=False):
        rows = panels.select(table, name, noise=task)
        thin = {"linewidth": 0.8, "marker": "", "alpha": 0.8}
        shared.curves(ax, rows[rows["setting"] == small], "regret", METHODS, **thin)
        shared.regret_panel(ax, rows[rows["setting"] == large], METHODS)
        ax.set_title(title(task, own["tasks"][task]), fontsize=8.5)
        ax.tick_params(labelbottom=True)
    panels.add_room(figure, above=0.22)  # for the titles of the first row
    for ax in axes.flat[len(tasks) :]:
        ax.set_visible(False)
    for ax in axes.flat[max(0, len(tasks) - COLUMNS) : len(tasks)]:
        ax.set_xlabel("rounds T")
    thin_entry = panels.plain_handle("the theorem's step", linewidth=0.8)
    panels.shared_legend(figure, [*shared.entries(METHODS), thin_entry])
    return figure
