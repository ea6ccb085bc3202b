"""The result of an audit in three lines: share of wrong labels, suspicious labels, next step."""

from __future__ import annotations

from noisylabels.auditing.audit import Audit, NumericAudit, percent
from noisylabels.auditing.review import NEXT, NO_LIST, Review, describe_gain

ROWS_TO_REVIEW = 100  # number of rows of a first review


def summarise(
    result: Audit | NumericAudit,
    reviewed: Review | None = None,
    precision: float | None = None,
    folder: str = "",
) -> str:
    """Write the result of an audit in three lines: share, list and next step.

    Parameters
    ----------
    result : Audit or NumericAudit
        What the audit found.
    reviewed : Review, optional
        What reviewed rows say.
    precision : float, optional
        The required precision of a list.
    folder : str, default ""
        Where the files are, with a slash at its end.

    Returns
    -------
    str
        Three lines.

    Examples
    --------
    >>> import numpy as np
    >>> import noisylabels
    >>> from noisylabels.auditing.summary import summarise
    >>> rng = np.random.default_rng(0)
    >>> true = np.arange(200) % 2
    >>> y = np.where(rng.random(200) < 0.1, 1 - true, true)
    >>> X = rng.normal(size=(200, 2)) + 4 * true[:, None]
    >>> result = noisylabels.audit(X, y, model="logistic", compare=False)
    >>> print(summarise(result).splitlines()[1])
    List:   20 of 200 labels look wrong: suspicious.csv, most suspicious first.
    """
    parts = {
        "Share": _describe_share(result, reviewed),
        "List": _describe_list(result, reviewed, precision, folder),
        "Next": _describe_next_step(result, reviewed, folder),
    }
    lines = []
    for name, sentence in parts.items():
        lines.append(f"{f'{name}:':7} {sentence}")
    return "\n".join(lines)


def _describe_share(result: Audit | NumericAudit, reviewed: Review | None) -> str:
    if reviewed is not None and reviewed.reviewed:
        return reviewed.text.split("\n")[0]
    if not result.informative:
        return "unknown, because these columns say nothing about the label."
    if isinstance(result, NumericAudit):
        return "unknown. Whether a label that is far off is wrong or rare, only reviewed rows say."
    evidence = "evidence of wrong labels"
    if not result.evidence.any():
        evidence = "no evidence of wrong labels"
    labels = result.counts.sum()
    upper = result.bounds[1]
    guess = min(result.guess, upper)
    return (
        f"{evidence}. Labels alone allow 0 % to {percent(upper)} of {labels} to be wrong; "
        f"the guess of {percent(guess)} has no interval."
    )


def _describe_list(
    result: Audit | NumericAudit,
    reviewed: Review | None,
    precision: float | None,
    folder: str,
) -> str:
    if precision is not None:
        if reviewed is None or not reviewed.reviewed or reviewed.listed is None:
            return NO_LIST
        if len(reviewed.listed):
            labels = f"{len(reviewed.listed)} labels in {folder}listed.csv"
            return f"of {labels} at least {percent(precision)} are wrong, with 95 % confidence."
        return f"none can be shown to be at least {percent(precision)} wrong with these rows."
    if not result.informative:
        return "empty, because no model orders these labels better than chance."
    labels = f"{len(result.suspicious)} of {len(result.ranking)} labels"
    verb = "looks" if len(result.suspicious) == 1 else "look"
    return f"{labels} {verb} wrong: {folder}suspicious.csv, most suspicious first."


def _describe_next_step(result: Audit | NumericAudit, reviewed: Review | None, folder: str) -> str:
    if reviewed is None:
        rows = min(ROWS_TO_REVIEW, len(result.ranking))
        step = f"give the same command with --review {rows} and check these rows"
        return f"to learn the share, {step}."
    if not reviewed.reviewed:
        return (
            f"open {folder}review.html and choose the true class of each of {reviewed.drawn} rows "
            f"(or fill in the column `true` of {folder}review.csv), then give the same command "
            "again."
        )
    labels = "label" if reviewed.changed == 1 else "labels"
    step = f"go on with {folder}repaired.csv, your table with {reviewed.changed} repaired {labels}."
    if reviewed.skipped:
        step += f" {reviewed.skipped} of the rows drawn have no answer."
    if reviewed.unreviewed >= NEXT:
        step += f" {describe_gain(reviewed)}."
    return step
