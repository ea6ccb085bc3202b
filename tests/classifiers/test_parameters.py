"""A wrong parameter of any classifier, and features no solver can bear, are named in one line."""

import re
import warnings

import numpy as np
import pytest
from bad_values import check_answers
from found import CLASSIFIERS, each_class, make
from scipy.sparse import csr_array

NAMED = {cls.name: cls for cls in CLASSIFIERS}
OWN = {
    "bound_minimiser": {"k": 2},
    "large_margin_distribution": {"C": [1.0, 10.0]},  # so that there are folds to draw
    "stpmkl_like": {"max_iter": 10},
}
"""Parameters with which fits are fast."""

RNG = np.random.default_rng(5)
Y = np.arange(40) % 2
X = RNG.standard_normal((40, 3)) + Y[:, np.newaxis]


def quick(cls):
    return make(cls, **OWN.get(cls.name, {}))


@each_class
def test_a_wrong_parameter_is_named_in_one_line(cls):
    def fit(name, value):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of an unlucky but allowed value
            quick(cls).set_params(**{name: value}).fit(X[:20], Y[:20])

    check_answers(cls, fit)


@pytest.mark.parametrize(
    ("method", "parameters", "message"),
    [
        ("robust_sgd", {"noise_rates": 0.1}, "noise_rates: expected shape (2), got (1,)"),
        (
            "robust_sgd",
            {"noise_rates": (0.5, 0.5)},
            "noise_rates: must lie in [0, 1] and sum to less than",
        ),
        (
            "robust_sgd",
            {"shuffle": "rows"},
            "shuffle, if not 'blocks': must be True or False, got 'rows'",
        ),
        (
            "rboost",
            {"gamma": (0.1, 0.1, 0.1)},
            "gamma: must be the two flip rates (gamma01, gamma10)",
        ),
        ("rboost", {"gamma": (0.1, np.nan)}, "gamma: value at index 1 is not finite"),
        ("rboost", {"gamma": 0.2}, "gamma: must be the two flip rates (gamma01, gamma10)"),
        ("rboost", {"gamma": (0.5, 0.1)}, "gamma: must be a finite number >= 0 and < 0.5, got 0.5"),
        (
            "rboost",
            {"gamma": (0.1, -0.1)},
            "gamma: must be a finite number >= 0 and < 0.5, got -0.1",
        ),
        (
            "rboost",
            {"loss_weights": "both"},
            "loss_weights: 'both' is unknown; known: convex, likelihood",
        ),
        (
            "rboost",
            {"negative_weights": "drop"},
            "negative_weights: 'drop' is unknown; known: flip, clip",
        ),
        ("bound_minimiser", {"ks": []}, "ks: at least one k is needed"),
        ("bound_minimiser", {"ks": [2, 2.5]}, "ks: must be a whole number >= 1, got 2.5"),
        ("bound_minimiser", {"ks": (0, 1)}, "ks: must be a whole number >= 1, got 0"),
        ("bound_minimiser", {"k": "best"}, "k, if no number: 'best' is unknown; known: cv, bound"),
        ("large_margin_distribution", {"C": []}, "C: at least one number is needed, got none"),
        (
            "large_margin_distribution",
            {"lam2": [0.1, np.inf]},
            "lam2: value at index 1 is not finite",
        ),
        (
            "robust_kernel_logistic",
            {"zeta": [1.0]},
            "zeta: must be a finite number >= 1e-08, got [1.0]",
        ),
        ("robust_kernel_logistic", {"zeta": 0.0}, "zeta: must be a finite number >= 1e-08, got 0"),
        ("robust_kernel_logistic", {"bias": "some"}, "bias: 'some' is unknown; known: none, free"),
        (
            "robust_kernel_logistic",
            {"solver": "mm"},
            "solver: 'mm' is unknown; known: lbfgs, em_newton",
        ),
        (
            "robust_kernel_logistic",
            {"width": "auto"},
            "width: must be a number or 'scale', got 'auto'",
        ),
        (
            "robust_nystrom_logistic",
            {"choice": "best"},
            "choice: 'best' is unknown; known: uniform, kmeans",
        ),
        (
            "robust_nystrom_logistic",
            {"landmarks": 0},
            "landmarks: must be a whole number >= 1, got 0",
        ),
        (
            "robust_nystrom_logistic",
            {"penalty": "weights"},
            'penalty: "weights", zeta ||w||^2 over the coef',
        ),
        ("kernel_svm", {"C": 0.0}, "C: must be a finite number > 0, got 0"),
        ("robust_kernel_fisher", {"mu": 0.0}, "mu: must be a finite number > 0, got 0"),
        ("robust_multi_kernel", {"widths": []}, "widths: at least one number is needed, got none"),
        (
            "robust_multi_kernel",
            {"widths": [1.0, -1.0]},
            "widths: must be a finite number > 0, got -1",
        ),
        ("robust_multi_kernel", {"w_solver": "x"}, "w_solver: 'x' is unknown; known: cg10, newton"),
        ("stpmkl_like", {"rho": 0.5}, "rho: must be a finite number >= 0 and < 0.5, got 0.5"),
        ("stpmkl_like", {"rho": [0.1, 0.2]}, "rho: 2 flip rates for 1 columns"),
        ("stpmkl_like", {"C": 1e308}, "C: must be a finite number > 0 and <= 1e+12, got 1e+308"),
        ("robust_logistic", {"lam": 0.0}, "lam: must be a finite number > 0, got 0"),
        ("robust_logistic", {"omega": np.eye(3)}, "omega: expected shape (2, 2), got (3, 3)"),
        ("pegasos", {"project": "x"}, "project: must be True or False, got 'x'"),
    ],
)
def test_what_is_wrong_is_said(method, parameters, message):
    with pytest.raises(ValueError, match=f"^{re.escape(message)}"):
        NAMED[method](**parameters).fit(X, Y)


@pytest.mark.parametrize(
    ("trusted", "message"),
    [
        (3, r"^trusted: must be a pair \(X, y\) or None, got 3$"),
        ((X[:2], [0, 2]), "trusted labels must be of the classes"),
        ((X[:2, :2], [0, 1]), "features"),
    ],
)
def test_wrong_trusted_points_are_named(trusted, message):
    with pytest.raises(ValueError, match=message):
        NAMED["rboost"](rounds=2).fit(X, Y, trusted=trusted)


def with_value(value):
    """X with one value of its own."""
    changed = X.copy()
    changed[4, 1] = value
    return changed


@each_class
def test_features_that_no_solver_can_bear_are_refused_with_their_place(cls):
    message = r"^X: value at index \(4, 1\) is beyond 1e\+35 in size; scale the features$"
    with pytest.raises(ValueError, match=message):
        quick(cls).fit(with_value(2e35), Y)
    with pytest.raises(ValueError, match=message):
        quick(cls).fit(X, Y).predict(with_value(-1e160))


@each_class
def test_sparse_features_are_read_or_refused(cls):
    model = quick(cls)
    if model.__sklearn_tags__().input_tags.sparse:
        model.fit(csr_array(X), Y).predict(csr_array(X))
        with pytest.raises(ValueError, match=r"value at index \(4, 1\) is beyond"):
            model.fit(csr_array(with_value(1e60)), Y)
    else:
        message = r"^Sparse data was passed.*, but dense data is required"
        with pytest.raises(TypeError, match=message):
            model.fit(csr_array(X), Y)
