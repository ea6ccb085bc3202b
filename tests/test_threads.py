"""Threads of BLAS: one for small problems, and what the user has set comes back."""

import threading

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from noisylabels import threads
from noisylabels.classifiers.kernel_logistic import KernelLogisticRegression


def blas():
    return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]


@threads.single_threaded_if_small
def seen(rows):
    return blas()


@pytest.mark.parametrize(("rows", "expected"), [(threads.SMALL - 1, 1), (threads.SMALL, 2)])
def test_only_small_problems_are_given_one_thread(rows, expected):
    with threadpool_limits(2, user_api="blas"):
        assert set(seen(np.zeros(rows))) == {expected}
        assert set(blas()) == {2}


def test_limits_come_back_after_an_error():
    @threads.single_threaded_if_small
    def fails(rows):
        raise ValueError("no")

    with threadpool_limits(2, user_api="blas"):
        with pytest.raises(ValueError, match="no"):
            fails([0])
        assert set(blas()) == {2}


def test_calls_that_overlap_leave_no_limit_behind():
    inside, go = threading.Event(), threading.Event()

    @threads.single_threaded_if_small
    def waits(rows):
        inside.set()
        assert go.wait(30)

    with threadpool_limits(2, user_api="blas"):
        other = threading.Thread(target=waits, args=([0],))
        other.start()
        assert inside.wait(30)
        assert set(seen([0])) == {1}
        go.set()
        other.join()
        assert set(blas()) == {2}


def test_a_small_fit_is_the_same_under_any_number_of_threads():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((300, 10)), rng.integers(0, 2, 300)
    found = []
    for limit in (1, 2):
        with threadpool_limits(limit, user_api="blas"):
            found.append(KernelLogisticRegression().fit(X, y).objective_)
    assert found[0] == found[1]
