"""Trials of users' methods before a run: which are wrong, and which learn little.

Jobs refuse the same filters and classifiers; the order of ``classes_`` is looked at here alone.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping

import numpy as np

from reproduction.run import learning_check
from reproduction.run.protocol_loop import seeded
from reproduction.spec.settings import Method


def check_classifiers(methods: Mapping[str, Method], classes: int) -> tuple[list[str], list[str]]:
    """Try each classifier of a user.

    Parameters
    ----------
    methods : mapping
        Label -> method.
    classes : int
        Number of classes of the data; 0 says that there are none.

    Returns
    -------
    faults, remarks : list of str
        ``<label>: what``.
    """
    faults, remarks = learning_check.check_methods(methods, classes)
    named = {fault.partition(": ")[0] for fault in faults}
    for label, method in methods.items():
        is_tried = classes and method.custom and label not in named
        if is_tried and not method.method.startswith(learning_check.TRUSTED):
            fault = check_class_order(method)
            if fault:
                faults.append(f"{label}: {fault}")
    return faults, remarks


def check_class_order(method: Method) -> str:
    """Say that ``classes_`` of a fitted classifier does not ascend; "" if it does.

    Metrics take column k of ``predict_proba`` for the k-th class in ascending order, whatever
    ``classes_`` says. A class without ``classes_``, or one that fails, is passed over.
    """
    X, y = learning_check.make_groups(2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            model = seeded(method.build(), np.random.default_rng(learning_check.SEED)).fit(X, y)
            classes = np.asarray(model.classes_)
            is_ascending = classes.ndim != 1 or bool((classes[1:] > classes[:-1]).all())
        except (Exception, SystemExit):
            return ""
    if is_ascending:
        return ""
    names = ", ".join(map(str, classes))
    remedy = "sort them, `self.classes_ = np.unique(y)`, and the columns of predict_proba with them"
    return f"classes_ is [{names}], not in ascending order; {remedy}"
