"""Label budgets: who gets several labels if B labels a round can be paid for on average."""

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

    loss: (T,) squared errors (yhat_t - y_t)^2.  used: (T,) labels bought.
    a: (T // 100,) threshold after every 100 rounds.
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
    """Run a filter that buys one or several labels a round within a budget.

    Every round buys 1 or k = ceil(B) labels. The step takes their mean m:
    w += g (m - yhat) x / (r + X).

    const: k with probability p = (B-1)/(k-1).
    begin: k in the first T p rounds.
    auto: stays with label 1 with probability a / (a + (label 1 - yhat)^2), else buys the other
    k - 1; at integer B it buys all k (a -> 0).
    self_tuned: auto with a = 1 at first; after every 100 rounds a is doubled if more than 0.95 B
    labels a round were bought so far, else halved, within 2^-60 .. 2^60.
    At B = 1 there is one label (p = 0).

    scaling: g = 1/2 for one label (`ORS("one_pred_u")`); for k labels
    g = delta^2/(delta^2 + vbar) with delta = m - yhat and vbar from the sample variance
    s^2 = sum_j (label j - m)^2 / (k-1): "mean_var" s^2/k (variance of the mean), "unbiased" s^2,
    "biased" (k-1) s^2/k. Without scaling g = 1.

    X: (T, d) or `Sliding`.  y: (T,) clean target.  labels: (T, K), K >= k.
    a: threshold of auto, > 0 (`tune_a`); the other strategies do not read it.
    uniforms: (T,) random numbers in [0, 1), one a round; not needed by begin.
    Raises ValueError: r < 0, B < 1, a <= 0 or missing, too few label columns, unknown strategy or
    variance.
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
    """Find the threshold a of "auto" that spends B labels a round.

    It takes 18 bisections of log10 a in [-6, 6]. The labels bought decrease in a (up to chance).
    Arguments and errors as in `run_budget`; B must not be an integer, for then auto always buys B
    labels.
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
