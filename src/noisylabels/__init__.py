"""Learning and filtering with noisy labels: adaptive filters, online learners and robust classifiers.

``audit(X, y)`` says how noisy the labels of a table are. The class of every method can be imported from
here, ``from noisylabels import ORS, RobustSGDClassifier``; its file is loaded when its name is first used.
The library never imports the workflow that runs the papers' experiments.
"""

from __future__ import annotations

TYPE_CHECKING = False  # true for type checkers; importing `typing` would be most of the time of this import
FUNCTIONS = {"audit": "noisylabels.auditing.audit"}
"""Public functions -> their modules."""

if TYPE_CHECKING:  # the names that editors see; at run time the methods are found, see `frame.methods`
    from typing import Any

    from noisylabels.auditing.audit import audit as audit
    from noisylabels.classifiers.adaboost import AdaBoostClassifier as AdaBoostClassifier
    from noisylabels.classifiers.bound_minimiser import BoundMinimiser as BoundMinimiser
    from noisylabels.classifiers.gentle_boost import GentleBoostClassifier as GentleBoostClassifier
    from noisylabels.classifiers.kernel_logistic import KernelLogisticRegression as KernelLogisticRegression
    from noisylabels.classifiers.kernel_svm import KernelSVMClassifier as KernelSVMClassifier
    from noisylabels.classifiers.large_margin_distribution import (
        LargeMarginDistributionClassifier as LargeMarginDistributionClassifier,
    )
    from noisylabels.classifiers.liblinear import LiblinearClassifier as LiblinearClassifier
    from noisylabels.classifiers.margin_minimiser import MarginMinimiser as MarginMinimiser
    from noisylabels.classifiers.modest_boost import ModestBoostClassifier as ModestBoostClassifier
    from noisylabels.classifiers.nystrom_logistic import (
        NystromLogisticRegression as NystromLogisticRegression,
    )
    from noisylabels.classifiers.pegasos import PegasosClassifier as PegasosClassifier
    from noisylabels.classifiers.rboost import RBoostClassifier as RBoostClassifier
    from noisylabels.classifiers.robust_kernel_fisher import (
        RobustKernelFisherClassifier as RobustKernelFisherClassifier,
    )
    from noisylabels.classifiers.robust_kernel_logistic import (
        RobustKernelLogisticRegression as RobustKernelLogisticRegression,
    )
    from noisylabels.classifiers.robust_logistic import RobustLogisticRegression as RobustLogisticRegression
    from noisylabels.classifiers.robust_multi_kernel import (
        RobustMultiKernelLogisticRegression as RobustMultiKernelLogisticRegression,
    )
    from noisylabels.classifiers.robust_nystrom_logistic import (
        RobustNystromLogisticRegression as RobustNystromLogisticRegression,
    )
    from noisylabels.classifiers.robust_sgd import RobustSGDClassifier as RobustSGDClassifier
    from noisylabels.classifiers.stpmkl_like import StPMKLLikeClassifier as StPMKLLikeClassifier
    from noisylabels.classifiers.zero_one_loss import ZeroOneLossClassifier as ZeroOneLossClassifier
    from noisylabels.filters.bounded_pnorm_lms import BoundedPNormLMS as BoundedPNormLMS
    from noisylabels.filters.eg import EG as EG
    from noisylabels.filters.eg_pm import EGPlusMinus as EGPlusMinus
    from noisylabels.filters.implicit_pnorm_lms import ImplicitPNormLMS as ImplicitPNormLMS
    from noisylabels.filters.inlms import INLMS as INLMS
    from noisylabels.filters.jo_nlms import JONLMS as JONLMS
    from noisylabels.filters.lms import LMS as LMS
    from noisylabels.filters.nlms import NLMS as NLMS
    from noisylabels.filters.normalized_pnorm_lms import NormalizedPNormLMS as NormalizedPNormLMS
    from noisylabels.filters.npvss_nlms import NPVSSNLMS as NPVSSNLMS
    from noisylabels.filters.ors import ORS as ORS
    from noisylabels.filters.pnlms import PNLMS as PNLMS
    from noisylabels.filters.pnorm_lms import PNormLMS as PNormLMS
    from noisylabels.filters.rls import RLS as RLS
    from noisylabels.filters.sm_nlms import SMNLMS as SMNLMS
    from noisylabels.filters.unnormalized_eg import UnnormalizedEG as UnnormalizedEG
    from noisylabels.filters.za_lms import ZALMS as ZALMS
    from noisylabels.online.analytic_kernel import AnalyticKernel as AnalyticKernel
    from noisylabels.online.analytic_kernel_list import AnalyticKernelList as AnalyticKernelList
    from noisylabels.online.known_covariance import KnownCovariance as KnownCovariance
    from noisylabels.online.naive_feature_ogd import NaiveFeatureOGD as NaiveFeatureOGD
    from noisylabels.online.naive_kernel_ogd import NaiveKernelOGD as NaiveKernelOGD
    from noisylabels.online.naive_ogd import NaiveOGD as NaiveOGD
    from noisylabels.online.oracle_ogd import OracleOGD as OracleOGD
    from noisylabels.online.surrogate_kernel import SurrogateKernel as SurrogateKernel
    from noisylabels.online.two_copy import TwoCopy as TwoCopy

    __version__: str
    __all__: list[str]
else:

    def __getattr__(name: str) -> Any:
        """The class of a method, ``__version__`` or ``__all__``, looked up when asked for."""
        if name == "__version__":
            return _version()
        if name == "__all__":
            return _public()
        if name in FUNCTIONS or name[:1].isupper():  # not a subpackage, which Python asks for here as well
            return _member(name)
        raise AttributeError(f"module 'noisylabels' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_public(), "__version__", "__all__"})


def _public() -> list[str]:
    from noisylabels.frame import methods

    return sorted([*methods.public(), *FUNCTIONS])


def _member(name: str) -> Any:
    import importlib

    from noisylabels.frame import methods

    where = methods.public() | FUNCTIONS
    if name not in where:
        raise AttributeError(f"module 'noisylabels' has no attribute {name!r}{methods.hint(name)}")
    value = getattr(importlib.import_module(where[name]), name)
    globals()[name] = value  # found at once the next time
    return value


def _version() -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("noisylabels")
    except PackageNotFoundError:  # imported from the source tree (PYTHONPATH=src), not installed
        return "unknown"
