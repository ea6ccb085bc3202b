"""The table of CPU times: what is timed, and how often."""

from pathlib import Path

from problems import SETTINGS, dataset

from noisylabels.seeding import Seeds
from reproduction.frame.schemas import check
from reproduction.protocols.kernels import timing as kernel_timing

TIMED = SETTINGS | {
    "timings": 3, "noise": ["independent 0"],
    "methods": {
        "klr": {"method": "kernel_logistic", "selection": "cv", "grid": [0]},
        "svm": {"method": "kernel_svm", "selection": "cv", "grid": [0]},
    },
}  # fmt: skip


def test_rows_are_medians_of_process_time(monkeypatch):
    ticks = [t for seconds in (3.0, 1.0, 2.0) for t in (0.0, seconds)] * 4  # two methods, two splits
    monkeypatch.setattr(kernel_timing.time, "process_time", lambda: ticks.pop(0))
    calls = []
    original = kernel_timing.train

    def watched(methods, split, noisy, *rest):
        calls.append((methods[0].label, len(methods), len(split.X_test), noisy.shape[1]))
        return original(methods, split, noisy, *rest)

    monkeypatch.setattr(kernel_timing, "train", watched)
    rows = kernel_timing.run(TIMED, {"toy": dataset()}, Seeds(1, "test"), range(2), {})
    assert [(row["method"], row["repetition"], row["metric"], row["value"]) for row in rows] == [
        (method, repetition, "cpu_seconds", 2.0) for repetition in (0, 1) for method in ("klr", "svm")
    ]
    assert calls[0][1:] == (2, 1, 1)  # both methods, to compile
    assert len(calls) == 1 + 4 * 3
    assert {call[1:] for call in calls[1:]} == {(1, 1, 1)}
    assert not ticks
    assert {row["setting"] for row in rows} == {"cv"}


def test_settings_are_those_of_the_errors_and_a_number_of_timings():
    schemas = Path(__file__).resolve().parents[2] / "workflow/schemas"
    check(TIMED, schemas, "settings/kernels.timing.schema.yaml", "settings")
    rows = kernel_timing.run(TIMED | {"timings": 1}, {"toy": dataset()}, Seeds(1, "test"), range(2, 9), {})
    assert {row["repetition"] for row in rows} == {2}
    assert all(row["value"] > 0 for row in rows)
