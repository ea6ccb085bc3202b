"""The public names, for editors and type checkers; at run time each is imported when first used."""

from noisylabels.auditing.audit import audit as audit
from noisylabels.auditing.corrected import CorrectedClassifier as CorrectedClassifier
from noisylabels.auditing.review import review as review
from noisylabels.classifiers.boosting import AdaBoostClassifier as AdaBoostClassifier
from noisylabels.classifiers.boosting import GentleBoostClassifier as GentleBoostClassifier
from noisylabels.classifiers.boosting import ModestBoostClassifier as ModestBoostClassifier
from noisylabels.classifiers.boosting import RBoostClassifier as RBoostClassifier
from noisylabels.classifiers.kernel_fisher import (
    RobustKernelFisherClassifier as RobustKernelFisherClassifier,
)
from noisylabels.classifiers.kernel_logistic import (
    KernelLogisticRegression as KernelLogisticRegression,
)
from noisylabels.classifiers.kernel_logistic import (
    RobustKernelLogisticRegression as RobustKernelLogisticRegression,
)
from noisylabels.classifiers.kernel_svm import KernelSVMClassifier as KernelSVMClassifier
from noisylabels.classifiers.large_margin import BoundMinimiser as BoundMinimiser
from noisylabels.classifiers.large_margin import (
    LargeMarginDistributionClassifier as LargeMarginDistributionClassifier,
)
from noisylabels.classifiers.large_margin import ZeroOneLossClassifier as ZeroOneLossClassifier
from noisylabels.classifiers.linear import LiblinearClassifier as LiblinearClassifier
from noisylabels.classifiers.linear import PegasosClassifier as PegasosClassifier
from noisylabels.classifiers.linear import RobustSGDClassifier as RobustSGDClassifier
from noisylabels.classifiers.logistic import RobustLogisticRegression as RobustLogisticRegression
from noisylabels.classifiers.multi_kernel import (
    RobustMultiKernelLogisticRegression as RobustMultiKernelLogisticRegression,
)
from noisylabels.classifiers.nystrom_logistic import (
    NystromLogisticRegression as NystromLogisticRegression,
)
from noisylabels.classifiers.nystrom_logistic import (
    RobustNystromLogisticRegression as RobustNystromLogisticRegression,
)
from noisylabels.classifiers.stpmkl_like import StPMKLLikeClassifier as StPMKLLikeClassifier
from noisylabels.crowds import GLAD as GLAD
from noisylabels.crowds import CrowdLab as CrowdLab
from noisylabels.crowds import DawidSkene as DawidSkene
from noisylabels.crowds import MajorityVote as MajorityVote
from noisylabels.crowds import OneCoin as OneCoin
from noisylabels.filters.base import Sliding as Sliding
from noisylabels.filters.lms import INLMS as INLMS
from noisylabels.filters.lms import JONLMS as JONLMS
from noisylabels.filters.lms import LMS as LMS
from noisylabels.filters.lms import NLMS as NLMS
from noisylabels.filters.lms import NPVSSNLMS as NPVSSNLMS
from noisylabels.filters.lms import PNLMS as PNLMS
from noisylabels.filters.lms import RLS as RLS
from noisylabels.filters.lms import SMNLMS as SMNLMS
from noisylabels.filters.lms import ZALMS as ZALMS
from noisylabels.filters.ors import ORS as ORS
from noisylabels.filters.pnorm import EG as EG
from noisylabels.filters.pnorm import BoundedPNormLMS as BoundedPNormLMS
from noisylabels.filters.pnorm import EGPlusMinus as EGPlusMinus
from noisylabels.filters.pnorm import ImplicitPNormLMS as ImplicitPNormLMS
from noisylabels.filters.pnorm import NormalizedPNormLMS as NormalizedPNormLMS
from noisylabels.filters.pnorm import PNormLMS as PNormLMS
from noisylabels.filters.streams import StreamModel as StreamModel
from noisylabels.filters.streams import to_river as to_river
from noisylabels.online.analytic import AnalyticKernel as AnalyticKernel
from noisylabels.online.kernel import SurrogateKernel as SurrogateKernel
from noisylabels.online.linear import KnownCovariance as KnownCovariance
from noisylabels.online.linear import NaiveOGD as NaiveOGD
from noisylabels.online.linear import OracleOGD as OracleOGD
from noisylabels.online.linear import TwoCopy as TwoCopy
from noisylabels.out_of_core import chunks as chunks

METHODS: dict[str, str]
__version__: str
__all__: list[str]
