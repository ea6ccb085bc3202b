"""ORS: online regression that scales every example by the noise of its label.

The loops run eight filters side by side on shared rows, or a few filters on a sliding window in
blocks of 16 rounds. Sums stay in registers (`fixed_order.load`): in memory they cost half of the
speed at d = 20.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from noisylabels.compilation import compile_kernel
from noisylabels.filters.base import PASS, Filter, NoisySequence, Rows, Side, window_starts
from noisylabels.fixed_order.lanes import (
    LANES,
    add,
    dot,
    energy,
    fma,
    fold,
    load,
    ratio,
    splat,
    spread,
    store,
)
from noisylabels.fixed_order.linear_algebra import put
from noisylabels.validation import Floats, Ints, choice, number

Labels = tuple[Floats, Floats, Floats, Floats]  # clean label y_t, label 1, label 2 and variance v_t
WINDOW_TAPS = 64  # number of taps from which sliding windows are filtered in blocks
BLOCK = 16  # rounds of one block of the sliding window
TILE = 512  # taps that stay in the fastest cache while a block uses them
REFRESH = 4096  # rounds after which the lag products are computed exactly again
QUIET = 1e-3  # share of its past maximum below which the energy requires exact lag products, too
CLEAN, ONE, MEAN, VARIANCE, SPREAD = range(5)
"""Columns of ``shown`` (n, 5), which holds what the rounds show.

Columns of ``shown``, (n, 5): y_t, label 1, mean of labels 1 and 2, v_t, (label 1 - label 2)^2 / 4.
"""


class Rule(NamedTuple):
    """Hold what one variant puts into the step. The compiled loops take an array (12, 8) of them.

    Attributes
    ----------
    label_clean : float
        Weight of the clean label in the label of the step. One of three weights is 1, the others
        are 0.
    label_one : float
        Weight of label 1 in it.
    label_mean : float
        Weight of the mean of labels 1 and 2 in it.
    ybar_clean : float
        Weight of the clean label in the estimate of the signal; again one of three is 1.
    ybar_one : float
        Weight of label 1 in it.
    ybar_mean : float
        Weight of the mean of labels 1 and 2 in it.
    delta : float
        Weight of the squared difference of that label and the prediction: 1/4 where the estimate
        lies half way between them.
    v : float
        Weight of the known noise variance in the estimate of the noise.
    e : float
        Weight of the squared error in it.
    spread : float
        Weight in it of a quarter of the squared difference of the two labels.
    r : float
        Regularisation of `ORS`.
    beta : float
        Strength of the fixed weighting of `ORS`.
    """

    label_clean: float = 0.0
    label_one: float = 0.0
    label_mean: float = 0.0
    ybar_clean: float = 0.0
    ybar_one: float = 0.0
    ybar_mean: float = 0.0
    delta: float = 1.0
    v: float = 0.0
    e: float = 0.0
    spread: float = 0.0
    r: float = 0.0
    beta: float = 0.0


VariantName = Literal[
    "clean", "noisy", "beta", "opt", "one", "one_pred", "two", "one_pred_u", "two_u", "two_noisy"
]


class Variant(NamedTuple):
    """Hold one line of the table of variants.

    Attributes
    ----------
    rule : Rule
        What the variant puts into the step.
    needs : tuple of str
        Side information that it needs.
    """

    rule: Rule
    needs: tuple[str, ...] = ()


_CLEAN, _ONE, _MEAN = ({f"label_{name}": 1.0} for name in ("clean", "one", "mean"))
_YBAR_CLEAN, _YBAR_ONE, _YBAR_MEAN = ({f"ybar_{name}": 1.0} for name in ("clean", "one", "mean"))

VARIANTS: dict[VariantName, Variant] = {
    "clean": Variant(Rule(**_CLEAN, **_YBAR_CLEAN), ("clean",)),
    "noisy": Variant(Rule(**_ONE, **_YBAR_ONE)),
    "beta": Variant(Rule(**_ONE, **_YBAR_ONE), ("v",)),
    "opt": Variant(Rule(**_ONE, **_YBAR_CLEAN, v=1.0), ("v", "clean")),
    "one": Variant(Rule(**_ONE, **_YBAR_ONE, v=1.0), ("v",)),
    "one_pred": Variant(Rule(**_ONE, **_YBAR_ONE, delta=1 / 4, v=1.0), ("v",)),
    "two": Variant(Rule(**_MEAN, **_YBAR_MEAN, v=1 / 2), ("v", "second")),
    "one_pred_u": Variant(Rule(**_ONE, **_YBAR_ONE, delta=1 / 4, e=1 / 4)),
    "two_u": Variant(Rule(**_MEAN, **_YBAR_MEAN, spread=1.0), ("second",)),
    "two_noisy": Variant(Rule(**_MEAN, **_YBAR_MEAN), ("second",)),
}
"""Variants of ORS by the paper's names, as in its Section 3.

The table of the paper's Section 3 (`two_noisy` is ours, a control). vbar = 0 means no scaling.
"""


class ORS(Filter):
    r"""Trust a noisy label only as far as its noise allows.

    In each round the filter predicts, sees a noisy label and moves its weights towards it. The step
    shrinks when the expected label noise is large compared with the squared prediction error.

    Parameters
    ----------
    variant : str, default "one_pred"
        How the step estimates signal and noise, by the paper's names. "one", "one_pred", "two",
        "beta" and "opt" know the noise variance; "one_pred_u" and "two_u" do not; "noisy",
        "two_noisy" and "clean" never shrink the step.
    r : float, default 1.0
        Regularisation, at least 0, in units of a row's squared norm. Larger values make smaller
        steps.
    beta : float, optional
        Strength of the fixed weighting, at least 0, in units of 1 / variance. Only for
        ``variant="beta"``, which needs it.
    two_variance : {"half", "full"}, default "half"
        Noise variance assumed for the mean of two labels: half of one label's variance, which the
        derivation needs, or all of it. The paper does not say.

    Raises
    ------
    ValueError
        If a parameter is out of range or out of place, or `run` lacks the variances or labels that
        the variant needs.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels import ORS
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(2000, 5))
    >>> target = X @ np.arange(5.0)
    >>> variance = rng.uniform(0, 5, size=2000)
    >>> labels = target + rng.normal(size=2000) * np.sqrt(variance)
    >>> prediction = ORS("one_pred", r=10).run(X, labels, v=variance)
    >>> round(float(np.mean((prediction - target)[-500:] ** 2)), 2)
    0.24

    Notes
    -----
    :math:`w_t = w_{t-1} + g_t e_t x_t / (r + \lVert x_t \rVert^2)` with
    :math:`g_t = \delta_t^2 / (\delta_t^2 + \bar v_t)`, :math:`e_t = label - w_{t-1} \cdot x_t` and
    :math:`\delta_t = \bar y_t - w_{t-1} \cdot x_t`; ``VARIANTS`` says which label, :math:`\bar y_t`
    and :math:`\bar v_t`. It is the paper's step (4) with
    :math:`r_t = r + (r + \lVert x_t \rVert^2) \bar v_t / \delta_t^2`, in the form that never
    divides by :math:`\delta_t`. For "beta":
    :math:`w_t = w_{t-1} + e_t x_t / (r (1 + \beta v_t) + \lVert x_t \rVert^2)`.

    `run` takes ``v`` for beta, opt, one, one_pred and two, ``second`` for two, two_u and two_noisy,
    and ``clean`` for clean and opt. "one_pred_u" is not adaptive: its :math:`g_t` is 1/2 in every
    round. It equals NLMS with a half step; what it gains over "noisy" at the same r is the smaller
    step.

    References
    ----------
    Moroshko and Crammer (2017), Online Regression with Controlled Label Noise Rate, ECML PKDD,
    Section 3.
    """

    name = "ors"

    def __init__(
        self,
        variant: VariantName = "one_pred",
        r: float = 1.0,
        beta: float | None = None,
        two_variance: Literal["half", "full"] = "half",
    ) -> None:
        choice("variant", variant, VARIANTS)
        if (beta is not None) != (variant == "beta"):
            raise ValueError(
                f"beta: {'needed by' if beta is None else 'has no meaning for'} variant {variant!r}"
            )
        choice("two_variance", two_variance, ("half", "full"))
        self.variant = variant
        self.r = number("r", r, least=0)
        if beta is None:
            self.beta = None
        else:
            self.beta = number("beta", beta, least=0)
        self.two_variance = two_variance

    def _rule(self) -> Floats:
        """Write the variant's `Rule` as (12,) numbers for the compiled loops."""
        rule = VARIANTS[self.variant].rule
        if self.variant == "two" and self.two_variance == "full":
            v = 1.0
        else:
            v = rule.v
        values = rule._replace(v=v, r=self.r, beta=self.beta or 0.0)
        return np.array(values)

    def _labels(self, y: Floats, side: Side) -> Labels:
        """Collect the arguments of `_look` that the variant needs; the others are 0."""
        zero = np.zeros(len(y))
        values = []
        needs = VARIANTS[self.variant].needs
        meanings = {"clean": "clean label", "second": "second label", "v": "noise variance"}
        for name, meaning in meanings.items():
            if name in needs:
                value = getattr(side, name)
            else:
                value = zero
            if value is None:
                advice = PASS.replace("v=", f"{name}=")
                raise ValueError(
                    f"{name}: variant {self.variant!r} needs the {meaning} of every row; {advice}"
                )
            values.append(value)
        return values[0], y, values[1], values[2]

    def _learn(self, rows: Rows, w: Floats, y: Floats, yhat: Floats, side: Side) -> None:
        labels = self._labels(y, side)
        rules = _rules([self], [0])
        if rows.reversed and rows.d >= WINDOW_TAPS and self.r > 0:
            bounds = np.array([0, rows.n])
            _windows(rows, labels, rules, w[None, :], bounds, yhat[None, :])
        else:
            shown = np.zeros((rows.n, 5))
            _look(labels, 0, shown)
            _run_rows(rows.flat, rows.step, shown, rules, w, yhat)

    @classmethod
    def losses(cls, filters: Sequence[Filter], data: NoisySequence, windows: int) -> Floats:
        """Compute the losses of many ORS filters, which share the data, the window and its energy.

        Parameters
        ----------
        filters : sequence of ORS
            Each starts from w = 0 and is left as it was.
        data : NoisySequence
            The sequence.
        windows : int
            Number of windows of equal length. The last one takes the remainder.

        Returns
        -------
        ndarray of shape (len(filters), windows)
            Mean of (prediction - clean target) squared.

        Raises
        ------
        ValueError
            If a filter is not an ORS, or a variant needs a second label that the data lack.
        """
        members = [f for f in filters if isinstance(f, ORS)]
        if len(members) != len(filters):
            raise ValueError("filters: ORS.losses needs ORS filters only")
        second = min(1, data.labels.shape[1] - 1)
        for f in members:
            if second == 0 and "second" in VARIANTS[f.variant].needs:
                raise ValueError(f"labels: variant {f.variant!r} needs a second column")
        last_row = len(data)
        first_rows = window_starts(last_row, windows)
        bounds = np.append(first_rows, last_row)
        rows = data.rows
        result = np.empty((len(members), windows))
        blocks = [rows.reversed and rows.d >= WINDOW_TAPS and f.r > 0 for f in members]
        first_labels = np.ascontiguousarray(data.labels[:, 0])
        second_labels = np.ascontiguousarray(data.labels[:, second])
        labels = (data.y, first_labels, second_labels, data.v)
        in_blocks = [i for i, block in enumerate(blocks) if block]
        for group in _groups(in_blocks, 4):
            weights_shape = (1 if len(group) == 1 else 4, rows.d)
            w = np.zeros(weights_shape)
            rules = _rules(members, group)
            nothing = w[:, :0].copy()
            losses = _windows(rows, labels, rules, w, bounds, nothing)
            result[group] = losses[: len(group)]
        shown = np.zeros((0 if all(blocks) else len(data), 5))
        _look(labels, 0, shown)
        by_rows = [i for i, block in enumerate(blocks) if not block]
        for group in _groups(by_rows, LANES):
            losses = np.empty((LANES, windows))
            rules = _rules(members, group)
            _losses_rows(rows.flat, rows.step, rows.d, shown, rules, bounds, losses)
            result[group] = losses[: len(group)]
        return result


def _groups(members: list[int], size: int) -> list[list[int]]:
    return [members[i : i + size] for i in range(0, len(members), size)]


def _rules(filters: Sequence[ORS], group: list[int]) -> Floats:
    """Stack the rules of a group as columns (12, 8), of which the last one is repeated."""
    columns = [filters[i]._rule() for i in group]
    missing = LANES - len(columns)
    return np.column_stack(columns + columns[-1:] * missing)


def _windows(
    rows: Rows, labels: Labels, rules: Floats, w: Floats, bounds: NDArray[np.int64], yhat: Floats
) -> Floats:
    """Run 1 or 4 filters on a sliding window, update their weights w, and return the losses."""
    D = -(-rows.d // BLOCK) * BLOCK
    # filters at addresses that differ by a power of two would compete for the cache
    padded = _aligned(len(w), D + 3 * LANES)
    padded[:, : rows.d] = w
    length = rows.n + D + 2 * BLOCK
    s = _aligned(length)
    signal = rows.flat
    s[: len(signal)] = signal
    windows = len(bounds) - 1
    losses = np.empty((LANES, windows))
    columns = tuple(np.ascontiguousarray(column) for column in labels)
    _run_windows(s, rows.d, columns, rules, padded, bounds, losses, yhat)
    w[:] = padded[:, : rows.d]
    return losses


def _aligned(*shape: int) -> Floats:
    """Allocate zeros whose first element begins a cache line of 64 bytes."""
    size = int(np.prod(shape))
    raw = np.zeros(size + LANES)
    start = -raw.ctypes.data // raw.itemsize % LANES
    return raw[start : start + size].reshape(shape)


@compile_kernel()
def _look(labels: Any, t: int, shown: Floats) -> None:
    """Fill ``shown`` with what the next rounds show.

    shown[i] = what round t+i shows. labels: y_t, label 1, label 2 and v_t, four arrays (n,).
    """
    clean, first, second, v = labels
    rounds = min(len(shown), len(clean) - t)
    for i in range(rounds):
        y1 = first[t + i]
        y2 = second[t + i]
        shown[i, CLEAN] = clean[t + i]
        shown[i, ONE] = y1
        shown[i, MEAN] = (y1 + y2) / 2
        shown[i, VARIANCE] = v[t + i]
        difference = y1 - y2
        shown[i, SPREAD] = difference**2 / 4


@compile_kernel(forceinline=True)
def coefficient(rules: Floats, shown: Floats, X: float, yhat: Any) -> Any:
    """Compute by how much of the row the weights of eight filters move.

    Parameters
    ----------
    rules : ndarray of shape (12, 8)
        A column for each filter, see `Rule`.
    shown : ndarray of shape (5,)
        What the round shows: clean label, label 1, mean label, variance, spread of the labels.
    X : float
        Squared norm of the row.
    yhat : vector of eight doubles
        Prediction of each filter.

    Returns
    -------
    vector of eight doubles
        c of each filter.

    Notes
    -----
    w_t = w_{t-1} + c_t x_t with c = g e / (r (1 + beta v) + X) and g = delta^2 / (delta^2 + vbar).
    Nothing is divided by alpha or delta: 0/0 in g is 1, and a step with r = X = 0 is skipped.
    """
    clean = splat(shown[CLEAN])
    label_one = splat(shown[ONE])
    mean = splat(shown[MEAN])
    v = splat(shown[VARIANCE])
    label_clean = load(rules, 0)
    label_of_one = load(rules, 8)
    label_mean = load(rules, 16)
    label = label_clean * clean + label_of_one * label_one + label_mean * mean
    e = label - yhat
    ybar_clean = load(rules, 24)
    ybar_one = load(rules, 32)
    ybar_mean = load(rules, 40)
    ybar = ybar_clean * clean + ybar_one * label_one + ybar_mean * mean
    delta = ybar - yhat
    share_of_delta = load(rules, 48)
    square = share_of_delta * delta * delta
    weight_of_v = load(rules, 56)
    weight_of_e = load(rules, 64)
    weight_of_spread = load(rules, 72)
    spread_of_labels = splat(shown[SPREAD])
    noise_of_spread = weight_of_spread * spread_of_labels
    weighted_error = weight_of_e * e * e
    vbar = weight_of_v * v + weighted_error + noise_of_spread
    r = load(rules, 80)
    beta = load(rules, 88)
    weighting = beta * v + splat(1.0)
    size = r * weighting + splat(X)
    g = ratio(square, square + vbar, splat(1.0))
    inverse = ratio(splat(1.0), size, splat(0.0))
    return g * e * inverse


@compile_kernel()
def _run_rows(x: Floats, step: int, shown: Floats, rules: Floats, w: Floats, yhat: Floats) -> None:
    """Run the first filter row by row.

    The first filter, row by row: the definition.
    """
    c = np.empty(LANES)
    for t in range(len(yhat)):
        start = t * step
        yhat[t] = dot(x, start, w)
        X = energy(x, start, len(w))
        prediction = splat(yhat[t])
        step_size = coefficient(rules, shown[t], X, prediction)
        store(c, 0, step_size)
        add(w, c[0], x, start)


@compile_kernel()
def _losses_rows(
    x: Floats, step: int, d: int, shown: Floats, rules: Floats, bounds: Ints, losses: Floats
) -> None:
    """Run eight filters side by side, and average the squared errors of each window.

    Eight filters side by side: losses[f, i] = mean of (yhat_t - y_t)^2 for bounds[i] <= t <
    bounds[i+1].

    The update of round t-1 and the prediction of round t share one pass over the taps.
    """
    w = np.zeros((d, LANES))
    total = np.zeros(LANES)
    c = splat(0.0)
    old = x[:d]
    for i in range(len(bounds) - 1):
        loss = splat(0.0)
        for t in range(bounds[i], bounds[i + 1]):
            start = t * step
            new = x[start : start + d]
            yhat = _update_and_predict(w, c, old, new)
            X = energy(x, start, d)
            c = coefficient(rules, shown[t], X, yhat)
            clean = splat(shown[t, CLEAN])
            error = yhat - clean
            loss = loss + error * error
            old = new
        store(total, 0, loss)
        rounds = bounds[i + 1] - bounds[i]
        put(losses[:, i], total / rounds)


@compile_kernel(forceinline=True)
def _update_and_predict(w: Floats, c: Any, old: Floats, new: Floats) -> Any:
    """Update the weights of eight filters, and predict the next row in the same pass.

    Eight filters at once: w[k] += c old[k]; returns sum_k w[k] new[k] in four partial sums; w (d,
    8).
    """
    d = len(w)
    t0 = splat(0.0)
    t1 = splat(0.0)
    t2 = splat(0.0)
    t3 = splat(0.0)
    fours = d & -4
    for k in range(0, fours, 4):
        w0 = _moved(w, c, old, k)
        w1 = _moved(w, c, old, k + 1)
        w2 = _moved(w, c, old, k + 2)
        w3 = _moved(w, c, old, k + 3)
        x0 = spread(new, k)
        t0 = fma(w0, x0, t0)
        x1 = spread(new, k + 1)
        t1 = fma(w1, x1, t1)
        x2 = spread(new, k + 2)
        t2 = fma(w2, x2, t2)
        x3 = spread(new, k + 3)
        t3 = fma(w3, x3, t3)
    for k in range(fours, d):
        w0 = _moved(w, c, old, k)
        t0 = fma(w0, spread(new, k), t0)
    return (t0 + t1) + (t2 + t3)


@compile_kernel(forceinline=True)
def _moved(w: Floats, c: Any, old: Floats, k: int) -> Any:
    weights = load(w, k * LANES)
    step = spread(old, k)
    moved = fma(c, step, weights)
    store(w, k * LANES, moved)
    return moved


@compile_kernel()
def _run_windows(
    s: Floats,
    d: int,
    labels: Any,
    rules: Floats,
    w: Floats,
    bounds: Ints,
    losses: Floats,
    yhat: Floats,
) -> None:
    """Run 1 or 4 filters on a sliding window in blocks of 16 rounds.

    1 or 4 filters on a sliding window, x_t = s[t : t+d], in blocks of 16 rounds; else as
    `_run_rows`.

    With w fixed at the start of a block at t, and G_l(t) = x_t.x_{t+l}:
        yhat_{t+i} = w.x_{t+i} + sum_{j<i} c_{t+j} G_{i-j}(t+j),
        w_new = w + sum_j c_{t+j} x_{t+j}.
    w: (F, D or more), D is d rounded up to 16, zero beyond d.  s: n + D + 32 samples.  labels: see
    `_look`.
    rules: (12, 8), the first F columns count.  losses: (8, windows), as in `_losses_rows`.
    yhat: (F, n), or (F, 0) where predictions are not wanted.
    """
    F = len(w)
    n = bounds[-1]
    shown = np.zeros((BLOCK, 5))
    G = np.zeros((BLOCK, BLOCK))
    lags = np.zeros(BLOCK)
    sums = np.zeros((F, BLOCK, LANES))
    p = np.zeros((BLOCK, LANES))
    c = np.zeros((BLOCK, LANES))
    loss = np.zeros(LANES)
    window = 0
    refreshed = -REFRESH
    highest = 0.0
    for t in range(0, n, BLOCK):
        first = max(t - BLOCK, 0)
        _advance(w, d, c, s, first, sums, t)
        if t - refreshed >= REFRESH:
            refreshed = t
            highest = 0.0
            _exact_lags(s, d, t, lags)
        _lag_products(lags, s, t, d, G)
        low = G[:, 0].min()
        high = G[:, 0].max()
        highest = max(highest, high)
        if low < QUIET * highest:
            refreshed = t
            highest = _exact_block(s, d, t, lags, G)
        _look(labels, t, shown)
        _step_block(rules, shown, G, sums, p, c)
        left = min(BLOCK, n - t)
        i = 0
        c[left:] = 0.0
        while i < left:
            last = bounds[window + 1]
            stop = min(last - t, left)
            for f in range(F):
                for j in range(i, stop):
                    error = p[j, f] - shown[j, CLEAN]
                    loss[f] += error**2
            if t + stop == last:
                rounds = last - bounds[window]
                put(losses[:, window], loss / rounds)
                loss[:] = 0.0
                window += 1
            i = stop
        if yhat.shape[1]:
            for f in range(F):
                end = t + left
                put(yhat[f, t:end], p[:left, f])
    begin_of_last = (n - 1) // BLOCK * BLOCK
    _advance(w, d, c, s, begin_of_last, sums, n)


@compile_kernel()
def _step_block(
    rules: Floats,
    shown: Floats,
    G: Floats,
    sums: Floats,
    p: Floats,
    c: Floats,
) -> None:
    """Compute predictions and coefficients of a block of 16 rounds, for up to 8 filters.

    p[i] = yhat_{t+i} and c[i] = c_{t+i} of F <= 8 filters, i = 0..15; rules (12, 8), p and c (16,
    8).

    yhat_{t+i} = sum of the eight numbers sums[f, i] + sum_{j<i} c[j] G[j, i-j], the energy is G[i,
    0].
    """
    p[:] = 0.0
    for f in range(len(sums)):
        for i in range(BLOCK):
            offset = (f * BLOCK + i) * LANES
            p[i, f] = fold(load(sums, offset))
    for i in range(BLOCK):
        X = 0.0
        energy_of_row = G[i, 0]
        if energy_of_row > 0:
            X = energy_of_row
        prediction = load(p, i * LANES)
        step = coefficient(rules, shown[i], X, prediction)
        store(c, i * LANES, step)
        for j in range(i + 1, BLOCK):
            lag_product = splat(G[i, j - i])
            later = load(p, j * LANES)
            step_vector = fma(step, lag_product, later)
            store(p, j * LANES, step_vector)


@compile_kernel()
def _lag_products(lags: Floats, s: Floats, t: int, d: int, G: Floats) -> None:
    """Move the lag products forward by one block of rounds.

    G[j] = lags, then lags[i] += s[t+j+d] s[t+j+d+i] - s[t+j] s[t+j+i], j = 0..15; lags (16,), G
    (16, 16).

    One round takes one product out and one in: from lags[i] = x_t.x_{t+i} to the same of t+1.
    """
    for j in range(BLOCK):
        leaves = -s[t + j]
        enters = s[t + j + d]
        for i in range(BLOCK):
            G[j, i] = lags[i]
            entering_pair = s[t + j + d + i]
            lag = fma(enters, entering_pair, lags[i])
            leaving_pair = s[t + j + i]
            lags[i] = fma(leaves, leaving_pair, lag)


@compile_kernel()
def _advance(w: Floats, d: int, c: Floats, s: Floats, old: int, sums: Floats, new: int) -> None:
    """Update the weights by the last block, and multiply them by the rows of the next block.

    w += sum_j c_j x_{old+j}; sums[f, j] = w_f.x_{new+j} in 8 partial sums. Once over the taps.

    Every other block goes from the last tile to the first: it begins with the taps still in the
    cache.
    """
    F = len(w)
    D = (d + BLOCK - 1) // BLOCK * BLOCK
    sums[:] = 0.0
    tiles = (D + TILE - 1) // TILE
    lags_of_one = BLOCK if F == 1 else 0  # pairs of filters run in another loop
    for i in range(tiles):
        forwards = new // BLOCK % 2
        tile = i if forwards else tiles - 1 - i
        start = TILE * tile
        last_tap = start + TILE
        stop = min(last_tap, D)
        for lag in range(0, lags_of_one, LANES):
            steps = c[lag : lag + LANES, 0]
            _add_windows(w[0], steps, s, old + lag, start, stop)
        for f in range(0, F - 1, 2):
            v = w[f]
            u = w[f + 1]
            for lag in range(0, LANES, 2):
                steps_of_v = c[lag:, f]
                steps_of_u = c[lag:, f + 1]
                _add_pair(v, u, steps_of_v, steps_of_u, s, old + lag, start, stop)
        first_beyond = max(d, start)
        w[:, first_beyond:stop] = 0.0  # taps beyond d exist only because d is rounded up
        for lag in range(0, lags_of_one, LANES):
            sums_of_lags = sums[0, lag:]
            _dot_windows(w[0], sums_of_lags, s, new + lag, start, stop)
        for f in range(0, F - 1, 2):
            v = w[f]
            u = w[f + 1]
            for lag in range(0, LANES, 2):
                sums_of_v = sums[f, lag:]
                sums_of_u = sums[f + 1, lag:]
                _dot_pair(v, u, sums_of_v, sums_of_u, s, new + lag, start, stop)


@compile_kernel(forceinline=True)
def _add_windows(w: Floats, c: Floats, s: Floats, offset: int, start: int, stop: int) -> None:
    """Add eight shifted windows to the weights of one filter.

    w[k] += sum c[i] s[at+i+k], start <= k < stop, over the lags i = 0..7; both are multiples of 8.
    """
    c0 = splat(c[0])
    c1 = splat(c[1])
    c2 = splat(c[2])
    c3 = splat(c[3])
    c4 = splat(c[4])
    c5 = splat(c[5])
    c6 = splat(c[6])
    c7 = splat(c[7])
    for k in range(start, stop, LANES):
        x = offset + k
        lag0 = load(s, x)
        lag1 = load(s, x + 1)
        weights = load(w, k)
        total = fma(c0, lag0, weights)
        total = fma(c1, lag1, total)
        lag2 = load(s, x + 2)
        lag3 = load(s, x + 3)
        total = fma(c2, lag2, total)
        total = fma(c3, lag3, total)
        lag4 = load(s, x + 4)
        lag5 = load(s, x + 5)
        total = fma(c4, lag4, total)
        total = fma(c5, lag5, total)
        lag6 = load(s, x + 6)
        lag7 = load(s, x + 7)
        total = fma(c6, lag6, total)
        total = fma(c7, lag7, total)
        store(w, k, total)


@compile_kernel(forceinline=True)
def _add_pair(
    v: Floats, w: Floats, c: Floats, d: Floats, s: Floats, offset: int, start: int, stop: int
) -> None:
    """Add four shifted windows to the weights of two filters.

    `_add_windows` of two filters v, w with the coefficients c, d over the lags 0, 1, 8 and 9.

    Lag i+8 at tap k is lag i at tap k+8, so each window is loaded once.
    """
    c0 = splat(c[0])
    c1 = splat(c[1])
    c8 = splat(c[8])
    c9 = splat(c[9])
    d0 = splat(d[0])
    d1 = splat(d[1])
    d8 = splat(d[8])
    d9 = splat(d[9])
    x0 = load(s, offset + start)
    x1 = load(s, offset + start + 1)
    for k in range(start, stop, LANES):
        x8 = load(s, offset + k + 8)
        x9 = load(s, offset + k + 9)
        total = load(v, k)
        total = fma(c0, x0, total)
        total = fma(c1, x1, total)
        total = fma(c8, x8, total)
        total = fma(c9, x9, total)
        store(v, k, total)
        total = load(w, k)
        total = fma(d0, x0, total)
        total = fma(d1, x1, total)
        total = fma(d8, x8, total)
        total = fma(d9, x9, total)
        store(w, k, total)
        x0 = x8
        x1 = x9


@compile_kernel(forceinline=True)
def _dot_windows(w: Floats, sums: Floats, s: Floats, offset: int, start: int, stop: int) -> None:
    """Multiply the weights of one filter by eight shifted windows.

    sums[i] += w.x_{at+i} over start <= k < stop for the lags i = 0..7, in 8 partial sums each.
    """
    t0 = load(sums, 0)
    t1 = load(sums, 8)
    t2 = load(sums, 16)
    t3 = load(sums, 24)
    t4 = load(sums, 32)
    t5 = load(sums, 40)
    t6 = load(sums, 48)
    t7 = load(sums, 56)
    for k in range(start, stop, LANES):
        taps = load(w, k)
        x = offset + k
        lag0 = load(s, x)
        t0 = fma(taps, lag0, t0)
        lag1 = load(s, x + 1)
        t1 = fma(taps, lag1, t1)
        lag2 = load(s, x + 2)
        t2 = fma(taps, lag2, t2)
        lag3 = load(s, x + 3)
        t3 = fma(taps, lag3, t3)
        lag4 = load(s, x + 4)
        t4 = fma(taps, lag4, t4)
        lag5 = load(s, x + 5)
        t5 = fma(taps, lag5, t5)
        lag6 = load(s, x + 6)
        t6 = fma(taps, lag6, t6)
        lag7 = load(s, x + 7)
        t7 = fma(taps, lag7, t7)
    for i, total in enumerate((t0, t1, t2, t3, t4, t5, t6, t7)):
        store(sums, i * LANES, total)


@compile_kernel(forceinline=True)
def _dot_pair(
    v: Floats, w: Floats, p: Floats, q: Floats, s: Floats, offset: int, start: int, stop: int
) -> None:
    """Multiply the weights of two filters by four shifted windows.

    `_dot_windows` of two filters v, w with the sums p, q over the lags 0, 1, 8 and 9.
    """
    p0 = load(p, 0)
    p1 = load(p, 8)
    p8 = load(p, 64)
    p9 = load(p, 72)
    q0 = load(q, 0)
    q1 = load(q, 8)
    q8 = load(q, 64)
    q9 = load(q, 72)
    x0 = load(s, offset + start)
    x1 = load(s, offset + start + 1)
    for k in range(start, stop, LANES):
        x8 = load(s, offset + k + 8)
        x9 = load(s, offset + k + 9)
        taps_of_v = load(v, k)
        taps_of_w = load(w, k)
        p0 = fma(taps_of_v, x0, p0)
        p1 = fma(taps_of_v, x1, p1)
        p8 = fma(taps_of_v, x8, p8)
        p9 = fma(taps_of_v, x9, p9)
        q0 = fma(taps_of_w, x0, q0)
        q1 = fma(taps_of_w, x1, q1)
        q8 = fma(taps_of_w, x8, q8)
        q9 = fma(taps_of_w, x9, q9)
        x0 = x8
        x1 = x9
    for sums, totals in (p, (p0, p1, p8, p9)), (q, (q0, q1, q8, q9)):
        for i, total in zip((0, 8, 64, 72), totals):  # noqa: B905 - compiled
            store(sums, i, total)


@compile_kernel()
def _exact_lags(s: Floats, d: int, t: int, lags: Floats) -> None:
    """Compute the lag products exactly.

    lags[l] = x_t.x_{t+l}, free of the errors of `_lag_products`: those of the loudest past.
    """
    for lag in range(BLOCK):
        row = s[t : t + d]
        lags[lag] = dot(s, t + lag, row)


@compile_kernel()
def _exact_block(s: Floats, d: int, t: int, lags: Floats, G: Floats) -> Any:
    """Compute all of G exactly, and the lags for the next block; return the last energy."""
    for j in range(BLOCK):
        _exact_lags(s, d, t + j, lags)
        put(G[j], lags)
    _exact_lags(s, d, t + BLOCK, lags)
    return G[-1, 0]
