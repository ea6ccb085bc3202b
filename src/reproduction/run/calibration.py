"""The time of a fixed piece of work, so that the costs of two machines can be compared.

It is in the record of a result, among what informs: it decides nothing.
"""

import statistics
import time

import numpy as np

REPEATS = 7
"""Number of repetitions, odd, so that the median is one of them."""
STEPS = 20_000
"""Number of steps in plain Python."""
ENTRIES = 100_000
"""Length of the vector whose exponentials are computed."""
SIDE = 160
"""Side of the matrix that is squared."""
ROUNDS = 8
"""Number of rounds of exponentials and products."""


def measure_calibration() -> float:
    """Measure the time of the fixed work on this machine.

    Returns
    -------
    float
        Milliseconds of the processor, the median of `REPEATS`: steps of plain Python,
        exponentials and a product of matrices, about a third of the time each.
    """
    _work()  # the first call loads code, which must not count
    seconds = []
    for _ in range(REPEATS):
        start = time.process_time()
        _work()
        seconds.append(time.process_time() - start)
    return round(1000 * statistics.median(seconds), 3)


def _work() -> float:
    total = 0
    for step in range(STEPS):
        total += step % 7
    numbers = np.linspace(-1.0, 1.0, ENTRIES)
    matrix = numbers[: SIDE * SIDE].reshape(SIDE, SIDE)
    for _ in range(ROUNDS):
        numbers = np.exp(-np.abs(numbers))
        matrix = matrix @ matrix / SIDE
    return total + float(numbers.sum() + matrix.sum())
