"""A result table without its repetitions: n, mean, standard error and quantiles of every row key."""

from pathlib import Path
from typing import TYPE_CHECKING

from reproduction.results import read_table

if TYPE_CHECKING:
    import pandas as pd

KEY = ["dataset", "source", "noise", "setting", "method", "metric", "x"]
"""What tells the rows of a result table apart but for the repetition."""

QUANTILES = {"q10": 0.1, "median": 0.5, "q90": 0.9}
COLUMNS = [*KEY, "n", "mean", "se", *QUANTILES]
TEXT = KEY[:-1]


def summarised(table: "pd.DataFrame", quantiles: bool = True) -> "pd.DataFrame":
    """m = sum(v)/n, se = s/sqrt(n) with s^2 = sum((v-m)^2)/(n-1), and quantiles, for each `KEY` of a table.

    The keys stand in the order of their first rows; a single repetition has no error and no quantiles.
    """
    groups = table.groupby(KEY, sort=False, dropna=False)["value"]
    found = groups.agg(n="size", mean="mean", se="sem")
    if quantiles:
        for name, share in QUANTILES.items():
            found[name] = groups.quantile(share)
        found.loc[found["n"] == 1, list(QUANTILES)] = float("nan")
    return found.reset_index()


def read(path: Path) -> "pd.DataFrame":
    """The columns `COLUMNS` of a summary that was written, or of a result table."""
    import pandas as pd

    with path.open(encoding="utf-8") as lines:
        header = lines.readline().strip().split(",")
    if header != COLUMNS:
        return summarised(read_table(path))
    types = dict.fromkeys(TEXT, "object")
    missing = {key: [""] for key in COLUMNS[6:]}
    return pd.read_csv(path, keep_default_na=False, na_values=missing, dtype=types)


def write(summary: "pd.DataFrame", path: Path) -> None:
    """Write as CSV, means with ten digits as in result tables, the rest with four; always the same bytes."""
    rough = {name: summary[name].map("{:.4g}".format, na_action="ignore") for name in ("se", *QUANTILES)}
    summary.assign(**rough).to_csv(
        path, index=False, columns=COLUMNS, float_format="%.10g", lineterminator="\n", encoding="utf-8"
    )
