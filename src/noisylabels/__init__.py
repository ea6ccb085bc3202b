"""Learning with noisy labels: adaptive filters, online learners and robust classifiers.

``audit(X, y)`` reports how noisy the labels of a table are. The class of every method can be
imported from here, ``from noisylabels import ORS, RobustSGDClassifier``. Its module is loaded when
its name is first used.
The library never imports the project that reproduces the papers' experiments.
"""

from __future__ import annotations

METHODS = {
    "bounded_pnorm_lms": "filters.pnorm:BoundedPNormLMS",
    "eg": "filters.pnorm:EG",
    "eg_pm": "filters.pnorm:EGPlusMinus",
    "implicit_pnorm_lms": "filters.pnorm:ImplicitPNormLMS",
    "inlms": "filters.lms:INLMS",
    "jo_nlms": "filters.lms:JONLMS",
    "lms": "filters.lms:LMS",
    "nlms": "filters.lms:NLMS",
    "normalized_pnorm_lms": "filters.pnorm:NormalizedPNormLMS",
    "npvss_nlms": "filters.lms:NPVSSNLMS",
    "ors": "filters.ors:ORS",
    "pnlms": "filters.lms:PNLMS",
    "pnorm_lms": "filters.pnorm:PNormLMS",
    "rls": "filters.lms:RLS",
    "sm_nlms": "filters.lms:SMNLMS",
    "za_lms": "filters.lms:ZALMS",
    "analytic_kernel": "online.analytic:AnalyticKernel",
    "known_covariance": "online.linear:KnownCovariance",
    "naive_ogd": "online.linear:NaiveOGD",
    "oracle_ogd": "online.linear:OracleOGD",
    "surrogate_kernel": "online.kernel:SurrogateKernel",
    "two_copy": "online.linear:TwoCopy",
    "adaboost": "classifiers.boosting:AdaBoostClassifier",
    "bound_minimiser": "classifiers.large_margin:BoundMinimiser",
    "gentle_boost": "classifiers.boosting:GentleBoostClassifier",
    "kernel_logistic": "classifiers.kernel_logistic:KernelLogisticRegression",
    "kernel_svm": "classifiers.kernel_svm:KernelSVMClassifier",
    "large_margin_distribution": "classifiers.large_margin:LargeMarginDistributionClassifier",
    "liblinear": "classifiers.linear:LiblinearClassifier",
    "modest_boost": "classifiers.boosting:ModestBoostClassifier",
    "nystrom_logistic": "classifiers.nystrom_logistic:NystromLogisticRegression",
    "pegasos": "classifiers.linear:PegasosClassifier",
    "rboost": "classifiers.boosting:RBoostClassifier",
    "robust_kernel_fisher": "classifiers.kernel_fisher:RobustKernelFisherClassifier",
    "robust_kernel_logistic": "classifiers.kernel_logistic:RobustKernelLogisticRegression",
    "robust_logistic": "classifiers.logistic:RobustLogisticRegression",
    "robust_multi_kernel": "classifiers.multi_kernel:RobustMultiKernelLogisticRegression",
    "robust_nystrom_logistic": "classifiers.nystrom_logistic:RobustNystromLogisticRegression",
    "robust_sgd": "classifiers.linear:RobustSGDClassifier",
    "stpmkl_like": "classifiers.stpmkl_like:StPMKLLikeClassifier",
    "zero_one_loss": "classifiers.large_margin:ZeroOneLossClassifier",
}
"""Name of a method in experiments -> its module and class."""

_PUBLIC = {where.partition(":")[2]: where for where in METHODS.values()} | {
    "audit": "auditing.audit:audit",
    "CorrectedClassifier": "auditing.corrected:CorrectedClassifier",
    "CrowdLab": "crowds:CrowdLab",
    "DawidSkene": "crowds:DawidSkene",
    "GLAD": "crowds:GLAD",
    "MajorityVote": "crowds:MajorityVote",
    "OneCoin": "crowds:OneCoin",
    "Sliding": "filters.base:Sliding",
    "StreamModel": "filters.streams:StreamModel",
    "chunks": "out_of_core:chunks",
    "review": "auditing.review:review",
    "to_river": "filters.streams:to_river",
}

REMOVED = {
    "MarginMinimiser": "is now in the paper robust_sgd of the project (minimiser.py)",
    "NaiveFeatureOGD": "is now in the paper noisy_online of the project (naive.py)",
    "NaiveKernelOGD": "is now in the paper noisy_online of the project (naive.py)",
    "UnnormalizedEG": "was removed; EG and EGPlusMinus hold the sum of the weights",
}
"""Classes of version 1 that the library no longer has -> what to do."""

__all__ = sorted(_PUBLIC)


def __getattr__(name: str) -> object:
    """Import a public class or function, or ``__version__``, when it is first used."""
    import importlib

    if name == "__version__":
        from importlib import metadata

        try:
            return metadata.version("noisylabels")
        # the library is imported from the source tree, without an installation
        except metadata.PackageNotFoundError:
            return "unknown"
    if name in REMOVED:
        # An AttributeError would reach `from noisylabels import name` without its message.
        raise ImportError(f"noisylabels.{name} {REMOVED[name]}")
    if name not in _PUBLIC:
        import difflib

        near = difflib.get_close_matches(name, _PUBLIC, n=3)
        hint = f"; did you mean {' or '.join(near)}?" if near else ""
        raise AttributeError(f"module 'noisylabels' has no attribute {name!r}{hint}")
    module, _, member = _PUBLIC[name].partition(":")
    value = getattr(importlib.import_module(f"noisylabels.{module}"), member)
    globals()[name] = value  # so that Python finds the name at once the next time
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, "__version__"})
