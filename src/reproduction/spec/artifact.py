"""Artifacts: each YAML file is one figure or table of one paper.

It says what to compute (protocol, data sets, settings), how to cut that into jobs (shards), how to
draw it (render), and what was published or claimed. `load` reads a file, and says in one line what
is wrong with it.
"""

import copy
import hashlib
import inspect
import itertools
import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, Self

from pydantic import Field, PositiveInt, PrivateAttr, field_validator, model_validator

from reproduction.data import registry
from reproduction.judge.claims import (
    PRINTED,
    Check,
    Claim,
    PublishedRule,
    Selector,
    Text,
    check_one_value_per_cell,
    listed,
    read_published,
)
from reproduction.show import names, rendering
from reproduction.spec.captions import check_caption, check_summary
from reproduction.spec.mistakes import ArtifactError, check
from reproduction.spec.models import Model, texts
from reproduction.spec.papers import HOME, artifact_files, check_short, find_papers, full_name
from reproduction.spec.protocol import find_protocol
from reproduction.spec.settings import Distinct, Selection, Settings
from reproduction.spec.strict_yaml import Content, read
from reproduction.spec.suggestions import near
from reproduction.spec.verdict_words import NOT_COMPARABLE, PUBLISHED

# ``part``: the full scale with the data sets and repetitions of the configuration's ``only``.
SCALES = ("smoke", "part", "full")
NO_QUICK = "the scale quick is gone; "
NO_QUICK += "a part of the full one: ./run full --config 'only={repetitions: 5}'"
SMOKE_REPETITIONS = 2  # repetitions at the smoke scale if an artifact says nothing else
# Settings whose keys are names that the artifact chose. A reduction of other keys is ignored.
NAMED = ("methods", "tasks", "grids")
# Keys of artifacts that compute a table, which are those with a protocol.
COMPUTED = {"full_shards", "resources", "reductions", "datasets", "measured", "claims", "published"}
# Settings that precede the data sets: the order of the keys is part of the digest of a job.
FIRST = ("experiment", "first_split", "repetitions", "splits")
# Columns of a result table whose entries are labels of the settings or of the protocol.
LABELS = ("noise", "setting", "method", "metric")
MOST = 100_000  # largest number of jobs of an artifact
RULES = {"all", "data", "fetch", "prepare", "experiment", "tune", "run"}
RULES |= {"collect", "site", "unknown", "verdicts"}
NAME = re.compile(r"[A-Za-z0-9_+][A-Za-z0-9._+-]*", re.ASCII)
# Longest name in bytes: with an ending such as ``.12.time.tsv`` far below the limit of 255.
LONGEST = 100


class Shards(Model):
    """The cut of the work into jobs."""

    by: Distinct[str] | Annotated[list[str], Field(max_length=0)] = Field(default=[])
    repetitions: PositiveInt | None = None


class Resources(Model):
    """The needs of one job, for cluster schedulers."""

    mem_mb: Annotated[PositiveInt, Field(le=10_000_000)] | None = None
    runtime: Annotated[PositiveInt, Field(le=525_600)] | None = None


class Reduction(Model):
    """A smaller scale, which is laid over the full settings and shards."""

    settings: Content = Field(default={})
    shards: Shards = Shards()


class Reductions(Model):
    """The smaller scales."""

    smoke: Reduction = Reduction()

    @model_validator(mode="before")
    @classmethod
    def _current_scales(cls, content: Any) -> Any:
        """Refuse the removed scale `quick`, and name its replacement."""
        if isinstance(content, dict) and "quick" in content:
            raise ValueError(f"quick: {NO_QUICK}; remove this key")
        return content


@dataclass(frozen=True)
class Cell:
    """A part of the work of an artifact, with its settings as written and as parsed."""

    as_written: Content
    settings: Settings


class Entry(NamedTuple):
    """Select the entries of one key of the settings that a cell has.

    word : of the entry, in paths.   as_written, parsed : a list or mapping with this entry alone.
    """

    key: str
    word: str
    as_written: Any
    parsed: Any


class OtherUnit(NamedTuple):
    """A unit in which published values seem to be typed."""

    printed: str
    """The ``as`` of `PRINTED` for this unit."""
    n_far: int
    """Number of published values that are far from ours in the metric's unit."""
    n_values: int

    @property
    def is_factor(self) -> bool:
        """Whether the unit is another power of ten, such as percent in place of shares."""
        _, factor = PRINTED[self.printed]
        return abs(factor) != 1


class Artifact(Model):
    """An artifact: the file ``src/papers/<paper>/<artifact>.yaml`` at one scale."""

    title: Annotated[Text, Field(max_length=300)] = Field(
        default="", description="what it shows, in a line; default: the name of the file"
    )
    summary: str = Field(
        default="",
        description="what is shown, in one plain sentence of at most 20 words without "
        "mathematics: for cards, the gallery and readers who cannot see the picture",
    )
    source: str = Field(
        default="",
        description="paper and number of the figure or table; default: its title",
    )
    origin: Literal["paper", "ours"] = Field(default="ours", description="whose result it is")
    kind: Literal["figure", "table"] = Field(
        default="figure",
        description="`table`: csv, md, tex, html; default: what `render` draws",
    )
    caption: str = Field(
        default="",
        description="reStructuredText, shown on its page; default: what its protocol says",
    )
    protocol: str = Field(
        default="",
        pattern=r"^([a-z0-9_.]+:[a-z0-9_]+)?$",
        description="`<module>:<function>` of the paper's folder that computes the rows, such as "
        "`code:errors`; of another paper `<paper>.<module>:<function>`",
    )
    datasets: Distinct[str] = Field(
        default=[],
        description="ids or groups of `datasets.yaml`; `id.source` or `id.variant` pins one. "
        "`settings.datasets` is the same list if it is not given",
    )
    full_as_written: Content = Field(
        default={},
        alias="settings",
        description="input of the protocol; `settings.methods`: label -> method and its parameters",
    )
    resources: Resources | None = Field(
        default=None,
        description="`mem_mb` and `runtime` (minutes) of one of its jobs, for cluster schedulers; "
        "without it what was measured, with a margin ([docs/cluster.md](../docs/cluster.md)), or "
        "else 1000 and 60",
    )
    full_shards: Shards = Field(
        default=Shards(),
        alias="shards",
        description="how the work is cut into jobs: `by` names lists or mappings of the settings, "
        "each entry becomes a cell; `repetitions` is the number per job",
    )
    measured: Literal[True] | None = Field(
        default=None,
        description="the table holds measured times: its jobs run alone, and no two runs are equal",
    )
    uses: Distinct[str] = Field(
        default=[],
        description="other artifacts of the paper whose tables are drawn; of one without a "
        "protocol those that it uses",
    )
    render: str = Field(
        pattern="^[a-z_0-9.]+:[a-z_0-9]+$",
        description="`<module>:<function>` of the paper's folder that draws it, such as "
        "`drawing:fig2`; `stock:curves` and `stock:last_values` draw any result table",
    )
    published: PublishedRule | None = Field(
        default=None,
        description="margin of the published values, with its reason; "
        "the values are in `<artifact>.published.csv`, see below. Without a protocol they are "
        "compared with the table of the first of `uses`",
    )
    judged_from: PositiveInt | None = Field(
        default=None,
        description="first repetition that is judged: an extended run is judged by its new ones",
    )
    calibrated: Literal[True] | None = Field(
        default=None, description="something was chosen by its closeness to the published values"
    )
    claims: list[Claim] = Field(
        default=[],
        description="what was said, and how it is checked: `docs/verdicts.md`. Without a protocol "
        "they are checked in the table of the first of `uses`",
    )
    deviations: list[str] = Field(default=[], description="where and why we differ")
    notes: list[str] = Field(default=[], description="what else a reader should know")
    reductions: Reductions = Field(
        default=Reductions(),
        description="settings and shards of `smoke`, laid over the full ones; default: two "
        "repetitions. Mappings merge, "
        "lists are replaced. What they say of methods, tasks, grids and data sets that the "
        "settings do not have is ignored, so that a copy that removes some works at every scale",
    )

    _file: Path = PrivateAttr(default=Path())
    _scale: str = PrivateAttr(default="full")
    _content: Content = PrivateAttr(default={})
    _only: Content = PrivateAttr(default={})
    _full_settings: Settings = PrivateAttr(default_factory=Settings)
    _settings: Settings = PrivateAttr(default_factory=Settings)

    @field_validator("summary")
    @classmethod
    def _plain_summary(cls, summary: str) -> str:
        check_summary(summary)
        return summary

    @field_validator("caption")
    @classmethod
    def _plain_markup(cls, caption: str) -> str:
        check_caption(caption)
        return caption

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        computed = sorted(key.removeprefix("full_") for key in self.model_fields_set & COMPUTED)
        if self.uses:  # the first table that it uses has its verdicts
            computed = [key for key in computed if key not in ("claims", "published")]
        if computed and not self.protocol:
            raise ValueError(f"{computed[0]}: goes with a protocol, which is not given")
        unknown = sorted(set(self.full_as_written) - {"drawn"})
        if unknown and not self.protocol:
            rule = f"there is no key {unknown[0]!r} without a protocol; known: drawn"
            raise ValueError(f"settings: {rule}")
        ids = [claim.id for claim in self.claims]
        for number, name in enumerate(ids):
            first = ids.index(name)
            if first < number:
                rule = f"{name!r} is also claims.{first}.id; ids are unique"
                raise ValueError(f"claims.{number}.id: {rule}")
            full_claim = self.claims[number].form_of
            if full_claim is not None and (full_claim == name or full_claim not in ids):
                reason = f"{full_claim!r} is not another claim of this file{near(full_claim, ids)}"
                raise ValueError(f"claims.{number}.form_of: {reason}")
        return self

    @property
    def file(self) -> Path:
        """Return the file from which the artifact was read."""
        return self._file

    @property
    def paper(self) -> str:
        """Return the folder of its file."""
        return self._file.parent.name

    @property
    def name(self) -> str:
        """Return the stem of its file."""
        return self._file.stem

    @property
    def content(self) -> Content:
        """Return the file as a mapping, with the published values as a list."""
        return self._content

    @cached_property
    def values(self) -> list[Content]:
        """Return the published values, each with its margin and reason."""
        return read_published(self._file, self._content["published"]) if self.published else []

    def find_other_unit(self, rows: Iterable[Mapping[str, Any]]) -> OtherUnit | None:
        """Find the unit in which published values, at least half of them, seem to be typed.

        A value seems to be if it is outside its margin, and three times as far from ours as under
        the ``as`` that brings all of them nearest.

        Parameters
        ----------
        rows : iterable of mapping
            Verdicts.

        Returns
        -------
        OtherUnit or None
            None if most values seem to be in the metric's unit.
        """
        values = []
        for row in rows:
            is_comparable = row["kind"] == PUBLISHED and row["verdict"] != NOT_COMPARABLE
            if is_comparable and row["estimate"]:
                values.append([float(row[key]) for key in ("published", "estimate", "margin")])
        offset, factor = PRINTED[self.published.printed if self.published else "value"]
        typed = [(value - offset) / factor for value, _, _ in values]
        are_shares = all(abs(value) <= 1 for value in typed)
        gaps: dict[str, list[float]] = {}  # distances to ours, by kind of value (`as`)
        for printed, (other_offset, other_factor) in PRINTED.items():
            if abs(other_factor) > 1 and not are_shares:
                continue
            if abs(other_factor) < 1 and are_shares:
                continue
            gaps[printed] = []
            for value, (_, ours, _) in zip(typed, values, strict=True):
                read_so = other_offset + other_factor * value
                gaps[printed].append(abs(read_so - ours))
        best = min(gaps, key=lambda printed: sum(gaps[printed]))
        n_far = 0
        for gap, (value, ours, margin) in zip(gaps[best], values, strict=True):
            if max(margin, 3 * gap) < abs(value - ours):
                n_far += 1
        if n_far == 0 or 2 * n_far < len(values):
            return None
        return OtherUnit(best, n_far, len(values))

    def other_unit(self, rows: Iterable[Mapping[str, Any]]) -> str:
        """Say in one line what `find_other_unit` finds; "" if it finds nothing."""
        mismatch = self.find_other_unit(rows)
        if mismatch is None:
            return ""
        far = f"{mismatch.n_far} of {mismatch.n_values} published values are much nearer to ours"
        location = f"{self.paper}/{self.name}.yaml: published"
        return f"{location}: {far} with `as: {mismatch.printed}`; are they typed in another unit?"

    @property
    def is_reduced_in_repetitions_alone(self) -> bool:
        """Decide whether the scale has every row of the full one, apart from repetitions."""
        repetitions = {"repetitions": 1}
        return self.as_written | repetitions == self.full_as_written | repetitions

    def unmatched(self, rows: Iterable[Mapping[str, Any]]) -> list[str]:
        """Say which published values and claims choose rows that no scale has.

        Parameters
        ----------
        rows : iterable of mapping
            Verdicts at any scale.

        Returns
        -------
        list of str
            One line each; none where the scale leaves out more than repetitions.
        """
        if not self.is_reduced_in_repetitions_alone:
            return []
        messages = []
        for row in rows:
            missing = row.get("missing")
            if isinstance(missing, str) and missing and " repetition = " not in missing:
                messages.append(f"{self.file}: {row['id']}: {missing}")
        return messages

    @property
    def _reduction(self) -> Reduction:
        if self._scale == "smoke" and "reductions" not in self.model_fields_set:
            repetitions = self.full_as_written.get("repetitions")
            if isinstance(repetitions, int):
                return Reduction(settings={"repetitions": min(repetitions, SMOKE_REPETITIONS)})
        return getattr(self.reductions, self._scale, Reduction(settings=self._only))

    @property
    def full_settings(self) -> Settings:
        """Settings of the full scale, as the model of the protocol."""
        return self._full_settings

    @property
    def settings(self) -> Settings:
        """Settings of the scale, as the model of the protocol."""
        return self._settings

    @cached_property
    def as_written(self) -> Content:
        """Settings of the scale as written, with the reduction laid over the full ones.

        Jobs and result records are described by them, so that a new default changes neither.
        """
        reduction = _fitting(self.full_as_written, self._reduction.settings)
        return merge(self.full_as_written, reduction)

    @cached_property
    def shards(self) -> Shards:
        """How the scale is cut into jobs."""
        reduced = self._reduction.shards
        return self.full_shards.model_copy(update=reduced.model_dump(exclude_unset=True))

    @cached_property
    def cells(self) -> dict[str, Cell]:
        """Map names to parts of the work, each with one entry of every shard key."""
        options = [_entries(key, self.as_written[key], self.settings) for key in self.shards.by]
        cells = {}
        for choice in itertools.product(*options):
            name = "~".join(f"{entry.key}={entry.word}" for entry in choice) or "all"
            written = {entry.key: entry.as_written for entry in choice}
            parsed = {entry.key: entry.parsed for entry in choice}
            settings = self.settings.model_copy(update=parsed)
            cells[_shortened(name)] = Cell(self.as_written | written, settings)
        return cells

    @cached_property
    def blocks(self) -> list[tuple[int, int]]:
        """List half-open ranges of repetitions, ``shards.repetitions`` long."""
        total = self.settings.count_repetitions()
        size = self.shards.repetitions or total
        return [(start, min(start + size, total)) for start in range(0, total, size)]

    @property
    def stems(self) -> list[str]:
        """List the ids of its data sets, without sources and variants."""
        return [name.partition(".")[0] for name in self.datasets]

    @cached_property
    def labels(self) -> list[str]:
        """List patterns of the labels in its rows, from the settings and the protocol."""
        words = dict.fromkeys(texts([self.full_as_written, self.as_written]))
        for settings in (self.full_settings, self.settings):
            words |= dict.fromkeys(settings.list_labels())
        patterns = [word.replace("[", "[[]") for word in words]
        patterns += find_protocol(self.protocol).labels
        return ["", *dict.fromkeys(patterns)]

    def describe(self, printed: bool) -> Content:
        """Return the settings and protocol as the file has them, on request also ``published``."""
        shown = self.as_written | ({"protocol": self.protocol} if self.protocol else {})
        return shown | ({"published": self.values} if printed else {})

    def data_sets(self, settings: Settings) -> list[str]:
        """List the artifact's data sets that settings name, or all without a key ``datasets``."""
        wanted = settings.list_data_sets()
        if wanted is None:
            return self.datasets
        return [name for name in self.datasets if name.partition(".")[0] in wanted]


def load(
    path: Path,
    scale: str,
    only: Content | None = None,
    with_code: bool = True,
) -> Artifact:
    """Read and check an artifact at a scale.

    Parameters
    ----------
    path : Path
        The file ``<folder>/<paper>/<artifact>.yaml``.
    scale : {"smoke", "part", "full"}
        The scale.
    only : mapping, optional
        What the scale ``part`` keeps of ``datasets`` and ``repetitions``.
    with_code : bool, default True
        Check what it says of its methods' classes and of its drawing, too, see `check_code`. The
        imports take longer than all else.

    Returns
    -------
    Artifact
        The artifact, its settings parsed once for the full scale and once for another.

    Raises
    ------
    ArtifactError
        If there is a mistake: one line with the file, the key, what is wrong, what is possible.
    """
    if scale not in SCALES:
        raise ArtifactError(f"scale: {scale!r} is not one of {', '.join(SCALES)}")
    if not with_code:
        with suppress(ArtifactError):  # a class may describe the mistake better
            return _load(path, scale, only, with_code=False)
    return _load(path, scale, only, with_code=True)


def _load(path: Path, scale: str, only: Content | None, with_code: bool) -> Artifact:
    content = expanded(path)
    artifact = check(Artifact, content, path)
    artifact._file, artifact._scale, artifact._content = path, scale, content
    check_name("paper", artifact.paper, path)
    check_name("artifact", artifact.name, path)
    for name in artifact.datasets:
        check_name("data set", name, path)
    with _located(f"{path}: datasets: "):
        for name in artifact.datasets:
            sets = {**registry.listed()["datasets"], **registry.own(path.parent).datasets}
            registry.find(sets, name)
    if with_code:
        _check_render(artifact)
    with _located():
        _check_published_file(artifact)
        content |= {"published": artifact.values} if artifact.published else {}
        _check_ids(artifact)
    with _located(f"{path}: "):
        model = find_protocol(artifact.protocol).settings if artifact.protocol else Selection
    location = f"{path}: settings"
    artifact._full_settings = check(model, artifact.full_as_written, location, with_code)
    artifact._settings = artifact._full_settings
    if not artifact.protocol:
        return artifact
    if only and scale == "part":
        artifact._only = _part(artifact, only)
    location = f"{path} at scale {scale}: "
    if artifact.as_written != artifact.full_as_written:
        artifact._settings = check(model, artifact.as_written, f"{location}settings", with_code)
    with _located(f"{location}settings."):
        _check_data_sets(artifact)
    with _located(f"{path.with_suffix('.published.csv')}: "):
        _check_published(artifact, artifact)
    with _located(f"{path}: "):
        _check_claims(artifact, artifact)
    with _located(f"{location}shards"):
        _check_shards(artifact)
    return artifact


def check_code(artifact: Artifact) -> None:
    """Check the classes of methods and the drawing of an artifact, which are imported for this.

    Raises
    ------
    ArtifactError
        If there is a mistake; the line that `load` says of it.
    """
    _check_render(artifact)
    path = artifact.file
    model = type(artifact.full_settings)
    check(model, artifact.full_as_written, f"{path}: settings")
    if artifact.as_written != artifact.full_as_written:
        check(model, artifact.as_written, f"{path} at scale {artifact._scale}: settings")


def _check_render(artifact: Artifact) -> None:
    with _located(f"{artifact.file}: "):
        draws = rendering.find(artifact.render).draws  # type: ignore[attr-defined]
        if artifact.kind != draws:
            rule = f"{artifact.render} draws a {draws}; write that, or drop the key"
            raise ValueError(f"kind: {rule}")


@contextmanager
def _located(location: str = "") -> Iterator[None]:
    """Put the place of a mistake in front of the mistake."""
    try:
        yield
    except ValueError as error:
        raise ArtifactError(f"{location}{error}") from None


def expanded(path: Path) -> Content:
    """Read a file and complete it: groups become data sets, and names become full names."""
    content = without_groups(read(path), registry.groups(path.parent))
    content = _with_full_names(content, path)
    content = _derived(content, path) | content
    settings = content.get("settings")
    listed = content.get("datasets")
    if not isinstance(settings, dict) or "datasets" in settings:
        return content
    if not listed or not isinstance(listed, list):
        return content
    with suppress(ValueError):  # a missing protocol is refused later
        model = find_protocol(str(content.get("protocol", ""))).settings
        if "datasets" in model.model_fields:
            stems = [name.partition(".")[0] for name in listed if isinstance(name, str)]
            first = {key: settings[key] for key in settings if key in FIRST}
            content["settings"] = first | {"datasets": stems} | settings
    return content


def _derived(content: Content, path: Path) -> Content:
    """Derive the keys that a file may leave out from its paper and from what it names."""
    derived: Content = {}
    if "title" not in content:
        derived["title"] = path.stem.replace("_", " ")
    if "source" not in content and (path.parent / "TITLE").is_file():
        derived["source"] = (path.parent / "TITLE").read_text(encoding="utf-8").strip()
    if "origin" not in content:
        derived["origin"] = "ours"
    with suppress(ValueError):  # a missing function is refused later
        if "kind" not in content:
            draws = rendering.find(str(content.get("render"))).draws  # type: ignore[attr-defined]
            derived["kind"] = draws
        if "caption" not in content:
            derived["caption"] = ""
            run = find_protocol(str(content.get("protocol", ""))).run
            caption = inspect.cleandoc(run.__doc__ or "").partition("\n\n")[0]
            check_caption(caption)
            derived["caption"] = caption
    return derived


def _with_full_names(content: Content, path: Path) -> Content:
    """Write the names of the paper's functions and classes in full.

    Raises ArtifactError: a protocol or a drawing that is not ``module:function`` of the folder.
    """
    folder = path.parent
    for key in ("protocol", "render"):
        name = content.get(key)
        if isinstance(name, str) and name:
            with _located(f"{path}: "):
                check_short(key, name, folder, ["stock"])
            content[key] = full_name(name, folder)
    settings = content.get("settings")
    methods = settings.get("methods") if isinstance(settings, dict) else None
    for method in methods.values() if isinstance(methods, dict) else ():
        name = method.get("method") if isinstance(method, dict) else None
        if isinstance(name, str):
            method["method"] = full_name(name, folder)
    for key in ("noise", "metrics"):
        labels = settings.get(key) if isinstance(settings, dict) else None
        if isinstance(settings, dict) and isinstance(labels, list):
            named = [*labels]
            for number, label in enumerate(labels):
                if isinstance(label, str):
                    named[number] = full_name(label, folder)
            settings[key] = named
    return content


def without_groups(value: Any, groups: Mapping[str, list[str]], key: str = "") -> Any:
    """Write the members of groups into lists of data sets; ``-name`` removes an earlier one."""
    if isinstance(value, dict):
        return {name: without_groups(entry, groups, name) for name, entry in value.items()}
    if isinstance(value, str) and key in ("dataset", "datasets"):
        return groups.get(value, value)
    if isinstance(value, list) and key not in ("dataset", "datasets"):
        return [without_groups(entry, groups) for entry in value]
    if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
        return value
    listed: list[str] = []
    for name in value:
        excluded = set(groups.get(name[1:], [name[1:]])) if name.startswith("-") else set()
        if excluded & set(listed):
            listed = [member for member in listed if member not in excluded]
        else:
            listed += groups.get(name, [name])
    return listed


def _part(artifact: Artifact, only: Content) -> Content:
    """Select the data sets and repetitions that ``only`` keeps of the settings."""
    part = {key: value for key, value in only.items() if key in artifact.full_as_written}
    if "repetitions" in artifact.full_as_written:
        repetitions = artifact.full_settings.count_repetitions()
        part["repetitions"] = min(repetitions, only.get("repetitions") or repetitions)
    return part


def _check_data_sets(artifact: Artifact) -> None:
    """Check that settings name data sets of the artifact that can be used with them."""
    for name in artifact.settings.list_data_sets() or []:
        if name not in artifact.stems:
            nearest = near(name, artifact.stems)
            raise ValueError(f"datasets: {name!r} is not among the artifact's datasets{nearest}")
    artifact.settings.check_data(artifact.stems)


def _check_published_file(artifact: Artifact) -> None:
    """Refuse published values that the artifact does not use, and a user's two for one cell."""
    file = artifact.file.with_suffix(".published.csv")
    is_own = artifact.file.parent.parent != HOME
    if artifact.published and file.is_file() and is_own:
        check_one_value_per_cell(file)
    if artifact.published is None and file.is_file():
        remedy = "add it with `as`, `margin` and `reason`, or remove the file"
        problem = f"{artifact.file} has no key `published`, so nothing is compared"
        raise ValueError(f"{file}: {problem}; {remedy}")


def _check_ids(artifact: Artifact) -> None:
    """Refuse a claim with the id of a published value, because pages show both by their ids."""
    published = {value["id"] for value in artifact.values}
    for claim in artifact.claims:
        if claim.id in published:
            rule = "a published value has this id; rename one of them"
            raise ValueError(f"{artifact.file}: claims: {claim.id}: {rule}")


def _check_claims(artifact: Artifact, computed: Artifact) -> None:
    """Check that claims choose rows that the table can have.

    computed : the artifact whose table it is, itself or the first that it uses.
    """
    several = _several(computed)
    for number, claim in enumerate(artifact.claims):
        for index, claim_check in enumerate(claim.checks):
            location = f"claims.{number}.checks.{index}"
            if claim_check.trend:
                key = f"{location}.{claim_check.bound}"
                _check_labels(computed, key, dict([claim_check.trend]))
            for left_out in claim_check.without or ():
                _check_labels(computed, f"{location}.without", left_out.columns)
            for key in ("a", "b", "base", "where"):
                side = getattr(claim_check, key)
                if isinstance(side, Selector):
                    _check_side(computed, f"{location}.{key}", claim_check, side, several)


def _check_side(
    artifact: Artifact,
    location: str,
    claimed: Check,
    side: Selector,
    several: list[str],
) -> None:
    """Check what one side of a check selects.

    several : columns in which rows of the artifact differ.
    """
    _check_labels(artifact, location, side.columns)
    columns = claimed.where.columns | side.columns if claimed.where else side.columns
    named = [*columns, *(claimed.for_each or ()), *(claimed.all_of or ())]
    if claimed.trend:
        named.append(claimed.trend[0])
    takes_all = claimed.rows == "every" or side is claimed.where
    if "dataset" in several and "dataset" not in named and not takes_all:
        rule = "names no dataset, in which rows differ; name it in where or for_each"
        raise ValueError(f"{location} {rule}")
    if {"method", "setting"} <= columns.keys():
        methods = listed(columns["method"])
        by_method = [artifact.full_settings.settings_of(label) for label in methods]
        settings = list(itertools.chain.from_iterable(by_method))
        if all(by_method) and not {*settings} & {*listed(columns["setting"])}:
            lacks = f"no row of method {columns['method']} has setting {columns['setting']!r}"
            raise ValueError(f"{location}.setting: {lacks}; it has {settings[0]!r}")


def _check_published(artifact: Artifact, computed: Artifact) -> None:
    """Check that published values choose rows of one kind that the table can have.

    computed : the artifact whose table it is, itself or the first that it uses.
    """
    for entry in artifact.values:
        if entry.get("not_comparable"):
            continue
        _check_labels(computed, entry["id"], entry["where"])
        for column in ("metric", *_several(computed)):
            if column not in entry["where"]:
                cause = f"its line gives it no {column}, in which rows differ; fill the column"
                raise ValueError(f"{entry['id']}: {cause}")


def _check_labels(artifact: Artifact, location: str, columns: Mapping[str, Any]) -> None:
    sets = {*artifact.stems, "synthetic"}
    last = artifact.full_settings.count_repetitions() - 1
    pairs = []
    for column, labels in columns.items():
        pairs += [(column, label) for label in listed(labels)]
    for column, label in pairs:
        if column == "repetition" and label > last:
            raise ValueError(f"{location}.{column}: {label}, but the last one is {last}")
        if column == "dataset" and artifact.datasets and label not in sets:
            cause = f"it is not in `datasets`{near(label, sets)}"
            raise ValueError(f"{location}.{column}: no row will be of {label!r}: {cause}")
        if column in LABELS and not _is_known(str(label), artifact.labels):
            reason = f"neither the settings nor the protocol (`labels=`) have {column} {label!r}"
            nearest = near(label, _labels_to_choose(artifact, column), 3)
            raise ValueError(f"{location}.{column}: {reason}{nearest}")


def _labels_to_choose(artifact: Artifact, column: str) -> list[str]:
    """List the labels that a column can have; all words of the settings where it is not known."""
    settings = artifact.full_settings
    labels: list[str] = []
    if column == "method":
        labels = [*settings.select_methods()]
    elif column in ("noise", "metric"):
        key = {"noise": "noise", "metric": "metrics"}[column]
        listed_in_settings = getattr(settings, key, None)
        if isinstance(listed_in_settings, list):
            labels = [str(label) for label in listed_in_settings]
    if column == "metric":
        labels += find_protocol(artifact.protocol).labels
    return labels or artifact.labels


def _is_known(label: str, patterns: Iterable[str]) -> bool:
    """Decide whether a label is one of the words or matches one of the patterns."""
    listed = list(patterns)
    return label in listed or any(fnmatchcase(label, pattern) for pattern in listed)


def _several(artifact: Artifact) -> list[str]:
    """List the columns in which rows of the artifact differ."""
    several = []
    for column, key in (("dataset", "datasets"), ("noise", "noise"), ("method", "methods")):
        entries = getattr(artifact.full_settings, key, None)
        if isinstance(entries, list | dict) and len(entries) > 1:
            several.append(column)
    return several


def _check_shards(artifact: Artifact) -> None:
    written, size = artifact.as_written, artifact.shards.repetitions
    filled = {name: value for name, value in written.items() if value}
    list_keys = [name for name, value in filled.items() if isinstance(value, list | dict)]
    for key in artifact.shards.by:
        if key not in list_keys:
            rule = "must be a non-empty list or mapping of the settings"
            raise ValueError(f".by: {key!r} {rule}{near(key, list_keys)}")
    repetitions = artifact.settings.count_repetitions()
    jobs = math.prod(len(written[key]) for key in artifact.shards.by)
    jobs *= math.ceil(repetitions / (size or repetitions))
    if jobs > MOST:
        raise ValueError(f": {jobs} jobs; at most {MOST} are allowed, raise shards.repetitions")
    with _located(".by: "):
        _ = artifact.cells


def _load_paper(
    folder: Path,
    scale: str,
    only: Content | None,
    is_own: bool,
    with_code: bool,
) -> dict[str, Artifact]:
    """Load the artifacts of a paper; a user's paper is also loaded at the smoke scale."""
    loaded = {}
    for file in artifact_files(folder):
        if is_own and scale != "smoke":
            load(file, "smoke")
        loaded[file.stem] = load(file, scale, only, with_code)
    check_together(folder, loaded)
    names.read_names(folder)
    return loaded


def load_all(
    home: Path,
    papers: Iterable[str],
    scale: str,
    only: Content | None = None,
    broken: dict[str, str] | None = None,
    with_code: bool = True,
) -> dict[str, Artifact]:
    """Load all artifacts of papers.

    Parameters
    ----------
    home : Path
        Folder of the repository's papers.
    papers : iterable of str
        Names of folders in ``home``, or paths of folders anywhere.
    scale : str
        The scale, see `load`.
    only : mapping, optional
        What the scale ``part`` keeps, see `load`.
    broken : dict, optional
        Gets the mistake of each paper that has one, which is left out; by default it is raised.
    with_code : bool, default True
        Check the code that papers of the repository name, see `load`. That of a user is checked.

    Returns
    -------
    dict
        ``<paper>/<artifact>`` -> artifact.

    Raises
    ------
    ArtifactError
        If an artifact has a mistake or uses what does not exist, a paper has no artifact, or two
        names stand for one target of the workflow.
    """
    artifacts: dict[str, Artifact] = {}
    folders = find_papers(papers, home)
    only = without_groups(only, registry.groups())
    for paper, folder in folders.items():
        check_name("paper", paper, "papers")
        is_own = folder.parent != home
        try:
            loaded = _load_paper(folder, scale, only, is_own, with_code or is_own)
        except ValueError as error:
            if broken is None:
                raise
            broken[paper] = str(error)
            continue
        for name, artifact in loaded.items():
            artifacts[f"{paper}/{name}"] = artifact
    if broken and not artifacts:
        raise ArtifactError("; ".join(broken.values()))
    stems: set[str] = set()
    for artifact in artifacts.values():
        stems |= {*artifact.stems}
    for name in (only or {}).get("datasets", []):
        if name not in stems:
            lacks = f"no artifact has the data set {name!r}{near(name, stems)}"
            raise ArtifactError(f"only.datasets: {lacks}")
    targets = {rule: f"the rule {rule} of the workflow" for rule in RULES}
    for name in (*folders, *artifacts):
        target = name.replace("/", "_")
        earlier = targets.get(target)
        if earlier:
            pair = f"{name} and {earlier} have one name, {target}"
            raise ArtifactError(f"papers: {pair}; rename {name}")
        targets[target] = name
    return artifacts


def check_together(folder: Path, artifacts: Mapping[str, Artifact]) -> None:
    """Check what the artifacts of a paper share: used tables, names, the title.

    Raises
    ------
    ArtifactError
        If one draws a table that there is not, a name is for nothing, or there is no title.
    """
    for artifact in artifacts.values():
        with _located(f"{artifact.file}: "):
            _check_uses(artifact, artifacts)
    called = names.read_names(folder)
    with _located(f"{folder / names.FILE.name}: "):
        _check_names(called, artifacts.values())
    with _located(f"{folder / 'TITLE'}: "):
        _check_title(folder / "TITLE")


def _check_title(file: Path) -> None:
    if not file.exists():
        raise ValueError("is missing; it holds one line, the title of the paper")
    try:
        title = file.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise ValueError(f"cannot be read: {error}") from None
    if not title:
        raise ValueError("is empty; it holds the title of the paper")


def _check_uses(artifact: Artifact, artifacts: Mapping[str, Artifact]) -> None:
    """Check that an artifact draws tables of others, and selects what is in their settings."""
    for used_name in artifact.uses:
        if used_name not in artifacts:
            hint = near(used_name, artifacts)
            raise ValueError(f"uses: {artifact.paper} has no artifact {used_name!r}{hint}")
        if used_name == artifact.name:
            raise ValueError(f"uses: {used_name!r} is this one")
        source = artifacts[used_name]
        sources_of_source = [artifacts[name] for name in source.uses if name in artifacts]
        tables = [computed.name for computed in sources_of_source if computed.protocol]
        if not source.protocol and not tables:
            raise ValueError(f"uses: {used_name!r} has no protocol, so no table")
    if artifact.uses and not artifact.protocol:
        computed = artifacts[artifact.uses[0]]
        if not computed.protocol:
            computed = artifacts[computed.uses[0]]
        _check_published(artifact, computed)
        _check_claims(artifact, computed)
    selected = artifact.settings.drawn if isinstance(artifact.settings, Selection) else {}
    for key, wanted in selected.items():
        labels: list[str] = []
        for used_name in artifact.uses:
            labels += map(str, getattr(artifacts[used_name].settings, key, []))
        for name in wanted:
            if name not in labels:
                raise ValueError(f"settings.drawn.{key}: {name!r} is unknown{near(name, labels)}")


def _check_names(declared: Content, artifacts: Iterable[Artifact]) -> None:
    """Check that everything a paper has names for is in one of its artifacts."""
    labels_of: dict[str, list[str]] = {}
    nearest: dict[str, list[str]] = {}
    columns = {"methods": "method", "noise": "noise", "settings": "setting", "metrics": "metric"}
    for artifact in artifacts:
        for section, column in columns.items():
            if artifact.protocol:
                labels_of.setdefault(section, []).extend(artifact.labels)
                labels = _labels_to_choose(artifact, column)
                nearest.setdefault(section, []).extend(labels)
        labels_of.setdefault("protocols", []).append(artifact.protocol)
        labels_of.setdefault("opens", []).append(artifact.render)
    for section, entries in declared.items():
        for label in entries:
            if not _is_known(label, labels_of.get(section, [])):
                words = filter(None, nearest.get(section) or labels_of.get(section, []))
                hint = near(label, words, 3)
                raise ValueError(f"{section}: no artifact has {label!r}{hint}; correct or drop it")


def _fitting(full: Content, reduction: Content) -> Content:
    """Remove methods, tasks, grids and data sets from a reduction that the settings do not have.

    A copy of an artifact may have removed them, and a reduction only makes smaller what is there.
    """
    fitting = dict(reduction)
    for key in (key for key in NAMED if isinstance(fitting.get(key), dict)):
        known_names = full.get(key, {})
        fitting[key] = {name: entry for name, entry in fitting[key].items() if name in known_names}
    listed = [name for name in fitting.pop("datasets", []) if name in full.get("datasets", [])]
    return fitting | ({"datasets": listed} if listed else {})


def merge(base: Mapping[str, Any], overlay: Mapping[str, Any]) -> Content:
    """Lay a mapping over another: mappings are merged, everything else is replaced.

    Parameters
    ----------
    base, overlay : mapping
        The mappings; neither is changed.

    Returns
    -------
    dict
        A new mapping.
    """
    merged = copy.deepcopy(dict(base))
    for key, value in overlay.items():
        are_mappings = isinstance(value, dict) and isinstance(merged.get(key), dict)
        merged[key] = merge(merged[key], value) if are_mappings else copy.deepcopy(value)
    return merged


def _entries(key: str, written: list[Any] | Content, settings: Settings) -> list[Entry]:
    """Choose, for every entry of a list or mapping of the settings, what a cell keeps."""
    entry_of: dict[str, Entry] = {}
    parsed = _one_by_one(getattr(settings, key))
    parts = _one_by_one(written)
    for number, entry in enumerate(written):
        text = entry if isinstance(entry, str) else json.dumps(entry, separators=(",", ":"))
        word = "".join(c if c.isalnum() or c in "._-+" else "-" for c in text).strip("-")
        if word in entry_of:
            first = next(iter(entry_of[word].as_written))
            pair = f"{key}: the entries {first!r} and {entry!r}"
            raise ValueError(f"{pair} would share the name {word!r} in paths; change one")
        entry_of[word] = Entry(key, word, parts[number], parsed[number])
    return list(entry_of.values())


def _one_by_one(value: list[Any] | Content) -> list[Any]:
    """Cut a list or mapping into lists or mappings of one entry each."""
    if isinstance(value, dict):
        return [{name: entry} for name, entry in value.items()]
    return [[entry] for entry in value]


def _shortened(name: str) -> str:
    """Shorten a long name to its beginning and a digest of the whole."""
    encoded = name.encode()
    if len(encoded) <= LONGEST:
        return name
    beginning = encoded[: LONGEST - 13].decode(errors="ignore")
    return f"{beginning}-{hashlib.sha256(encoded).hexdigest()[:12]}"


def check_name(kind: str, name: str, location: object) -> None:
    """Refuse the name of a paper or a data set that cannot be part of a path.

    Raises
    ------
    ArtifactError
        If the name has other characters than those that are allowed, or too many.
    """
    if len(name) > LONGEST or not NAME.fullmatch(name):
        rule = "letters (a-z, A-Z), digits and . _ - +, no dot or dash first"
        rule += f", at most {LONGEST} characters"
        raise ArtifactError(f"{location}: {kind} {name!r} cannot be a name: use {rule}")
