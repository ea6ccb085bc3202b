"""LIBLINEAR's L2-regularised hinge losses, through scikit-learn."""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike

from noisylabels.bases.linear import LinearBinaryClassifier
from noisylabels.validation import choice, flag, number, whole


class LiblinearClassifier(LinearBinaryClassifier):
    """min_w 1/2 ||(w, b)||^2 + C sum_i max(0, 1 - y_i (x_i.w + b))^2 with C = 1/(lambda n).

    loss : "squared_hinge", or "hinge" without the square, in the dual only (-s 3).   lam : lambda > 0.
    dual : coordinate descent in the dual (-s 1 -e 0.1), else a trust region in the primal (-s 2 -e 0.01);
        both with -B 1, a regularised constant feature.
    max_iter : LIBLINEAR's own limit of 1000 iterations.
    random_state : orders of the dual; the primal has no use for it.

    Fitted: coef_ (1, d), intercept_ (1,), classes_ (2,), n_iter_.
    Raises ValueError : lam <= 0, wrong labels, an unknown loss, "hinge" in the primal.
    Source: Fan et al., JMLR 9, 2008; the options are those of Han, Tsang, Chen, Section 5.1.
    """

    name = "liblinear"

    def __init__(
        self,
        lam: float = 1e-4,
        *,
        loss: str = "squared_hinge",
        dual: bool = False,
        max_iter: int = 1000,
        random_state: Any = None,
    ) -> None:
        self.lam = lam
        self.loss = loss
        self.dual = dual
        self.max_iter = max_iter
        self.random_state = random_state

    def fit(self, X: Any, y: ArrayLike) -> LiblinearClassifier:
        """Solve for X (n, d), dense or CSR, and y (n,)."""
        from sklearn.svm import LinearSVC

        lam = number("lam", self.lam, above=0)
        choice("loss", self.loss, ("squared_hinge", "hinge"))
        flag("dual", self.dual)
        whole("max_iter", self.max_iter, 1, 2**31 - 1)
        if self.loss == "hinge" and not self.dual:
            raise ValueError("loss: LIBLINEAR solves the hinge loss in the dual only: add dual=True")
        X, labels = self._checked(X, y, None, first=True)
        solver = LinearSVC(
            loss=self.loss,
            dual=self.dual,
            tol=0.1 if self.dual else 0.01,
            C=1.0 / (lam * len(labels)),
            max_iter=self.max_iter,
            random_state=self.random_state,
        ).fit(X, labels)
        self.coef_, self.intercept_, self.n_iter_ = solver.coef_, solver.intercept_, solver.n_iter_
        return self
