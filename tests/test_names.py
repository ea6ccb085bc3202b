"""Names in paths and commands: plain words, distinct, short enough for any file system."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reproduction.artifact import LONGEST, Artifact, _shortened, check_name


@pytest.mark.parametrize("name", ["fig2", "table1_low", "german.packaged", "a+b", "2-norm", "_x"])
def test_plain_words_are_names(name):
    check_name("the artifact", name, "here")


@pytest.mark.parametrize(
    "name", ["", ".hidden", "-n", "a b", "a;b", "$(id)", "a/b", "..", "é", "x\n", "{x}", "'", "a" * 101]
)
def test_anything_else_is_refused_in_one_line(name):
    with pytest.raises(ValueError, match=r"here: the artifact .* cannot be a name: use letters") as caught:
        check_name("the artifact", name, "here")
    assert "\n" not in str(caught.value)


@given(st.text(min_size=1, max_size=300))
def test_a_shortened_name_fits_and_a_short_one_stays(name):
    short = _shortened(name)
    assert len(short.encode()) <= LONGEST
    assert (short == name) == (len(name.encode()) <= LONGEST)


def test_long_names_with_the_same_beginning_stay_apart():
    assert _shortened("a" * 200) != _shortened("a" * 201)


def made(rooms):
    """An artifact that is cut by its rooms."""
    about = {"title": "t", "source": "s", "origin": "ours", "kind": "table", "caption": "c", "render": "a:b"}
    content = {"protocol": "p.q", "settings": {"rooms": rooms}, "shards": {"by": ["rooms"]}}
    return Artifact.model_validate(about | content)


@pytest.mark.parametrize("entries", [["room 1", "room/1"], ["a", "a"], {"x y": 1, "x-y": 2}])
def test_cells_that_would_share_a_name_are_an_error_that_names_both(entries):
    artifact = made(entries)
    first, second = list(entries)
    with pytest.raises(ValueError, match="would share the name") as caught:
        _ = artifact.cells
    assert f"rooms: the entries {first!r} and {second!r} would share the name" in str(caught.value)


def test_a_long_label_makes_a_cell_with_a_short_name():
    long, short = made(["r" * 300, "s"]).cells
    assert len(long) == LONGEST
    assert short == "rooms=s"
