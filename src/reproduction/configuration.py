"""The configuration of a run: `config/config.yaml` and the files laid over it."""

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, NonNegativeInt, field_validator

from reproduction.artifact import merge
from reproduction.data.registry import LOCAL, UserFile, users_file
from reproduction.protocols.settings import Distinct
from reproduction.strict_yaml import ArtifactError, Model, check, near, read


class LocalTable(Model):
    """A table of the user's, with more to say than where it lies."""

    file: str = Field(description="CSV or `.npz`")
    label: str | None = Field(default=None, description="column of the labels; default: y")
    positive: str | float | bool | None = Field(
        default=None, description="the class that becomes +1; default: the larger of two numbers"
    )
    columns: Distinct[str] | None = Field(
        default=None, description="columns to learn from; default: all others"
    )


class Data(Model):
    """Where data come from."""

    mirror: str = Field(
        description="folder or URL with copies of the data files, or the environment variable "
        "`NOISYLABELS_MIRROR`"
    )
    source: Literal["", "official", "mirror", "packaged"] = Field(
        description="take one kind of source only: `official`, `mirror`, `packaged` (from a package, else"
        " generated); empty: the registry's order. An artifact with a data set that has no "
        "such source is left out, and the end of the run says so"
    )
    offline: bool = Field(description="never touch the network")
    local: dict[Annotated[str, Field(pattern="^[a-z0-9][a-z0-9_-]*$")], str | LocalTable] = Field(
        description="your own file in the place of a data set, `{speech: talk.wav}`, or a table under a "
        "new id, `{beans: {file: ~/mine/beans.csv, label: kind, positive: bombay}}`: "
        "[docs/extending.md](../docs/extending.md#your-own-table). `file` is CSV or `.npz`; "
        "`label`, the column with the labels, is `y` by default; `positive` is the class that"
        " becomes +1, by default the larger of two numbers; `columns` lists what to learn "
        "from, by default all other columns"
    )


class Config(Model):
    """The file ``config/config.yaml``."""

    scale: Literal["full", "quick", "smoke"] = Field(
        description="`full` (the papers' protocols), `quick` (minutes), `smoke` (seconds). Results of the"
        " scales never overwrite each other"
    )
    papers: Distinct[str] = Field(description="folders of `experiments/` to run")
    seed: NonNegativeInt = Field(description="root of every random number")
    seeds: list[NonNegativeInt] = Field(
        default=[],
        description="further roots, `[1, 2, 3]`: every experiment is repeated with each of them, in the "
        "same run. `results/<scale>/<paper>/<artifact>/seeds.csv` has the mean and the spread"
        " over the seeds of everything measured, `seeds_verdicts.csv` how many seeds come to "
        "the same verdict; both are on the artifact's page. What is drawn and judged is still"
        " the run with `seed`",
    )
    data: Data
    formats: Distinct[Literal["png", "pdf", "svg"]] = Field(
        description="file formats of figures; `png` must be one of them"
    )

    @field_validator("seeds")
    @classmethod
    def _once(cls, seeds: list[int]) -> list[int]:
        if len(set(seeds)) < len(seeds):
            raise ValueError("a seed is listed twice; keep one")
        return seeds

    @field_validator("formats")
    @classmethod
    def _shown(cls, formats: list[str]) -> list[str]:
        if "png" not in formats:
            raise ValueError("png must be one of them, the pages show it; pdf and svg may be")
        return formats


def examine(config: dict[str, Any], files: Iterable[Path]) -> None:
    """Nothing if every file, laid over those before it, is a configuration, and so is ``config``.

    config : what a run has in the end, options of the command line included.

    Raises
    ------
    ArtifactError : one line with the file (or --config), the key, what is wrong, and what is possible.
    """
    merged: dict[str, Any] = {}
    for file in files:
        merged = merge(merged, read(file))
        check(Config, merged, file)
    check(Config, config, "--config")


def examine_files(local: Mapping[str, UserFile]) -> None:
    """Nothing if every file of `data.local` exists. Raises ArtifactError : one does not; its path in full."""
    for name, spec in local.items():
        if not (file := users_file(spec)).is_file():
            raise ArtifactError(f"data.local: {name}: there is no file {file.absolute()}")


def examine_local(local: Mapping[str, Any], entries: Iterable[str], folder: Path) -> None:
    """Nothing if every id of `data.local` is a set of the registry, or a table that some artifact names.

    folder : of the experiments; every artifact is looked at, also those of papers that are not listed.

    Raises
    ------
    ArtifactError : an id that would be ignored, with the nearest ones.
    """
    if not (unknown := [name for name in local if name not in entries]):
        return
    texts = [file.read_text(encoding="utf-8", errors="replace") for file in sorted(folder.glob("*/*.yaml"))]
    named = {name for text in texts for name in re.findall(rf"([a-z0-9][a-z0-9_-]*)\.{LOCAL}\b", text)}
    for name in unknown:
        if name not in named:
            known = [*entries, *named]
            raise ArtifactError(
                f"data.local: {name}: no data set of the registry has this id and no artifact below {folder} "
                f"names {name}.{LOCAL}{near(name, known, 3)}"
            )
