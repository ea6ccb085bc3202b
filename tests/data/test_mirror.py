"""What the mirror of NOISYLABELS_MIRROR holds is what the registry says; no network is used.

A mirror holds what a user has downloaded by hand. Without one, the raw files of a smoke run serve,
and `conftest.py` leaves this file out of a run of all tests: `test_contents.py` reads the same
raw files.
"""

import os

import numpy as np
import pytest
from project import ROOT, load_data_sets

from reproduction.data.fetch import FetchError, fetch
from reproduction.data.prepare import prepare
from reproduction.data.transport import Network

pytestmark = pytest.mark.data


def in_the_mirror(entry):
    return "mirror" in {source.name for source in entry.sources}


MIRRORED = [name for name, entry in load_data_sets().items() if in_the_mirror(entry)]


def prepared(name, folder):
    """Read a data set of the mirror or, without one, of the smoke run."""
    mirror = os.environ.get("NOISYLABELS_MIRROR")
    if not mirror:
        raw = ROOT / f"data/raw/{name}.packaged"
        if not raw.is_dir():
            pytest.skip(f"{name} is in no mirror (NOISYLABELS_MIRROR), and no smoke run fetches it")
        return prepare(raw)
    network = Network(mirror, offline=True)
    try:
        fetch(f"{name}.mirror", load_data_sets(), folder / name, network)
    except FetchError as error:
        pytest.skip(str(error).splitlines()[1].strip())
    return prepare(folder / name)  # checks shape, classes and digest


@pytest.mark.parametrize("name", MIRRORED)
def test_the_mirror_has_the_registered_content(tmp_path, name):
    dataset = prepared(name, tmp_path)
    assert (dataset.source == "mirror") == ("NOISYLABELS_MIRROR" in os.environ)
    for array in dataset.arrays.values():
        assert array.dtype.kind != "f" or np.isfinite(array).all()


def test_crowd_labels_of_rte_have_the_published_accuracy(tmp_path):
    rte = prepared("rte", tmp_path).arrays
    response = rte["response"]
    assert (response == 1).sum() == 4581
    is_right = response == rte["y"][rte["item"]]
    assert is_right.mean() == pytest.approx(0.729, abs=5e-4)
    votes = np.bincount(rte["item"], weights=response)
    assert (votes == 0).sum() == 65
    majority = np.where(votes > 0, 1, -1)
    assert (majority == rte["y"]).mean() == pytest.approx(0.919, abs=5e-4)


def test_votes_of_cifar10h_agree_with_its_labels_as_published(tmp_path):
    arrays = prepared("cifar10h", tmp_path).arrays
    votes = arrays["votes"]
    label = arrays["y"]
    agrees = votes.argmax(axis=1) == label
    assert agrees.mean() == pytest.approx(0.9921, abs=5e-5)
    share = votes[np.arange(10_000), label] / votes.sum(axis=1)
    assert (share < 0.5).sum() == 122


POINTS = {0: (-0.50997775, 0.22260098), 1: (2.1271197, 0.20049603), 20: (1.4857399, 0.18191207)}
"""Column -> values in two rows of the second training part of IDA's waveform, to eight digits."""


def test_waveform_has_the_points_of_ida(tmp_path):
    X = prepared("ida_waveform", tmp_path).arrays["X"]
    for row in range(2):
        gaps = [abs(X[:, column] - values[row]) for column, values in POINTS.items()]
        distances = np.max(gaps, axis=0)
        assert distances.min() < 1e-7
