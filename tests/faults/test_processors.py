"""What is said to be the same on every processor is; `processors.py` compares all smoke tables."""

import os
import subprocess
import sys

import pytest
from processors import difference, playable

DIGESTS = """
import hashlib
import numpy as np
from noisylabels.classifiers.multi_kernel import RobustMultiKernelLogisticRegression

rng = np.random.default_rng(0)
X, X_test = rng.standard_normal((101, 5)), rng.standard_normal((203, 5))
clean = X[:, 0] * X[:, 1] > 0
model = RobustMultiKernelLogisticRegression().fit(X, np.where(rng.random(101) < 0.2, ~clean, clean))
f = model.decision_function(X_test)
assert np.isfinite(f).all()
print(hashlib.sha256(f.tobytes() + model.flip_matrix_.tobytes()).hexdigest())
"""


def digests(**switches: str) -> str:
    # NumPy warns of what this processor lacks.
    command = [sys.executable, "-W", "ignore", "-c", DIGESTS]
    environment = os.environ | switches
    run = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return run.stdout


@pytest.mark.nightly
@pytest.mark.skipif(not playable(), reason="plays older processors on Linux with x86-64 only")
def test_the_last_bit_of_rmklr_is_the_same_on_a_processor_of_2008() -> None:
    assert digests(**playable()["nehalem"]) == digests()


def test_differences_are_counted_and_the_largest_is_shown() -> None:
    table = "metric,method,x,value\nerror,a,1,2\nerror,b,1,4\nerror,c,1,1\n"
    assert difference(table, table) == "equal bytes"
    changed = table.replace("b,1,4", "b,1,5").replace("c,1,1", "c,1,1.1")
    assert difference(table, changed) == (
        "2 of 3 values differ, by 1.0e+00 at most, relatively by 2.0e-01 (error of b, 4 and 5)"
    )
    assert difference(table, table.replace("c,1,1", "c,1,1.000000000000001")) == (
        "1 of 3 values differ, by 1.1e-15 at most"
    )
    assert difference(table, table.replace("error,c", "loss,c")).startswith("other labels: ")
    assert difference(table, table + "error,d,1,1\n") == "3 rows against 4"
