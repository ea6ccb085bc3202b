"""Linear classification by stochastic gradient descent with a robust (or any other) margin loss."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from noisylabels.bases.linear import LinearBinaryClassifier
from noisylabels.bases.random_state import generator
from noisylabels.losses.margin import Loss, resolve
from noisylabels.solvers import sgd
from noisylabels.solvers.sgd import Objective, as_rows, block_order, largest_square, permutation
from noisylabels.solvers.sgd_grid import Candidate, fit_models
from noisylabels.validation import choice, finite, flag, number, whole

AVERAGES = ("none", "epoch", "run")
BLOCKS = "blocks"


class RobustSGDClassifier(LinearBinaryClassifier):
    """min_w (1/n) sum_i r(y_i (x_i.w + b)) + lambda/2 ||(w, b)||^2 by w <- w - eta_t grad g_i(w).

    loss : name or `noisylabels.losses.margin.Loss`; "rgomp" and "smooth_ramp" are the paper's robust losses.
    lam : lambda >= 0.   epochs : passes over the data.
    schedule : name of a step-size rule, see `noisylabels.solvers.sgd`.
    eta0 : first step size; None: multiplier / (L max ||x||^2),
        for "constant" 1/(12 (L max ||x||^2 + lambda)),
        and for "bottou" the power of two that a search on 1000 rows finds (times the multiplier).
    average : "none", the last weights (option A); "epoch", every epoch ends at, and the next starts from, its
        mean (option B); "run", the mean over all steps from the second epoch on (ASGD; Polyak and
        Ruppert's average, scikit-learn's ``average=n + 1``).
    fit_intercept : add a constant feature 1, regularised like the others if ``regularise_intercept``.
    noise_rates : (rho+, rho-), the known flip rates of the second and of the first class; learns with the
        unbiased loss [(1 - rho_-y) r(z) - rho_y r(-z)] / (1 - rho+ - rho-) of Natarajan et al., NIPS 2013.
    shuffle : go through a copy of the rows in random order (`noisylabels.solvers.sgd.block_order`);
        "blocks": without a copy, in shuffled blocks of 64 neighbours, each block shuffled inside too, which
        is for `numpy.memmap`; else as given, without a copy.
    epoch_rows : of `partial_fit`, the rows of an epoch, by which step sizes and averages count.
        None: every call is an epoch, and the rows of the first one count for the step sizes.
    random_state : seed of the orders.

    Larger than memory: rows come as a `numpy.memmap` with ``shuffle="blocks"``, or chunk by chunk, as
    ``partial_fit(X, y, classes=...)`` for each (X, y) of `noisylabels.chunks`, with ``epoch_rows``
    the rows of the file and ``epochs`` times through it (`benchmarks/out_of_core.py` does so).
    An epoch is then the chunks in the order of the file, and each chunk in the order of its rows. SGD wants
    rows that come as if drawn at random: shuffle the file once, never sort it by class.

    Fitted: coef_ (1, d), intercept_ (1,), classes_ (2,), schedule_, t_ (steps done), n_iter_ (epochs done).
    Raises ValueError : labels that are not two classes, NaN or infinity, wrong parameters, eta0 lambda >= 1,
    weights that are no longer finite.
    Source: Han, Tsang, Chen, ECML PKDD 2016, Algorithm 1.
    """

    name = "robust_sgd"

    def __init__(
        self,
        loss: str | Loss = "rgomp",
        *,
        lam: float = 1e-4,
        epochs: int = 15,
        schedule: str = "warm_inv_epoch",
        multiplier: float = 1.0,
        eta0: float | None = None,
        average: str = "none",
        fit_intercept: bool = True,
        regularise_intercept: bool = True,
        noise_rates: tuple[float, float] | None = None,
        shuffle: bool | str = True,
        epoch_rows: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.loss = loss
        self.lam = lam
        self.epochs = epochs
        self.schedule = schedule
        self.multiplier = multiplier
        self.eta0 = eta0
        self.average = average
        self.fit_intercept = fit_intercept
        self.regularise_intercept = regularise_intercept
        self.noise_rates = noise_rates
        self.shuffle = shuffle
        self.epoch_rows = epoch_rows
        self.random_state = random_state

    def fit(self, X: Any, y: ArrayLike) -> RobustSGDClassifier:
        """``epochs`` passes over X (n, d), dense or CSR, and y (n,), from w = 0."""
        for _ in self.fit_epochs(X, y):
            pass
        return self

    def fit_epochs(self, X: Any, y: ArrayLike) -> Iterator[RobustSGDClassifier]:
        """`fit` that yields the classifier after each epoch, ready to predict: for error curves."""
        X, labels = self._checked(X, y, None, first=True)
        n = len(labels)
        self._start(X, labels, n)
        rng = generator(self.random_state)
        if self.shuffle and self.shuffle != BLOCKS:  # a copy: an epoch then reads blocks of neighbours
            base = permutation(n, rng)
            X, labels = X[base], labels[base]
        rows, given = as_rows(X), np.arange(n, dtype=np.uint32)
        for _ in range(self.epochs):
            self._pass(rows, labels, block_order(n, rng) if self.shuffle else given)
            yield self

    @classmethod
    def fit_grid(
        cls,
        X: Any,
        y: NDArray[np.float64],
        train: NDArray[np.integer[Any]],
        candidates: Sequence[Candidate],
        rng: np.random.Generator,
        *,
        epochs: int,
        schedule: str = "warm_inv_epoch",
        average: str = "none",
    ) -> NDArray[np.float64]:
        """Weights (d+1, M), the bias last, of a classifier for each candidate: for cross-validation.

        X (n, d), y (n,) of -1.0 and +1.0; train : the rows to learn from.
        See `fit_models`, which raises the errors.
        """
        return fit_models(
            X, y, train, candidates, rng, epochs=epochs, schedule_name=schedule, average=average
        )

    def partial_fit(self, X: Any, y: ArrayLike, classes: ArrayLike | None = None) -> RobustSGDClassifier:
        """One pass over X in the order given, from the current weights; ``classes`` is needed if y lacks one.

        The first call fixes the step sizes: its rows count as one epoch (or ``epoch_rows`` do), and their
        largest norm scales eta0. With ``epoch_rows`` and ``eta0`` the steps are the same whatever the chunks.
        """
        first = not hasattr(self, "t_")
        X, labels = self._checked(X, y, classes, first=first)
        if first:
            self._start(X, labels, self.epoch_rows or len(labels))
        rows, at = as_rows(X), 0
        while at < len(labels):
            done = self.t_ % self.epoch_rows if self.epoch_rows else 0
            left = self.epoch_rows - done if self.epoch_rows else len(labels)
            order = np.arange(at, min(at + left, len(labels)), dtype=np.uint32)
            at += len(order)
            self._pass(rows, labels, order, begins=done == 0, ends=not self.epoch_rows or len(order) == left)
        return self

    def objective(self, X: Any, y: ArrayLike) -> float:
        """G = (1/n) sum_i r(y_i f(x_i)) + lambda/2 ||(w, b)||^2 of the fitted weights;
        b only if regularised."""
        f = self.decision_function(X)
        signs = np.where(np.asarray(y) == self.classes_[1], 1.0, -1.0)
        square = (
            float(self.coef_[0] @ self.coef_[0]) + self.regularise_intercept * float(self.intercept_[0]) ** 2
        )
        return float(resolve(self.loss).value(signs * f).mean()) + 0.5 * self.lam * square

    def _checked_objective(self) -> Objective:
        loss = resolve(self.loss)
        number("lam", self.lam, least=0)
        choice("average", self.average, AVERAGES)
        choice("schedule", self.schedule, sgd.SCHEDULES)
        whole("epochs", self.epochs, 1)
        number("multiplier", self.multiplier, above=0)
        flag("fit_intercept", self.fit_intercept)
        flag("regularise_intercept", self.regularise_intercept)
        if not (isinstance(self.shuffle, str) and self.shuffle == BLOCKS):
            flag(f"shuffle, if not {BLOCKS!r}", self.shuffle)
        if self.epoch_rows is not None:
            whole("epoch_rows, if not None", self.epoch_rows, 1)
        if self.eta0 is not None:
            number("eta0, if not None", self.eta0, above=0)
        positive, negative = (1.0, 0.0), (1.0, 0.0)
        if self.noise_rates is not None:
            finite("noise_rates", self.noise_rates, (2,))
            up, down = self.noise_rates
            if not (0 <= up <= 1 and 0 <= down <= 1 and up + down < 1):
                raise ValueError(
                    f"noise_rates: must lie in [0, 1] and sum to less than 1, got ({up:g}, {down:g})"
                )
            left = 1.0 - up - down
            positive, negative = ((1 - down) / left, -up / left), ((1 - up) / left, -down / left)
        bias = float(self.fit_intercept)
        bias_lam = self.lam if self.regularise_intercept else 0.0
        return Objective(loss, float(self.lam), bias, float(bias_lam), positive, negative)

    def _start(self, X: Any, labels: NDArray[np.float64], n: int) -> None:
        """Weights, sums and step sizes of a new run with n rows in an epoch."""
        self._objective = self._checked_objective()
        loss = self._objective.loss
        d = X.shape[1]
        self._w, self._sum = np.zeros(d + 1), np.zeros(d + 1)
        self.t_ = self._summed = self.n_iter_ = 0
        eta0 = self.eta0
        if eta0 is None:
            size = largest_square(X) + self._objective.bias
            if self.schedule == "constant":
                eta0 = sgd.theorem_1_step(loss, size, self.lam)
            elif self.schedule == "bottou":
                eta0 = self.multiplier * sgd.searched_step(X, labels, self._objective)
            else:
                eta0 = sgd.scaled_step(self.multiplier, loss, size, self.lam)
        self.schedule_ = sgd.schedule(self.schedule, eta0, self.lam, n)

    def _pass(
        self,
        rows: Any,
        labels: NDArray[np.float64],
        order: NDArray[np.uint32],
        begins: bool = True,
        ends: bool = True,
    ) -> None:
        """An epoch, or a piece that begins or ends one; then coef_ and intercept_ are the weights that the
        averaging option tells: inside an epoch of "epoch" the last ones.
        """
        w, total = self._w, self._sum
        averaged = self.average == "epoch" or (self.average == "run" and self.n_iter_ > 0)
        if self.average == "epoch" and begins:
            total[:] = 0.0
            self._summed = 0
        sgd.epoch(rows, labels, order, w, total, averaged, self._objective, self.schedule_, self.t_)
        self.t_ += len(order)
        self.n_iter_ += ends
        if not np.isfinite(w).all():
            raise ValueError(
                f"the weights are not finite after epoch {max(self.n_iter_, 1)}: "
                f"eta0 = {self.schedule_.eta0:g} is too large "
                "for these data; give a smaller eta0 or multiplier, or scale the features"
            )
        self._summed += averaged * len(order)
        if self.average == "epoch" and ends:
            w[:] = total / self._summed
        learned = total / self._summed if averaged and self.average == "run" else w
        self.coef_ = learned[np.newaxis, :-1].copy()
        self.intercept_ = self._objective.bias * learned[-1:]
