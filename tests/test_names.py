"""Names in paths and commands: plain words, distinct, short enough for any file system."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reproduction.frame import artifacts, names


@pytest.mark.parametrize("name", ["fig2", "table1_low", "german.packaged", "a+b", "2-norm", "_x"])
def test_plain_words_are_names(name):
    names.check("the artifact", name, "here")


@pytest.mark.parametrize(
    "name", ["", ".hidden", "-n", "a b", "a;b", "$(id)", "a/b", "..", "é", "x\n", "{x}", "'", "a" * 101]
)
def test_anything_else_is_refused_in_one_line(name):
    with pytest.raises(ValueError, match=r"here: the artifact .* is no name: letters") as caught:
        names.check("the artifact", name, "here")
    assert "\n" not in str(caught.value)


@given(st.text(min_size=1, max_size=300))
def test_a_shortened_name_fits_and_a_short_one_stays(name):
    short = names.shortened(name)
    assert len(short.encode()) <= names.LONGEST
    assert (short == name) == (len(name.encode()) <= names.LONGEST)


def test_long_names_with_the_same_beginning_stay_apart():
    assert names.shortened("a" * 200) != names.shortened("a" * 201)


@pytest.mark.parametrize("entries", [["room 1", "room/1"], ["a", "a"], {"x y": 1, "x-y": 2}])
def test_cells_that_would_share_a_name_are_an_error_that_names_both(entries, tmp_path):
    content = {"settings": {"rooms": entries}, "shards": {"by": ["rooms"]}}
    artifact = artifacts.Artifact("p", "a", "full", content, tmp_path / "p/a.yaml")
    first, second = list(entries)
    with pytest.raises(artifacts.ArtifactError) as caught:
        _ = artifact.cells
    assert f"shards.by: rooms: the entries {first!r} and {second!r} would share the name" in str(caught.value)


def test_a_long_label_makes_a_cell_with_a_short_name(tmp_path):
    content = {"settings": {"rooms": ["r" * 300, "s"]}, "shards": {"by": ["rooms"]}}
    long, short = artifacts.Artifact("p", "a", "full", content, tmp_path / "p/a.yaml").cells
    assert len(long) == names.LONGEST
    assert short == "rooms=s"
