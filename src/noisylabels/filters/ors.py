"""ORS: online regression that scales every example by the noise of its label."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from noisylabels.filters.base import Filter, NoisySequence, Rows, Side, window_starts
from noisylabels.filters.ors_kernels import BLOCK, Rule, look, losses_rows, run_rows, run_windows
from noisylabels.fixed_order import LANES
from noisylabels.validation import Floats, choice, number

Labels = tuple[Floats, Floats, Floats, Floats]  # y_t, label 1, label 2 and v_t
WINDOW_TAPS = 64  # sliding windows of at least so many taps are filtered in blocks


VariantName = Literal[
    "clean", "noisy", "beta", "opt", "one", "one_pred", "two", "one_pred_u", "two_u", "two_noisy"
]


class Variant(NamedTuple):
    """One line of the table: the step's proxies, and the side information they need."""

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
"""The table of the paper's Section 3 (`two_noisy` is ours, a control). vbar = 0 means no scaling."""


class ORS(Filter):
    """w_t = w_{t-1} + g_t e_t x_t / (r + X_t),  g_t = delta_t^2 / (delta_t^2 + vbar_t).

    e_t = label - w_{t-1}.x_t, delta_t = ybar_t - w_{t-1}.x_t, X_t = ||x_t||^2; the variant says which
    label, ybar_t and vbar_t (see `VARIANTS`). "beta": w_t = w_{t-1} + e_t x_t / (r (1 + beta v_t) + X_t).
    This is the paper's step (4) with r_t = r + (r + X_t) vbar_t / delta_t^2, in the form that never divides
    by delta_t or alpha_t.

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
    Source: Moroshko, Crammer, Online Regression with Controlled Label Noise Rate, ECML PKDD 2017, Section 3.
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
        self.beta = None if beta is None else number("beta", beta, least=0)
        self.two_variance = two_variance

    def _rule(self) -> Floats:
        """The variant's `Rule` as (12,) numbers for the compiled loops."""
        rule = VARIANTS[self.variant].rule
        v = 1.0 if self.variant == "two" and self.two_variance == "full" else rule.v
        return np.array(rule._replace(v=v, r=self.r, beta=self.beta or 0.0))

    def _labels(self, y: Floats, side: Side) -> Labels:
        """What `look` takes, as far as the variant needs it; zeros otherwise."""
        zero = np.zeros(len(y))
        values = []
        for name, what in (("clean", "clean label"), ("second", "second label"), ("v", "noise variance")):
            value = getattr(side, name) if name in VARIANTS[self.variant].needs else zero
            if value is None:
                raise ValueError(f"{name}: variant {self.variant!r} needs the {what} of every row")
            values.append(value)
        return values[0], y, values[1], values[2]

    def _learn(self, rows: Rows, w: Floats, y: Floats, yhat: Floats, side: Side) -> None:
        labels = self._labels(y, side)
        rules = _rules([self], [0])
        if rows.reversed and rows.d >= WINDOW_TAPS and self.r > 0:
            _windows(rows, labels, rules, w[None, :], np.array([0, rows.n]), yhat[None, :])
        else:
            run_rows(rows.flat, rows.step, _seen(labels), rules, w, yhat)

    @classmethod
    def losses(cls, filters: Sequence[Filter], data: NoisySequence, windows: int) -> Floats:
        """`Filter.losses` for many ORS filters at once: they share the data, the window and its energy."""
        own = [f for f in filters if isinstance(f, ORS)]
        if len(own) != len(filters):
            raise ValueError("filters: ORS.losses needs ORS filters only")
        second = min(1, data.labels.shape[1] - 1)
        for f in own:
            if second == 0 and "second" in VARIANTS[f.variant].needs:
                raise ValueError(f"labels: variant {f.variant!r} needs a second column")
        bounds, rows = np.append(window_starts(len(data), windows), len(data)), data.rows
        result = np.empty((len(own), windows))
        blocks = [rows.reversed and rows.d >= WINDOW_TAPS and f.r > 0 for f in own]
        labels = (data.y, data.labels[:, 0], data.labels[:, second], data.v)
        for group in _groups([i for i, block in enumerate(blocks) if block], 4):
            w = np.zeros((1 if len(group) == 1 else 4, rows.d))
            found = _windows(rows, labels, _rules(own, group), w, bounds, w[:, :0].copy())
            result[group] = found[: len(group)]
        if not all(blocks):
            seen = _seen(labels)
        for group in _groups([i for i, block in enumerate(blocks) if not block], LANES):
            losses = np.empty((LANES, windows))
            losses_rows(rows.flat, rows.step, rows.d, seen, _rules(own, group), bounds, losses)
            result[group] = losses[: len(group)]
        return result


def _groups(members: list[int], size: int) -> list[list[int]]:
    return [members[i : i + size] for i in range(0, len(members), size)]


def _rules(filters: Sequence[ORS], group: list[int]) -> Floats:
    """The rules of a group as columns (12, 8), the last one repeated."""
    columns = [filters[i]._rule() for i in group]
    return np.column_stack(columns + columns[-1:] * (LANES - len(columns)))


def _seen(labels: Labels) -> Floats:
    """`look` at all rounds at once."""
    seen = np.zeros((len(labels[0]), 6))
    look(labels, 0, seen)
    return seen


def _windows(
    rows: Rows, labels: Labels, rules: Floats, w: Floats, bounds: NDArray[np.int64], yhat: Floats
) -> Floats:
    """Run 1 or 4 filters on a sliding window from w (F, d), which is updated; losses (8, windows)."""
    D = -(-rows.d // BLOCK) * BLOCK
    padded = np.zeros((len(w), D))
    padded[:, : rows.d] = w
    wide = _aligned(D // LANES, len(w), LANES)  # eight taps of each filter in turn
    wide[:] = padded.reshape(len(w), -1, LANES).swapaxes(0, 1)
    s = _aligned(rows.n + D + 2 * BLOCK)
    s[: len(rows.flat)] = rows.flat
    losses = np.empty((LANES, len(bounds) - 1))
    run_windows(
        s, rows.d, tuple(np.ascontiguousarray(column) for column in labels), rules, wide, bounds, losses, yhat
    )
    w[:] = wide.swapaxes(0, 1).reshape(len(w), D)[:, : rows.d]
    return losses


def _aligned(*shape: int) -> Floats:
    """Zeros whose first element begins a cache line of 64 bytes."""
    size = int(np.prod(shape))
    raw = np.zeros(size + LANES)
    start = -raw.ctypes.data // raw.itemsize % LANES
    return raw[start : start + size].reshape(shape)
