"""An experiment repeated with several root seeds: how far its means and its verdicts depend on the seed."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from reproduction.results import COLUMNS

if TYPE_CHECKING:
    import pandas as pd

KEYS = [column for column in COLUMNS if column not in ("repetition", "value")]
SPREAD = ["seeds", "mean", "sd", "low", "high", "se"]


def over_seeds(tables: "Mapping[int, pd.DataFrame]") -> "pd.DataFrame":
    """sd = sqrt(sum_s (m_s - m)^2 / (S - 1)), m_s the mean over repetitions with seed s, m that of all m_s.

    Columns `KEYS`, then the number of seeds, m, sd, the lowest and the highest m_s, and ``se``,
    the standard error that the repetitions of one seed promise, sqrt(mean_s var_s / R_s).
    If repetitions are independent, sd and se estimate the same;
    a larger sd says that the error bars of one run are too short.

    tables : seed -> result table (`results.COLUMNS`).
    Raises ValueError : fewer than two tables.
    """
    import pandas as pd

    if len(tables) < 2:
        raise ValueError(f"a spread needs two seeds or more, here is {len(tables)}")
    parts = []
    for seed, table in tables.items():
        grouped = table.groupby(KEYS, dropna=False, sort=False, as_index=False)
        found = grouped["value"].agg(["mean", "var", "size"])
        parts.append(found.assign(seed=seed, error=found["var"] / found["size"]))
    every = pd.concat(parts, ignore_index=True).groupby(KEYS, dropna=False, sort=False)
    how = {"mean": "mean", "sd": "std", "low": "min", "high": "max"}
    spread = every.agg(seeds=("seed", "size"), **{name: ("mean", function) for name, function in how.items()})
    return spread.assign(se=np.sqrt(every["error"].mean())).reset_index()


def shown(spread: "pd.DataFrame") -> "pd.DataFrame":
    """The rows for a page, of every curve its last point only, with figures to read."""
    import pandas as pd

    curves = [key for key in KEYS if key != "x"]
    ends = spread.sort_values("x", kind="stable").drop_duplicates(curves, keep="last").sort_index()
    names = [key for key in curves if ends[key].nunique() > 1] or ["method"]
    figures = {key: ends[key].map("{:.4g}".format) for key in ("mean", "sd", "se")}
    between = ends["low"].map("{:.4g}".format) + " to " + ends["high"].map("{:.4g}".format)
    told = {"mean": "mean", "sd": "sd over seeds", "se": "standard error of one run"}
    return pd.DataFrame(
        {name: ends[name] for name in names}
        | {told[key]: figures[key] for key in told}
        | {"between": between}
    )


def agreed(verdicts: "Mapping[int, pd.DataFrame]") -> "pd.DataFrame":
    """Claims and printed values: the verdict with the first seed, how many seeds share it, and all of them.

    verdicts : seed -> what `verdicts.judge` gives, the first seed first.
    """
    import pandas as pd

    first = next(iter(verdicts.values()))
    rows = []
    for number, row in enumerate(first.itertuples(index=False)):
        found = {seed: table.iloc[number]["verdict"] for seed, table in verdicts.items()}
        same = sum(verdict == row.verdict for verdict in found.values())
        every = "; ".join(f"{seed}: {verdict}" for seed, verdict in found.items())
        told = {"id": row.id, "kind": row.kind, "statement": row.statement, "verdict": row.verdict}
        rows.append(told | {"same": same, "seeds": len(found), "verdicts": every})
    return pd.DataFrame(rows, columns=["id", "kind", "statement", "verdict", "same", "seeds", "verdicts"])
