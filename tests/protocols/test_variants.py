"""Result rows name the content of the data, never the place where its bytes came from."""

import pytest

from reproduction.data.prepare import Dataset
from reproduction.protocols.ors.tasks import source_of


def data(speech: tuple[str, str], room: tuple[str, str] = ("package", "canonical")) -> dict[str, Dataset]:
    return {
        "speech": Dataset("speech", *speech, {}, ""),
        "living_room": Dataset("living_room", *room, {}, ""),
    }


@pytest.mark.parametrize("place", ["mirror", "official", "package"])
@pytest.mark.parametrize("room", ["simulated", "living_room"])
def test_equal_content_from_anywhere_gives_equal_rows(place: str, room: str) -> None:
    task = {"kind": "speech", "room": room}
    found = source_of(task, data((place, "canonical"), (place, "canonical")))
    assert found == {"dataset": "speech", "source": "canonical"}


@pytest.mark.parametrize(
    ("speech", "room", "expected"),
    [
        (("stand-in", "stand-in"), ("package", "canonical"), "stand-in"),
        (("package", "canonical"), ("stand-in", "stand-in"), "stand-in"),
        (("stand-in", "stand-in"), ("stand-in", "stand-in"), "stand-in"),
        (("local", "local"), ("package", "canonical"), "local"),
        (("local", "local"), ("stand-in", "stand-in"), "local + stand-in"),
    ],
)
def test_what_is_not_the_published_data_shows(
    speech: tuple[str, str], room: tuple[str, str], expected: str
) -> None:
    assert source_of({"kind": "speech", "room": "living_room"}, data(speech, room))["source"] == expected


def test_a_room_that_is_not_used_is_not_named() -> None:
    found = source_of(
        {"kind": "speech", "room": "simulated"}, data(("package", "canonical"), ("local", "local"))
    )
    assert found["source"] == "canonical"


def test_synthetic_tasks_need_no_data() -> None:
    assert source_of({"kind": "regression"}, {}) == {"dataset": "synthetic", "source": "synthetic"}
