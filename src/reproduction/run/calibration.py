"""The time of a fixed piece of work, so that the costs of two machines can be compared.

It is in the record of a result, among what informs: it decides nothing.
"""

import statistics
import time

import numpy as np

REPEATS = 7
"""Odd, so that the median is one of them."""
STEPS = 20_000
"""Of plain Python."""
ENTRIES = 100_000
"""Of the vector whose exponentials are taken."""
SIDE = 160
"""Of the matrix that is squared."""
ROUNDS = 8
"""How often exponentials and products are taken."""


def measure_calibration() -> float:
    """Measure what the fixed work takes here.

    Returns
    -------
    float
        Milliseconds of the processor, the median of `REPEATS`: steps of plain Python,
        exponentials and a product of matrices, about a third of the time each.
    """
    _work()  # loads what is loaded at the first call
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
