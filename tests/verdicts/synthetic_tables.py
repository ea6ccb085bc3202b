"""Result tables with known truth, for the tests of the verdicts."""

import numpy as np
import pandas as pd

from reproduction.results import COLUMNS

DEFAULTS = {"dataset": "synthetic", "source": "synthetic", "noise": "", "setting": "", "x": np.nan}


def curve(values, **labels):
    """One row per repetition."""
    return [
        DEFAULTS | {"method": "ours", "metric": "error"} | labels | {"repetition": r, "value": float(v)}
        for r, v in enumerate(values)
    ]


def table(*curves):
    """The tidy table of several curves."""
    return pd.DataFrame([row for rows in curves for row in rows], columns=COLUMNS)


def noisy_mean(rng, mean, n=20, relative=0.02):
    """n values around a mean."""
    return mean * (1 + relative * rng.standard_normal(n))


FIG2 = {  # cumulative error at the last round with shared r and with r per variant, and the last window
    "clean": (0.024, 0.024, 0.0135, 0.0135),
    "noisy": (0.925, 0.158, 0.910, 0.087),
    "beta": (0.116, 0.122, 0.054, 0.039),
    "opt": (0.028, 0.027, 0.0134, 0.0148),
    "one": (0.620, 0.146, 0.606, 0.064),
    "one_pred": (0.373, 0.131, 0.357, 0.068),
    "two": (0.321, 0.103, 0.308, 0.056),
    "one_pred_u": (0.411, 0.158, 0.392, 0.075),
    "two_u": (0.379, 0.118, 0.365, 0.045),
}


def fig2(rng):
    rows = []
    for method, (shared, own, window, own_window) in FIG2.items():
        for setting, final, last in (("shared_r", shared, window), ("per_variant", own, own_window)):
            for x in (100, 50000):
                for metric, mean in (("mse", final), ("mse_window", last)):
                    values = noisy_mean(rng, mean if x == 50000 else 2 * mean, relative=0.01)
                    rows.append(curve(values, method=method, setting=setting, metric=metric, x=x))
    return table(*rows)


def fig4(rng):
    means = {
        "uniform[0;0.5]": (0.116, 0.049, 0.0124),
        "uniform[0;1]": (0.229, 0.096, 0.016),
        "uniform[0;5]": (1.138, 0.468, 0.0317),
    }
    rows = []
    for noise, values in means.items():
        for method, mean in zip(("noisy", "one_pred_u", "beta"), values, strict=True):
            labels = {"noise": noise, "method": method, "setting": "shared_r", "metric": "mse", "x": 50000}
            rows.append(curve(noisy_mean(rng, mean), **labels))
    return table(*rows)


def fig5(_rng):
    means = {"noisy": 0.237, "one_pred_u": 0.115, "beta": 0.075}
    return table(*(curve([mean], method=m, metric="mse", dataset="speech", x=9) for m, mean in means.items()))


BUDGETS = (1.5, 2.25, 2.5, 2.75, 3.5)


def fig6(rng):
    begin = {"uniform": 1.001, "increasing": 1.08, "decreasing": 0.92}
    rows = []
    for noise, factor in begin.items():
        for setting, level in (("scaling", 1.0), ("no scaling", 1.6)):
            plain = factor if setting == "scaling" or noise != "uniform" else 1.0
            auto = 0.9 if noise != "decreasing" else 0.925
            factors = {"const": 1.0, "begin": plain, "auto": auto, "self_tuned": auto * 1.05}
            for x in BUDGETS:
                shared = noisy_mean(rng, level / x)
                for method, f in factors.items():
                    labels = {"noise": noise, "setting": setting, "method": method, "x": x}
                    rows.append(
                        curve(f * shared * noisy_mean(rng, 1, relative=0.002), metric="mse", **labels)
                    )
                    used = np.full(20, 0.95 * x if method == "self_tuned" else x)
                    rows.append(curve(used, metric="labels_per_round", **labels))
    return table(*rows)


def fig7(_rng):
    labels = {"method": "self_tuned", "metric": "labels_per_round"}
    return table(*(curve([b], x=x, **labels) for x, b in ((100, 1.7), (5000, 1.44), (10000, 1.43))))


ORS = {"fig2": fig2, "fig4": fig4, "fig5": fig5, "fig6": fig6, "fig7": fig7}
