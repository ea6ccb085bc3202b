"""The configuration of a run: its keys, their values, and their meaning."""

import re
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import Field, NonNegativeInt, PositiveInt, field_validator, model_validator

from reproduction.data.prepare import find_loader
from reproduction.data.registry import LOCAL, Entry, UserFile, loaders, users_file
from reproduction.spec.artifact import NO_QUICK, merge
from reproduction.spec.class_check import check_keywords
from reproduction.spec.mistakes import ArtifactError, check
from reproduction.spec.models import Model
from reproduction.spec.settings import Distinct
from reproduction.spec.strict_yaml import Content, read
from reproduction.spec.suggestions import near


class LocalTable(Model):
    """A table of the user, with more about it than its file."""

    file: str = Field(description="CSV or `.npz`")
    label: str | None = Field(default=None, description="column of the labels; default: y")
    positive: str | float | bool | None = Field(
        default=None, description="the class that becomes +1; default: the larger of two numbers"
    )
    columns: Distinct[str] | None = Field(
        default=None, description="columns to learn from; default: all others"
    )
    gaps: Literal["fill"] | None = Field(
        default=None,
        description="put the median or the most frequent word where a value is missing",
    )


class Data(Model):
    """Where data come from."""

    mirror: str = Field(
        description="folder or URL with copies of the data files, or the environment variable "
        "`NOISYLABELS_MIRROR`"
    )
    source: Literal["", "official", "mirror", "packaged"] = Field(
        description="take one kind of source only: `official`, `mirror`, `packaged` (from a "
        "package, else generated); empty: the registry's order. An artifact with a data set that "
        "has no such source is left out, and the end of the run says so"
    )
    offline: bool = Field(description="never touch the network")
    local: dict[Annotated[str, Field(pattern="^[a-z0-9][a-z0-9_-]*$")], str | LocalTable] = Field(
        description="your file instead of a data set, `{speech: talk.wav}`, or a table "
        "under a new id, `{beans: {file: ~/mine/beans.csv, label: kind, positive: bombay}}`: "
        "[docs/extending.md](../docs/extending.md#your-own-table). `file` is CSV or `.npz`; "
        "`label`, the column with the labels, is `y` by default; `positive` is the class that "
        "becomes +1, by default the larger of two numbers; `columns` lists what to learn from, by "
        "default all other columns; with `gaps: fill` values may be missing"
    )

    @field_validator("mirror")
    @classmethod
    def _reachable(cls, mirror: str) -> str:
        is_address = mirror.startswith(("http://", "https://", "file://"))
        if mirror and not is_address and not Path(mirror).expanduser().is_dir():
            rule = "is neither a folder that exists nor an address with https://"
            raise ValueError(f"{mirror!r} {rule}")
        return mirror


class Only(Model):
    """What to keep of every artifact."""

    datasets: Distinct[str] | None = None
    repetitions: PositiveInt | None = None


class Config(Model):
    """The file ``config/config.yaml``."""

    scale: Literal["full", "smoke"] = Field(
        description="`full` (the papers' protocols), `smoke` (seconds). Results of the"
        " scales never overwrite each other"
    )
    papers: Distinct[str] = Field(
        description="papers to run: names of folders of `src/papers/`, or paths of folders of "
        "your own ([extending.md](../docs/extending.md))"
    )
    seed: NonNegativeInt = Field(
        description="root of every random number; results of another seed than the one of this "
        "file are in `results/<scale>-seed<N>/`"
    )
    only: Only | None = Field(
        default=None,
        description="a part of the full scale, `{datasets: [ida_heart], repetitions: 8}`: "
        "artifacts without these data sets are left out. It is judged for what it is, and kept in "
        "`results/part`, apart from the whole; claims that need more are not judged",
    )
    data: Data
    formats: Distinct[Literal["png", "pdf", "svg"]] = Field(
        description="file formats of figures; `png` must be one of them"
    )

    @model_validator(mode="before")
    @classmethod
    def _current_keys(cls, content: Any) -> Any:
        """Name the new form of a key or a value that was removed."""
        if not isinstance(content, dict):
            return content
        if "project" in content:
            folder = Path(str(content["project"])).expanduser()
            papers = [str(file.parent) for file in sorted(folder.glob("*/TITLE"))]
            papers = papers or [f"{folder}/NAME"]
            rule = "there is no such key; list the folder of each paper in `papers`"
            raise ValueError(f"project: {rule}: papers: [{', '.join(papers)}]")
        if content.get("scale") == "quick":
            raise ValueError(f"scale: {NO_QUICK}")
        if "seeds" in content:
            rule = "there is no such key; make one run for each seed, as in --config seed=1"
            raise ValueError(f"seeds: {rule}, and compare results/<scale>-seed<N>")
        return content

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if "png" not in self.formats:
            rule = "png must be one of them, the pages show it; pdf and svg may be"
            raise ValueError(f"formats: {rule}")
        if self.only and self.scale != "full":
            rule = f"is a part of the full scale, not of {self.scale}; drop one of them"
            raise ValueError(f"only: {rule}")
        return self


def examine(config: Mapping[str, Any], files: Iterable[Path]) -> None:
    """Check the configuration of a run, and each of its files.

    Parameters
    ----------
    config : mapping
        What a run has in the end, options of the command line included.
    files : iterable of Path
        Files of the configuration; each is laid over those before it.

    Raises
    ------
    ArtifactError
        If there is a mistake: one line with the file (or --config), the key, and what is possible.
    """
    merged: Content = {}
    for file in files:
        merged = merge(merged, read(file))
        check(Config, merged, file)
    check(Config, config, "--config")


def examine_local(local: Mapping[str, UserFile], entries: Collection[str], *folders: Path) -> None:
    """Check the user's own files in place of data sets.

    Parameters
    ----------
    local : mapping
        The key `data.local`: id of a data set -> the user's file.
    entries : collection of str
        Ids of the registry.
    *folders : Path
        Folders with papers; artifacts of papers that the configuration does not list count, too.

    Raises
    ------
    ArtifactError
        If an id is neither of the registry nor of an artifact, or a file does not exist.
    """
    names = set(entries)
    for folder in folders:
        for artifact in sorted(folder.glob("*/*.yaml")):
            text = artifact.read_text(encoding="utf-8", errors="replace")
            names |= {*re.findall(rf"([a-z0-9][a-z0-9_-]*)\.{LOCAL}\b", text)}
    for name, spec in local.items():
        file = users_file(spec).absolute()
        if name not in names:
            lacks = "no data set of the registry has this id and no artifact below"
            nearest = near(name, sorted(names), 3)
            reason = f"{lacks} {folders[0]} names {name}.{LOCAL}{nearest}"
        elif not file.exists():
            reason = f"there is no file {file}"
        elif not file.is_file() or file.resolve().parts[1] in ("proc", "sys"):
            reason = f"{file} is not a regular file; copy its content into a regular file"
        else:
            continue
        raise ArtifactError(f"data.local: {name}: {reason}")


def examine_loaders(dataset: str, entry: Entry) -> None:
    """Import the loaders of a data set of the user.

    Parameters
    ----------
    dataset : str
        Id of the data set, with a source or without.
    entry : Entry
        What its registry says of it.

    Raises
    ------
    ArtifactError
        If a loader cannot be used, or has no such options.
    """
    try:
        for loader in loaders(entry):
            check_keywords(find_loader(loader), entry.options)
    except ValueError as error:
        key = f"datasets.{dataset.partition('.')[0]}"
        raise ArtifactError(f"{entry.file}: {key}: {error}") from None
