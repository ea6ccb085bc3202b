"""Files of the user's own on their way from the configuration to the rules."""

import json

import pytest

from reproduction.data.own import with_own
from reproduction.data_sources import DataSources as Supply

ENTRIES = {
    "heart": {"title": "t", "task": "binary", "loader": "uci:heart", "sources": [{"name": "mirror"}]},
    "rte": {"title": "t", "task": "crowd", "loader": "crowd:rte", "sources": [{"name": "official"}]},
}


def supply(local, source="packaged"):
    options = {"mirror": "", "source": source, "offline": False, "local": local}
    return Supply(with_own(ENTRIES, local), options)


def test_a_file_in_the_place_of_a_set_is_used_whatever_source_is_pinned(monkeypatch):
    monkeypatch.setenv("HOME", "/home/me")
    own = supply({"heart": "~/heart.csv"})
    assert own.lack("heart") == ""
    assert own.prepared(["heart"]) == ["data/prepared/heart.packaged.npz"]
    assert own.local("heart.packaged") == ["/home/me/heart.csv"]
    assert own.loader_modules("heart.packaged") == ["datasets.table", "datasets.uci"]
    assert own.fetch_options("heart.packaged") == ["--local", "~/heart.csv"]
    assert "heart has no source or variant 'packaged'" in supply({}).lack("heart")


def test_a_table_under_a_new_id_is_had_from_its_file_alone():
    spec = {"file": "beans.csv", "label": "kind"}
    own = supply({"beans": spec})
    assert own.lack("beans.local") == ""
    assert own.prepared(["beans.local"]) == ["data/prepared/beans.local.npz"]
    option, value = own.fetch_options("beans.local")
    assert (option, json.loads(value)) == ("--local", spec)


@pytest.mark.parametrize("source", ["", "packaged"])
def test_without_a_file_what_needs_it_lacks_it_and_a_typo_is_still_an_error(source):
    message = supply({}, source).lack("beans.local")
    assert message.startswith("beans.local is a file of your own")
    assert "data: {local: {beans: FILE}}" in message
    with pytest.raises(ValueError, match="'haert' is not in the registry; did you mean heart"):
        supply({}, source).lack("haert")
