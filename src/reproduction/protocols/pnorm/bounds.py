"""The filtering, prediction and expected bounds beside the losses they bound."""

from typing import Any

from noisylabels.seeding import Seeds
from reproduction.protocols.pnorm import expected as pnorm_expected
from reproduction.protocols.pnorm import filtering as pnorm_filtering
from reproduction.protocols.pnorm import prediction as pnorm_prediction
from reproduction.protocols.pnorm.data import Row


def run(
    settings: dict[str, Any], data: dict[str, Any], seeds: Seeds, repetitions: range, tuned: dict[str, Any]
) -> list[Row]:
    """Rows of `pnorm_filtering`, `pnorm_prediction` and `pnorm_expected`."""
    rows = pnorm_filtering.rows_of(settings["filtering"], seeds, repetitions)
    rows += pnorm_prediction.rows_of(settings["prediction"], seeds, repetitions)
    return rows + pnorm_expected.rows_of(settings["expected"], seeds, repetitions)
