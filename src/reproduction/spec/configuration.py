"""The configuration of a run, and what pages and editors are told of the keys of all files in ``config/``."""

import re
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import Field, NonNegativeInt, PositiveInt, field_validator, model_validator

from reproduction.data.prepare import find_loader
from reproduction.data.registry import LOCAL, Entry, UserFile, loaders, users_file
from reproduction.spec.artifact import NO_QUICK, merge
from reproduction.spec.settings import Distinct, check_keywords
from reproduction.spec.strict_yaml import ArtifactError, Content, Model, check, near, read


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
    gaps: Literal["fill"] | None = Field(
        default=None, description="put the median or the most frequent word where a value is missing"
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
        "from, by default all other columns; with `gaps: fill` values may be missing"
    )

    @field_validator("mirror")
    @classmethod
    def _reachable(cls, mirror: str) -> str:
        address = mirror.startswith(("http://", "https://", "file://"))
        if mirror and not address and not Path(mirror).expanduser().is_dir():
            raise ValueError(f"{mirror!r} is neither a folder that exists nor an address with https://")
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
        description="papers to run: names of folders of `src/papers/`, or paths of folders of your own "
        "([extending.md](../docs/extending.md))"
    )
    seed: NonNegativeInt = Field(
        description="root of every random number; results of another seed than the one of this file are in "
        "`results/<scale>-seed<N>/`"
    )
    only: Only | None = Field(
        default=None,
        description="a part of the full scale, `{datasets: [ida_heart], repetitions: 8}`: artifacts without "
        "these data sets are left out. It is judged for what it is, and kept in `results/part`, apart from "
        "the whole; claims that need more are not judged",
    )
    data: Data
    formats: Distinct[Literal["png", "pdf", "svg"]] = Field(
        description="file formats of figures; `png` must be one of them"
    )

    @model_validator(mode="before")
    @classmethod
    def _current_keys(cls, content: Any) -> Any:
        """Name the new form of a key that is gone."""
        if isinstance(content, dict) and "project" in content:
            folder = Path(str(content["project"])).expanduser()
            papers = [str(file.parent) for file in sorted(folder.glob("*/TITLE"))] or [f"{folder}/NAME"]
            rule = "there is no such key; list the folder of each paper in `papers`"
            raise ValueError(f"project: {rule}: papers: [{', '.join(papers)}]")
        if isinstance(content, dict) and content.get("scale") == "quick":
            raise ValueError(f"scale: {NO_QUICK}")
        if isinstance(content, dict) and "seeds" in content:
            rule = "there is no such key; make one run for each seed, as in --config seed=1"
            raise ValueError(f"seeds: {rule}, and compare results/<scale>-seed<N>")
        return content

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if "png" not in self.formats:
            raise ValueError("formats: png must be one of them, the pages show it; pdf and svg may be")
        if self.only and self.scale != "full":
            raise ValueError(f"only: is a part of the full scale, not of {self.scale}; drop one of them")
        return self


def examine(config: Mapping[str, Any], files: Iterable[Path]) -> None:
    """Nothing if every file, laid over those before it, is a configuration, and so is ``config``.

    config : what a run has in the end, options of the command line included.
    Raises ArtifactError: one line with the file (or --config), the key, what is wrong, and what is possible.
    """
    merged: Content = {}
    for file in files:
        check(Config, merged := merge(merged, read(file)), file)
    check(Config, config, "--config")


def examine_local(local: Mapping[str, UserFile], entries: Collection[str], *folders: Path) -> None:
    """Nothing if the ids of `data.local` are of the registry or of an artifact, and their files are there.

    folders : of experiments; every artifact is looked at, also those of papers that are not listed.
    Raises ArtifactError: an id that would be ignored, with near ones; a file that does not exist, in full.
    """
    known = set(entries)
    for artifact in (file for folder in folders for file in sorted(folder.glob("*/*.yaml"))):
        text = artifact.read_text(encoding="utf-8", errors="replace")
        known |= {*re.findall(rf"([a-z0-9][a-z0-9_-]*)\.{LOCAL}\b", text)}
    for name, spec in local.items():
        file = users_file(spec).absolute()
        if name not in known:
            why = f"no data set of the registry has this id and no artifact below {folders[0]} names"
            why += f" {name}.{LOCAL}{near(name, sorted(known), 3)}"
        elif not file.exists():
            why = f"there is no file {file}"
        elif not file.is_file() or file.resolve().parts[1] in ("proc", "sys"):
            why = f"{file} is not a regular file; copy what is to be read into a file of its own"
        else:
            continue
        raise ArtifactError(f"data.local: {name}: {why}")


def examine_loaders(dataset: str, entry: Entry) -> None:
    """Import the loaders of a data set of one's own.

    Raises ArtifactError: one cannot be used, or has no such options.
    """
    try:
        for loader in loaders(entry):
            check_keywords(find_loader(loader), entry.options)
    except ValueError as error:
        raise ArtifactError(f"{entry.file}: datasets.{dataset.partition('.')[0]}: {error}") from None


# The keys, from the models that check them
