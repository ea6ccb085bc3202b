"""ORS: online regression that scales every example by the noise of its label."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np

from noisylabels.filters.arithmetic import energies
from noisylabels.filters.base import (
    Filter,
    Floats,
    NoisySequence,
    Rows,
    Side,
    number,
    window_means,
    window_starts,
)
from noisylabels.filters.ors_kernels import BLOCK, CLEAN, MEAN, ONE, RULE, losses_rows, run_rows, run_windows
from noisylabels.filters.simd import LANES

WINDOW_TAPS = 64
"""Sliding windows of at least so many taps are filtered in blocks."""


class Rule(NamedTuple):
    """What one variant puts into the step: its label, the proxies ybar and vbar, and what it must be told."""

    label: int
    ybar: int
    needs: tuple[str, ...] = ()
    delta: float = 1.0  # (ybar - yhat)^2 times this: 1/4 where ybar is half way between label and prediction
    v: float = 0.0  # vbar = v * v_t + e * e_t^2 + spread * (label 1 - label 2)^2 / 4
    e: float = 0.0
    spread: float = 0.0


VARIANTS = {
    "clean": Rule(CLEAN, CLEAN, ("clean",)),
    "noisy": Rule(ONE, ONE),
    "beta": Rule(ONE, ONE, ("v",)),
    "opt": Rule(ONE, CLEAN, ("v", "clean"), v=1),
    "one": Rule(ONE, ONE, ("v",), v=1),
    "one_pred": Rule(ONE, ONE, ("v",), delta=1 / 4, v=1),
    "two": Rule(MEAN, MEAN, ("v", "second"), v=1 / 2),
    "one_pred_u": Rule(ONE, ONE, delta=1 / 4, e=1 / 4),
    "two_u": Rule(MEAN, MEAN, ("second",), spread=1),
    "two_noisy": Rule(MEAN, MEAN, ("second",)),
}
"""The table of the paper's Section 3 (`two_noisy` is ours, a control). vbar = 0 means no scaling."""


class ORS(Filter):
    """w_t = w_{t-1} + g_t e_t x_t / (r + X_t),  g_t = delta_t^2 / (delta_t^2 + vbar_t).

    e_t = label - w_{t-1}.x_t, delta_t = ybar_t - w_{t-1}.x_t, X_t = ||x_t||^2; the variant says which
    label, ybar_t and vbar_t (see `VARIANTS`). "beta" takes w_t = w_{t-1} + e_t x_t / (r (1 + beta v_t) + X_t).
    This is the paper's step (4) with r_t = r + (r + X_t) vbar_t / delta_t^2, in the form that never divides by
    delta_t or alpha_t.

    variant: one of `VARIANTS`.
    r: weight of the last w, >= 0, in units of X.
    beta: >= 0, in units of 1/v; only for the variant "beta", which needs it.
    two_variance: variance that "two" assumes for the mean of two labels, "half" = v_t/2 (what the derivation
    asks for) or "full" = v_t; the paper does not say.
    Side information of `run`: v for beta, opt, one, one_pred, two; second for two, two_u, two_noisy; clean
    for clean and opt. Variants that need none of them never read them.

    "one_pred_u" is not adaptive: its g_t is 1/2 in every round. It equals NLMS with a half step, and "noisy"
    with r' = 2 r + X_t; what it gains over "noisy" at the same r is the smaller step.

    Raises ValueError: unknown variant, r < 0, beta < 0 or out of place, missing side information.
    Source: Moroshko and Crammer, Online Regression with Controlled Label Noise Rate, ECML PKDD 2017, Section 3.
    """

    name = "ors"

    def __init__(
        self,
        variant: str = "one_pred",
        r: float = 1.0,
        beta: float | None = None,
        two_variance: Literal["half", "full"] = "half",
    ) -> None:
        if variant not in VARIANTS:
            raise ValueError(f"variant: {variant!r} is unknown, choose from {', '.join(VARIANTS)}")
        if (beta is not None) != (variant == "beta"):
            raise ValueError(
                f"beta: {'needed by' if beta is None else 'has no meaning for'} variant {variant!r}"
            )
        if two_variance not in ("half", "full"):
            raise ValueError(f"two_variance: must be 'half' or 'full', got {two_variance!r}")
        self.variant = variant
        self.r = number("r", r, least=0)
        self.beta = None if beta is None else number("beta", beta, least=0)
        self.two_variance = two_variance

    def _rule(self) -> np.ndarray:
        """The variant as one record for the compiled loops."""
        rule = VARIANTS[self.variant]
        v = 1.0 if self.variant == "two" and self.two_variance == "full" else rule.v
        row = (rule.label, rule.ybar, rule.delta, v, rule.e, rule.spread, self.r, self.beta or 0.0)
        return np.array([row], dtype=RULE)

    def _seen(self, n: int, y: Floats, side: Side) -> Floats:
        """(n, 6) table of what the loops read (X_t still missing); what the variant does not need stays 0."""
        needs = VARIANTS[self.variant].needs
        for name, what in (("v", "noise variance"), ("second", "second label"), ("clean", "clean label")):
            if name in needs and getattr(side, name) is None:
                raise ValueError(f"{name}: variant {self.variant!r} needs the {what} of every row")
        zero = np.zeros(n)
        clean = side.clean if side.clean is not None and "clean" in needs else zero
        second = side.second if side.second is not None and "second" in needs else y
        v = side.v if side.v is not None and "v" in needs else zero
        return np.column_stack([clean, y, (y + second) / 2, v, (y - second) ** 2 / 4, zero])

    def _learn(self, rows: Rows, w: Floats, y: Floats, yhat: Floats, side: Side) -> None:
        seen, rule = self._seen(rows.n, y, side), self._rule()
        if rows.reversed and rows.d >= WINDOW_TAPS and self.r > 0:
            yhat[:] = _windows(rows, seen, rule, w[None, :])[0]
        else:
            seen[:, -1] = energies(rows.flat, rows.step, rows.n, rows.d)
            run_rows(rows.flat, rows.step, seen, rule, w, yhat)

    @classmethod
    def losses(cls, filters: Sequence[Filter], data: NoisySequence, windows: int) -> Floats:
        """`Filter.losses` for many ORS filters at once: they share the data, the window and its energy."""
        own = [f for f in filters if isinstance(f, ORS)]
        if len(own) != len(filters):
            raise ValueError("filters: ORS.losses needs ORS filters only")
        starts = window_starts(len(data), windows)
        rows = Rows.of(data.x)
        seen = _table(own, data)
        result = np.empty((len(own), windows))
        blocks = rows.reversed and rows.d >= WINDOW_TAPS
        in_blocks = [i for i, f in enumerate(own) if blocks and f.r > 0]
        in_rows = [i for i, f in enumerate(own) if not (blocks and f.r > 0)]
        for group in _groups(in_blocks, 4):
            size = 1 if len(group) == 1 else 4
            yhat = _windows(rows, seen, _rules(own, group, size), np.zeros((size, rows.d)))
            for i, prediction in zip(group, yhat, strict=False):
                result[i] = window_means((prediction - data.y) ** 2, starts)
        if in_rows:
            seen[:, -1] = energies(rows.flat, rows.step, rows.n, rows.d)
        bounds = np.append(starts, len(data))
        for group in _groups(in_rows, LANES):
            part = np.empty((LANES, windows))
            losses_rows(rows.flat, rows.step, rows.d, seen, _rules(own, group, LANES), bounds, part)
            result[group] = part[: len(group)]
        return result


def _table(filters: Sequence[ORS], data: NoisySequence) -> Floats:
    """`ORS._seen` for all filters together; each one's rule reads its own columns only."""
    needs = {need for f in filters for need in VARIANTS[f.variant].needs}
    if "second" in needs and data.labels.shape[1] < 2:
        which = next(f.variant for f in filters if "second" in VARIANTS[f.variant].needs)
        raise ValueError(f"labels: variant {which!r} needs a second column")
    first, second = data.labels[:, 0], data.labels[:, 1 if data.labels.shape[1] > 1 else 0]
    columns = [data.y, first, (first + second) / 2, data.v, (first - second) ** 2 / 4, np.zeros(len(data))]
    return np.column_stack(columns)


def _groups(members: list[int], size: int) -> list[list[int]]:
    return [members[i : i + size] for i in range(0, len(members), size)]


def _rules(filters: Sequence[ORS], group: list[int], size: int) -> np.ndarray:
    """The rules of a group, the last one repeated up to `size`."""
    rules = [filters[i]._rule() for i in group]
    return np.concatenate(rules + rules[-1:] * (size - len(rules)))


def _windows(rows: Rows, seen: Floats, rules: np.ndarray, w: Floats) -> Floats:
    """Run 1 or 4 filters on a sliding window from w (F, d), which is updated; predictions (F, n)."""
    D = -(-rows.d // LANES) * LANES
    wide = _aligned(len(rules), D)
    wide[:, : rows.d] = w
    s = _aligned(rows.n + D + 2 * BLOCK)
    s[: len(rows.flat)] = rows.flat
    yhat = np.empty((len(rules), rows.n))
    run_windows(s, rows.d, seen, rules, wide, yhat)
    w[:] = wide[:, : rows.d]
    return yhat


def _aligned(*shape: int) -> Floats:
    """Zeros whose first element begins a cache line of 64 bytes."""
    size = int(np.prod(shape))
    raw = np.zeros(size + LANES)
    start = -raw.ctypes.data // raw.itemsize % LANES
    return raw[start : start + size].reshape(shape)
