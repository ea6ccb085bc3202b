"""Sparse and dense targets: LMS, p-norm LMS and EG+- against n, and the best p in between."""

from typing import Any

from noisylabels.seeding import Seeds
from reproduction.protocols.pnorm import geometry as pnorm_geometry
from reproduction.protocols.pnorm import interpolation as pnorm_interpolation
from reproduction.protocols.pnorm.data import Row


def run(
    settings: dict[str, Any], data: dict[str, Any], seeds: Seeds, repetitions: range, tuned: dict[str, Any]
) -> list[Row]:
    """Rows of `pnorm_geometry` and of `pnorm_interpolation`."""
    rows = pnorm_geometry.rows_of(settings["comparison"], seeds, repetitions)
    return rows + pnorm_interpolation.rows_of(settings["interpolation"], seeds, repetitions)
