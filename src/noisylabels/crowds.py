"""Items that several annotators label: their true classes, and how far each annotator can be trusted.

Labels come as an array (n items, W annotators) with gaps (NaN, None, masked), or as a long table: a mapping
or a data frame with the columns item, annotator and label. Classes, items and annotators have any names.
Given the true class of an item its labels are taken to be independent; and the annotators to be right more
often than wrong, which is what gives the classes their names.
"""

from __future__ import annotations

from collections.abc import Mapping, Sized
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import fmin_l_bfgs_b
from scipy.special import expit, log_expit, logsumexp, softmax
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from noisylabels.seeding import generator
from noisylabels.validation import Floats, finite, number, whole

Codes = NDArray[np.intp]
COLUMNS = ("item", "annotator", "label")
LEAST = 1e-6  # of the weights of `CrowdLab`
TINY = 1e-300


@dataclass(frozen=True)
class Responses:
    """One entry per label (L,), as numbers 0, 1, ...: item, annotator, label; what the numbers stand for."""

    item: Codes
    annotator: Codes
    label: Codes
    items: NDArray[Any]
    annotators: NDArray[Any]
    classes: NDArray[Any]

    @classmethod
    def of(cls, labels: Any, classes: Any = None) -> Self:
        """From an array (n, W) with gaps, or a long table; classes: all of them, if some never occur.

        An item or annotator all of whose labels are missing is kept.
        Raises ValueError : other shapes, an item or annotator without a name, a label outside ``classes``,
        fewer than two classes.
        """
        columns = getattr(labels, "columns", labels if isinstance(labels, Mapping) else ())
        if set(COLUMNS) <= set(columns):
            long = [np.asarray(labels[name]) for name in COLUMNS]
            if len({column.shape for column in long}) > 1:
                raise ValueError("labels: the columns item, annotator and label must have the same length")
            for name, missing in zip(COLUMNS[:2], map(_gaps, long[:2]), strict=True):
                if missing.any():
                    row = f"row {missing.argmax()} has no {name}"
                    raise ValueError(f"labels: {row}; name it, or drop the row")
            here = ~_gaps(long[2])
            (items, item), (annotators, annotator) = map(_coded, COLUMNS[:2], long[:2])
            item, annotator = item[here], annotator[here]
            known, label = _coded("label", long[2][here])
        else:
            try:
                wide = np.asanyarray(labels)
            except ValueError:  # NumPy's message names neither the row nor the remedy
                lengths = [len(row) if isinstance(row, Sized) else 1 for row in labels]
                odd = next((i for i, length in enumerate(lengths) if length != lengths[0]), 0)
                uneven = f"labels: row {odd} has {lengths[odd]} entries, row 0 has {lengths[0]}"
                remedy = "give every row one entry per annotator, None where there is no label"
                raise ValueError(f"{uneven}; {remedy}") from None
            if wide.ndim != 2:
                rule = "expected an array (items, annotators) or the columns item, annotator and label"
                found = sorted(map(str, columns)) or f"the shape {wide.shape}"
                raise ValueError(f"labels: {rule}, got {found}")
            frame = hasattr(labels, "columns")
            items = np.asarray(labels.index) if frame else np.arange(len(wide))
            annotators = np.asarray(columns) if frame else np.arange(wide.shape[1])
            here = ~_gaps(wide)
            item, annotator = np.nonzero(here)
            known, label = _coded("label", np.asarray(wide)[here])
        if classes is not None:
            named = np.unique(np.asarray(classes))
            if len(outside := known[~np.isin(known, named)]):
                raise ValueError(f"labels: {outside[0]!s} is none of classes = {named.tolist()}")
            known, label = named, np.searchsorted(named, known)[label]
        if len(known) < 2:
            found = f"one class only, {known[0]!s}" if len(known) else "there are none"
            raise ValueError(f"labels: {found}; two are needed, name those that never occur: classes=[...]")
        return cls(item, annotator, label, items, annotators, known)

    def by_item(self, values: Floats) -> Floats:
        """Sums over the labels of each item: of (L,) values (n,), of (L, K) values (n, K)."""
        if values.ndim == 1:
            return np.asarray(np.bincount(self.item, values, len(self.items)), dtype=float)
        return np.column_stack([self.by_item(column) for column in values.T])

    def by_annotator(self, values: Floats) -> Floats:
        """Sums of (L,) values over the labels of each annotator: (W,)."""
        return np.asarray(np.bincount(self.annotator, values, len(self.annotators)), dtype=float)

    @cached_property
    def votes(self) -> Floats:
        """How many labels each item has of each class, (n, K)."""
        return self.by_item(np.eye(len(self.classes))[self.label])

    @property
    def shares(self) -> Floats:
        """`votes` divided by their sums, uniform where there are none."""
        total = self.votes.sum(axis=1, keepdims=True)
        return np.where(total > 0, self.votes / np.maximum(total, 1.0), 1.0 / len(self.classes))

    def confused(self, q: Floats) -> Floats:
        """Expected counts (W, K, K) of labels, by annotator, true class and label, at posteriors q (n, K)."""
        K, W = len(self.classes), len(self.annotators)
        cells = self.annotator * K + self.label
        sums = [np.bincount(cells, column[self.item], W * K).reshape(W, K) for column in q.T]
        return np.stack(sums, axis=1)


def _gaps(values: Any) -> NDArray[np.bool_]:
    if np.ma.isMaskedArray(values):
        return np.asarray(np.ma.getmaskarray(values) | _gaps(np.asarray(values)))
    if values.dtype.kind == "O":  # pandas' NA is neither equal to itself nor not
        missing = [v is None or type(v).__name__ == "NAType" or v != v for v in values.ravel()]
        return np.array(missing, dtype=bool).reshape(values.shape)
    return np.asarray(values != values)


def _coded(name: str, values: NDArray[Any]) -> tuple[NDArray[Any], Codes]:
    """The sorted different values, whole numbers as such, and the place of each value among them."""
    try:
        known, codes = np.unique(values, return_inverse=True)
    except TypeError:
        raise ValueError(f"{name}: must hold either text or numbers, not both") from None
    whole_numbers = known.dtype.kind == "f" and (known == np.floor(known)).all()
    return known.astype(np.int64) if whole_numbers else known, codes


def decided(q: Floats, rng: np.random.Generator) -> Codes:
    """The class with the largest q (n, K) of each row, ties by coins: (n,)."""
    largest = q == q.max(axis=1, keepdims=True)
    coin = np.ceil((1.0 - rng.random(len(q))) * largest.sum(axis=1))  # 1, ..., number of ties
    return np.asarray((largest.cumsum(axis=1) >= coin[:, np.newaxis]).argmax(axis=1))


class MajorityVote(BaseEstimator):
    """The most frequent label of each item; ties, and items without a label, by coins.

    classes : all of them, if some never occur.   random_state : of the coins.

    After `fit`: ``classes_`` (K,), ``items_`` (n,), ``annotators_`` (W,): names.   ``labels_`` (n,): the
    class of each item.   ``posterior_`` (n, K): here the shares of its labels.   ``confidence_`` (n,): that
    labels_ is right, here (votes + 1) / (labels + K).   ``confusion_`` (W, K, K): P(label k | class j) of
    annotators, ``accuracy_`` (W,): their shares of right labels, NaN if unknown.   ``notes_``: in words, what
    these labels cannot tell.
    """

    def __init__(self, classes: Any = None, random_state: Any = 0) -> None:
        self.classes = classes
        self.random_state = random_state

    def fit(self, labels: Any) -> Self:
        """Aggregate labels, see the top of this page; ValueError: other shapes, fewer than two classes."""
        data = Responses.of(labels, self.classes)
        self._found(data, data.shares)
        self.confidence_ = (data.votes.max(axis=1) + 1) / (data.votes + 1).sum(axis=1)
        return self

    def relabel_next(self, m: int) -> NDArray[Any]:
        """The names of the m items that need another label most: least confidence, then fewest labels."""
        check_is_fitted(self)
        order = np.lexsort([self._data.votes.sum(axis=1), self.confidence_.round(12)])
        return np.asarray(self.items_[order[: whole("m", m, 1)]])

    def _found(
        self, data: Responses, q: Floats, chosen: Codes | None = None, confusion: Floats | None = None
    ) -> Self:
        self._data, self.posterior_ = data, q
        self.items_, self.annotators_, self.classes_ = data.items, data.annotators, data.classes
        chosen = decided(q, generator(self.random_state)) if chosen is None else chosen
        self.labels_ = data.classes[chosen]
        self.confidence_ = q[np.arange(len(q)), chosen]
        counts = data.confused(q)
        with np.errstate(invalid="ignore"):  # 0 / 0
            rates = counts / counts.sum(axis=2, keepdims=True)
            self.accuracy_ = np.trace(counts, axis1=1, axis2=2) / counts.sum(axis=(1, 2))
        self.confusion_ = rates if confusion is None else confusion
        total, empty = data.votes.sum(axis=1), np.count_nonzero(data.votes.sum(axis=1) == 0)
        notes = {
            f"{empty} of {len(q)} items have no label": empty,
            "there is one annotator only, whom nobody contradicts": len(data.annotators) == 1,
            "no item has two labels: nothing is known of errors, and what a model finds is arbitrary; "
            "MajorityVote returns the labels as they are": total.max() < 2,
            "the labels of every item agree: errors are rare, or shared": total.max() > 1
            and (data.votes.max(axis=1) == total).all(),
            "not converged: raise max_iter": not getattr(self, "converged_", True),
        }
        self.notes_ = [note for note, applies in notes.items() if applies]
        return self


class DawidSkene(MajorityVote):
    """max prod_i sum_j pi_j prod_l C_w(l),j,label(l) by EM, over items i, true classes j and labels l of i.

    pi_j : share of class j.   C_wjk = P(annotator w says k | true class j), any rows that sum to 1.
    tol, max_iter : EM ends when no posterior moves by more than tol.
    smoothing : labels of each kind that every annotator is given beforehand, > 0, so that no rate is 0 or 1.
    EM starts at the shares of an item's labels: the majority of the annotators is taken to be right.

    Beside what `MajorityVote` lists: ``prior_`` (K,), pi; ``objectives_``, the log-likelihood with its
    smoothing before every round, which never falls; ``converged_``.
    Source: Dawid and Skene, Applied Statistics 28, 1979.
    """

    def __init__(
        self, classes: Any = None, tol: float = 1e-6, max_iter: int = 200, smoothing: float = 1e-6,
        random_state: Any = 0,
    ) -> None:  # fmt: skip
        super().__init__(classes, random_state)
        self.tol, self.max_iter, self.smoothing = tol, max_iter, smoothing

    def fit(self, labels: Any) -> Self:
        """EM on labels, see the top of this page; ValueError: see `MajorityVote.fit`, wrong parameters."""
        rounds, tol = whole("max_iter", self.max_iter, 1), number("tol", self.tol, least=0)
        little = number("smoothing", self.smoothing, above=0)
        data = self._data = Responses.of(labels, self.classes)
        q = data.shares
        self.objectives_: list[float] = []
        for _ in range(rounds):
            prior = (q.sum(axis=0) + little) / (len(q) + q.shape[1] * little)
            confusion = self._rates(data.confused(q) + little)
            joint = self._joint(prior, confusion)
            smoothing = little * (np.log(confusion).sum() + np.log(prior).sum())
            self.objectives_.append(float(logsumexp(joint, axis=1).sum() + smoothing))
            before, q = q, softmax(joint, axis=1)
            self.converged_ = bool(np.abs(q - before).max() <= tol)
            if self.converged_:
                break
        self.prior_ = prior
        return self._found(data, q, confusion=confusion)

    def intervals(
        self, level: float = 0.95, draws: int = 400, random_state: Any = 0
    ) -> tuple[Floats, Floats]:
        """Limits (low, high) of confusion_, (W, K, K) each, that hold a rate in ``level`` of the cases.

        Quantiles of a Gibbs sampler, true classes given rates and rates given true classes, from the estimate
        on: ``draws`` rounds after draws / 4 that are dropped. Jeffreys' prior, Dirichlet(1/2), on every row.
        A rate that less than half a label supports begins at 0; one that as little contradicts ends at 1.
        Memory: 8 draws W K^2 bytes. Raises ValueError : not fitted, level outside (0, 1), draws < 1.
        """
        check_is_fitted(self)
        tail = (1.0 - number("level", level, above=0, below=1)) / 2
        rng, draws = generator(random_state), whole("draws", draws, 1)
        q, kept = self.posterior_, []
        for done in range(-(draws // 4), draws):
            chosen = (q.cumsum(axis=1)[:, :-1] < rng.random((len(q), 1))).sum(axis=1)
            truth = np.eye(q.shape[1])[chosen]
            rates = self._drawn(self._data.confused(truth), rng).clip(TINY)
            q = softmax(self._joint(rng.dirichlet(truth.sum(axis=0) + 0.5).clip(TINY), rates), axis=1)
            if done >= 0:
                kept.append(rates)
        low, high = np.quantile(kept, [tail, 1.0 - tail], axis=0)
        labels = self._evidence(self._data.confused(self.posterior_))
        low[labels * self.confusion_ < 0.5] = 0.0
        high[labels * (1.0 - self.confusion_) < 0.5] = 1.0
        return low, high

    def _joint(self, prior: Floats, rates: Floats) -> Floats:
        """log P(true class j, labels of item i), (n, K)."""
        said = np.log(rates)[self._data.annotator, :, self._data.label]
        return np.asarray(np.log(prior) + self._data.by_item(said))

    def _rates(self, counts: Floats) -> Floats:
        """The most probable confusions at counts (W, K, K)."""
        return np.asarray(counts / counts.sum(axis=2, keepdims=True))

    def _drawn(self, counts: Floats, rng: np.random.Generator) -> Floats:
        """Confusions from their posterior at counts (W, K, K), Jeffreys' prior."""
        return self._rates(rng.standard_gamma(counts + 0.5).clip(TINY))

    def _evidence(self, counts: Floats) -> Floats:
        """How many labels each rate is a share of, to be broadcast to (W, K, K)."""
        return np.asarray(counts.sum(axis=2, keepdims=True))


class OneCoin(DawidSkene):
    """`DawidSkene` with one accuracy a_w per annotator: C_wjj = a_w, C_wjk = (1 - a_w) / (K - 1).

    For annotators with few labels each. As `DawidSkene`; the prior of the intervals is Beta(1/2, 1/2) on a_w.
    Source: Zhang, Chen, Zhou and Jordan, JMLR 17, 2016, Section 2.
    """

    def _rates(self, counts: Floats) -> Floats:
        right = np.trace(counts, axis1=1, axis2=2)
        return self._alike(right / counts.sum(axis=(1, 2)), counts.shape[1])

    def _drawn(self, counts: Floats, rng: np.random.Generator) -> Floats:
        right = np.trace(counts, axis1=1, axis2=2)
        return self._alike(rng.beta(right + 0.5, counts.sum(axis=(1, 2)) - right + 0.5), counts.shape[1])

    def _evidence(self, counts: Floats) -> Floats:
        K = counts.shape[1]
        return np.asarray(counts.sum(axis=(1, 2), keepdims=True) * np.where(np.eye(K, dtype=bool), 1, K - 1))

    @staticmethod
    def _alike(accuracy: Floats, K: int) -> Floats:
        a = accuracy[:, np.newaxis, np.newaxis]
        return np.where(np.eye(K, dtype=bool), a, (1.0 - a) / (K - 1))


class GLAD(MajorityVote):
    """P(label l is right) = sigma(a_w e^(b_i)), other classes alike; a, b ~ N(1, 1), uniform classes.

    a_w : ability of annotator w, negative if mostly wrong.   e^(b_i) : how easy item i is.
    The maximum of the posterior of (a, b), true classes summed out, by L-BFGS from a = b = 1.
    tol : of the gradient's largest entry.   max_iter : rounds.

    Beside what `MajorityVote` lists: ``ability_`` (W,), a; ``easiness_`` (n,), b; ``converged_``.
    Source: Whitehill, Ruvolo, Wu, Bergsma and Movellan, NIPS 2009; the priors are those of their program.
    """

    def __init__(
        self, classes: Any = None, tol: float = 1e-5, max_iter: int = 1000, random_state: Any = 0
    ) -> None:
        super().__init__(classes, random_state)
        self.tol, self.max_iter = tol, max_iter

    def fit(self, labels: Any) -> Self:
        """Fit labels, see the top of this page; ValueError: see `MajorityVote.fit`, wrong parameters."""
        data = Responses.of(labels, self.classes)
        W, K, n = len(data.annotators), len(data.classes), len(data.items)
        said = np.eye(K)[data.label]

        def joint(x: Floats) -> tuple[Floats, Floats, Floats]:
            a, ease = x[:W][data.annotator], np.exp(x[W:])[data.item]
            wrong = log_expit(-a * ease) - np.log(K - 1)  # right: a ease + log (K - 1) more
            right = said * (a * ease + np.log(K - 1))[:, np.newaxis]
            return a, ease, data.by_item(wrong)[:, np.newaxis] + data.by_item(right)

        def minus_log(x: Floats) -> tuple[float, Floats]:
            a, ease, f = joint(x)
            slope = softmax(f, axis=1)[data.item, data.label] - expit(a * ease)
            ascent = np.r_[data.by_annotator(slope * ease), data.by_item(slope * a * ease)] - (x - 1.0)
            return float(((x - 1.0) ** 2).sum() / 2 - logsumexp(f, axis=1).sum()), -ascent

        rounds, tol = whole("max_iter", self.max_iter, 1), number("tol", self.tol, least=0)
        x, _, _ = fmin_l_bfgs_b(
            minus_log, np.ones(W + n), pgtol=tol, factr=0.0, maxiter=rounds, maxfun=10**9, maxls=50
        )
        self.ability_, self.easiness_ = x[:W], x[W:]
        self.converged_ = bool(np.abs(minus_log(x)[1]).max() <= tol)
        return self._found(data, softmax(joint(x)[2], axis=1))


class CrowdLab(MajorityVote):
    """posterior_i ~ v p_i + sum_l u_w(l) h(label l), h(k) = P at class k and (1 - P) / (K - 1) elsewhere.

    p (n, K) : a classifier's probabilities, made without the labels of the row (cross-fitted).
    P : the share of labels that agree with the consensus, mean over the items with several.
    u_w : 1 - (share of other annotators' labels that disagree with w's) / e, at least 1e-6.
    v : 1 - (share of the consensus that p's best class misses) / e, at least 1e-6, times the root of the mean
    number of labels; e the share that the most frequent class misses. Errors are those on items with several
    labels. Two rounds: the consensus is the vote, ties by p; then the best class of the first round.

    Beside what `MajorityVote` lists: ``weight_`` (W,), u; ``model_weight_``, v; ``quality_`` (W,), ratings:
    r accuracy_ + (1 - r) agreement, r = v / (v + mean of u times the mean number of labels); agreement: the
    share of w's labels, on items with several, that are the consensus, NaN without any.
    Source: Goh, Tkachenko and Mueller, arXiv 2210.06812 (CROWDLAB), Section 3.
    """

    def fit(self, labels: Any, p: Any = None) -> Self:
        """Combine labels, see the top of this page, with p (n, K), rows in the order of items_.

        Raises ValueError : see `MajorityVote.fit`; p of another shape, or rows that are no probabilities; no
        item with two labels, which nothing could be weighed by.
        """
        data = Responses.of(labels, self.classes)
        shape, votes = (len(data.items), len(data.classes)), data.votes
        if p is None:
            raise ValueError("p: a classifier's probabilities are needed, (items, classes); else OneCoin")
        p = finite("p", p, shape)
        if p.min() < 0 or not np.allclose(p.sum(axis=1), 1.0):
            raise ValueError("p: rows must be probabilities that sum to 1")
        total = votes.sum(axis=1)
        if not (several := total > 1).any():
            raise ValueError("labels: no item has two labels, so nobody can be weighed; take MajorityVote")
        others = (total - 1)[data.item]
        alike, possible = data.by_annotator(votes[data.item, data.label] - 1), data.by_annotator(others)
        agree = np.where(possible > 0, alike / np.maximum(possible, 1), np.nan)
        agree = np.where(possible > 0, agree, np.nanmean(agree))  # nobody to compare with: the mean of all
        best = (votes == votes.max(axis=1, keepdims=True)) * (1.0 + p)
        chosen = decided(best, generator(self.random_state))
        for again in (True, False):
            with_it = votes[np.arange(len(votes)), chosen][several] / total[several]
            hit = float(with_it.mean())
            e = max(1.0 - np.bincount(chosen[several]).max() / several.sum(), LEAST)
            self.weight_ = np.maximum(1.0 - (1.0 - agree) / e, LEAST)
            wrong = float(np.mean(p.argmax(axis=1)[several] != chosen[several]))
            self.model_weight_ = max(1.0 - wrong / e, LEAST) * float(total.mean()) ** 0.5
            u = self.weight_[data.annotator][:, np.newaxis]
            h = np.where(np.eye(shape[1])[data.label] > 0, hit, (1.0 - hit) / (shape[1] - 1))
            mixed = self.model_weight_ * p + data.by_item(u * h)
            q = mixed / (self.model_weight_ + data.by_item(u[:, 0]))[:, np.newaxis]
            if again:
                chosen = (q + 1e-12 * np.eye(shape[1])[chosen]).argmax(axis=1)
        self._found(data, q, chosen=chosen)
        counted, right = several[data.item].astype(float), (data.label == chosen[data.item]).astype(float)
        with np.errstate(invalid="ignore"):  # 0 / 0
            alike = data.by_annotator(counted * right) / data.by_annotator(counted)
        r = self.model_weight_ / (self.model_weight_ + self.weight_.mean() * total.mean())
        self.quality_ = r * self.accuracy_ + (1.0 - r) * alike
        return self
