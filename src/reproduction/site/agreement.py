"""What is said of a whole table of printed values: sentences, Bland and Altman's picture, rows by method."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import pandas as pd
from markupsafe import Markup

from reproduction.figures import names
from reproduction.reference.runs import Row, Run
from reproduction.site.picture import of_table
from reproduction.site.text import number
from reproduction.verdicts.sentences import of_agreement

NUMBERS = ("estimate", "low", "high", "sets", "cells")


class Agreement(NamedTuple):
    """Of one metric: (quantity, figures) over all cells, the picture, the mean difference of each part."""

    metric: str
    whole: list[tuple[str, str]]
    picture: Markup
    parts: list[tuple[str, str, str]]


def of_run(run: Run) -> list[Agreement]:
    """For each metric of the printed values; empty where there are none, or too few to say anything."""
    if not run.agreement:
        return []
    frame = pd.DataFrame(run.agreement)
    frame[list(NUMBERS)] = frame[list(NUMBERS)].replace("", "nan").astype(float)
    frame[["sets", "cells"]] = frame[["sets", "cells"]].astype(int)
    return [
        _agreement(str(metric), rows, run.verdicts) for metric, rows in frame.groupby("metric", sort=False)
    ]


def _agreement(metric: str, rows: pd.DataFrame, verdicts: Sequence[Row]) -> Agreement:
    whole = rows[(rows["noise"] == "") & (rows["method"] == "")]
    parts = rows[(rows["quantity"] == "mean difference") & ((rows["noise"] != "") | (rows["method"] != ""))]
    told = [_part(row) for row in parts.to_dict("records")]
    picture = Markup(of_table(verdicts, whole.to_dict("records")))
    return Agreement(metric, of_agreement(whole.to_dict("records")), picture, told)


def _part(row: Mapping[Any, Any]) -> tuple[str, str, str]:
    """(method, noise, mean difference with its interval)."""
    mean, low, high = (float(str(row[key])) for key in NUMBERS[:3])
    noise = " or ".join(names.noise(each) for each in str(row["noise"]).split("|")) if row["noise"] else "all"
    method = names.method(str(row["method"])) if row["method"] else "all"
    interval = "" if pd.isna(low) else f" [{number(low, 3)}, {number(high, 3)}]"
    return method, noise, f"{number(mean, 3)}{interval}"
