"""Flip rates that are estimated from labels alone, against the number of rows.

The rows follow laws, so that there can be as many as are wanted. Sources: of the estimates, see
`noisylabels.auditing.flip_rates`; of three laws, L. Breiman, TR 460, University of California,
1996.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Annotated, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from noisylabels.auditing import flip_rates as rates
from noisylabels.auditing.cross_fitting import cross_fitted, probabilities
from reproduction.data.loaders.ida import generated_ringnorm, generated_waveform
from reproduction.run.protocol_loop import Loop, Row, noisy_labels
from reproduction.run.splits import Floats, standardised
from reproduction.spec import settings as keys
from reproduction.spec.protocol import protocol

Law = Literal["twonorm", "ringnorm", "waveform", "moons"]
Points = tuple[Floats, NDArray[np.int8]]
ESTIMATES = ("own", "cross-fitted", "confident joint", "anchor", "surest rows")


class RowsSettings(keys.Repeated):
    """Settings of `against_rows`."""

    laws: keys.Distinct[Law] = Field(description="of the rows")
    rows: keys.Distinct[keys.Count] = Field(description="numbers of rows")
    noise: Annotated[keys.Flips, keys.only("class_conditional")]
    folds: keys.Folds
    methods: keys.Methods[keys.Method] = Field(description="classifiers with predict_proba")


@protocol(RowsSettings, labels=("omega01", "omega10", "absolute_error", *ESTIMATES))
def against_rows(settings: RowsSettings, loop: Loop) -> Iterator[Row]:
    """Compare estimated with true flip rates on each distribution, against the number of rows.

    The estimates are those of `noisylabels.audit` and the model's own: fitted to all rows
    (``own``), and the mean over the folds (``cross-fitted``), both of models with a flip matrix
    only. Fewer rows are the first of more. Metrics: omega01 and omega10, the estimated rates of
    both classes; absolute_error, how far they are off, mean of both.
    """
    for repetition in loop:
        for law in settings.laws:
            everything, true = draw(law, max(settings.rows), repetition.rng(f"rows {law}"))
            of_law = repetition.with_columns(dataset=law, source="generated")
            noisy = noisy_labels(true, settings.noise, of_law)
            for noise, labels in zip(settings.noise, noisy.T, strict=True):
                for n in settings.rows:
                    X, _ = standardised(everything[:n], everything[:0])
                    observed = labels[:n].astype(np.intp)
                    for label, method in settings.methods.items():
                        of_method = of_law.with_columns(noise=noise.label, method=label, x=n)
                        seed = int(repetition.rng(f"folds {law} {n}").integers(2**31))
                        model = of_method.build(method)
                        for name, omega in estimate(model, X, observed, settings.folds, seed):
                            values = measure(omega, noise)
                            yield from of_method.rows(values, setting=name)


def estimate(
    model: object, X: Floats, observed: NDArray[np.intp], folds: int, seed: int
) -> Iterator[tuple[str, Floats]]:
    """Yield each estimate of the flip matrix (2, 2) that the model allows."""
    fit = cross_fitted(X, observed, model, random_state=seed, repetitions=1, folds=folds)
    p = fit.mean
    of_folds = fit.omega.mean(axis=0)
    if not np.isnan(of_folds).any():
        _, _, learned = probabilities(model.fit(X, observed), X[:1])  # type: ignore[attr-defined]
        yield "own", learned
        yield "cross-fitted", of_folds
    yield "confident joint", rates.from_joint(p, observed)
    yield "anchor", rates.anchor(p, observed)
    yield "surest rows", rates.surest(p, observed).omega


def measure(omega: Floats, noise: keys.Noise) -> dict[str, float]:
    """Compute the metrics of `against_rows`."""
    true = noise.parameters
    off01 = abs(omega[0, 1] - true["negative"])
    off10 = abs(omega[1, 0] - true["positive"])
    return {
        "omega01": float(omega[0, 1]),
        "omega10": float(omega[1, 0]),
        "absolute_error": float(off01 + off10) / 2,
    }


def draw(law: Law, n: int, rng: np.random.Generator) -> Points:
    """Draw n rows of a distribution in random order, half of each class, with classes 0 and 1."""
    positive = n // 2
    X, y = LAWS[law](rng, n - positive, positive)
    return X, (np.asarray(y) > 0).astype(np.int8)


def generated_twonorm(rng: np.random.Generator, negative: int, positive: int) -> Points:
    """Generate twonorm: two Gaussian classes in 20 columns, which differ in every mean."""
    y = np.repeat(np.array([-1, 1], dtype=np.int8), [negative, positive])
    y = y[rng.permutation(len(y))]
    centre = y[:, np.newaxis] * 2 / np.sqrt(20)
    return centre + rng.standard_normal((len(y), 20)), y


def generated_moons(rng: np.random.Generator, negative: int, positive: int) -> Points:
    """Generate two half circles that interlock, with normal noise of 0.3."""
    from sklearn.datasets import make_moons  # imported here, because it is slow to load

    seed = int(rng.integers(2**31))
    X, y = make_moons((negative, positive), noise=0.3, random_state=seed)
    return X, np.where(y > 0, 1, -1).astype(np.int8)


LAWS: dict[Law, Callable[[np.random.Generator, int, int], Points]] = {
    "twonorm": generated_twonorm,
    "ringnorm": generated_ringnorm,
    "waveform": generated_waveform,
    "moons": generated_moons,
}
