"""Put a fault into each of ten modules in turn, and count how many the default level finds.

    python tests/faults/seeded_faults.py

Each fault is made in a copy of the checkout, in which the tests next to the module run at the
default level. Prints a line for each fault, and exits with 1 if one was not found.
"""

import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from checkouts import copy_checkout


class Fault(NamedTuple):
    """A text of a module, the wrong one in its place, and the tests that are nearest."""

    module: str
    right: str
    wrong: str
    tests: str


FAULTS = [
    Fault(
        "noisylabels/filters/lms.py",
        "(1 - gamma[t] / abs(e)) * e",
        "(1 + gamma[t] / abs(e)) * e",
        "tests/filters/test_lms_filters.py",
    ),
    Fault(
        "noisylabels/filters/ors.py",
        "ratio(square, square + vbar,",
        "ratio(square, square + splat(2.0) * vbar,",
        "tests/filters/test_ors.py",
    ),
    Fault(
        "noisylabels/classifiers/boosting.py",
        "b * np.exp(margin))",
        "b * np.exp(-margin))",
        "tests/classifiers/test_boosters.py",
    ),
    Fault(
        "noisylabels/noise/flip_matrix.py",
        "np.asarray(largest + np.log(",
        "np.asarray(np.log(",
        "tests/noise tests/classifiers/test_many_classes.py",
    ),
    Fault(
        "noisylabels/statistics.py",
        "np.minimum(1.0, factors * p[order])",
        "factors * p[order]",
        "tests/test_statistics.py",
    ),
    Fault(
        "noisylabels/crowds.py",
        "boost = (product + np.log(K - 1))",
        "boost = (product + np.log(K))",
        "tests/test_crowds.py",
    ),
    Fault(
        "noisylabels/auditing/flip_rates.py",
        "half = Z * deviation / len(terms) ** 0.5",
        "half = Z * deviation / len(terms)",
        "tests/auditing/test_estimates.py",
    ),
    Fault(
        "noisylabels/online/linear.py",
        "math.sqrt(B_w / square)",
        "B_w / square",
        "tests/online/test_linear_online.py",
    ),
    Fault(
        "reproduction/data/transport.py",
        "if sha256 == file.sha256:",
        "if sha256:",
        "tests/data/test_transport.py",
    ),
    Fault(
        "reproduction/judge/verdicts.py",
        'return "below" if estimate <= bound.low',
        'return "below" if estimate >= bound.low',
        "tests/judge/test_claims.py",
    ),
]


def run_tests(checkout: Path, tests: str) -> str:
    """Run tests of the default level until the first failure.

    Returns
    -------
    str
        The first test that failed, or "" if all passed.
    """
    command = [sys.executable, "-m", "pytest", "-x", "-p", "no:cacheprovider", *tests.split()]
    environment = os.environ | {"PYTHONPATH": str(checkout / "src")}
    done = subprocess.run(command, cwd=checkout, env=environment, capture_output=True, text=True)
    failed = re.search(r"^(?:FAILED|ERROR) (\S+)", done.stdout, re.M)
    if done.returncode and failed is None:
        sys.exit(f"the tests could not run:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return failed[1] if failed else ""


def main() -> None:
    """Make every fault in turn, and report which test found it."""
    number_found = 0
    with tempfile.TemporaryDirectory() as folder:
        checkout = Path(folder) / "checkout"
        copy_checkout(checkout, ["conftest.py", "tests", "docs", "README.md"])
        for fault in FAULTS:
            file = checkout / "src" / fault.module
            text = file.read_text(encoding="utf-8")
            times = text.count(fault.right)
            if times != 1:
                sys.exit(f"{fault.module} has {fault.right!r} {times} times; adapt the fault")
            file.write_text(text.replace(fault.right, fault.wrong), encoding="utf-8")
            started = time.monotonic()
            test = run_tests(checkout, fault.tests)
            file.write_text(text, encoding="utf-8")
            number_found += bool(test)
            seconds = time.monotonic() - started
            print(f"{fault.module}: {test or 'NOT FOUND'} ({seconds:.0f} s)", flush=True)
    print(f"{number_found} of {len(FAULTS)} faults found")
    raise SystemExit(number_found < len(FAULTS))


if __name__ == "__main__":
    main()
