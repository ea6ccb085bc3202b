"""Tables of learning from noisy instances."""

from typing import TYPE_CHECKING, Any

from noisylabels.statistics import mean_se as estimate
from reproduction.figures import panels
from reproduction.figures.noisy_online_analytic import title
from reproduction.figures.tables import mean_se

if TYPE_CHECKING:
    import pandas as pd


@panels.table
def identities(results: panels.Results[Any]) -> "pd.DataFrame":
    """Quantity, predicted, measured, z, and the share of its bound where there is one."""
    import pandas as pd

    table = results.table
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


@panels.table
def noisy_scoring(results: panels.Results[Any]) -> "pd.DataFrame":
    """Mean loss per round, scored on noisy and on clean inputs, for every variance."""
    import pandas as pd

    name, table, settings = results.artifact, results.table, results.settings_of
    losses = table[table["metric"] == "mean_loss"]
    methods = {"target": "w* itself", "best_fixed": "best fixed vector", "two_copy": "Algorithm 1"}
    rows = []
    for v in settings[name]["variances"]:
        at = losses[losses["x"] == v]
        floor = at.loc[at["method"] == "floor", "value"].iloc[0]
        for method, predictor in methods.items():
            cells = {"variance": f"{v:g}", "floor": f"{floor:.4f}", "predictor": predictor}
            for setting in ("noisy", "clean"):
                values = panels.select(at, name, method=method, setting=setting)["value"]
                mean, se, _ = estimate(values)
                cells[f"scored on {setting} inputs"] = mean_se(mean, se)
            rows.append(cells)
    frame = pd.DataFrame(rows).set_index(["variance", "floor"])
    frame.attrs["note"] = (
        "Mean squared loss per round, mean ± standard error over the repetitions. "
        "floor: what nobody who sees noisy inputs of this variance can fall below."
    )
    return frame


@panels.table
def vacuous_bounds(results: panels.Results[Any]) -> "pd.DataFrame":
    """log10 of the rounds from which the bound is below one per round; a column for each sharpness."""
    import pandas as pd

    name, table, settings = results.artifact, results.table, results.settings_of
    own = settings[name]
    rows = []
    for loss in own["losses"]:
        loss_name = loss.replace("_", " ")
        gaps = table[(table["metric"] == "gap") & table["method"].str.startswith(loss)]
        by_s = gaps.groupby("x")["value"].first()
        rows.append(
            {"loss": loss_name, "kernel": "largest difference from the true loss", "B": "", "p": ""}
            | {f"s = {s:g}": f"{by_s[s]:.3f}" for s in own["sharpness"]}
        )
        for kernel in own["kernels"]:
            for B_w in own["balls"]:
                for p in own["powers"]:
                    where = {"setting": kernel, "noise": f"B = {B_w:g}", "method": f"{loss} p = {p:g}"}
                    values = panels.select(table, name, metric="log10_rounds", **where)
                    found = values.set_index("x")["value"]
                    cells = {f"s = {s:g}": f"{found[s]:.1f}" for s in own["sharpness"]}
                    rows.append({"loss": loss_name, "kernel": kernel, "B": f"{B_w:g}", "p": f"{p:g}"} | cells)
    frame = pd.DataFrame(rows).set_index(["loss", "kernel"])
    frame.attrs["note"] = (
        "log10 of the rounds from which the regret bound is below one per round (10: ten thousand million); "
        "B: radius of the ball, p: parameter of the number of copies, s: sharpness of the loss."
    )
    return frame


@panels.table
def losses_summary(results: panels.Results[Any]) -> "pd.DataFrame":
    """Algorithm 4, a row for each kernel and loss: moments, regret, bound, exponents of the longest run."""
    import pandas as pd

    table = results.tables["losses_and_kernels"]
    own = results.settings_of["losses_and_kernels"]
    largest = f"m = {max(own['factors']):g}"
    rows = []
    for task, spec in own["tasks"].items():
        at = panels.select(table, "losses_and_kernels", noise=task)
        facts = at[at["repetition"] == 0].groupby("metric")["value"].first()
        step = panels.select(at, "losses_and_kernels", setting=largest)
        T = step["x"].max()
        last = step[(step["x"] == T) & (step["metric"] == "regret")]
        regret = {method: last.loc[last["method"] == method, "value"] for method in ("analytic", "plug_in")}
        bound = step.loc[(step["x"] == T) & (step["metric"] == "bound"), "value"].iloc[0]
        exponents = step[step["metric"] == "exponent"].groupby("method")["value"].mean()
        rows.append(
            {
                "row": title(task, spec),
                "log10 ν, theorem": f"{facts['log10_nu_loose']:.2f}",
                "log10 ν, exact": f"{facts['log10_nu']:.2f}",
                "T": f"{T:.3g}",
                "regret": _mean_se(regret["analytic"]),
                "bound": f"{bound:.3g}",
                "naive regret": _mean_se(regret["plug_in"]),
                "exponent": _shown(exponents.get("analytic")),
                "naive exponent": _shown(exponents.get("plug_in")),
            }
        )
    frame = pd.DataFrame(rows)
    frame.attrs["note"] = f"Step: {max(own['factors']):g} times the theorem's. Mean and standard error."
    return frame


def _shown(exponent: float | None) -> str:
    return "" if exponent is None else f"{exponent:.2f}"


def _mean_se(values: "pd.Series") -> str:
    """Mean and standard error, large numbers as whole ones."""
    mean, se, _ = estimate(values)
    return f"{mean:.0f} ± {se:.0f}" if se > 2 else mean_se(mean, se)
