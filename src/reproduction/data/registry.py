"""The registry of data sets (config/datasets.yaml), its checks, and the choice of sources."""

import difflib
import hashlib
import os
import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    Field,
    PositiveInt,
    PrivateAttr,
    StringConstraints,
    model_validator,
)

from reproduction.spec.mistakes import ArtifactError, check
from reproduction.spec.models import Model
from reproduction.spec.papers import full_name
from reproduction.spec.strict_yaml import Content, read

REGISTRY = Path(__file__).resolve().parents[3] / "config/datasets.yaml"

STAND_IN, OR_STAND_IN = "stand_in", "or_stand_in"
"""Pins: `id.stand_in` is the stand-in, `id.or_stand_in` allows it if no source can be reached."""
PACKAGED = "packaged"
"""Pin: `id.packaged` is the set as every machine with a package index has it, or generated."""
LOCAL = "local"
"""Pin: `id.local` is a file of the user, also for an id that the registry does not have."""
PROJECT = "project"
"""Name of a source whose files are next to the ``datasets.yaml`` of a paper."""
EVERYWHERE = ("package", "generated", PROJECT)
KINDS = ("official", "mirror", *EVERYWHERE)
"""Sources that a pin may name, next to `PACKAGED` and the variants of the set."""
LOADERS = {
    "binary": "users_table:users_table",
    "audio": "audio:recording",
    "impulse_response": "audio:room_response",
}
"""Task of a data set -> loader of a user's file that replaces it."""
TABLES = (".csv", ".tsv", ".parquet", ".npz")
MOVING = re.compile(r"/(HEAD|master|main)/")
"""Pattern of addresses that name a branch, whose content changes."""
UNSEEN = "unseen"
"""Stands for the digest of a variant that nobody has opened yet."""

Task = Literal["binary", "classes", "regression", "audio", "impulse_response", "crowd", "other"]
"""Task of a data set; for the first three, preparation checks ``y``."""

Sha256 = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]
Digest = Annotated[str, StringConstraints(pattern="^([0-9a-f]{64}|unseen)$")]
Url = Annotated[str, StringConstraints(pattern=r"^https?://")]
RENAMED_LOADERS = {
    "formats:users_table": "users_table:users_table",
    "libsvm:affine": "robust_sgd.deformed:affine",
    "libsvm:covtype_stand_in": "robust_sgd.stand_ins:covtype",
    "libsvm:deformed": "robust_sgd.deformed:deformed",
    "libsvm:half_deformed": "robust_sgd.deformed:half_deformed",
    "libsvm:ijcnn1_stand_in": "robust_sgd.stand_ins:ijcnn1",
    "libsvm:real_sim_stand_in": "robust_sgd.stand_ins:real_sim",
    "libsvm:shifted": "robust_sgd.deformed:shifted",
    "libsvm:susy_stand_in": "robust_sgd.stand_ins:susy",
}
"""Name of a loader in version 1 -> its name now."""


def _refuse_old_name(loader: str) -> str:
    if loader in RENAMED_LOADERS:
        raise ValueError(f"the loader {loader} is now called {RENAMED_LOADERS[loader]}; write that")
    return loader


Loader = Annotated[
    str,
    StringConstraints(pattern=r"^[a-z_][a-z0-9_]*(\.[a-z_][a-z0-9_]*)*:[a-z_][a-z0-9_]*$"),
    AfterValidator(_refuse_old_name),
]
"""Name of a loader: ``module:function`` of the engine, or ``paper.module:function`` of a paper.

It is called with {file name: path} and the options of the entry, and returns {name: array}.
"""
UserFile = str | dict[str, Any]
"""A file of `data.local`, or a table with more about it: ``{file, label, positive, columns}``."""


class Package(Model):
    """A pinned distribution, fetched as a file; nothing in it is installed or executed."""

    name: str
    version: str
    archive: str
    sha256: Sha256
    bytes: PositiveInt


class Shape(Model):
    """Expected shape of prepared data: rows, columns, rows of each label; or length of a sound."""

    rows: PositiveInt | None = None
    columns: PositiveInt | None = None
    classes: dict[int, int] | None = None
    samples: PositiveInt | None = None
    rate: PositiveInt | None = None


class RawFile(Model):
    """One raw file: how it is recognised, and one place of it as url, path or package.

    ``path`` starts in the user's mirror, or of a source `PROJECT` in the folder of the registry;
    ``member`` is its path in an archive there. ``sha256`` is of the file itself; ``git_blob``, the
    name of its content in Git, may stand for it. ``largest`` limits a file of unknown length.
    """

    name: Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9._+-]*$")]
    url: Url | None = None
    path: str | None = None
    package: Package | None = None
    member: str | None = None
    unpack: Literal["gzip", "bzip2"] | None = None
    sha256: Sha256 | None = None
    git_blob: Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{40}$")] | None = None
    bytes: PositiveInt | None = None
    largest: PositiveInt | None = None

    @model_validator(mode="after")
    def _one_place(self) -> "RawFile":
        locations = [self.url, self.path, self.package]
        n_locations = sum(location is not None for location in locations)
        if n_locations != 1 or (self.package and not self.member):
            hint = f"(one next to this registry is of the source `{PROJECT}`)"
            needs = "a file needs exactly one of `url`, `path`, or `package` with `member`"
            raise ValueError(f"{needs} {hint}")
        if self.url and MOVING.search(self.url) and not (self.sha256 or self.git_blob):
            needs = "it needs a sha256 or git_blob, or a commit in the address"
            raise ValueError(f"{self.url} may change its content any day; {needs}")
        return self


class Source(Model):
    """A source of a data set: its files, if any, and the loader that makes arrays."""

    name: Literal["official", "mirror", "package", "generated", "project", "stand-in", "local"]
    variant: Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_-]*$")] = "canonical"
    loader: Loader = ""
    shape: Shape | None = None
    note: str = ""
    opened: bool = True
    files: list[RawFile] = Field(default=[])


class StandIn(Source):
    """A substitute that an artifact may use on request; pages always name it as a stand-in."""

    name: Literal["stand-in"] = "stand-in"
    variant: Literal["stand-in"] = "stand-in"
    loader: Loader
    note: str
    shape: Shape = Shape()


class Entry(Model):
    """A data set, with a digest of the rounded arrays of each variant, or `UNSEEN`."""

    title: str
    task: Task
    licence: str = ""
    citation: str = ""
    homepage: Url = ""
    note: str = ""
    loader: Loader
    options: Content = Field(default={})
    shape: Shape = Shape()
    prepared_sha256: dict[str, Digest] = Field(default={})
    prepared_decimals: dict[str, PositiveInt] = Field(default={})
    sources: list[Source]
    stand_in: StandIn | None = None
    local: Loader | None = None

    _file: Path = PrivateAttr(default=REGISTRY)

    @property
    def file(self) -> Path:
        """Return the registry with this entry."""
        return self._file

    def decisive(self) -> Content:
        """Select the parts of the entry that fetching and reading use, without texts for people."""
        texts = {"title", "licence", "citation", "homepage", "note"}
        of_sources = {"note", "opened"}
        unused: Content = dict.fromkeys(texts, True)
        unused |= {"sources": {"__all__": of_sources}, "stand_in": of_sources}
        fields: Content = self.model_dump(mode="json", exclude=unused, exclude_none=True)
        return fields


class File(Model):
    """Content of a registry file."""

    packages: dict[str, Package] = Field(default={})
    groups: dict[str, list[str]] = Field(default={})
    datasets: dict[Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9_-]*$")], Entry]


Registry = dict[str, Entry]
OWN = Entry(title="your own table", task="binary", loader=LOADERS["binary"], sources=[])
"""Description of `id.local` if the registry does not have the id."""


def load_registry(path: Path) -> Registry:
    """Load a registry, in which each ``package`` of a file becomes the pinned distribution.

    Parameters
    ----------
    path : Path
        The file ``datasets.yaml``.

    Returns
    -------
    dict
        Id of a data set -> entry.

    Raises
    ------
    ValueError
        If a key is unknown, missing, given twice or of the wrong kind, or a name is unknown.
    """
    return _load(path).datasets


def _load(path: Path) -> File:
    content = read(path, keys=str | int)
    packages = content.get("packages") or {}
    sets = content.get("datasets")
    for dataset, entry in sets.items() if isinstance(sets, dict) else ():
        _name_loaders_in_full(entry, path.parent)
        for source, file in _list_files(entry):
            name = file.get("package")
            if isinstance(name, str):
                if name not in packages:
                    rule = f"is not pinned; known: {', '.join(sorted(packages))}"
                    raise ValueError(f"{path}: {dataset}: package {name!r} {rule}")
                file["package"] = packages[name]
            elif source.get("name") == PROJECT:
                _find_in_project(path, dataset, file)
    loaded = check(File, content, path)
    names = {*loaded.datasets}
    if path != REGISTRY:
        names |= {*listed()["datasets"]}
    for name, members in loaded.groups.items():
        unknown = [member for member in members if member not in names]
        if unknown:
            rule = f"{unknown[0]} is not a data set of the registry"
            raise ArtifactError(f"{path}: groups.{name}: {rule}")
    for entry in loaded.datasets.values():
        entry._file = path
    return loaded


def _list_files(entry: Any) -> list[tuple[Content, Content]]:
    """List the sources and files of an entry that is not checked yet."""
    files = []
    sources = entry.get("sources", ()) if isinstance(entry, dict) else ()
    for source in sources:
        for file in source.get("files", ()) if isinstance(source, dict) else ():
            if isinstance(file, dict):
                files.append((source, file))
    return files


def _find_in_project(registry: Path, dataset: str, file: Content) -> None:
    """Add the path of a file in the folder of its registry, and the SHA-256 of its content."""
    file["path"] = file.get("path") or file.get("name")
    path = registry.absolute().parent / str(file["path"])
    if not path.is_file():
        raise ArtifactError(f"{registry}: datasets.{dataset}: there is no file {path}")
    file["sha256"] = file.get("sha256") or sha256_of(path)


def _name_loaders_in_full(content: Any, folder: Path) -> None:
    """Name the loaders of a paper in full, ``paper.module:function``, in an entry and below."""
    if isinstance(content, dict):
        for key, value in content.items():
            if key in ("loader", "local") and isinstance(value, str):
                content[key] = full_name(value, folder)
            else:
                _name_loaders_in_full(value, folder)
    elif isinstance(content, list):
        for value in content:
            _name_loaders_in_full(value, folder)


def sha256_of(path: Path) -> str:
    """Compute the SHA-256 of a file, as 64 hex digits."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


@cache
def listed() -> Content:
    """Read ``config/datasets.yaml`` without changes."""
    return read(REGISTRY, keys=str | int)


@cache
def own(paper: Path) -> File:
    """Load ``datasets.yaml`` in the folder of a paper; without the file it has no data sets.

    Raises
    ------
    ValueError
        If it has a mistake, or a data set with an id of the repository.
    """
    file = paper / REGISTRY.name
    loaded = _load(file) if file.is_file() else File(datasets={})
    for name in loaded.datasets:
        if name in listed()["datasets"]:
            rule = "the repository has a set of this id; rename it"
            raise ArtifactError(f"{file}: datasets.{name}: {rule}")
    return loaded


def of_papers(shared: Registry, papers: Iterable[Path]) -> Registry:
    """Add the data sets of papers to a registry.

    Raises
    ------
    ArtifactError
        If two papers have a data set of one id.
    """
    registry = dict(shared)
    for paper in papers:
        for name, entry in own(paper).datasets.items():
            first = registry.setdefault(name, entry)
            if first is not entry:
                rule = f"{first.file} has this id; rename one"
                raise ArtifactError(f"{entry.file}: datasets.{name}: {rule}")
    return registry


def groups(paper: Path | None = None) -> dict[str, list[str]]:
    """List the groups of data sets that artifacts of a paper may name together."""
    groups: dict[str, list[str]] = dict(listed().get("groups", {}))
    if paper:
        groups |= own(paper).groups
    return groups


def find(entries: Registry, dataset: str) -> tuple[str, str, Entry]:
    """Find a data set by its name.

    Parameters
    ----------
    entries : dict
        The registry.
    dataset : str
        Id, with a pin or without: ``heart``, ``heart.package``.

    Returns
    -------
    id : str
    pin : str
        "" if nothing is pinned.
    entry : Entry
        What the registry says of it; of ``mine.local`` `OWN`, unless the registry has ``mine``.

    Raises
    ------
    ValueError
        If there is no such data set.
    """
    name, _, pin = dataset.partition(".")
    if name not in entries and pin != LOCAL:
        nearest = difflib.get_close_matches(name, entries, n=3)
        hint = f"; did you mean {' or '.join(nearest)}?" if nearest else ""
        own_table = f"(your own table would be '{name}.{LOCAL}')"
        raise ValueError(f"data set {name!r} is not in the registry{hint} {own_table}")
    return name, pin, entries.get(name, OWN)


def with_source(dataset: str, source: str) -> str:
    """Pin a data set to a kind of source, unless it has a pin, and keep an allowed stand-in.

    Examples
    --------
    >>> from reproduction.data.registry import with_source
    >>> with_source("ijcnn1.or_stand_in", "packaged")
    'ijcnn1.packaged.or_stand_in'
    """
    name, _, pin = dataset.partition(".")
    if not source or pin not in ("", OR_STAND_IN):
        return dataset
    return ".".join(filter(None, (name, source, pin)))


def sources(dataset: str, entry: Entry, pin: str = "") -> list[Source]:
    """List the sources to try, in order.

    Parameters
    ----------
    dataset : str
        Id of the data set, for messages.
    entry : Entry
        What the registry says of it.
    pin : str, default ""
        A kind of source, a variant, "packaged" or "stand_in"; "or_stand_in" may be alone or, after
        a dot, behind any of the others. "packaged" is one kind only (packages, else generated, else
        an allowed stand-in), so that it does not depend on the machine.

    Returns
    -------
    list of Source
        All sources, or those that the pin names; last an allowed stand-in.

    Raises
    ------
    ValueError
        If there is no source or variant of that name.
    """
    if pin == LOCAL:
        problem = "is your own file, and the configuration does not name it"
        raise ValueError(f"{dataset}.{LOCAL} {problem}: data: {{local: {{{dataset}: FILE}}}}")
    candidates = []
    for source in entry.sources:
        defaults = {"loader": source.loader or entry.loader, "shape": source.shape or entry.shape}
        candidates.append(source.model_copy(update=defaults))
    variants = {source.variant for source in candidates}
    stand_in: list[Source] = [entry.stand_in] if entry.stand_in else []
    allowed = stand_in if pin.endswith(OR_STAND_IN) else []
    wanted = pin.removesuffix(OR_STAND_IN).removesuffix(".") if allowed else pin
    chosen: list[Source] = []
    if wanted == STAND_IN:
        chosen = stand_in
    elif wanted == PACKAGED:
        chosen = allowed
        for kind in reversed(EVERYWHERE):
            chosen = [source for source in candidates if source.name == kind] or chosen
    elif wanted in ("", *KINDS, *variants):
        chosen = [source for source in candidates if wanted in ("", source.name, source.variant)]
        chosen += allowed
    if not chosen:
        names = sorted({source.name for source in candidates} | variants)
        names += [PACKAGED] if set(EVERYWHERE) & set(names) else []
        names += [STAND_IN, OR_STAND_IN] if stand_in else []
        raise ValueError(f"{dataset} has no source or variant {pin!r}; it has: {', '.join(names)}")
    return chosen


def is_users(loader: str) -> bool:
    """Decide whether a loader is one of a paper, ``paper.module:function``."""
    return "." in loader


def loader_module(loader: str) -> str:
    """Name the module of a loader, below reproduction.data.loaders or of a paper."""
    module = loader.partition(":")[0]
    return module if is_users(loader) else f"reproduction.data.loaders.{module}"


def loaders(entry: Entry) -> list[str]:
    """List every ``module:function`` that may read this data set."""
    names = [source.loader for source in entry.sources]
    names += [entry.loader, entry.local or ""]
    if entry.stand_in:
        names.append(entry.stand_in.loader)
    return sorted({name for name in names if name})


def users_file(spec: UserFile) -> Path:
    """Find the file of an entry of `data.local`; ``~`` is the home folder."""
    return Path(os.path.expanduser(spec if isinstance(spec, str) else spec["file"]))


def users_loader(dataset: str, registry: Registry, spec: UserFile) -> str:
    """Name the loader for a user's file that replaces a data set; a new id is a table.

    Raises
    ------
    ValueError
        If no single file can replace the data set, or not one of this kind.
    """
    task = registry.get(dataset, OWN).task
    loader = LOADERS.get(task, "")
    if not loader:
        remedy = "give your table another id, such as `mine`"
        rule = f"no file can take the place of {dataset} (task {task})"
        raise ValueError(f"data.local: {rule}; {remedy}")
    file = users_file(spec)
    options = [] if isinstance(spec, str) else [key for key in spec if key != "file"]
    if loader != OWN.loader:
        if options:
            rule = f"is not a table, so {', '.join(options)} mean nothing"
            raise ValueError(f"data.local: {dataset} {rule}")
    elif file.suffix.lower() not in TABLES:
        unknown = "" if dataset in registry else f" ({dataset} is not in the registry)"
        rule = f"{file} is not a table ({', '.join(TABLES)}){unknown}"
        raise ValueError(f"data.local: {dataset}: {rule}")
    return loader


def with_users(registry: Registry, local: dict[str, UserFile]) -> Registry:
    """Give every id of `data.local` an entry with its `users_loader`."""
    extended = dict(registry)
    for name, spec in local.items():
        loader = users_loader(name, registry, spec)
        extended[name] = registry.get(name, OWN).model_copy(update={"local": loader})
    return extended


def describe_data_sets(registry: Registry) -> str:
    """Format a table of all data sets, then a section for each, for the page ``docs/data.md``."""
    from jinja2 import Environment, PackageLoader

    loader = PackageLoader("reproduction.data", "")
    pages = Environment(loader=loader, trim_blocks=True, lstrip_blocks=True)
    pages.tests["moving"] = MOVING.search
    sets = [(name, entry, sources(name, entry)) for name, entry in sorted(registry.items())]
    return pages.get_template("data_sets.md.jinja").render(sets=sets)
