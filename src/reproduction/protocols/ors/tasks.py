"""Task specifications of the settings turned into labelled sequences."""

from collections.abc import Callable
from typing import Any

import numpy as np

from noisylabels.filters.base import NoisySequence
from noisylabels.seeding import Seeds
from reproduction.protocols.ors.sequences import equalizer, regression, speech_filter

CANONICAL = "canonical"
"""The variant of a data set that is the published one."""


def tuned_apart(settings: dict[str, Any], tune_on: Callable[[str], Any]) -> dict[str, Any]:
    """``{repetition: what tune_on finds}``: each repetition is tuned on a sequence of its own.

    tune_on : is given the name of the sequence, "tuning 0", "tuning 1", ...;
    no repetition is scored on it. So the repetitions are independent of each other as a whole,
    and an interval over them holds for the tuning as well as for the data.
    """
    return {str(k): tune_on(f"tuning {k}") for k in range(settings["repetitions"])}


def sequence(
    task: dict[str, Any], data: dict[str, Any], seeds: Seeds, repetition: int | str
) -> NoisySequence:
    """The sequence of a task ``{kind: regression | equalizer | speech, ...}`` for one repetition.

    For speech, ``data["speech"]`` is the signal,
    ``task["room"]`` is "simulated" or the id of a recorded response,
    and a tuning sequence (a repetition with a name) is the first ``task["tuning_fraction"]`` of the signal
    with noise of its own.
    """
    options = {key: value for key, value in task.items() if key not in ("kind", "room", "tuning_fraction")}
    if task["kind"] == "regression":
        return regression(seeds, repetition, **options)
    if task["kind"] == "equalizer":
        return equalizer(seeds, repetition, **options)
    speech = data["speech"].arrays
    rate = int(speech["rate"])
    fraction = task["tuning_fraction"] if isinstance(repetition, str) else 1.0
    seconds = options.pop("seconds", None)
    signal = speech["signal"] if seconds is None else speech["signal"][: round(seconds * rate)]
    room = room_response(task["room"], data, rate, options.pop("room_taps"))
    return speech_filter(seeds, repetition, speech=signal, room=room, rate=rate, fraction=fraction, **options)


def room_response(room: str, data: dict[str, Any], rate: int, taps: int) -> np.ndarray:
    """The response of the simulated room, or of a recorded one named by its data set;
    ``taps`` long, unit norm.
    """
    from reproduction.data import audio

    if room == "simulated":
        return audio.simulated(taps=taps, rate=rate)
    recorded = data[room].arrays
    return audio.recorded(recorded["signal"], int(recorded["rate"]), taps=taps, to_rate=rate)


def source_of(task: dict[str, Any], data: dict[str, Any]) -> dict[str, str]:
    """Columns ``dataset`` and ``source`` of the rows of a task; source = variant of the data, which says
    what they are (canonical, local, stand-in), not where the bytes came from. What is not canonical shows,
    be it the speech or the recorded room.
    """
    if task["kind"] != "speech":
        return {"dataset": "synthetic", "source": "synthetic"}
    used = ["speech"] + [task["room"]] * (task["room"] != "simulated")
    variants = dict.fromkeys(data[name].variant for name in used)
    return {"dataset": "speech", "source": " + ".join(v for v in variants if v != CANONICAL) or CANONICAL}
