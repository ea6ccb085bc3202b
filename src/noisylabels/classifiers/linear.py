"""Linear classifiers with margin losses: by SGD, by Pegasos and by LIBLINEAR."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, Literal, Self, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import log_softmax

from noisylabels.classifiers.base import LinearBinaryClassifier, Repeated, Weighted, as_counts
from noisylabels.losses.margin import Loss, resolve
from noisylabels.seeding import generator
from noisylabels.solvers import sgd
from noisylabels.validation import (
    Floats,
    check_labels,
    choice,
    finite,
    flag,
    nonnegative,
    number,
    refuse_other_index,
    whole,
)

BLOCKS = "blocks"
PIECE = 1 << 20  # number of rows that are drawn at a time
SMALLEST_LAM, LARGEST_LAM = 1e-15, 1e15  # range of lambda in which LIBLINEAR returns a solution


def _mean(values: Floats, shares: Floats | None) -> float:
    """Average values (n,) or (K, n) over n rows with these shares, by default equal ones."""
    if shares is None:
        return float(values.mean())
    return float(np.average(values, axis=-1, weights=shares).mean())


@dataclass(eq=False, repr=False)
class RobustSGDClassifier(Repeated, LinearBinaryClassifier):
    r"""Linear classifier with a robust margin loss, learned by stochastic gradient descent.

    With more than two classes the loss "log" has its softmax form. Other losses have none: each
    class is set against the rest, on the same rows in the same order with the same steps, and the
    largest decision value wins.

    Rows larger than memory come as a `numpy.memmap` with ``shuffle="blocks"``. Or `partial_fit`
    takes the chunks of `noisylabels.chunks` as often as ``epochs`` says, with ``epoch_rows`` the
    rows of the file; ``benchmarks/out_of_core.py`` does so. Rows of a chunk are then taken in their
    order. They must come as if drawn at random: shuffle the file once, never sort it by class.

    Parameters
    ----------
    loss : str or `noisylabels.losses.margin.Loss`, default "rgomp"
        "rgomp" and "smooth_ramp" are the paper's robust losses.
    class_weight : dict or "balanced", optional
        Weights of the classes, see `noisylabels.classifiers.base.Weighted`.
    lam : float, default 1e-4
        Regularisation, at least 0.
    epochs : int, default 15
        Passes over the rows.
    schedule : str, default "warm_inv_epoch"
        Rule of the step sizes, see `noisylabels.solvers.sgd`.
    multiplier : float, default 1.0
        Factor of the first step size where ``eta0`` is not given.
    eta0 : float, optional
        First step size. By default the multiplier over the largest squared norm of a row times the
        smoothness of the loss; for "constant" 1 / 12 of a bound, and for "bottou" what a search on
        1000 rows finds.
    average : {"none", "epoch", "run"}, default "none"
        Use the last weights (option A); end each epoch at the mean of its steps, where the next
        begins (option B); or use the mean over all steps from the second epoch on (Polyak and
        Ruppert).
    fit_intercept : bool, default True
        Add a constant feature 1.
    regularise_intercept : bool, default True
        Whether that feature is regularised like the others.
    noise_rates : pair of float, optional
        Known flip rates of the second and of the first class, for the unbiased loss of Natarajan et
        al.
    shuffle : bool or "blocks", default True
        Go through a copy of the rows in random order. "blocks" goes through shuffled blocks of 64
        neighbours without a copy, for `numpy.memmap`. False takes the rows as given.
    epoch_rows : int, optional
        Rows of an epoch for `partial_fit`, by which step sizes and averages count. By default every
        call is an epoch, and the rows of the first one count for the step sizes.
    random_state : int or numpy.random.Generator, optional
        Seed of the orders.

    Attributes
    ----------
    coef_ : ndarray (1, d), or (K, d) for more than two classes
    intercept_ : ndarray (1,) or (K,)
    classes_ : ndarray (K,)
    schedule_ : `noisylabels.solvers.sgd.Schedule`
        The step sizes.
    t_ : int
        Steps done.
    n_iter_ : int
        Epochs done.

    Raises
    ------
    ValueError
        If labels are of one class, features are NaN or infinite, a parameter is out of range,
        ``eta0 * lam`` is at least 1, or weights are no longer finite.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from noisylabels import RobustSGDClassifier
    >>> X, y = make_moons(200, noise=0.2, random_state=0)
    >>> model = RobustSGDClassifier(random_state=0).fit(X, y)
    >>> bool(model.score(X, y) > 0.8)
    True

    Notes
    -----
    The steps :math:`w \leftarrow w - \eta_t \nabla g_i(w)` minimise :math:`\tfrac1n \sum_i r(y_i
    (x_i \cdot w + b)) + \tfrac\lambda2 \lVert (w, b) \rVert^2`. For K classes the softmax form is
    :math:`\tfrac1n \sum_i -\log s_{y_i}(f(x_i)) + \lambda \sum_k \lVert w_k \rVert^2`, which for
    two classes is the one above. With flip rates :math:`\rho_+, \rho_-` the loss is :math:`[(1 -
    \rho_{-y}) r(z) - \rho_y r(-z)] / (1 - \rho_+ - \rho_-)`.

    References
    ----------
    Han, Tsang and Chen (2016), On the convergence of a family of robust losses for stochastic
    gradient descent, ECML PKDD, Algorithm 1.

    Natarajan et al. (2013), Learning with noisy labels, NIPS.
    """

    name = "robust_sgd"
    MULTICLASS: ClassVar[bool] = True

    loss: str | Loss = "rgomp"
    _: KW_ONLY
    lam: float = 1e-4
    epochs: int = 15
    schedule: sgd.ScheduleName = "warm_inv_epoch"
    multiplier: float = 1.0
    eta0: float | None = None
    average: sgd.Average = "none"
    fit_intercept: bool = True
    regularise_intercept: bool = True
    noise_rates: tuple[float, float] | None = None
    shuffle: bool | str = True
    epoch_rows: int | None = None
    random_state: Any = None

    def fit(
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
    ) -> RobustSGDClassifier:
        """Run all epochs over samples and labels, from weights of zero.

        Parameters
        ----------
        X : ndarray or CSR matrix of shape (n, d)
            Samples.
        y : array_like of shape (n,)
            Labels.
        sample_weight : array_like of shape (n,), optional
            Weights of the samples, at least 0, see `noisylabels.classifiers.base.Weighted`.

        Returns
        -------
        RobustSGDClassifier
            The classifier.
        """
        for _ in self.fit_epochs(X, y, sample_weight):
            pass
        return self

    def fit_epochs(
        self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> Iterator[RobustSGDClassifier]:
        """Fit, and yield the classifier after each epoch, ready to predict, for error curves.

        Parameters
        ----------
        X : ndarray or CSR matrix of shape (n, d)
            Samples.
        y : array_like of shape (n,)
            Labels.
        sample_weight : array_like of shape (n,), optional
            Weights of the samples, at least 0, see `noisylabels.classifiers.base.Weighted`.

        Yields
        ------
        RobustSGDClassifier
            The same classifier each time.
        """
        X, labels, _ = self._checked(X, y, sample_weight=sample_weight)
        n = X.shape[0]
        self._start(X, labels, n)
        rng = generator(self.random_state)
        if self.shuffle and self.shuffle != BLOCKS:
            base = sgd.permutation(n, rng)
            X = X[base]  # in this copy, an epoch reads neighbouring blocks
            labels = labels[..., base]
        rows = sgd.as_rows(X)
        order = np.arange(n, dtype=np.uint32)
        for _ in range(self.epochs):
            if self.shuffle:
                order = sgd.block_order(n, rng)
            self._pass(rows, labels, order)
            self._decide_constants(labels)
            yield self

    @staticmethod
    def fit_grid(
        X: Any,
        y: Floats,
        train: NDArray[np.integer[Any]],
        candidates: Sequence[sgd.Candidate],
        rng: np.random.Generator,
        *,
        epochs: int,
        schedule: sgd.ScheduleName = "warm_inv_epoch",
        average: sgd.Average = "none",
    ) -> Floats:
        """Fit the weights of all points of a grid, with one pass for each epoch.

        It does what `noisylabels.solvers.sgd.fit_models` does.

        Parameters
        ----------
        X : ndarray or CSR matrix of shape (n, d)
            The rows.
        y : ndarray of shape (n,)
            Labels, -1.0 and +1.0.
        train : ndarray of integers
            Numbers of the rows to learn from, which are not copied.
        candidates : sequence of `noisylabels.solvers.sgd.Candidate`
            The M points of the grid.
        rng : numpy.random.Generator
            Source of the orders.
        epochs : int
            Number of passes.
        schedule : str, default "warm_inv_epoch"
            Rule of the step sizes.
        average : {"none", "epoch", "run"}, default "none"
            Over which steps the weights are averaged.

        Returns
        -------
        ndarray of shape (d + 1, M)
            The weights of each model, the bias last.

        Raises
        ------
        ValueError
            If the losses are of different classes, or the schedule chooses its own first step.
        """
        return sgd.fit_models(
            X,
            y,
            train,
            candidates,
            rng,
            epochs=epochs,
            schedule=schedule,
            average=average,
        )

    def partial_fit(
        self,
        X: Any,
        y: ArrayLike,
        classes: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Go over the rows once in their order, from the current weights.

        The first call fixes the step sizes: its rows count as one epoch (or ``epoch_rows`` do), and
        their largest norm scales eta0. With ``epoch_rows`` and ``eta0`` the steps are the same
        whatever the chunks.

        Parameters
        ----------
        X : ndarray or CSR matrix of shape (n, d)
            Samples.
        y : array_like of shape (n,)
            Labels.
        classes : array_like of shape (K,), optional
            All classes, for the first call; needed if its labels lack one.
        sample_weight : array_like of shape (n,), optional
            Weights of the samples, at least 0, see `noisylabels.classifiers.base.Weighted`.

        Returns
        -------
        RobustSGDClassifier
            The classifier.

        Raises
        ------
        ValueError
            If labels are outside the classes of the first call, ``class_weight`` is "balanced",
            which needs all rows, or weights are no longer finite.
        """
        first = not hasattr(self, "t_")
        X, labels, _ = self._checked(X, y, classes, self._part(first), sample_weight)
        n = X.shape[0]
        if first:
            self._start(X, labels, self.epoch_rows or n)
        rows = sgd.as_rows(X)
        start = 0
        while start < n:
            done = self.t_ % self.epoch_rows if self.epoch_rows else 0
            remaining = self.epoch_rows - done if self.epoch_rows else n
            order = np.arange(start, min(start + remaining, n), dtype=np.uint32)
            start += len(order)
            ends = not self.epoch_rows or len(order) == remaining
            self._pass(rows, labels, order, begins=done == 0, ends=ends)
        return self

    def objective(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        r"""Compute the objective of the fitted weights on samples and labels.

        ``noise_rates`` and ``class_weight`` enter as in the fit.

        Parameters
        ----------
        X : ndarray or CSR matrix of shape (n, d)
            Samples.
        y : array_like of shape (n,)
            Labels.
        sample_weight : array_like of shape (n,), optional
            Weights of the samples, at least 0. Only their ratios matter here.

        Returns
        -------
        float
            The mean loss and the penalty.

        Raises
        ------
        ValueError
            If there is not one label for each sample, a label is not one of the classes, or all
            weights are zero.

        Notes
        -----
        It is :math:`\tfrac1n \sum_i r(y_i f(x_i)) + \tfrac\lambda2 \lVert (w, b) \rVert^2`, with b
        only if it is regularised. For more than two classes it is the sum of the K problems, or
        with the loss "log" :math:`\tfrac1n \sum_i -\log s_{y_i}(f(x_i)) + \lambda \sum_k \lVert w_k
        \rVert^2`. With weights :math:`a_i` the mean is :math:`\sum_i a_i r_i / \sum_i a_i`. With
        ``noise_rates`` the loss is the unbiased one.
        """
        if hasattr(X, "loc"):
            refuse_other_index(X, y, sample_weight=sample_weight)
        f = self.decision_function(X)
        labels = self._numbered(y, len(f))
        shares = self._shares(labels, sample_weight)
        several = len(self.coef_) > 1
        bias = self.regularise_intercept * self.intercept_
        square_of_weights = (self.coef_**2).sum()
        square = float(square_of_weights + bias @ bias)
        if several and self._link():
            rows = np.arange(len(labels))
            log_probabilities = log_softmax(f, axis=1)
            log_probability = log_probabilities[rows, labels]
            return float(-_mean(log_probability, shares)) + self.lam * square
        if several:
            class_numbers = np.arange(len(self.classes_))
            is_positive = labels == class_numbers[:, np.newaxis]
        else:
            is_positive = labels == 1
        signs = np.where(is_positive, 1.0, -1.0)
        scores = signs * f.T
        losses = resolve(self.loss).value(scores)
        if self.noise_rates is not None:
            losses = self._unbiased(losses, scores, is_positive)
        total = _mean(losses, shares) * len(self.coef_)
        penalty = 0.5 * self.lam * square
        return float(total) + penalty

    def _numbered(self, y: ArrayLike, n: int) -> NDArray[np.intp]:
        """Number the classes of n labels."""
        y = np.asarray(check_labels("y", y))
        if y.shape != (n,):
            raise ValueError(f"y: one label for each of the {n} samples is needed, got {y.shape}")
        if not np.isin(y, self.classes_).all():
            names = self.classes_.tolist()
            raise ValueError(f"y has labels outside the classes of fit, {names}")
        return np.searchsorted(self.classes_, y)

    def _shares(self, labels: NDArray[np.intp], sample_weight: ArrayLike | None) -> Floats | None:
        """Compute the share of each sample in all weights; None if nothing is weighted."""
        if sample_weight is None and self.class_weight is None:
            return None
        a = np.ones(len(labels))
        if sample_weight is not None:
            a = as_counts(nonnegative("sample_weight", sample_weight, (len(labels),)))
        sums = np.bincount(labels, a, len(self.classes_)).astype(float)
        class_weights = self._class_weights(sums)
        a = a * class_weights[labels]
        if not a.any():
            raise ValueError("sample_weight: the weights of all samples are zero")
        return np.asarray(a / a.sum())

    def _unbiased(self, losses: Floats, scores: Floats, is_positive: NDArray[np.bool_]) -> Floats:
        """Compute the losses that flips at the known rates make the plain ones on average."""
        objective = self._checked_objective()
        opposite = objective.loss.value(-scores)
        factors = np.where(is_positive[:, np.newaxis], objective.positive, objective.negative)
        return np.asarray(factors[:, 0] * losses + factors[:, 1] * opposite)

    def _checked_objective(self) -> sgd.Objective:
        loss = resolve(self.loss)
        number("lam", self.lam, least=0)
        choice("average", self.average, get_args(sgd.Average))
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
        positive = (1.0, 0.0)
        negative = (1.0, 0.0)
        if self.noise_rates is not None:
            if len(self.classes_) > 2:
                raise ValueError("noise_rates: the two flip rates of two classes; y has more")
            finite("noise_rates", self.noise_rates, (2,))
            second, first = self.noise_rates
            if not (0 <= second <= 1 and 0 <= first <= 1 and second + first < 1):
                rule = "noise_rates: must lie in [0, 1] and sum to less than 1"
                raise ValueError(f"{rule}, got ({second:g}, {first:g})")
            unflipped = 1.0 - second - first
            positive = ((1 - first) / unflipped, -second / unflipped)
            negative = ((1 - second) / unflipped, -first / unflipped)
        bias = float(self.fit_intercept)
        bias_lam = self.lam if self.regularise_intercept else 0.0
        return sgd.Objective(loss, float(self.lam), bias, float(bias_lam), positive, negative)

    def _start(self, X: Any, labels: Floats, n: int) -> None:
        """Begin a run with n rows in an epoch: set weights, sums and step sizes."""
        self._objective = self._checked_objective()
        signs = np.atleast_2d(labels)
        self._w, self._sum = np.zeros((2, len(signs), X.shape[1] + 1))
        self.t_ = self._summed = self.n_iter_ = 0
        eta0 = self.eta0
        if eta0 is None:
            options = (self.schedule, self.multiplier, X)
            eta0 = min(sgd.first_step(*options, s, self._objective) for s in signs)
        self.schedule_ = sgd.schedule(self.schedule, eta0, self.lam, n)

    def _grow(self, d: int) -> None:
        """Widen the weights to rows of d entries; the new ones were 0 in all rows before."""
        old_d = self.n_features_in_
        further = np.zeros((len(self._w), d - old_d))
        self._w = np.insert(self._w, [old_d], further, axis=1)
        self._sum = np.insert(self._sum, [old_d], further, axis=1)
        self.coef_ = np.append(self.coef_, further, axis=1)
        self.n_features_in_ = d

    def _pass(
        self,
        rows: Any,
        labels: Floats,
        order: NDArray[np.uint32],
        begins: bool = True,
        ends: bool = True,
    ) -> None:
        """Run an epoch, or the steps at its beginning or end.

        Then coef_ and intercept_ are the weights that the averaging option defines: inside an
        epoch of "epoch" the last ones.
        """
        w = self._w
        total = self._sum
        objective = self._objective
        steps = self.schedule_
        averaged = self.average == "epoch" or (self.average == "run" and self.n_iter_ > 0)
        if self.average == "epoch" and begins:
            total[:] = 0.0
            self._summed = 0
        if labels.ndim > 1 and self._link():
            terms = (objective.lam, objective.bias, objective.bias_lam)
            y = labels.argmax(axis=0)
            sgd.softmax_epoch(rows, y, order, w, total, averaged, terms, steps, self.t_)
        else:
            for s, w_k, total_k in zip(np.atleast_2d(labels), w, total, strict=True):
                sgd.epoch(rows, s, order, w_k, total_k, averaged, objective, steps, self.t_)
        self.t_ += len(order)
        self.n_iter_ += ends
        if not np.isfinite(w).all():
            raise ValueError(
                f"the weights are not finite after epoch {max(self.n_iter_, 1)}: "
                f"eta0 = {steps.eta0:g} is too large "
                "for these data; give a smaller eta0 or multiplier, or scale the features"
            )
        self._summed += averaged * len(order)
        if self.average == "epoch" and ends:
            w[:] = total / self._summed
        if averaged and self.average == "run":
            learned = total / self._summed
        else:
            learned = w
        self.coef_ = learned[:, :-1].copy()
        self.intercept_ = objective.bias * learned[:, -1]


@dataclass(eq=False, repr=False)
class LiblinearClassifier(Weighted, LinearBinaryClassifier):
    r"""Linear support vector machine by LIBLINEAR, with the options of Han, Tsang and Chen.

    Parameters
    ----------
    lam : float, default 1e-4
        Regularisation, from 1e-15 to 1e15; far beyond, LIBLINEAR returns zero weights or never
        returns.
    class_weight : dict or "balanced", optional
        Weights of the classes, see `noisylabels.classifiers.base.Weighted`.
    loss : {"squared_hinge", "hinge"}, default "squared_hinge"
        The hinge loss without the square is solved in the dual only (option ``-s 3``).
    dual : bool, default False
        Coordinate descent in the dual (``-s 1 -e 0.1``), else a trust region in the primal (``-s 2
        -e 0.01``). Both have a regularised constant feature (``-B 1``).
    max_iter : int, default 1000
        Most iterations.
    random_state : int or numpy.random.Generator, optional
        Seed of the orders of the dual; the primal does not use it.

    Attributes
    ----------
    coef_ : ndarray (1, d)
    intercept_ : ndarray (1,)
    classes_ : ndarray (2,)
    n_iter_ : int
        Iterations done.

    Raises
    ------
    ValueError
        If lam is out of range, labels are not of two classes, the loss is unknown, or "hinge" is
        requested in the primal.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from noisylabels import LiblinearClassifier
    >>> X, y = make_moons(200, noise=0.2, random_state=0)
    >>> model = LiblinearClassifier().fit(X, y)
    >>> bool(model.score(X, y) > 0.8)
    True

    Notes
    -----
    The fit minimises :math:`\tfrac12 \lVert (w, b) \rVert^2 + C \sum_i \max(0, 1 - y_i (x_i \cdot w
    + b))^2` with :math:`C = 1 / (\lambda n)`.

    References
    ----------
    Fan et al. (2008), LIBLINEAR, JMLR 9.

    Han, Tsang and Chen (2016), On the convergence of a family of robust losses for stochastic
    gradient descent, ECML PKDD, Section 5.1.
    """

    name = "liblinear"

    lam: float = 1e-4
    _: KW_ONLY
    loss: Literal["squared_hinge", "hinge"] = "squared_hinge"
    dual: bool = False
    max_iter: int = 1000
    random_state: Any = None

    def fit(
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
    ) -> LiblinearClassifier:
        """Fit the classifier to samples and labels.

        Parameters
        ----------
        X : ndarray or CSR matrix of shape (n, d)
            Samples.
        y : array_like of shape (n,)
            Labels of two classes.
        sample_weight : array_like of shape (n,), optional
            Weights of the samples, at least 0; only their ratios count.

        Returns
        -------
        LiblinearClassifier
            The classifier.
        """
        from sklearn.svm import LinearSVC

        lam = number("lam", self.lam, least=SMALLEST_LAM, most=LARGEST_LAM)
        choice("loss", self.loss, ("squared_hinge", "hinge"))
        flag("dual", self.dual)
        whole("max_iter", self.max_iter, 1, 2**31 - 1)
        if self.loss == "hinge" and not self.dual:
            reason = "LIBLINEAR solves the hinge loss in the dual only"
            raise ValueError(f"loss: {reason}: add dual=True")
        X, labels, a = self._checked(X, y, sample_weight=sample_weight)
        size = len(labels) if a is None else a.sum()
        tolerance = 0.1 if self.dual else 0.01
        if a is not None and not self.dual:
            # LIBLINEAR multiplies by the share of rows of the rarer class, not of their weights.
            is_positive = labels > 0
            is_negative = labels < 0
            share = min(a[is_positive].sum(), a[is_negative].sum()) / size
            share_of_rows = min(is_positive.sum(), is_negative.sum()) / len(labels)
            tolerance *= share / share_of_rows
        solver = LinearSVC(
            loss=self.loss,
            dual=self.dual,
            tol=tolerance,
            C=1.0 / (lam * size),
            max_iter=self.max_iter,
            random_state=self.random_state,
        )
        solver.fit(X, labels, a)
        self.coef_ = solver.coef_
        self.intercept_ = solver.intercept_
        self.n_iter_ = solver.n_iter_
        return self


@dataclass(eq=False, repr=False)
class PegasosClassifier(Repeated, LinearBinaryClassifier):
    r"""Linear support vector machine by stochastic subgradient steps on rows drawn at random.

    Rows larger than memory come as a `numpy.memmap`, which `fit` reads in place, row by drawn row.
    Or `partial_fit` takes chunks, see `noisylabels.chunks`, and draws as many rows from each as it
    has. An epoch is then the chunks in the order of the file, with a random sample inside each:
    shuffle the file once.

    Parameters
    ----------
    lam : float, default 1e-4
        Regularisation, above 0.
    class_weight : dict or "balanced", optional
        Weights of the classes, see `noisylabels.classifiers.base.Weighted`.
    project : bool, default True
        Shrink the weights to norm :math:`1 / \sqrt\lambda` after a step, where they are longer.
    max_passes : float, optional, default 100
        The run takes ``min(max(ceil(10 / lam), n), max_passes * n)`` steps; None means no cap. Han
        et al. say 10 / lam "epochs", at lam = 1e-6 ten million passes over the data; we read steps.
    fit_intercept : bool, default True
        Add a constant feature 1, regularised like the others.
    random_state : int or numpy.random.Generator, optional
        Seed of the draws.

    Attributes
    ----------
    coef_ : ndarray (1, d)
    intercept_ : ndarray (1,)
    classes_ : ndarray (2,)
    t_ : int
        Steps done.

    Raises
    ------
    ValueError
        If labels are not of two classes, features are NaN or infinite, or a parameter is out of
        range.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from noisylabels import PegasosClassifier
    >>> X, y = make_moons(200, noise=0.2, random_state=0)
    >>> model = PegasosClassifier(random_state=0).fit(X, y)
    >>> bool(model.score(X, y) > 0.8)
    True

    Notes
    -----
    Step t draws row i and takes :math:`w \leftarrow (1 - \eta_t \lambda) w + \eta_t y_i x_i 1[z_i <
    1]` with :math:`\eta_t = 1 / (\lambda t)` and the margin :math:`z_i = y_i x_i \cdot w`.

    References
    ----------
    Shalev-Shwartz, Singer, Srebro and Cotter (2011), Pegasos, Mathematical Programming 127.
    """

    name = "pegasos"

    lam: float = 1e-4
    _: KW_ONLY
    project: bool = True
    max_passes: float | None = 100
    fit_intercept: bool = True
    random_state: Any = None

    def fit(
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
    ) -> PegasosClassifier:
        """Take all steps on rows drawn at random, from weights of zero.

        Parameters
        ----------
        X : ndarray or CSR matrix of shape (n, d)
            Samples.
        y : array_like of shape (n,)
            Labels of two classes.
        sample_weight : array_like of shape (n,), optional
            Weights of the samples, at least 0, see `noisylabels.classifiers.base.Weighted`.

        Returns
        -------
        PegasosClassifier
            The classifier.
        """
        self._check_parameters()
        X, labels, _ = self._checked(X, y, sample_weight=sample_weight)
        n = len(labels)
        steps = max(math.ceil(10.0 / float(self.lam)), n)
        if self.max_passes is not None:
            steps = min(steps, math.ceil(float(self.max_passes) * n))
        self._start(X.shape[1])
        self._walk(X, labels, steps)
        self._decide_constants(labels)
        return self

    def partial_fit(
        self,
        X: Any,
        y: ArrayLike,
        classes: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Take as many steps as there are rows, each on a row drawn at random.

        Parameters
        ----------
        X : ndarray or CSR matrix of shape (n, d)
            Samples.
        y : array_like of shape (n,)
            Labels of two classes.
        classes : array_like of shape (2,), optional
            Both classes, for the first call; needed if its labels lack one.
        sample_weight : array_like of shape (n,), optional
            Weights of the samples, at least 0, see `noisylabels.classifiers.base.Weighted`. Rows
            are repeated by their weights before the steps are counted.

        Returns
        -------
        PegasosClassifier
            The classifier.

        Raises
        ------
        ValueError
            If labels are outside the classes of the first call, or ``class_weight`` is "balanced",
            which needs all rows.
        """
        first = not hasattr(self, "t_")
        self._check_parameters()
        X, labels, _ = self._checked(X, y, classes, self._part(first), sample_weight)
        if first:
            self._start(X.shape[1])
        return self._walk(X, labels, len(labels))

    def _check_parameters(self) -> None:
        number("lam", self.lam, above=0)
        flag("project", self.project)
        flag("fit_intercept", self.fit_intercept)
        if self.max_passes is not None:
            number("max_passes, if not None", self.max_passes, above=0)

    def _start(self, d: int) -> None:
        """Begin a run: set w, b, their squared norm, the number of steps, and the draws."""
        self._state = np.zeros(d + 3)
        self._rng = generator(self.random_state)
        self.t_ = 0

    def _grow(self, d: int) -> None:
        """Widen the weights to rows of d entries; the new ones were 0 in all rows before."""
        old_d = self.n_features_in_
        further = np.zeros(d - old_d)
        self._state = np.insert(self._state, [old_d], further)
        self.coef_ = np.append(self.coef_, further[np.newaxis], axis=1)
        self.n_features_in_ = d

    def _walk(self, X: Any, labels: Floats, steps: int) -> Self:
        """Take steps on rows of X."""
        rows = sgd.as_rows(X)
        state = self._state
        lam = float(self.lam)
        constant = float(self.fit_intercept)
        end = self.t_ + steps
        while self.t_ < end:
            size = min(PIECE, end - self.t_)
            order = self._rng.integers(len(labels), size=size, dtype=np.uint32)
            sgd.pegasos(rows, labels, order, state, lam, self.project, constant)
            self.t_ += len(order)
        self.coef_ = state[np.newaxis, :-3].copy()
        self.intercept_ = constant * state[-3:-2]
        return self
