"""Labels by several annotators (Kaban and Bootkrajang, LABELNOISE 2017)."""

from typing import TYPE_CHECKING, Any

from reproduction.figures import panels, style

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@panels.figure
def accuracy(results: panels.Results[Any]) -> "Figure":
    """Accuracy of labels and of predictions for new items against the number of annotators."""
    artifact, table, settings = results.artifact, results.table, results.settings_of
    own = settings[artifact]
    titles = ["labels of the training items", "predictions for new items"]
    figure, axes = panels.grid_of_panels(
        [""], titles, x_label="annotators per item", y_label=["accuracy", ""], height=2.5, share_y="none"
    )
    rows = panels.select(table, artifact, metric="accuracy")
    labelled = panels.select(rows, artifact, setting="labelled items")
    vote = labelled["method"] == "majority vote"
    panels.learning_curves(axes[0, 0], labelled[~vote])
    panels.learning_curves(axes[0, 0], labelled[vote], zorder=4)  # rMKLR, often equal, would hide it
    panels.learning_curves(axes[0, 1], panels.select(rows, artifact, setting="new items"))
    gold = panels.select(rows, artifact, setting="new items and gold labels")
    for method in own["methods"]:
        mean = gold.loc[gold["method"] == method, "value"].mean()
        axes[0, 1].axhline(mean, color=style.colour(method), linestyle=style.DASHES["dash"], linewidth=1)
    for ax in axes[0]:
        ax.set_xticks(own["annotators"])
    reference = panels.plain_handle("trained on gold labels", linestyle=style.DASHES["dash"], linewidth=1)
    panels.shared_legend(figure, [*panels.handles(labelled["method"].unique()), reference])
    return figure
