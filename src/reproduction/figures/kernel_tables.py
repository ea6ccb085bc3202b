"""Tables of the kernel classifiers (Kaban and Bootkrajang, LABELNOISE 2017), ours beside the printed."""

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from noisylabels import rank_tests
from reproduction.figures import names, panels, tables
from reproduction.figures.names import KINDS, data_set, flips

if TYPE_CHECKING:
    import pandas as pd


P_VALUES = (
    "p unpaired: rank-sum test over all values, as the slides seem to have used; "
    "p paired: signed-rank test over the splits."
)


@panels.table
def klr_vs_rklr(results: panels.Results[Any]) -> "pd.DataFrame":
    """Errors at 10 and 20 %: pooled over the kinds of noise, then symmetric and asymmetric alone."""
    return _noisy(results, (0.1, 0.2))


@panels.table
def klr_vs_rklr_high(results: panels.Results[Any]) -> "pd.DataFrame":
    """Errors at 30 and 40 %."""
    return _noisy(results, (0.3, 0.4))


@panels.table
def rivals(results: panels.Results[Any]) -> "pd.DataFrame":
    """Errors at 10 %."""
    return _noisy(results, (0.1,))


@panels.table
def rivals_high(results: panels.Results[Any]) -> "pd.DataFrame":
    """Errors at 30 %."""
    return _noisy(results, (0.3,))


@panels.table
def cv_vs_mkl(results: panels.Results[Any]) -> "pd.DataFrame":
    """Errors on clean labels."""
    import pandas as pd

    artifact, table, settings = results.artifact, results.table, results.settings_of
    own = settings[artifact]
    methods = list(own["methods"])
    rows = [_compared(table, artifact, own, name, own["noise"], methods) for name in own["datasets"]]
    frame = pd.DataFrame(rows)
    frame.attrs["note"] = f"{_note(table, own)} {P_VALUES}"
    return frame


@panels.table
def errors(results: panels.Results[Any]) -> "pd.DataFrame":
    """Any methods on any noise: a section per data set, the mean error of every method."""
    import pandas as pd

    artifact, table, settings = results.artifact, results.table, results.settings_of
    own = settings[artifact]
    methods = list(own["methods"])
    rows = []
    for name in own["datasets"]:
        for noise in own["noise"]:
            where = {"dataset": name, "noise": noise, "metric": "error", "method": methods}
            values = panels.select(table, artifact, **where).set_index(["method", "repetition"])["value"]
            cells = _cells({method: values[method] for method in methods})
            rows.append({"data set": data_set(name), "flips": flips(noise)} | cells)
    frame = pd.DataFrame(rows).set_index(["data set"])
    frame.attrs["note"] = _note(table, own)
    return frame


@panels.table
def cpu_time(results: panels.Results[Any]) -> "pd.DataFrame":
    """CPU seconds, ours and printed, and their ratios, also that of the first method to the last."""
    import pandas as pd

    artifact, table, settings = results.artifact, results.table, results.settings_of
    own = settings[artifact]
    methods = list(own["methods"])
    first, last = methods[0], methods[-1]
    shown = {method: names.method(method) for method in methods}
    rows = []
    for name in own["datasets"]:
        times = panels.select(table, artifact, dataset=name, metric="cpu_seconds", method=methods)
        seconds = times.groupby("method")["value"].agg(["mean", "std"])
        printed = {method: _printed_mean(own, dataset=name, method=method) for method in methods}
        row = {"data set": data_set(name)}
        for method in methods:
            mean, spread = map(float, seconds.loc[method])
            places = max(0, 2 - math.floor(math.log10(mean)))
            row[f"{shown[method]} in s"] = f"{mean:.{places}f}" + (
                f" ± {spread:.{places}f}" if spread == spread else ""
            )
            row[f"{shown[method]} in s, printed"] = tables.printed(
                own["published"], dataset=name, method=method
            )
        ours = seconds["mean"]
        row[f"{shown[first]} / {shown[last]}"] = f"{ours[first] / ours[last]:.1f}"
        row["the same, printed"] = _ratio(printed[first], printed[last])
        row |= {f"{shown[m]}: printed / ours": _ratio(printed[m], ours[m]) for m in methods}
        rows.append(row)
    frame = pd.DataFrame(rows)
    splits = table["repetition"].nunique()
    parts = [
        f"CPU seconds to train on one split, mean ± standard deviation over {splits} splits;",
        "ratios are those of the means.",
        *names.notes(own["methods"]),
        "Printed: Matlab on one 2.67 GHz Intel i5.",
        sources(table),
    ]
    frame.attrs["note"] = " ".join(filter(None, parts))
    return frame


def _noisy(results: panels.Results[Any], levels: tuple[float, ...]) -> "pd.DataFrame":
    """A section per level and kind of noise, the pooled ones first; a level that was not run is left out."""
    import pandas as pd

    artifact, table, settings = results.artifact, results.table, results.settings_of
    own = settings[artifact]
    methods = list(own["methods"])
    present = [level for level in levels if f"independent {level:g}" in own["noise"]]
    if not present:
        raise panels.RenderError(f"{artifact}: the settings name none of the noise rates {levels}")
    pooled = {f"{100 * level:g} % pooled": [f"{law} {level:g}" for law in KINDS] for level in present}
    single = {flips(noise): [noise] for pair in pooled.values() for noise in pair}
    rows = [
        {"flips": title} | _compared(table, artifact, own, name, noise, methods)
        for title, noise in (pooled | single).items()
        for name in own["datasets"]
    ]
    frame = pd.DataFrame(rows).set_index("flips")
    frame.attrs["note"] = f"{_note(table, own)} {P_VALUES}"
    return frame


def _compared(
    table: "pd.DataFrame",
    artifact: str,
    own: Mapping[str, Any],
    name: str,
    noise: list[str],
    methods: list[str],
) -> dict[str, str]:
    """One row: error of every method beside the printed one, and two p-values.

    The artifact's last method is tested against the best of the others.
    """
    where = {"dataset": name, "noise": noise, "metric": "error", "method": methods}
    chosen = panels.select(table, artifact, **where)
    values = chosen.set_index(["method", "repetition", "noise"])["value"]
    errors = {method: values[method] for method in methods}
    cells, row = _cells(errors), {"data set": data_set(name)}
    for method in methods:
        row[method] = cells[method]
        place = {"dataset": name, "noise": noise if len(noise) > 1 else noise[0], "method": method}
        row[f"{method}, printed"] = tables.printed(own["published"], **place)
    *others, last = methods
    rival = min(others, key=lambda method: float(errors[method].mean()))
    if len(others) > 1:
        row[f"{names.method(last)} against"] = rival
    a, b = (errors[method].groupby("repetition").mean() for method in (last, rival))
    row["p unpaired"] = f"{rank_tests.mann_whitney(errors[last], errors[rival]):.2g}"
    row["p paired"] = f"{rank_tests.signed_rank(a, b.loc[a.index]):.2g}"
    return row


def _cells(errors: "Mapping[str, pd.Series]") -> dict[str, str]:
    """``mean ± standard deviation`` per method, the lowest mean in bold."""
    import pandas as pd

    best = tables.lowest(pd.Series({method: values.mean() for method, values in errors.items()}))
    cells = {}
    for method, values in errors.items():
        spread = float(values.std())
        text = f"{values.mean():.2f}" + (f" ± {spread:.2f}" if spread == spread else "")
        cells[method] = f"**{text}**" if method in best else text
    return cells


def _printed_mean(own: Mapping[str, Any], **where: Any) -> float:
    text = tables.printed(own["published"], **where)
    return float(text.partition(" ")[0]) if text else float("nan")


def _ratio(a: float, b: float) -> str:
    if a != a:
        return ""
    return f"{a / b:.3g}" if a < 999.5 * b else f"{a / b:.0f}"


def _note(table: "pd.DataFrame", own: Mapping[str, Any]) -> str:
    """What the numbers are, how many splits, which runs were flagged, whose points they are."""
    datasets, methods = own["datasets"], own["methods"]
    counts = table[table["metric"] == "error"].groupby("dataset")["repetition"].nunique()[datasets]
    most = int(counts.max())
    fewer = [f"{data_set(str(name))} {n}" for name, n in counts.items() if n < most]
    splits = f"{most} splits" + (f" ({', '.join(fewer)})" if fewer else "")
    flagged = table[(table["metric"] == "flagged") & table["method"].isin(list(methods))]
    runs = [
        f"{names.method(str(m))} {int(v.sum())} of {len(v)}"
        for m, v in flagged.groupby("method", sort=False)["value"]
    ]
    parts = [
        f"Test error in %, mean ± standard deviation over {splits}; the lowest mean is bold.",
        f"Doubtful runs (collapsed, not converged, classes swapped): {', '.join(runs)}." if runs else "",
        sources(table),
        *names.notes(methods),
    ]
    return " ".join(filter(None, parts))


def sources(table: "pd.DataFrame") -> str:
    """Names the data sets that are not the genuine IDA files."""
    kinds = table.drop_duplicates("dataset").set_index("dataset")["source"]
    words = {"rebuilt": "rebuilt points and our own splits", "generated": "points drawn anew, our own splits"}
    found = []
    for kind, text in words.items():
        if names := [data_set(str(name)) for name in kinds[kinds == kind].index]:
            found.append(f"{text} ({', '.join(names)})")
    return f"Not the genuine IDA files: {'; '.join(found)}." if found else ""
