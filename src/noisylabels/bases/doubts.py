"""When a fit is a fallback or doubtful: the same two attributes on every classifier that can tell."""

from __future__ import annotations


class Doubts:
    """flags_ : why a fit is a fallback or doubtful, in words, () if it is not; flagged_ : whether it is.

    classes_swapped : the classes changed names on the way to the fit (omega_01 + omega_10 >= 1).
    collapsed : f is flat between the training points.   lost_class : one class has less than one point left.
    not_converged : stopped before the conditions of an optimum held.   not_finite : a round was undone.
    """

    flags_: tuple[str, ...]
    flagged_: bool

    def _doubt(self, **reasons: bool) -> None:
        """Sets both attributes from words and whether they apply."""
        self.flags_ = tuple(word for word, applies in reasons.items() if applies)
        self.flagged_ = bool(self.flags_)
