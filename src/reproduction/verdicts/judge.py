"""Verdicts: one artifact's published values and claims against its result table.

Published value: inside / undecided / outside / not comparable, from D = ours − printed and the margin,
each by its own interval; what survives a correction over the artifact is marked beside it.
Claim: verified / holds / not shown / contradicted / not comparable, from the checks of the claim;
p-values are Holm-adjusted over the claims of the artifact. At a reduced scale every verdict is "ran".
``docs/verdicts.md`` explains all of it on one page.
"""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import pandas as pd

from reproduction.artifact import expanded
from reproduction.points import Points
from reproduction.results import read_table, verify
from reproduction.verdicts import claims, new_points, values
from reproduction.verdicts.findings import VERDICT_COLUMNS, decide, reduced
from reproduction.verdicts.names import VerdictError
from reproduction.verdicts.published import read_entries
from reproduction.verdicts.selection import prepare

T = TypeVar("T")


def judge(artifact: Mapping[str, Any], table: pd.DataFrame, scale: str) -> pd.DataFrame:
    """Rows of `VERDICT_COLUMNS`, one per published value, then one per claim, in the order of the artifact.

    Parameters
    ----------
    artifact : mapping with the optional lists ``published`` and ``claims``.
    table : tidy result table (`results.COLUMNS`).
    scale : "full" gives verdicts; anything else gives "ran".

    Raises
    ------
    VerdictError : names the published value or claim, the offending key and what is available.
    """
    rows = prepare(table)
    done: list[dict[str, Any]] = []
    for kind, examine in (("published", values.examined), ("claim", claims.examined)):
        entries = artifact.get("published" if kind == "published" else "claims") or []
        findings = [_named(f"{kind} {e.get('id', '?')}", examine, rows, e, scale) for e in entries]
        done += reduced(findings, scale) if scale != "full" else decide(findings)
    return pd.DataFrame(done, columns=VERDICT_COLUMNS)


def write_verdicts(verdicts: pd.DataFrame, path: str | Path) -> None:
    """Write as CSV with six digits and "\\n"; the same verdicts give the same bytes."""
    verdicts.to_csv(path, index=False, float_format="%.6g", lineterminator="\n", encoding="utf-8")


def judge_files(artifacts: Sequence[Path], tables: Sequence[Path], scale: str) -> pd.DataFrame:
    """Verdicts of several artifacts: columns paper, artifact, those of `VERDICT_COLUMNS`, then new_points.

    Parameters
    ----------
    artifacts : files ``<paper>/<artifact>.yaml``, their ``.published.csv`` files beside them.
    tables : their result tables, in the same order; beside each, if it is there, ``points.npz``.

    Raises
    ------
    VerdictError : as `judge`; names the file; a table that is not the one of its provenance.
    """
    parts = [pd.DataFrame(columns=["paper", "artifact", *VERDICT_COLUMNS, "new_points"])]
    for artifact, table in zip(artifacts, tables, strict=True):
        content = content_of(artifact)
        rows = _verified(table, read_table)
        frame = _named(str(artifact), judge, content, rows, scale)
        points = table.with_name("points.npz")
        tested = _verified(points, Points.read) if points.is_file() else Points()
        frame = new_points.beside(frame, content.get("claims") or [], rows, tested, scale)
        frame.insert(0, "paper", artifact.parent.name)
        frame.insert(1, "artifact", artifact.stem)
        parts.append(frame)
    return pd.concat([part for part in parts if len(part)] or parts, ignore_index=True)


def _verified(file: Path, reader: Callable[[Path], T]) -> T:
    """What is in a table or in the points beside it, if it is still the one that its provenance records."""
    try:
        verify(file)
        return reader(file)
    except ValueError as error:
        raise VerdictError(str(error)) from None


def content_of(artifact: Path) -> dict[str, Any]:
    """An artifact file with the list of its printed values in place of their rule."""
    try:
        content = expanded(artifact)
        if "published" not in content:
            return content
        return content | {"published": read_entries(artifact, content["published"])}
    except ValueError as error:
        raise VerdictError(str(error)) from None


def _named(name: str, examine: Callable[..., T], *arguments: Any) -> T:
    try:
        return examine(*arguments)
    except VerdictError as error:
        raise type(error)(f"{name}: {error}") from None
