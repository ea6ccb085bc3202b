"""The registry of data sets (config/datasets.yaml): read, checked, and asked for the sources of a set."""

import difflib
import hashlib
import os
import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, PositiveInt, PrivateAttr, StringConstraints, model_validator

from reproduction.spec.papers import full_name
from reproduction.spec.strict_yaml import ArtifactError, Content, Model, check, read

REGISTRY = Path(__file__).resolve().parents[3] / "config/datasets.yaml"

STAND_IN, OR_STAND_IN = "stand_in", "or_stand_in"
"""`id.stand_in` is the stand-in itself, `id.or_stand_in` allows it where no source can be reached."""
PACKAGED = "packaged"
"""`id.packaged` is what every machine with a package index gets: of a package or project, or generated."""
LOCAL = "local"
"""`id.local` is a file of the user; the registry need not have the id."""
PROJECT = "project"
"""Name of a source beside the file that lists it, the ``datasets.yaml`` of a paper of one's own."""
EVERYWHERE = ("package", "generated", PROJECT)
KINDS = ("official", "mirror", *EVERYWHERE)
"""Names of sources that a pin may have; or it is `PACKAGED` or a variant of the set."""
LOADERS = {
    "binary": "users_table:users_table",
    "audio": "audio:recording",
    "impulse_response": "audio:room_response",
}
"""Task of a data set -> what reads a user's file in its place."""
TABLES = (".csv", ".tsv", ".parquet", ".npz")
MOVING = re.compile(r"/(HEAD|master|main)/")
"""Part of an address that names a branch: its content changes."""
UNSEEN = "unseen"
"""In place of the digest of a variant that nobody has opened yet."""

Sha256 = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]
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
"""Names of loaders in version 1 -> their names now."""


def _refuse_old_name(loader: str) -> str:
    if loader in RENAMED_LOADERS:
        raise ValueError(f"the loader {loader} is now called {RENAMED_LOADERS[loader]}; write that")
    return loader


Loader = Annotated[
    str,
    StringConstraints(pattern=r"^[a-z_][a-z0-9_]*(\.[a-z_][a-z0-9_]*)*:[a-z_][a-z0-9_]*$"),
    AfterValidator(_refuse_old_name),
]
"""``module:function`` below reproduction.data.loaders, or ``paper.module:function`` of one's own, called with
{file name: path} and the options of the entry; it returns {name: array}."""
UserFile = str | dict[str, Any]
"""A file of `data.local`, or a table with more to say: ``{file, label, positive, columns}``."""


class Package(Model):
    """A pinned distribution. It is fetched as a file; nothing in it is installed or executed."""

    name: str
    version: str
    archive: str
    sha256: Sha256
    bytes: PositiveInt


class Shape(Model):
    """What the prepared data must be: rows of y, columns of X, label -> rows; or length and rate in Hz."""

    rows: PositiveInt | None = None
    columns: PositiveInt | None = None
    classes: dict[int, int] | None = None
    samples: PositiveInt | None = None
    rate: PositiveInt | None = None


class RawFile(Model):
    """One raw file, how it is recognised, and exactly one place to have it from: url, path or package.

    ``path`` starts in the user's mirror, of a source `PROJECT` in the folder of the registry; ``member`` is
    its path in an archive there. ``sha256`` is of the file itself; ``git_blob`` may stand for it, the name of
    its content in Git. ``largest`` caps a file of unknown length.
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
        places = sum(place is not None for place in (self.url, self.path, self.package))
        if places != 1 or (self.package and not self.member):
            beside = f"(one beside this registry is of the source `{PROJECT}`)"
            needs = "a file needs exactly one of `url`, `path`, or `package` with `member`"
            raise ValueError(f"{needs} {beside}")
        if self.url and MOVING.search(self.url) and not (self.sha256 or self.git_blob):
            needs = "it needs a sha256 or git_blob, or a commit in the address"
            raise ValueError(f"{self.url} may change its content any day; {needs}")
        return self


class Source(Model):
    """Where a data set comes from, and how its files become arrays. No files: it is generated."""

    name: Literal["official", "mirror", "package", "generated", "project", "stand-in", "local"]
    variant: Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_-]*$")] = "canonical"
    loader: Loader = ""
    shape: Shape | None = None
    note: str = ""
    opened: bool = True
    files: list[RawFile] = Field(default=[])


class StandIn(Source):
    """What an artifact may use instead, if it says so; always named as a stand-in."""

    name: Literal["stand-in"] = "stand-in"
    variant: Literal["stand-in"] = "stand-in"
    loader: Loader
    note: str
    shape: Shape = Shape()


class Entry(Model):
    """A data set; of every variant the digest of its arrays, or `UNSEEN`, taken after rounding."""

    title: str
    task: Literal["binary", "audio", "impulse_response", "crowd", "other"]
    licence: str = ""
    citation: str = ""
    homepage: Url = ""
    note: str = ""
    loader: Loader
    options: Content = Field(default={})
    shape: Shape = Shape()
    prepared_sha256: dict[str, Annotated[str, StringConstraints(pattern="^([0-9a-f]{64}|unseen)$")]] = Field(
        default={}
    )
    prepared_decimals: dict[str, PositiveInt] = Field(default={})
    sources: list[Source]
    stand_in: StandIn | None = None
    local: Loader | None = None

    _file: Path = PrivateAttr(default=REGISTRY)

    @property
    def file(self) -> Path:
        """The registry that it is in."""
        return self._file

    def decisive(self) -> Content:
        """What fetching and reading use of it: everything but texts for people."""
        texts = {"title", "licence", "citation", "homepage", "note"}
        of_sources = {"note", "opened"}
        unused: Content = dict.fromkeys(texts, True)
        unused |= {"sources": {"__all__": of_sources}, "stand_in": of_sources}
        found: Content = self.model_dump(mode="json", exclude=unused, exclude_none=True)
        return found


class File(Model):
    """Content of a registry."""

    packages: dict[str, Package] = Field(default={})
    groups: dict[str, list[str]] = Field(default={})
    datasets: dict[Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9_-]*$")], Entry]


Registry = dict[str, Entry]
OWN = Entry(title="a table of your own", task="binary", loader=LOADERS["binary"], sources=[])
"""What is known of `id.local` if the registry does not have the id."""


def load_registry(path: Path) -> Registry:
    """Data set id -> entry, with each file's ``package`` replaced by what is pinned under that name.

    Raises ValueError : a key that is unknown, missing, twice or of the wrong kind; an unknown name.
    """
    return _load(path).datasets


def _load(path: Path) -> File:
    content = read(path, keys=str | int)
    packages, sets = content.get("packages"), content.get("datasets")
    for dataset, entry in sets.items() if isinstance(sets, dict) else ():
        _name_loaders_in_full(entry, path.parent)
        for source in entry.get("sources", ()) if isinstance(entry, dict) else ():
            for file in source.get("files", ()) if isinstance(source, dict) else ():
                if isinstance(file, dict) and isinstance(name := file.get("package"), str):
                    if name not in (packages or {}):
                        known = ", ".join(sorted(packages or {}))
                        raise ValueError(f"{path}: {dataset}: package {name!r} is not pinned; known: {known}")
                    file["package"] = packages[name]
                elif isinstance(file, dict) and source.get("name") == PROJECT:
                    file["path"] = file.get("path") or file.get("name")
                    place = path.absolute().parent / str(file["path"])
                    if not place.is_file():
                        raise ArtifactError(f"{path}: datasets.{dataset}: there is no file {place}")
                    file["sha256"] = file.get("sha256") or sha256_of(place)  # of what it holds now
    found = check(File, content, path)
    there = {*found.datasets} if path == REGISTRY else {*found.datasets, *listed()["datasets"]}
    for name, members in found.groups.items():
        if unknown := [member for member in members if member not in there]:
            raise ArtifactError(f"{path}: groups.{name}: {unknown[0]} is not a data set of the registry")
    for each in found.datasets.values():
        each._file = path
    return found


def _name_loaders_in_full(content: Any, folder: Path) -> None:
    """Name the loaders of a paper in full, ``paper.module:function``, in an entry and in its sources."""
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
    """SHA-256 of a file as 64 hex digits."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


@cache
def listed() -> Content:
    """``config/datasets.yaml`` as it is."""
    return read(REGISTRY, keys=str | int)


@cache
def own(paper: Path) -> File:
    """What ``datasets.yaml`` in the folder of a paper lists; nothing without one. Raises ValueError."""
    file = paper / REGISTRY.name
    found = _load(file) if file.is_file() else File(datasets={})
    if twice := [name for name in found.datasets if name in listed()["datasets"]]:
        raise ArtifactError(f"{file}: datasets.{twice[0]}: the repository has a set of this id; rename it")
    return found


def of_papers(known: Registry, papers: Iterable[Path]) -> Registry:
    """The registry with the own data sets of papers. Raises ArtifactError : two papers have one of an id."""
    found = dict(known)
    for name, entry in (each for paper in papers for each in own(paper).datasets.items()):
        if found.setdefault(name, entry) is not entry:
            raise ArtifactError(f"{entry.file}: datasets.{name}: {found[name].file} has this id; rename one")
    return found


def groups(paper: Path | None = None) -> dict[str, list[str]]:
    """Name -> ids of the data sets that artifacts, of that paper, may name together."""
    found: dict[str, list[str]] = listed().get("groups", {})
    return found | (own(paper).groups if paper else {})


def find(entries: Registry, dataset: str) -> tuple[str, str, Entry]:
    """``"heart.package"`` -> ("heart", "package", its entry); the second is "" if nothing is pinned.

    ``"mine.local"`` has the entry `OWN`, unless the registry has ``mine``.   Raises ValueError : no such set.
    """
    name, _, pin = dataset.partition(".")
    if name not in entries and pin != LOCAL:
        near = difflib.get_close_matches(name, entries, n=3)
        hint = f"; did you mean {' or '.join(near)}?" if near else ""
        own = f"(a table of your own would be '{name}.{LOCAL}')"
        raise ValueError(f"data set {name!r} is not in the registry{hint} {own}")
    return name, pin, entries.get(name, OWN)


def with_source(dataset: str, source: str) -> str:
    """``dataset`` pinned to ``source``, unless it has a pin already; an allowed stand-in stays allowed:
    ``("ijcnn1.or_stand_in", "packaged")`` -> "ijcnn1.packaged.or_stand_in".
    """
    name, _, pin = dataset.partition(".")
    if not source or pin not in ("", OR_STAND_IN):
        return dataset
    return ".".join(filter(None, (name, source, pin)))


def sources(dataset: str, entry: Entry, pin: str = "") -> list[Source]:
    """The sources to try, in order: all of them, or those that ``pin`` names; last an allowed stand-in.

    A pin is a kind of source, a variant, "packaged", or "stand_in"; "or_stand_in" may be alone or, after a
    dot, behind any of the others. "packaged" is one kind only (packages, else generated, else an allowed
    stand-in): it does not depend on the machine.   Raises ValueError : nothing of that name.
    """
    if pin == LOCAL:
        which = "is a file of your own, and the configuration does not say which"
        raise ValueError(f"{dataset}.{LOCAL} {which}: data: {{local: {{{dataset}: FILE}}}}")
    found = []
    for source in entry.sources:
        rest = {"loader": source.loader or entry.loader, "shape": source.shape or entry.shape}
        found.append(source.model_copy(update=rest))
    variants = {source.variant for source in found}
    stand_in: list[Source] = [entry.stand_in] if entry.stand_in else []
    allowed = stand_in if pin.endswith(OR_STAND_IN) else []
    wanted = pin.removesuffix(OR_STAND_IN).removesuffix(".") if allowed else pin
    chosen: list[Source] = []
    if wanted == STAND_IN:
        chosen = stand_in
    elif wanted == PACKAGED:
        kinds = [[source for source in found if source.name == kind] for kind in EVERYWHERE]
        chosen = next(filter(None, [*kinds, allowed]), [])
    elif wanted in ("", *KINDS, *variants):
        chosen = [source for source in found if wanted in ("", source.name, source.variant)] + allowed
    if not chosen:
        known = sorted({source.name for source in found} | variants)
        known += [PACKAGED] if set(EVERYWHERE) & set(known) else []
        known += [STAND_IN, OR_STAND_IN] if stand_in else []
        raise ValueError(f"{dataset} has no source or variant {pin!r}; it has: {', '.join(known)}")
    return chosen


def is_users(loader: str) -> bool:
    """Is it ``paper.module:function``, of a user's own code?"""
    return "." in loader


def loader_module(loader: str) -> str:
    """The module of a loader, below reproduction.data.loaders or the user's."""
    module = loader.partition(":")[0]
    return module if is_users(loader) else f"reproduction.data.loaders.{module}"


def loaders(entry: Entry) -> list[str]:
    """Every ``module:function`` that may read this data set."""
    found = [entry.loader, entry.local, entry.stand_in and entry.stand_in.loader]
    return sorted({loader for loader in [*found, *(source.loader for source in entry.sources)] if loader})


def users_file(spec: UserFile) -> Path:
    """The file of an entry of `data.local`; ``~`` is the home folder."""
    return Path(os.path.expanduser(spec if isinstance(spec, str) else spec["file"]))


def users_loader(dataset: str, registry: Registry, spec: UserFile) -> str:
    """``module:function`` that reads a user's file as ``dataset``; an unknown id is a table.

    Raises ValueError : a data set that no single file can replace, or such a file cannot.
    """
    task = registry.get(dataset, OWN).task
    loader = LOADERS.get(task, "")
    if not loader:
        how = "give your table an id of its own, such as `mine`"
        raise ValueError(f"data.local: no file can take the place of {dataset} (task {task}); {how}")
    file, options = users_file(spec), [] if isinstance(spec, str) else [key for key in spec if key != "file"]
    if loader != OWN.loader:
        if options:
            raise ValueError(f"data.local: {dataset} is not a table, so {', '.join(options)} mean nothing")
    elif file.suffix.lower() not in TABLES:
        unknown = "" if dataset in registry else f" ({dataset} is not in the registry)"
        raise ValueError(f"data.local: {dataset}: {file} is not a table ({', '.join(TABLES)}){unknown}")
    return loader


def with_users(registry: Registry, local: dict[str, UserFile]) -> Registry:
    """The registry in which every id of `data.local` has an entry with its `users_loader`."""
    own = {name: {"local": users_loader(name, registry, spec)} for name, spec in local.items()}
    return registry | {name: registry.get(name, OWN).model_copy(update=how) for name, how in own.items()}


TABLE = "<!-- from here on written by src/scripts/generate.py from config/datasets.yaml -->"
"""The line of the page after which it is generated."""


def readme(page: str, registry: Registry) -> str:
    """``data/README.md``: its text up to the table, and what every data set is, by ``README.md.jinja``."""
    from jinja2 import Environment, PackageLoader

    pages = Environment(loader=PackageLoader("reproduction.data", ""), trim_blocks=True, lstrip_blocks=True)
    pages.tests["moving"] = MOVING.search
    sets = [(name, entry, sources(name, entry)) for name, entry in sorted(registry.items())]
    text = pages.get_template("README.md.jinja").render(sets=sets)
    return f"{page.partition(TABLE)[0]}{TABLE}\n\n{text}"
