"""The figures of `long_servedio` and `regularisation`."""

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from reproduction.show import names, panels, style


@panels.figure
def errors(results: panels.Results[Any]) -> Figure:
    """Draw the true error against the margin of Long and Servedio's points, by rate of flips."""
    return _curves(results, "error", "margin γ", "true error / %")[0]


@panels.figure
def angles(results: panels.Results[Any]) -> Figure:
    """Draw the mean of 1 - cos over all data sets against the ridge, a panel for each flip rate."""
    figure, axes = _curves(results, "turned", "ridge, in thresholds", "1 − cos to unhinged")
    for ax in axes.flat:
        panels.log_axis(ax.yaxis, low=1e-9)
    return figure


def _curves(
    results: panels.Results[Any],
    metric: str,
    x_label: str,
    y_label: str,
) -> tuple[Figure, Any]:
    """Draw means against x on a logarithmic axis."""
    rates = [str(noise) for noise in results.settings.noise]
    titles = [names.noise(rate) for rate in rates]
    figure, axes = panels.grid_of_panels([""], titles, x_label=x_label, y_label=y_label)
    for ax, noise in zip(axes.flat, rates, strict=True):
        rows = results.select(noise=noise, metric=metric)
        means = rows.groupby(["method", "x"], sort=False)["value"].mean()
        wide = means.unstack("method")[list(means.index.unique("method"))]
        for number, method in enumerate(wide.columns.astype(str)):
            # A curve is drawn thicker by the number of equal curves on top of it.
            is_equal = np.isclose(wide.iloc[:, number + 1 :], wide[[method]], atol=1e-9)
            n_equal = is_equal.all(axis=0).sum()
            looks = {"linewidth": 1.5 + 2 * n_equal, "markersize": 5 + 2.5 * n_equal}
            panels.curve(ax, wide.index, wide[method], 0 * wide[method], method, **looks)
        panels.log_axis(ax.xaxis)
    panels.shared_legend(figure, _grouped_handles(results.select(metric=metric)))
    return figure, axes


def _grouped_handles(rows: pd.DataFrame) -> list[Any]:
    """Make legend entries; methods with equal curves share the entry of the first one."""
    means = rows.groupby(["method", "noise", "x"], sort=False)["value"].mean().unstack("method")
    groups: list[list[str]] = []
    for method in panels.methods_in(rows):
        is_close = np.isclose(means.to_numpy(), means[[method]].to_numpy(), atol=1e-9)
        is_equal = np.all(is_close, axis=0)
        equal = [group for group in groups if is_equal[means.columns.get_loc(group[0])]]
        if equal:
            equal[0].append(method)
        else:
            groups.append([method])
    entries = []
    for group in groups:
        (entry,) = panels.handles(group[:1])
        entry.set_label(" = ".join(map(style.label, group)))
        entries.append(entry)
    return entries
