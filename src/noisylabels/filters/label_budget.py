"""Label budgets: which rounds get several labels if B labels a round can be paid for on average."""

from __future__ import annotations

import math
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from noisylabels.compilation import compile_kernel
from noisylabels.filters.base import Rows, Sliding
from noisylabels.filters.ors import MEAN, ONE, ORS, SPREAD, VariantName, coefficient
from noisylabels.fixed_order.lanes import LANES, add, dot, energy, splat, store
from noisylabels.validation import Floats, choice, finite, flag, number

STRATEGIES = ("const", "begin", "auto", "self_tuned")
VARIANCES = ("mean_var", "biased", "unbiased")
_CONST, _BEGIN, _AUTO, _SELF_TUNED = range(4)

PERIOD = 100  # rounds between two adjustments of the threshold a
SLACK = 0.95  # share of the budget at which the self-tuned strategy aims
SMALLEST, LARGEST = 2.0**-60, 2.0**60  # smallest and largest threshold a


class BudgetResult(NamedTuple):
    """What one run cost, in errors and in labels.

    Attributes
    ----------
    loss : ndarray of shape (T,)
        Squared error of each prediction, against the clean target.
    used : ndarray of int, shape (T,)
        Number of labels bought in each round.
    a : ndarray of shape (T // 100,)
        The threshold after every 100 rounds. Only "self_tuned" changes it; it is 1 where a strategy
        has none.
    """

    loss: Floats
    used: NDArray[np.int64]
    a: Floats


def run_budget(
    X: ArrayLike | Sliding,
    y: ArrayLike,
    labels: ArrayLike,
    *,
    r: float,
    B: float,
    strategy: str,
    scaling: bool,
    variance: Literal["mean_var", "biased", "unbiased"] = "mean_var",
    a: float | None = None,
    uniforms: ArrayLike | None = None,
) -> BudgetResult:
    r"""Run a filter that buys one or several labels a round within a budget.

    Every round buys 1 or k labels, where k is B rounded up. The step takes their mean as its label.

    Parameters
    ----------
    X : array_like of shape (T, d) or `noisylabels.filters.base.Sliding`
        The rows.
    y : array_like of shape (T,)
        The clean target, for the errors.
    labels : array_like of shape (T, K)
        Noisy labels, with K at least k. A round that buys 1 label takes the first column.
    r : float
        Regularisation, at least 0, in units of a row's squared norm.
    B : float
        Number of labels a round that can be paid for on average, at least 1.
    strategy : {"const", "begin", "auto", "self_tuned"}
        Which rounds buy k labels:

        - "const": each round with the same probability p.
        - "begin": the first T p rounds.
        - "auto": the more the first label of a round differs from the prediction, measured by the
          threshold a, the likelier. If B is whole, each round.
        - "self_tuned": as "auto" with a of 1 at first. After every 100 rounds a is doubled if more
          than 0.95 B labels a round were bought so far, else halved. It stays from ``2**-60`` to
          ``2**60``.

        With B of 1 each round buys one label.
    scaling : bool
        Whether the step shrinks with the estimated noise. With one label it is then half a step, as
        of `noisylabels.ORS` with the variant "one_pred_u".
    variance : {"mean_var", "biased", "unbiased"}, default "mean_var"
        Estimate of the noise of k labels. "mean_var" is the variance of their mean. "biased" and
        "unbiased" are the variance of the labels, with the divisor k or k - 1.
    a : float, optional
        Threshold of "auto", above 0, in squared units of the labels, see `tune_a`. The other
        strategies do not read it.
    uniforms : array_like of shape (T,), optional
        Random numbers in [0, 1), one a round; all strategies but "begin" need them.

    Returns
    -------
    BudgetResult
        Errors, labels bought and thresholds.

    Raises
    ------
    ValueError
        If a parameter is out of range or an array of the wrong shape, there are fewer than k
        columns of labels, or "auto" lacks its threshold or a strategy its random numbers.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels.filters.label_budget import run_budget
    >>> options = {"r": 1, "B": 1.5, "strategy": "begin", "scaling": False}
    >>> result = run_budget(np.ones((4, 1)), np.ones(4), np.ones((4, 2)), **options)
    >>> result.used.tolist(), result.loss.tolist()
    ([2, 2, 1, 1], [1.0, 0.25, 0.0625, 0.015625])

    Notes
    -----
    The update is :math:`w_t = w_{t-1} + g_t (m_t - \hat y_t) x_t / (r + \lVert x_t \rVert^2)` with
    the mean :math:`m_t` of the labels :math:`\tilde y_{tj}`. With :math:`k = \lceil B \rceil`, the
    probability of k labels is :math:`p = (B - 1) / (k - 1)` for "const". "auto" and "self_tuned"
    stay with one label with probability :math:`a / (a + (\tilde y_{t1} - \hat y_t)^2)`.

    Without scaling :math:`g_t = 1`. With scaling :math:`g_t = 1/2` for one label, and
    :math:`g_t = \delta_t^2 / (\delta_t^2 + \bar v_t)` for k labels with
    :math:`\delta_t = m_t - \hat y_t`. From :math:`s^2 = \sum_j (\tilde y_{tj} - m_t)^2 / (k - 1)`
    follows :math:`\bar v_t`: it is :math:`s^2 / k` for "mean_var", :math:`(k - 1) s^2 / k` for
    "biased" and :math:`s^2` for "unbiased".

    References
    ----------
    Moroshko and Crammer (2017), Online Regression with Controlled Label Noise Rate, ECML PKDD,
    Section 4.2.
    """
    choice("strategy", strategy, STRATEGIES)
    choice("variance", variance, VARIANCES)
    flag("scaling", scaling)
    B = number("B", B, least=1)
    k = math.ceil(B)
    if k > 1:
        p = (B - 1) / (k - 1)
    else:
        p = 0.0
    rows = Rows.of(X)
    T = rows.n
    clean = finite("y", y, (T,))
    noisy = finite("labels", labels, (T, None))
    if noisy.shape[1] < k:
        raise ValueError(f"labels: B = {B:g} needs {k} columns, got {noisy.shape[1]}")
    if strategy == "auto" and p == 1.0:
        strategy = "const"
    if strategy == "auto" and k > 1 and a is None:
        raise ValueError("a: strategy 'auto' needs its threshold, see tune_a")
    start = 1.0
    if strategy == "auto" and a is not None:
        start = number("a", a, above=0)
    if uniforms is None and strategy != "begin":
        raise ValueError(f"uniforms: strategy {strategy!r} needs one random number for every round")
    if uniforms is None:
        draws = np.zeros(T)
    else:
        draws = finite("uniforms", uniforms, (T,))
    wrong = (draws < 0) | (draws >= 1)
    if wrong.any():
        raise ValueError(f"uniforms: value at index {int(np.argmax(wrong))} is not in [0, 1)")
    pair: list[VariantName] = ["one_pred_u", "two_u"] if scaling else ["noisy", "two_noisy"]
    rule_pair = [ORS(variant, r=r)._rule() for variant in pair]
    repeated = np.repeat(rule_pair, LANES // 2, axis=0)
    rules = repeated.T.copy()
    divisor = 1
    if k > 1:
        divisor = {"mean_var": k * (k - 1), "biased": k, "unbiased": k - 1}[variance]
    loss = np.empty(T)
    used_labels = np.empty(T, dtype=np.int64)
    thresholds = np.empty(T // PERIOD)
    result = BudgetResult(loss, used_labels, thresholds)
    number_of_strategy = STRATEGIES.index(strategy)
    plan = (k, p, B, number_of_strategy, start, float(divisor))
    _run(rows.flat, rows.step, rows.d, clean, noisy, draws, plan, rules, *result)
    return result


def tune_a(
    X: ArrayLike | Sliding,
    y: ArrayLike,
    labels: ArrayLike,
    *,
    r: float,
    B: float,
    scaling: bool,
    uniforms: ArrayLike,
    variance: Literal["mean_var", "biased", "unbiased"] = "mean_var",
) -> float:
    r"""Find the threshold of the strategy "auto" that spends the budget.

    Parameters
    ----------
    X : array_like of shape (T, d) or `noisylabels.filters.base.Sliding`
        The rows.
    y : array_like of shape (T,)
        The clean target.
    labels : array_like of shape (T, K)
        Noisy labels, with K at least B.
    r : float
        Regularisation, at least 0, in units of a row's squared norm.
    B : float
        Number of labels a round to spend, above 1 and not whole: with a whole B "auto" buys B
        labels in every round, whatever the threshold.
    scaling : bool
        Whether the step shrinks with the estimated noise.
    uniforms : array_like of shape (T,)
        Random numbers in [0, 1), one a round.
    variance : {"mean_var", "biased", "unbiased"}, default "mean_var"
        Estimate of the noise of several labels, see `run_budget`.

    Returns
    -------
    float
        The threshold a, in squared units of the labels.

    Raises
    ------
    ValueError
        If B is whole, or for the reasons of `run_budget`.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels.filters.label_budget import run_budget, tune_a
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(2000, 5))
    >>> y = X @ np.arange(5.0)
    >>> labels = y[:, np.newaxis] + rng.normal(size=(2000, 2))
    >>> options = {"r": 10, "B": 1.5, "scaling": True, "uniforms": rng.random(2000)}
    >>> a = tune_a(X, y, labels, **options)
    >>> result = run_budget(X, y, labels, strategy="auto", a=a, **options)
    >>> round(float(result.used.mean()), 1)
    1.5

    Notes
    -----
    It takes 18 bisections of :math:`\log_{10} a` in [-6, 6]. The labels bought decrease in a, up to
    chance.
    """
    if number("B", B, least=1) == math.ceil(B):
        problem = f"auto has no threshold at the integer {B:g}"
        raise ValueError(f"B: {problem}, it buys that many labels a round")
    low = -6.0
    high = 6.0
    for _ in range(18):
        middle = (low + high) / 2
        result = run_budget(
            X,
            y,
            labels,
            r=r,
            B=B,
            strategy="auto",
            scaling=scaling,
            variance=variance,
            a=10**middle,
            uniforms=uniforms,
        )
        if result.used.mean() > B:
            low = middle
        else:
            high = middle
    return float(10 ** ((low + high) / 2))


@compile_kernel()
def _run(  # type: ignore[no-untyped-def]
    x,
    step,
    d,
    y,
    labels,
    uniforms,
    plan,
    rules,
    loss,
    labels_bought,
    trace,
):
    k, p, B, strategy, a, divisor = plan
    T = len(y)
    w = np.zeros(d)
    observed = np.zeros(5)
    c = np.empty(LANES)
    total = 0
    for t in range(T):
        row = t * step
        yhat = dot(x, row, w)
        loss[t] = (yhat - y[t]) ** 2
        observed[ONE] = labels[t, 0]
        if strategy == _CONST:
            several = uniforms[t] < p
        elif strategy == _BEGIN:
            several = t + 1 <= T * p
        else:
            several = k > 1 and uniforms[t] >= a / (a + (observed[ONE] - yhat) ** 2)
        if several:
            mean = 0.0
            squares = 0.0
            for j in range(k):
                mean += labels[t, j] / k
            for j in range(k):
                squares += (labels[t, j] - mean) ** 2
            observed[MEAN] = mean
            observed[SPREAD] = squares / divisor
        store(c, 0, coefficient(rules, observed, energy(x, row, d), splat(yhat)))
        add(w, c[-1 if several else 0], x, row)
        labels_bought[t] = k if several else 1
        total += labels_bought[t]
        if (t + 1) % PERIOD == 0:
            if strategy == _SELF_TUNED:
                if total > SLACK * B * (t + 1):
                    a = min(2 * a, LARGEST)
                else:
                    a = max(a / 2, SMALLEST)
            trace[(t + 1) // PERIOD - 1] = a
