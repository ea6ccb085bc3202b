"""The classifiers of an audit: those that know of flips, and plain ones beside them."""

from __future__ import annotations

from typing import Any

ROBUST = ("rMKLR", "robust logistic")
PLAIN = ("logistic", "forest", "gradient boosting")
DEFAULT = "rMKLR"


def scaled(model: Any) -> Any:
    """The model behind a scaling of every feature to mean 0 and deviation 1, both of its training rows."""
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    return make_pipeline(StandardScaler(), model)


def model_of(name: str, random_state: int = 0) -> Any:
    """A model of `ROBUST` or `PLAIN`, with parameters as they are: nothing is tuned on labels in doubt."""
    from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
    from sklearn.linear_model import LogisticRegression

    from noisylabels.classifiers.multi_kernel import RobustMultiKernelLogisticRegression
    from noisylabels.classifiers.robust_logistic import RobustLogisticRegression

    models = {
        "rMKLR": RobustMultiKernelLogisticRegression,
        "robust logistic": lambda: RobustLogisticRegression(lam=0.5),
        "logistic": lambda: LogisticRegression(max_iter=1000),  # the penalty of the robust one
        "forest": lambda: RandomForestClassifier(random_state=random_state),
        "gradient boosting": lambda: HistGradientBoostingClassifier(random_state=random_state),
    }
    return scaled(models[name]())
