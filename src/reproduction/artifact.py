"""Artifacts: one YAML file is one figure or table of one paper.

An artifact says what to compute (protocol, data sets, settings), how to cut it into jobs (shards), how to
draw it (render), and what was published or claimed. `load` reads a file and says in one line what is wrong
with it; `Artifact.cells` and `Artifact.blocks` are its jobs.
"""

import copy
import importlib
import itertools
import json
import math
import re
from collections.abc import Iterator
from fnmatch import fnmatchcase
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from annotated_types import Len
from pydantic import Field, PositiveInt, PrivateAttr, model_validator

from reproduction import names
from reproduction.data import registry
from reproduction.protocols import walk
from reproduction.strict_yaml import ArtifactError, Model, check, near, read
from reproduction.verdicts import published
from reproduction.verdicts.models import Claim, PublishedRule, Selector, Text

SCALES = ("smoke", "quick", "full")

NAMED = ("methods", "tasks", "grids")
"""Settings whose keys are names chosen by the artifact; what a reduction says of other names is ignored."""

MOST = 100_000
"""Jobs of an artifact."""

COMPUTED = ("shards", "resources", "reductions", "datasets", "measured", "claims", "published")
"""Keys of artifacts that compute a table, which are those with a protocol."""

LABELS = ("noise", "setting", "method", "metric")
"""Columns whose entries are labels of the settings or of the protocol."""

FIRST = ("experiment", "first_split", "repetitions", "splits")
"""Settings that precede the data sets: the order of keys is part of the digest of a job."""

NUMBER = re.compile(r"-?[0-9][0-9.e+-]*")

Unique = Annotated[list[str], Len(1)]


class Shards(Model):
    """How the work is cut into jobs."""

    by: list[str] = Field(default=[], description="keys of the settings; a combination of entries is a cell")
    repetitions: PositiveInt | None = Field(default=None, description="repetitions of a job; default: all")


class Resources(Model):
    """What one job needs, for cluster schedulers."""

    mem_mb: PositiveInt | None = Field(default=None, description="megabytes")
    runtime: PositiveInt | None = Field(default=None, description="minutes")


class Reduction(Model):
    """What a smaller scale lays over the full settings and shards."""

    settings: dict[str, Any] = {}
    shards: Shards = Shards()


class Reductions(Model):
    """The smaller scales."""

    smoke: Reduction = Reduction()
    quick: Reduction = Reduction()


class Artifact(Model):
    """The file ``config/experiments/<paper>/<artifact>.yaml`` at one scale."""

    title: Text
    source: str = Field(description="paper and number of the figure or table")
    origin: Literal["paper", "ours"] = Field(description="who drew it first")
    kind: Literal["figure", "table"] = Field(description="`figure` (png, pdf, svg) or `table` (csv, md, tex, html)")
    caption: str = Field(description="reStructuredText, shown on its page")
    protocol: str = Field(default="", description="the function that computes the rows, `<module>.<function>` below `src/reproduction/protocols/`")
    datasets: list[str] = Field(default=[], description="ids or groups of `datasets.yaml`; `id.source` or `id.variant` pins one. `settings.datasets` is the same list, if it is not given")
    uses: list[str] = Field(default=[], description="artifacts of the same paper whose tables are drawn too")
    settings: dict[str, Any] = Field(default={}, description="input of the protocol; `settings.methods` maps a label to a method and its parameters")
    measured: Literal[True] | None = Field(default=None, description="the table holds measured times: its jobs run alone, and no two runs give the same bytes")
    shards: Shards = Field(default=Shards(), description="how the work is cut into jobs: `by` names lists or mappings of the settings, each entry becomes a cell; `repetitions` is the number per job")
    resources: Resources | None = Field(default=None, description="`mem_mb` and `runtime` (minutes) of a job, for cluster schedulers; default: as measured, with a margin")
    render: str = Field(description="`<module>:<function>` below `src/reproduction/figures/papers/` that draws it; `stock:curves` and `stock:last_values` draw any table")
    published: PublishedRule | None = Field(default=None, description="margin of the published values, with its reason; the values are in `<artifact>.published.csv`")
    claims: list[Claim] = Field(default=[], description="what was said, and how it is checked: docs/verdicts.md")
    deviations: list[str] = Field(default=[], description="where and why we differ")
    notes: list[str] = []
    reductions: Reductions = Field(default=Reductions(), description="settings and shards of `smoke` and `quick`, laid over the full ones: mappings merge, lists are replaced. What they say of methods, tasks, grids and data sets that the settings do not have is ignored")
