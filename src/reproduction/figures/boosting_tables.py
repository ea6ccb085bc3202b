"""Tables of boosting (Kaban and Bootkrajang, LABELNOISE 2017), ours above the printed."""

from typing import TYPE_CHECKING, Any

from reproduction.figures import names, panels, tables
from reproduction.figures.names import KINDS, data_set

if TYPE_CHECKING:
    import pandas as pd


ALL = "all: means"


@panels.table
def symmetric(results: panels.Results[Any]) -> "pd.DataFrame":
    """Errors with symmetric flips."""
    return _errors(results, "symmetric")


@panels.table
def asymmetric(results: panels.Results[Any]) -> "pd.DataFrame":
    """Errors with flips of one class."""
    return _errors(results, "asymmetric")


@panels.table
def half(results: panels.Results[Any]) -> "pd.DataFrame":
    """Errors of the first artifact with symmetric flips, beside those printed for the second one."""
    return _errors(results, "symmetric")


def _errors(results: panels.Results[Any], kind: str) -> "pd.DataFrame":
    """A section per data set with the rows ours and printed, a column per method; last the means.

    ``kind``: symmetric or asymmetric flips, one noise label of each artifact. The printed values are those
    of the last artifact, the only one in a table without `uses`. The row of means has the mean of the means
    and the mean of the standard deviations, as on the slides.
    """
    import pandas as pd

    artifact, table, settings = results.artifact, results.table, results.settings_of
    own, reference = settings[artifact], settings[list(results.tables)[-1]]
    methods, sets = list(own["methods"]), own["datasets"]
    noise, printed_noise = (
        next(label for label in each["noise"] if KINDS[label.split()[0]] == kind) for each in (own, reference)
    )
    where = {"dataset": sets, "noise": noise, "metric": "error", "method": methods}
    values = panels.select(table, artifact, **where).groupby(["dataset", "method"])["value"]
    mean, spread = values.mean().unstack(), values.std().unstack()
    mean.loc[ALL], spread.loc[ALL] = mean.loc[sets].mean(), spread.loc[sets].mean()
    rows = []
    for name in [*sets, ALL]:
        best = tables.lowest(mean.loc[name, methods])
        ours = {m: _cell(mean.loc[name, m], spread.loc[name, m], m in best) for m in methods}
        place = {"dataset": sets if name == ALL else name, "noise": printed_noise}
        printed = {m: tables.printed(reference["published"], method=m, **place) for m in methods}
        title = {"data set": data_set(name)}
        rows += [title | {"error": "ours"} | ours, title | {"error": "printed"} | printed]
    frame = pd.DataFrame(rows).set_index("data set")
    notes = [_splits(table, sets), _rates(table, noise, methods), _not_genuine(table)]
    frame.attrs["note"] = " ".join(filter(None, notes))
    return frame


def _cell(mean: float, spread: float, best: bool) -> str:
    text = f"{mean:.2f}" + (f" ± {spread:.2f}" if spread == spread else "")
    return f"**{text}**" if best else text


def _splits(table: "pd.DataFrame", sets: list[str]) -> str:
    counts = table[table["metric"] == "error"].groupby("dataset")["repetition"].nunique()[sets]
    most = int(counts.max())
    fewer = [f"{data_set(str(name))} {n}" for name, n in counts.items() if n < most]
    over = f"{most} splits" + (f" ({', '.join(fewer)})" if fewer else "")
    return f"Test error in %, mean ± standard deviation over {over}; the lowest mean is bold."


def _not_genuine(table: "pd.DataFrame") -> str:
    kinds = table.drop_duplicates("dataset").set_index("dataset")["source"]
    names = [f"{data_set(str(name))} ({kind})" for name, kind in kinds.items() if kind != "genuine"]
    return f"Not the genuine IDA files: {', '.join(names)}." if names else ""


def _rates(table: "pd.DataFrame", noise: str, methods: list[str]) -> str:
    """The flip rates that were learned, means over everything."""
    rows: Any = table[(table["noise"] == noise) & table["metric"].isin(["gamma01", "gamma10"])]
    if rows.empty:
        return ""
    means = rows.groupby(["method", "metric"])["value"].mean()
    found = [
        f"{names.method(m)} {means[m, 'gamma01']:.2f} and {means[m, 'gamma10']:.2f}"
        for m in methods
        if (m, "gamma01") in means
    ]
    return f"Learned flip rates (0 to 1 and 1 to 0, means over the sets): {', '.join(found)}."
