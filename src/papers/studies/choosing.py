"""Choices of width and penalty of kernel classifiers, with clean labels and with noisy ones.

Five rules choose among the same candidates. Two need clean labels: ``clean accuracy``, of all rows,
which nobody has, and ``trusted accuracy``, of a share of the rows. Three use the noisy labels of
rows that a fit has not seen: their accuracy, their likelihood, and their accuracy corrected by
flip rates, which are estimated too.

Sources: Kabán and Bootkrajang, LABELNOISE 2017 (trusted validation set, models); Natarajan et al.,
NIPS 2013 (the corrected accuracy); Patrini et al., CVPR 2017 (rates from anchors). The comparison
is ours.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import Field
from scipy.special import expit

from noisylabels.auditing import flip_rates as rates
from noisylabels.kernels.gaussian import Gram, rate, rbf, squared_distances, useful_widths
from reproduction.run.protocol_loop import Loop, Repetition, Row
from reproduction.run.splits import Floats, Indices, Labels, Split, random_folds
from reproduction.spec import settings as keys
from reproduction.spec.protocol import protocol

RULES = (
    "clean accuracy",
    "trusted accuracy",
    "noisy accuracy",
    "noisy likelihood",
    "corrected accuracy",
)
ANY = "any"
"""Stands for the candidates of all methods together."""
LEAST = 1e-6
"""Smallest probability of an observed label."""


class KernelMethod(keys.Method):
    """Settings of a kernel classifier that is fitted to many labels and penalties at once."""

    def check(self) -> None:
        """Check that the class has the fit that the protocol calls."""
        self.require("fit_many", "a choice of width and penalty")
        keys.check_keywords(self.cls.fit_many, self.parameters)


class ChoosingSettings(keys.SplitSettings):
    """Settings of `choosing`."""

    widths: keys.Exponents
    penalties: keys.Exponents
    folds: keys.Folds
    trusted: keys.Share = Field(description="share of the training rows with clean labels")
    methods: keys.Methods[KernelMethod]


@dataclass(frozen=True)
class Candidate:
    """Settings of a method with a width and a penalty."""

    method: str
    width: float
    penalty: float


@dataclass(frozen=True)
class Tried:
    """Predictions of C candidates for rows that they have not seen, by one column of labels.

    predicted (C, n) : classes of all training rows, by the fit without their fold.
    probability (C, n) : of the observed label 1.
    trusted_wrong, trusted_loss (C,) : on the trusted rows, over the fits without a fold of others.
    """

    candidates: list[Candidate]
    predicted: NDArray[np.bool_]
    probability: Floats
    trusted_wrong: Floats
    trusted_loss: Floats


@protocol(ChoosingSettings, labels=("error", "anchor_error", ANY, *RULES))
def choosing(settings: ChoosingSettings, loop: Loop) -> Iterator[Row]:
    """Measure the test error of kernel classifiers whose width and penalty a rule has chosen.

    setting = the rule; the method ``any`` is chosen by it as well. All rules have the same
    candidates and the final fit is on all noisy labels. Metrics: error, wrong test labels in %;
    anchor_error, how far the flip rates are off that correct the accuracy, mean of both.
    """
    for repetition, split, noisy in loop.noisy_splits(settings):
        D = squared_distances(split.X)
        D_test = squared_distances(split.X_test, split.X)
        tried = try_candidates(settings, D, split, noisy, repetition)
        for column, noise in enumerate(settings.noise):
            observed = noisy[:, column].astype(np.intp)
            of_noise = repetition.with_columns(noise=noise.label)
            scopes = {ANY: list(settings.methods)}
            scopes |= {label: [label] for label in settings.methods}
            chosen: dict[tuple[str, str], Candidate] = {}
            for scope, methods in scopes.items():
                scores, omega = score_candidates(tried[column], observed, split.clean, methods)
                for rule, values in scores.items():
                    chosen[rule, scope] = tried[column].candidates[int(np.argmin(values))]
                true = true_rates(observed, split.clean)
                distance = np.abs([omega[0, 1] - true[0], omega[1, 0] - true[1]]).mean()
                yield of_noise.row("anchor_error", distance, method=scope, setting=RULES[-1])
            errors = {}
            for candidate in dict.fromkeys(chosen.values()):
                predicted = fit_and_predict(settings, candidate, D, D_test, noisy[:, [column]])
                errors[candidate] = split.scored(predicted)
            for (rule, scope), candidate in chosen.items():
                yield of_noise.row("error", errors[candidate], method=scope, setting=rule)


def try_candidates(
    settings: ChoosingSettings,
    D: Floats,
    split: Split,
    noisy: Labels,
    repetition: Repetition,
) -> list[Tried]:
    """Fit every candidate without each fold, once for all rows and once for trusted ones.

    Candidates are listed from the widest kernel and the largest penalty: of equal ones the first
    counts. Returns an entry for each column of ``noisy`` (n, L).
    """
    n = noisy.shape[0]
    n_columns = noisy.shape[1]
    widths = np.exp2(np.asarray(settings.widths, dtype=float))
    useful = sorted(useful_widths(D, widths), key=rate)
    penalties = np.sort(np.exp2(np.asarray(settings.penalties, dtype=float)))[::-1]
    fold = random_folds(n, settings.folds, repetition.rng("folds"))
    n_trusted = max(1, round(settings.trusted * n))
    order = repetition.rng("trusted").permutation(n)
    trusted = np.sort(order[:n_trusted])
    untrusted = np.sort(order[n_trusted:])
    fold_of_rest = random_folds(len(untrusted), settings.folds, repetition.rng("folds of the rest"))
    clean = split.clean[trusted]
    candidates = []
    parts: list[dict[str, Floats]] = []
    for width in useful:
        K = rbf(D, float(width))
        losses = {}
        for label in settings.methods:
            shape = (n_columns, len(penalties))
            losses[label] = {
                "scores": np.empty((*shape, n)),
                "probability": np.empty((*shape, n)),
                "wrong": np.zeros(shape),
                "loss": np.zeros(shape),
            }
            candidates += [Candidate(label, float(width), float(zeta)) for zeta in penalties]
        for k in range(settings.folds):
            train = np.flatnonzero(fold != k)
            held = np.flatnonzero(fold == k)
            for label, (scores, p) in _fits(settings, K, train, held, noisy, penalties):
                losses[label]["scores"][:, :, held] = scores
                losses[label]["probability"][:, :, held] = p
            train = untrusted[fold_of_rest != k]
            for label, (scores, _) in _fits(settings, K, train, trusted, noisy, penalties):
                losses[label]["wrong"] += ((scores > 0) != clean).sum(axis=2)
                losses[label]["loss"] += np.logaddexp(0.0, (1 - 2 * clean) * scores).sum(axis=2)
        parts += losses.values()
    joined = {}
    for key in ("scores", "probability", "wrong", "loss"):
        joined[key] = np.concatenate([part[key] for part in parts], axis=1)
    columns = []
    for column in range(n_columns):
        of_column = Tried(
            candidates,
            joined["scores"][column] > 0,
            joined["probability"][column],
            joined["wrong"][column],
            joined["loss"][column],
        )
        columns.append(of_column)
    return columns


def _fits(
    settings: ChoosingSettings,
    K: Floats,
    train: Indices,
    held: Indices,
    noisy: Labels,
    penalties: Floats,
) -> Iterator[tuple[str, tuple[Floats, Floats]]]:
    """Yield each method with its decision values and its probability of label 1, (L, G, h)."""
    gram = Gram(K[np.ix_(train, train)], K[np.ix_(held, train)])
    for label, method in settings.methods.items():
        fits = method.cls.fit_many(gram, noisy[train], penalties, **method.parameters)
        # NaN means that the method has no rates
        omega01 = np.nan_to_num(fits.omega01)[:, :, np.newaxis]
        omega10 = np.nan_to_num(fits.omega10)[:, :, np.newaxis]
        true_one = expit(fits.scores)
        yield label, (fits.scores, omega01 * (1 - true_one) + (1 - omega10) * true_one)


def score_candidates(
    tried: Tried,
    observed: NDArray[np.intp],
    clean: Labels,
    methods: list[str],
) -> tuple[dict[str, Floats], Floats]:
    """Score every candidate by each rule, the lower the better; other methods' candidates get inf.

    Returns the scores (C,) by rule, and the flip matrix (2, 2) that corrects the accuracy: that of
    the anchors of the candidate with the best likelihood. It is the identity where its inverse
    would blow up every chance deviation.
    """
    p = np.clip(tried.probability, LEAST, 1 - LEAST)
    loss = -np.log(np.where(observed == 1, p, 1 - p)).sum(axis=1)
    is_other = np.array([candidate.method not in methods for candidate in tried.candidates])
    of_best = p[np.argmin(np.where(is_other, np.inf, loss))]
    omega = rates.anchor(np.column_stack([1 - of_best, of_best]), observed)
    if not np.linalg.cond(omega) <= rates.LARGEST_CONDITION:
        omega = np.eye(2)
    inverse = np.linalg.inv(omega)
    corrected = 1 - inverse[observed, tried.predicted.astype(np.intp)].mean(axis=1)
    scores = {
        "clean accuracy": (tried.predicted != clean).sum(axis=1).astype(float),
        "trusted accuracy": _by_rank(tried.trusted_wrong, tried.trusted_loss),
        "noisy accuracy": _by_rank((tried.predicted != observed).sum(axis=1), loss),
        "noisy likelihood": loss,
        "corrected accuracy": _by_rank(corrected, loss),
    }
    for values in scores.values():
        values[is_other] = np.inf
    return scores, omega


def _by_rank(first: NDArray[Any], second: Floats) -> Floats:
    """Rank by the first values; ties by the second."""
    ranks = np.empty(len(first))
    ranks[np.lexsort((second, first))] = np.arange(len(first))
    return ranks


def true_rates(observed: NDArray[np.intp], clean: Labels) -> tuple[float, float]:
    """Compute the shares of flipped labels among rows of class 0 and of class 1."""
    flipped = observed != clean
    return float(flipped[clean == 0].mean()), float(flipped[clean == 1].mean())


def fit_and_predict(
    settings: ChoosingSettings,
    candidate: Candidate,
    D: Floats,
    D_test: Floats,
    labels: Labels,
) -> NDArray[np.bool_]:
    """Fit a candidate to one column of labels (n, 1) and predict the test rows."""
    method = settings.methods[candidate.method]
    gram = Gram(rbf(D, candidate.width), rbf(D_test, candidate.width))
    fits = method.cls.fit_many(gram, labels, np.array([candidate.penalty]), **method.parameters)
    return np.asarray(fits.scores[0, 0] > 0)
