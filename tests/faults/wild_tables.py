"""Reads random tables as an audit does, and compares what was understood with what pandas reads.

    python tests/faults/wild_tables.py --tables 1000 --seed 1

A table is refused in one line, or every column of it is used as it is written or named in a note,
and two labels are one class exactly where they are one text. Prints what was read and refused, and
the first table of every difference.
"""

import argparse
import csv
import io
import string
import tempfile
from collections import Counter
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from noisylabels.auditing import tables
from noisylabels.auditing.tables import MISSING, Table

Rng = np.random.Generator
WORDS = [
    "red",
    "größe",
    "日本",
    "a,b",
    'say "no"',
    "two\nlines",
    "=1+1",
    " padded ",
    "NaN?",
    "x\ty",
    "é",
    "-",
]


def word(rng: Rng) -> str:
    start = str(rng.choice(WORDS))
    letters = rng.choice(list(string.ascii_letters), rng.integers(0, 3))
    return start + "".join(letters)


def day(rng: Rng) -> str:
    days = int(rng.integers(40_000))
    return str(datetime(1950, 1, 1) + timedelta(days=days))[:10]


def time(rng: Rng) -> str:
    seconds = int(rng.integers(10**9))
    return (datetime(2001, 1, 1) + timedelta(seconds=seconds)).isoformat()


def number(rng: Rng) -> str:
    value = rng.normal() * 10.0 ** rng.integers(-6, 7)
    kinds: list[Callable[[], str]] = [
        lambda: repr(float(value)),
        lambda: f"{value:.3f}",
        lambda: f"{value:.4e}",
        lambda: f"{value:.2f}".replace("-", "\N{MINUS SIGN}"),
        lambda: f"+{abs(value):.1f}",
        lambda: str(round(value)),
    ]
    return kinds[rng.integers(len(kinds))]()


KINDS: dict[str, Callable[[Rng], str]] = {
    "number": number,
    "digit": lambda rng: str(rng.integers(10)),
    "padded": lambda rng: f"{rng.integers(30):03}",
    "long": lambda rng: str(9_007_199_254_740_990 + int(rng.integers(8))),
    "huge": lambda rng: f"{rng.integers(1, 4)}e300",
    "truth": lambda rng: str(bool(rng.integers(2))),
    "word": word,
    "few": lambda rng: str(rng.choice(WORDS[:4])),
    "day": day,
    "time": time,
    "percent": lambda rng: f"{rng.integers(100)} %",
    "euro": lambda rng: f"{rng.integers(1, 9)}.{rng.integers(100, 999)},5",
    "mixed": lambda rng: number(rng) if rng.random() < 0.95 else word(rng),
    "version": lambda rng: f"1.{rng.integers(12)}",
}
UNREAD = ("percent", "euro", "mixed", "huge")
"""Kinds for which a table is refused, in all but a third of the tables."""
LABELS: dict[str, list[str]] = {
    "digits": ["0", "1"],
    "three": ["1", "2", "3"],
    "padded": ["01", "1", "x"],
    "decimal": ["1", "1.0", "2"],
    "long": ["9007199254740992", "9007199254740993", "9007199254740994"],
    "beyond": ["99999999999999999998", "99999999999999999999"],
    "huge": ["1e300", "2e300"],
    "words": ["größe", "日本", "=x"],
    "truth": ["True", "False"],
    "versions": ["1.1", "1.10", "1.2"],
    "signs": ["-1", "+1"],
}


ENCODINGS = ["utf-8"] * 8 + ["utf-8-sig"] * 3 + ["latin-1", "utf-16", "utf-16-le"]


def wild(rng: Rng) -> tuple[bytes, str, dict[str, Any]]:
    """A file with a table, the kind of its labels, and how it was written."""
    n = int(rng.integers(25, 150))
    label = str(rng.choice(list(LABELS)))
    columns = {}
    kinds = list(KINDS) if rng.random() < 0.3 else [kind for kind in KINDS if kind not in UNREAD]
    for j in range(int(rng.integers(1, 8))):
        kind = str(rng.choice(kinds))
        gaps = rng.choice([0.0, 0.0, 0.1, 0.5])
        values = [KINDS[kind](rng) for _ in range(n)]
        for i in range(n):
            if rng.random() < gaps:
                values[i] = str(rng.choice(MISSING))
        columns[f"{kind} {j}"] = values
    columns["y"] = [""] * n
    for i in range(n):
        if rng.random() > 0.02:
            columns["y"][i] = str(rng.choice(LABELS[label]))
    order = list(rng.permutation(list(columns)))
    frame = pd.DataFrame(columns, dtype=object)[order]
    form = {
        "separator": str(rng.choice([",", ";", "\t"])),
        "encoding": str(rng.choice(ENCODINGS)),
        "quoting": int(rng.choice([csv.QUOTE_MINIMAL, csv.QUOTE_ALL])),
        "end": str(rng.choice(["\n", "\r\n"])),
        "first": str(rng.choice(["", "", "", "sep=\n", "# made by hand\n", "\n"])),
    }
    text = io.StringIO()
    frame.to_csv(
        text,
        sep=form["separator"],
        index=False,
        quoting=form["quoting"],
        lineterminator=form["end"],
    )
    first = form["first"].replace("sep=", f"sep={form['separator']}")
    content = (first + text.getvalue()).encode(form["encoding"], "replace")
    return content, label, form


def differences(table: Table, frame: pd.DataFrame) -> list[str]:
    """List what the table has understood in another way than it is written, without a note."""
    faults = []
    rows = [i for i, text in enumerate(frame["y"]) if text.strip() not in MISSING]
    if list(table.rows) != rows:
        faults.append("other rows")
    if len(rows) < len(frame) and not any("without a label" in note for note in table.notes):
        faults.append("rows lost")
    texts = frame["y"].iloc[rows].str.strip().to_numpy()
    if not np.array_equal(table.labels[:, None] == table.labels, texts[:, None] == texts):
        faults.append("labels merged or split")
    for name in frame.columns.drop("y"):
        column = frame[name].iloc[rows].str.strip()
        features = features_of(table, name)
        if not features:
            if not any(repr(name) in note for note in table.notes):
                faults.append(f"column {name} lost")
            continue
        is_present = ~column.isin(MISSING).to_numpy()
        if table.names[features[0]] == name:
            values = table.X[is_present, features[0]]
            if (values != numbers(column[is_present])).any():
                faults.append(f"values of {name}")
            continue
        for feature in features:
            word = table.names[feature].removeprefix(f"{name}=")
            has_word = (column == word).to_numpy()
            if (table.X[is_present, feature] != has_word[is_present]).any():
                faults.append(f"words of {name}")
    return faults


def features_of(table: Table, name: str) -> list[int]:
    """List the features that a column became: itself, or one for each of its words."""
    features = []
    for feature, feature_name in enumerate(table.names):
        if feature_name == name or feature_name.startswith(f"{name}="):
            features.append(feature)
    return features


def numbers(column: "pd.Series[str]") -> np.ndarray:
    """The column as pandas reads it: numbers, or days from 1970."""
    plain = column.str.replace("\N{MINUS SIGN}", "-")
    if plain.str.fullmatch(r"\d{4}-\d\d-\d\d.*").all():
        since = pd.to_datetime(plain, format="ISO8601") - pd.Timestamp("1970-01-01")
        return np.asarray(since / pd.Timedelta(days=1))
    truth = plain.map({"True": "1", "False": "0"}).fillna(plain)
    return truth.map(float).to_numpy()


def attack(count: int, seed: int, folder: Path) -> tuple[Counter[str], dict[str, str]]:
    """What came of ``count`` random tables, and the first example of every difference."""
    outcomes = Counter[str]()
    examples = {}
    for k in range(count):
        rng = np.random.default_rng([seed, k])
        content, label, form = wild(rng)
        file = folder / "table.csv"
        file.write_bytes(content)
        try:
            table = tables.read(file, "y")
        except ValueError as error:
            poor = "\n" in str(error) or not str(error).startswith("table.csv")
            outcomes["poor message" if poor else "refused"] += 1
            if poor:
                examples.setdefault("poor message", f"table {k}: {error}")
            continue
        except Exception as error:  # counted, because the audit would end in a traceback
            outcomes["crashed"] += 1
            examples.setdefault("crashed", f"table {k}: {error!r}")
            continue
        # pandas reads the file itself, so that what it and we take from the bytes is compared
        written = pd.read_csv(
            io.BytesIO(content),
            dtype=str,
            keep_default_na=False,
            sep=form["separator"],
            encoding=form["encoding"],
            skiprows=1 if form["first"] else 0,
        )
        stripped = written.apply(lambda column: column.str.strip())
        is_empty = (stripped == "").all(axis=1)  # both ignore it
        faults = differences(table, written[~is_empty].reset_index(drop=True))
        outcomes["read wrongly" if faults else "read"] += 1
        for fault in faults:
            kind = fault.rstrip(" 0123456789")
            examples.setdefault(kind, f"table {k}: {fault} (labels {label}, {form})")
    return outcomes, examples


def main() -> None:
    form = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=form)
    parser.add_argument("--tables", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        outcomes, examples = attack(arguments.tables, arguments.seed, Path(folder))
    print(", ".join(f"{count} {outcome}" for outcome, count in outcomes.most_common()))
    for kind, example in examples.items():
        print(f"{kind}: {example}")
    raise SystemExit(bool(examples))


if __name__ == "__main__":
    main()
