"""What a user's class gets it can only read: in every protocol that takes one, and by itself."""

import copy
import dataclasses
import inspect
import pickle

import numpy as np
import pytest
from project import EXPERIMENTS
from running import make_repetition
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from test_every_artifact import make_data_set, smoke_plan

from noisylabels.classifiers.logistic import RobustLogisticRegression
from reproduction.data.prepare import write_prepared
from reproduction.data.prepared import Dataset, array_digest, load_prepared
from reproduction.run.job import Job
from reproduction.run.protocol_loop import noisy_labels
from reproduction.run.splits import Split
from reproduction.spec import settings
from reproduction.spec.artifact import load_all
from reproduction.spec.guarded_classes import guard
from reproduction.spec.settings import Noise

PROTOCOLS = {
    "audit/correcting": "audit.code:correcting",
    "audit/court_probabilities": "audit.code:by_probabilities",
    "audit/finding_errors": "audit.code:finding_errors",
    "audit/finding_flips": "audit.code:finding_flips",
    "audit/flip_rates": "audit.code:flip_rates",
    "crowdlab/cifar10h": "crowdlab.code:votes",
    "crowdlab/digits": "crowdlab.code:simulated",
    "crowdlab/rte": "crowdlab.code:crowd",
    "kernel_boost/boost_curves": "kernel_boost.boosting:curves",
    "kernel_boost/boost_trusted": "kernel_boost.boosting:calibration",
    "kernel_boost/boosters": "kernel_boost.boosting:errors",
    "kernel_boost/bound_table": "kernel_boost.boosting:bound_minimisers",
    "kernel_boost/cpu_time": "kernel_boost.kernels:timing",
    "kernel_boost/crowd": "kernel_boost.kernels:annotators",
    "kernel_boost/images": "kernel_boost.kernels:search",
    "kernel_boost/linear_against_rows": "kernel_boost.linear_against_rows:linear_against_rows",
    "kernel_boost/long_servedio": "kernel_boost.long_servedio:boosters_on_points",
    "kernel_boost/rivals": "stock:errors",
    "kernel_boost/stpmkl": "kernel_boost.kernels:features",
    "ors/fig2": "ors.code:filter_curves",
    "ors/wrong_variance": "ors.code:conditions",
    "pnorm/every_filter": "pnorm.every_filter:every_filter",
    "pnorm/room": "pnorm.code:room",
    "robust_sgd/options": "robust_sgd.code:errors",
    "studies/auditing_where_flips_fall": "studies.instance_noise:audit",
    "studies/choosing": "studies.choosing:choosing",
    "studies/rates_against_rows": "studies.rates_against_rows:against_rows",
    "studies/where_flips_fall": "studies.instance_noise:errors",
    "unhinged/benchmarks": "unhinged.code:benchmarks",
}
"""A result -> its protocol: one of each that takes a user's class."""
SLOW = [
    "audit/correcting",
    "audit/court_probabilities",
    "audit/finding_flips",
    "audit/flip_rates",
    "crowdlab/cifar10h",
    "crowdlab/digits",
    "crowdlab/rte",
    "kernel_boost/cpu_time",
    "kernel_boost/stpmkl",
    "ors/fig2",
    "pnorm/room",
    "robust_sgd/options",
    "studies/auditing_where_flips_fall",
    "studies/rates_against_rows",
]
NIGHTLY = [pytest.param(name, marks=pytest.mark.nightly) for name in SLOW]
CASES = [*(name for name in PROTOCOLS if name not in SLOW), *NIGHTLY]


class Spoiler:
    """Make classes that write to every array they are called with, and count the writes."""

    def __init__(self):
        self.refused = 0
        self.written = 0

    def spoil(self, cls):
        members = {}
        for name in dir(cls):
            member = None if name.startswith("_") else inspect.getattr_static(cls, name)
            if isinstance(member, classmethod | staticmethod):
                members[name] = type(member)(self.writing(member.__func__))
            elif inspect.isfunction(member):
                members[name] = self.writing(member)
        return type(cls)(cls.__name__, (cls,), members | {"__module__": "of_a_user"})

    def writing(self, function):
        def call(*arguments, **keywords):
            for value in (*arguments[1:], *keywords.values()):
                fields = vars(value).values() if dataclasses.is_dataclass(value) else ()
                for array in (value, *fields):
                    if isinstance(array, np.ndarray) and array.size:
                        self.write(array)
            return function(*arguments, **keywords)

        call.__signature__ = inspect.signature(function)
        return call

    def write(self, array):
        try:
            array[...] = 0
            self.written += 1
        except ValueError:
            self.refused += 1


@pytest.fixture(scope="session")
def artifacts():
    papers = [file.parent.name for file in EXPERIMENTS.glob("*/TITLE")]
    return load_all(EXPERIMENTS, papers, "smoke")


def test_the_list_has_every_protocol_that_takes_a_class(artifacts):
    taking = {a.protocol for a in artifacts.values() if a.protocol and a.settings.select_methods()}
    assert taking == {*PROTOCOLS.values()}
    for name, protocol in PROTOCOLS.items():
        assert artifacts[name].protocol == protocol


@pytest.mark.parametrize("name", CASES)
def test_a_class_cannot_write_to_what_a_protocol_gives(name, artifacts, tmp_path, monkeypatch):
    spoiler = Spoiler()
    original = settings.method_class
    monkeypatch.setattr(settings, "method_class", lambda method: spoiler.spoil(original(method)))
    artifact = artifacts[name]
    plan = smoke_plan()
    plan.artifacts[name] = artifact
    files = []
    for dataset in artifact.datasets:
        stem = dataset.partition(".")[0]
        arrays = make_data_set(stem)
        files.append(tmp_path / f"{stem}.npz")
        data_set = Dataset(stem, "package", "canonical", arrays, array_digest(arrays))
        write_prepared(data_set, files[-1])
    cell = next(iter(artifact.cells))
    job = Job.read(plan.job(name, cell), files)
    job.run(plan.repetitions(name), job.tune())
    assert spoiler.refused > 0
    assert spoiler.written == 0


class Own(LogisticRegression):
    """A class of a user that writes where it must not."""

    def fit(self, X, y):
        y[y == 0] = -1
        return super().fit(X, y)

    def predict(self, X):
        self.coef_ += 0.0
        return super().predict(X)


X = np.array([[0.0], [1.0], [2.0], [3.0]])
y = np.array([0, 0, 1, 1])


def test_a_write_to_an_argument_is_refused_at_its_line_and_the_array_is_writable_again():
    labels = y.copy()
    with pytest.raises(ValueError, match="read-only") as refused:
        guard(Own)().fit(X, labels)
    assert refused.traceback[-1].path.name == "test_guarded_classes.py"
    assert labels.flags.writeable
    np.testing.assert_array_equal(labels, y)


def test_an_instance_may_write_to_its_own_arrays():
    model = guard(Own)()
    LogisticRegression.fit(model, X, y)
    np.testing.assert_array_equal(model.predict(X), y)


def test_a_guarded_class_is_like_the_class_itself():
    guarded = guard(LogisticRegression)
    model = guarded(C=2.0).fit(X, y)
    assert guarded.__name__ == "LogisticRegression"
    assert guarded.__module__ == "sklearn.linear_model._logistic"
    assert inspect.signature(guarded.fit) == inspect.signature(LogisticRegression.fit)
    assert isinstance(clone(model), guarded)
    assert clone(model).get_params() == model.get_params()
    for copied in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):
        assert type(copied) is LogisticRegression
        np.testing.assert_array_equal(copied.coef_, model.coef_)


def test_classes_of_the_library_stay_as_they_are():
    assert guard(RobustLogisticRegression) is RobustLogisticRegression


def test_arrays_of_a_prepared_data_set_and_of_its_splits_are_read_only(tmp_path):
    arrays = {"X": X, "y": 2 * y - 1}
    data_set = Dataset("toy", "test", "made", arrays, array_digest(arrays))
    write_prepared(data_set, tmp_path / "toy.npz")
    loaded = load_prepared(tmp_path / "toy.npz").arrays
    split = Split.of(loaded, np.arange(3), np.array([3]))
    labels = noisy_labels(split.clean, [Noise.parse("independent 0.2")], make_repetition())
    for array in (*loaded.values(), *vars(split).values(), labels, labels.T[0]):
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0
