"""What single columns say: those that know the label too well, and parts of dates that help to predict it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from noisylabels.auditing import flip_rates
from noisylabels.auditing.cross_fitting import LARGEST, Array, Classes, cross_fitted, model_of
from noisylabels.auditing.tables import Table

TELLING = 0.01
"""A column alone that leaves at most this share of the labels wrong, and a tenth of those that the most
frequent class leaves, is named."""
SURE = 3.0
"""Standard errors by which a part of the dates must make the labels of rows not seen likelier."""


def examined(table: Table, y: Classes, random_state: int = 0) -> Table:
    """`with_calendar`, and notes of the columns that are `telling`."""
    doubtful = "alone predicts nearly every label; if it is known only because of the label, leave it out"
    alone, table = telling(table, y), with_calendar(table, y, random_state)
    return replace(table, notes=[*table.notes, *(f"column {name!r} {doubtful}" for name in alone)])


def telling(table: Table, y: Classes) -> list[str]:
    """Columns that predict nearly every label alone, by small trees that did not see the row (2000 at most).

    A label of which more than a hundredth is wrong cannot be predicted so well but by what was made from it.
    """
    from sklearn.model_selection import cross_val_predict
    from sklearn.tree import DecisionTreeClassifier

    part = np.random.default_rng(0).permutation(len(y))[:LARGEST]
    K, y, found = int(y.max()) + 1, y[part], []
    most = min(TELLING, 0.1 * (1 - np.bincount(y).max() / len(y)))
    tree = DecisionTreeClassifier(max_leaf_nodes=8 * K, min_samples_leaf=2, random_state=0)
    for name in table.contents:
        at = [j for j, each in enumerate(table.names) if each == name or each.startswith(f"{name}=")]
        if at and most > 0 and np.bincount(y).min() > 1:
            X = table.X[part][:, at]
            # the tree has seen the row first: most columns are refused without a cross-fit
            if np.mean(tree.fit(X, y).predict(X) != y) <= most:
                found += [name] if np.mean(cross_val_predict(tree, X, y, cv=2) != y) <= most else []
    return found


def calendar(days: Array) -> dict[str, Array]:
    """Where days (n,) since 1970 lie in their year, week and day: cosine and sine, (n, 2) each."""
    turns = {"month": days / 365.2425, "weekday": np.floor(days) / 7, "hour": days}
    waves = {part: np.column_stack([np.cos(w), np.sin(w)]) for part, w in
             ((part, 2 * np.pi * (turn % 1)) for part, turn in turns.items())}  # fmt: skip
    return {part: wave for part, wave in waves.items() if np.ptp(wave) > 0}


def with_calendar(table: Table, y: Classes, random_state: int = 0) -> Table:
    """The table with those parts of its dates (all dates together) that help, and a note of each.

    A part stays if it makes the labels of rows that a random forest did not see likelier: by more than three
    standard errors of the mean gain in log p_y, both over the table without it and over the table with the
    parts of other rows, shuffled. Trained on 2000 rows at most.
    """
    if not table.dates:
        return table
    forest = model_of("forest", random_state)

    def likely(X: Array) -> Array:
        fit = cross_fitted(X, y, forest, random_state=random_state, repetitions=1, most_rows=LARGEST)
        return flip_rates.log_likelihoods(fit, y)

    parts: dict[str, dict[str, Array]] = {}
    for name in table.dates:
        for part, wave in calendar(table.X[:, table.names.index(name)]).items():
            parts.setdefault(part, {})[name] = wave
    plain, shuffled = likely(table.X), np.random.default_rng(random_state).permutation(len(y))
    X, names, notes = table.X, list(table.names), list(table.notes)
    for part, waves in parts.items():
        wave = np.hstack(list(waves.values()))
        found = likely(np.hstack([table.X, wave]))
        others = (plain, likely(np.hstack([table.X, wave[shuffled]])))
        if all(g.mean() > SURE * g.std(ddof=1) / len(y) ** 0.5 for g in (found - other for other in others)):
            X = np.hstack([X, wave])
            names += [f"{name} {part} {which}" for name in waves for which in ("cos", "sin")]
            notes.append(f"the {part} of {', '.join(waves)} makes unseen labels likelier and was added")
    return replace(table, X=X, names=names, notes=notes)
