"""Kill a smoke run at seeded moments, start it once more, and hold the bytes against an undisturbed run.

Half of the kills hit the run and its jobs, the other half the run alone, so that its jobs go on unattended.
The second start is a plain one: no --unlock, no --rerun-incomplete.

    python tests/faults/kills.py [--count 200] [--seed 0]

Prints what differs; exits with 1 if anything does.
"""

import argparse
import os
import signal
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np
from smoke import Smoke


def killed(smoke: Smoke, after: float, jobs_too: bool) -> bool:
    """Start a run and kill it; False if it had ended before."""
    process = smoke.start(stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        process.wait(after)
        return False
    except subprocess.TimeoutExpired:
        pass
    if jobs_too:
        os.killpg(process.pid, signal.SIGKILL)
    else:
        process.kill()
    process.wait()
    return True


def survive(smoke: Smoke, expected: dict[str, bytes], after: float, jobs_too: bool) -> tuple[bool, str]:
    """Was the run killed, and what was wrong after the next one ("": nothing)."""
    smoke.clear()
    hit = killed(smoke, after, jobs_too)
    status, output = smoke.run()
    if status:
        return hit, f"the next run failed:\n{output[-2000:]}"
    found = smoke.files()
    wrong = sorted(name for name in {*expected, *found} if expected.get(name) != found.get(name))
    return hit, f"other bytes: {', '.join(wrong)}" if wrong else ""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--count", type=int, default=200, help="number of kills")
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    rng = np.random.default_rng(arguments.seed)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as scratch:
        smoke = Smoke(Path(scratch) / "checkout")
        smoke.run()  # compiles
        smoke.clear()
        start = time.monotonic()
        status, output = smoke.run()
        seconds, expected = time.monotonic() - start, smoke.files()
        if status:
            raise SystemExit(output)
        hits = failures = 0
        for number in range(arguments.count):
            after, jobs_too = seconds * rng.random(), bool(rng.random() < 0.5)
            hit, wrong = survive(smoke, expected, after, jobs_too)
            hits, failures = hits + hit, failures + bool(wrong)
            if wrong:
                what = "run and jobs" if jobs_too else "run"
                print(f"kill {number} ({what} after {after:.2f} s): {wrong}", flush=True)
    print(f"{hits} of {arguments.count} runs of {seconds:.1f} s killed, {failures} failures")
    raise SystemExit(failures > 0)


if __name__ == "__main__":
    main()
