"""What a job says of a mistake names the method, the data set, the noise and the repetition."""

import sys

import pytest
from problems import dataset
from running import typed

from noisylabels.seeding import Seeds
from reproduction.run.job import Job
from reproduction.spec.protocol import find_protocol

FAULTS = """
import sys

from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LogisticRegression


class Fails(LogisticRegression):
    def fit(self, X, y):
        raise KeyError("weights")


class Leaves(LogisticRegression):
    def fit(self, X, y):
        sys.exit(0)


class Negative(ClassifierMixin, BaseEstimator):
    def fit(self, X, y):
        self.classes_ = [-1, 1]
        return self

    def predict(self, X):
        return -y_of(X)


def y_of(X):
    return X[:, 0] * 0 + 1
"""


@pytest.fixture
def faults(tmp_path, monkeypatch):
    (tmp_path / "faults_of_user.py").write_text(FAULTS, encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    yield "faults_of_user"
    sys.modules.pop("faults_of_user", None)


@pytest.mark.parametrize(
    ("method", "message"),
    [
        ("Fails", "faults_of_user.py, line 10: KeyError: 'weights'"),
        ("Leaves", "faults_of_user.py, line 15: SystemExit: 0"),
    ],
)
def test_a_method_that_fails_is_named_with_what_it_was_run_on(faults, method, message):
    settings = {
        "datasets": ["toy"],
        "noise": ["independent 0", "independent 0.2"],
        "widths": [0],
        "parametrisation": "sigma2",
        "folds": 2,
        "methods": {
            "good": {"method": "robust_logistic"},
            "mine": {"method": f"{faults}:{method}", "noise": ["independent 0.2"]},
        },
    }
    protocol = find_protocol("stock:errors")
    data = {"toy": dataset("toy")}
    job = Job(protocol, typed("stock:errors", settings), Seeds(1, "test"), data)
    location = "dataset toy, noise independent 0.2, method mine, repetition 1: "
    with pytest.raises(ValueError, match=f"^protocol stock:errors: {location}.*{message}"):
        job.run("1:2", {})
