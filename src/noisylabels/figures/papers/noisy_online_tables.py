"""Tables of learning from noisy instances."""

from typing import TYPE_CHECKING

from noisylabels.figures import panels
from noisylabels.figures.tables import mean_se
from noisylabels.statistics import mean_se as estimate

if TYPE_CHECKING:
    import pandas as pd

    from noisylabels.figures.panels import Settings, Tables


def identities(results: "Tables", settings: "Settings") -> "pd.DataFrame":
    """Quantity, predicted, measured, z, and the share of its bound where there is one."""
    import pandas as pd

    (_, table), *_ = results.items()
    rows = []
    for (group, name), values in table.groupby(["setting", "method"], sort=False):
        by_metric = values.set_index("metric")["value"]
        share = by_metric.get("bound_ratio")
        rows.append(
            {
                "group": group,
                "quantity": name,
                "predicted": f"{by_metric['predicted']:.5g}",
                "measured": f"{by_metric['measured']:.5g}",
                "z": f"{by_metric['z']:.2f}",
                "predicted / bound": "" if share is None else f"{share:.3f}",
            }
        )
    frame = pd.DataFrame(rows).set_index(["group"])
    largest = table.loc[table["metric"] == "z", "value"].abs().max()
    frame.attrs["note"] = f"Largest |z| of {len(rows)}: {largest:.2f}."
    return frame


def noisy_scoring(results: "Tables", settings: "Settings") -> "pd.DataFrame":
    """Mean loss per round, scored on noisy and on clean inputs, for every variance."""
    import pandas as pd

    (name, table), *_ = results.items()
    losses = table[table["metric"] == "mean_loss"]
    methods = {"target": "w* itself", "best_fixed": "best fixed vector", "two_copy": "Algorithm 1"}
    rows = []
    for v in settings[name]["variances"]:
        at = losses[losses["x"] == v]
        floor = at.loc[at["method"] == "floor", "value"].iloc[0]
        for method, title in methods.items():
            cells = {"variance": f"{v:g}", "floor": f"{floor:.4f}", "predictor": title}
            for setting in ("noisy", "clean"):
                values = panels.select(at, name, method=method, setting=setting)["value"]
                mean, se, _ = estimate(values)
                cells[f"scored on {setting} inputs"] = mean_se(mean, se)
            rows.append(cells)
    return pd.DataFrame(rows).set_index(["variance", "floor"])


def vacuous_bounds(results: "Tables", settings: "Settings") -> "pd.DataFrame":
    """log10 of the rounds from which the bound is below one per round; a column for each sharpness."""
    import pandas as pd

    (name, table), *_ = results.items()
    own = settings[name]
    rows = []
    for loss in own["losses"]:
        title = loss.replace("_", " ")
        gaps = table[(table["metric"] == "gap") & table["method"].str.startswith(loss)]
        by_s = gaps.groupby("x")["value"].first()
        rows.append(
            {"loss": title, "kernel": "largest difference from the true loss", "B": "", "p": ""}
            | {f"s = {s:g}": f"{by_s[s]:.3f}" for s in own["sharpness"]}
        )
        for kernel in own["kernels"]:
            for B_w in own["balls"]:
                for p in own["powers"]:
                    where = {"setting": kernel, "noise": f"B = {B_w:g}", "method": f"{loss} p = {p:g}"}
                    values = panels.select(table, name, metric="log10_rounds", **where)
                    found = values.set_index("x")["value"]
                    cells = {f"s = {s:g}": f"{found[s]:.1f}" for s in own["sharpness"]}
                    rows.append({"loss": title, "kernel": kernel, "B": f"{B_w:g}", "p": f"{p:g}"} | cells)
    return pd.DataFrame(rows).set_index(["loss", "kernel"])
