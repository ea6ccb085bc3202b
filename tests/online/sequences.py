"""Small clean sequences and their copies, shared by the tests of this folder."""

import numpy as np

from noisylabels.noise.features import SHAPES, FeatureNoise


def linear_sequence(T: int, d: int, seed: int = 0, copies: int = 2):
    """X (T, d) on the sphere, y, copies (T, copies, d) of noise with changing shape, noisy targets, law."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((T, d))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    w = rng.standard_normal(d)
    y = X @ (0.9 * w / np.linalg.norm(w))
    law = FeatureNoise(variances=np.full(d, 1.0 / d), shapes=SHAPES)
    noisy = np.stack([X + law.draw(rng, T) for _ in range(copies)], axis=1)
    return X, y, noisy, y + 0.1 * rng.standard_normal(T), law
