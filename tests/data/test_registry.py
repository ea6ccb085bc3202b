"""The registry: what is written wrong is named; what is written right is found."""

import re
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
import yaml
from pypi_simple import PYPI_SIMPLE_ENDPOINT

from reproduction.data.prepare import array_digest, find_loader, rounded
from reproduction.data.registry import (
    MOVING,
    OWN,
    UNSEEN,
    Entry,
    Package,
    Registry,
    Shape,
    find,
    load_registry,
    loaders,
    readme,
    sources,
    users_file,
    users_loader,
    with_source,
    with_users,
)

ROOT = Path(__file__).parents[2]
HASH = "0" * 64
PACKAGE = {
    "name": "a-b",
    "version": "1.0",
    "archive": "a_b.tar.gz",
    "sha256": HASH,
    "bytes": 9,
}


def toy(**changes: Any) -> dict[str, Any]:
    entry: dict[str, Any] = {
        "title": "Toy",
        "task": "binary",
        "licence": "none",
        "citation": "nobody",
        "homepage": "https://example.org/",
        "loader": "uci:heart",
        "sources": [
            {
                "name": "official",
                "files": [{"name": "toy.data", "url": "https://example.org/toy", "sha256": HASH}],
            },
            {
                "name": "package",
                "variant": "rebuilt",
                "loader": "uci:other",
                "shape": {"rows": 2},
                "files": [{"name": "toy.txt", "package": "a", "member": "a/toy.txt"}],
            },
        ],
        "shape": {"rows": 3, "columns": 2, "classes": {-1: 1, 1: 2}},
        "stand_in": {"loader": "libsvm:toy", "note": "made up"},
    }
    return {key: value for key, value in (entry | changes).items() if value is not None}


def load(folder: Path, *, packages: Any = None, **changes: Any) -> Registry:
    content = {
        "packages": {"a": PACKAGE} if packages is None else packages,
        "datasets": {"toy": toy(**changes)},
    }
    path = folder / "datasets.yaml"
    path.write_text(yaml.safe_dump(content), encoding="utf-8")
    return load_registry(path)


def test_the_registry_of_the_project_is_valid_and_every_loader_exists() -> None:
    registry = load_registry(ROOT / "config/datasets.yaml")
    for entry in registry.values():
        for spec in loaders(entry):
            assert callable(find_loader(spec))


def test_every_data_set_states_licence_citation_and_homepage() -> None:
    for name, entry in load_registry(ROOT / "config/datasets.yaml").items():
        assert all(map(str.strip, (entry.licence, entry.citation, entry.homepage))), name


def test_every_known_package_is_used() -> None:
    registry = load_registry(ROOT / "config/datasets.yaml")
    used = {
        file.package.archive
        for entry in registry.values()
        for source in entry.sources
        for file in source.files
        if file.package
    }
    pinned = yaml.safe_load((ROOT / "config/datasets.yaml").read_text(encoding="utf-8"))["packages"]
    assert {package["archive"] for package in pinned.values()} == used


def test_the_registry_names_no_package_index() -> None:
    host = urlsplit(PYPI_SIMPLE_ENDPOINT).hostname
    assert host not in (ROOT / "config/datasets.yaml").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"titel": "Toy"}, r"datasets\.yaml: datasets\.toy.*titel.*title"),
        ({"title": None}, r"toy\.title: "),
        ({"loader": "heart"}, r"toy\.loader: "),
        ({"sources": [{"name": "web"}]}, r"toy\.sources\.0\.name: .*'official', 'mirror'"),
        ({"sources": [{"name": "official", "files": [{"name": "x"}]}]}, "needs exactly one of `url`, `path`"),
        (
            {"sources": [{"name": "official", "files": [{"name": "x", "url": "http://h/x", "path": "x"}]}]},
            "exactly one",
        ),
        (
            {"sources": [{"name": "official", "files": [{"name": "../x", "url": "http://h/x"}]}]},
            r"sources\.0\.files\.0\.name: ",
        ),
        (
            {
                "sources": [
                    {"name": "official", "files": [{"name": "x", "url": "http://h/x", "sha256": "ab"}]}
                ]
            },
            r"files\.0\.sha256: ",
        ),
        ({"packages": {}}, r"toy: package 'a' is not pinned; known: "),
        (
            {"packages": {"a": PACKAGE | {"version": 1.0}}},
            r"files\.0\.package\.version: .*string",
        ),
    ],
)
def test_a_mistake_is_named_with_its_place(changes: dict[str, Any], message: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=message):
        load(tmp_path, **changes)


def test_a_key_given_twice_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "datasets.yaml"
    path.write_text("packages: {}\ndatasets:\n  toy: {}\n  toy: {}\n", encoding="utf-8")
    with pytest.raises(ValueError, match=r"datasets\.yaml: line 4: key 'toy' is given twice"):
        load_registry(path)


def test_an_unknown_data_set_gets_the_nearest_name(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="data set 'toi' is not in the registry; did you mean toy"):
        find(load(tmp_path), "toi.package")


@pytest.mark.parametrize(
    ("pin", "names"),
    [
        ("", ["official", "package"]),
        ("package", ["package"]),
        ("rebuilt", ["package"]),
        ("canonical", ["official"]),
        ("stand_in", ["stand-in"]),
        ("or_stand_in", ["official", "package", "stand-in"]),
        ("packaged", ["package"]),
        ("packaged.or_stand_in", ["package"]),  # one kind only: the same on every machine
        ("official.or_stand_in", ["official", "stand-in"]),
        ("mirror.or_stand_in", ["stand-in"]),
    ],
)
def test_a_pin_chooses_by_source_or_variant(pin: str, names: list[str], tmp_path: Path) -> None:
    name, found, entry = find(load(tmp_path), f"toy.{pin}" if pin else "toy")
    assert (name, found) == ("toy", pin)
    assert [source.name for source in sources(name, entry, pin)] == names


OFFICIAL = toy()["sources"][0]
GENERATED = {"name": "generated", "variant": "generated", "loader": "uci:other"}


@pytest.mark.parametrize(
    ("changes", "pin", "names"),
    [
        ({"sources": [OFFICIAL, GENERATED]}, "packaged", ["generated"]),
        ({"sources": [OFFICIAL, GENERATED]}, "packaged.or_stand_in", ["generated"]),
        ({"sources": [OFFICIAL]}, "packaged.or_stand_in", ["stand-in"]),
    ],
)
def test_packaged_is_generated_or_a_stand_in_where_no_package_has_it(
    changes: dict[str, Any], pin: str, names: list[str], tmp_path: Path
) -> None:
    entry = load(tmp_path, **changes)["toy"]
    assert [source.name for source in sources("toy", entry, pin)] == names


@pytest.mark.parametrize(
    ("dataset", "source", "expected"),
    [
        ("toy", "", "toy"),
        ("toy", "packaged", "toy.packaged"),
        ("toy.genuine", "packaged", "toy.genuine"),
        ("toy.stand_in", "packaged", "toy.stand_in"),
        ("toy.or_stand_in", "", "toy.or_stand_in"),
        ("toy.or_stand_in", "packaged", "toy.packaged.or_stand_in"),
    ],
)
def test_a_configured_source_leaves_a_pin_alone(dataset: str, source: str, expected: str) -> None:
    assert with_source(dataset, source) == expected


def test_a_source_takes_loader_and_shape_of_the_entry_unless_it_has_its_own(tmp_path: Path) -> None:
    official, package = sources("toy", load(tmp_path)["toy"])
    assert (official.variant, official.loader, official.shape.rows) == ("canonical", "uci:heart", 3)
    assert (package.variant, package.loader, package.shape) == ("rebuilt", "uci:other", Shape(rows=2))
    assert package.files[0].package == Package(**PACKAGE)


def test_an_unknown_pin_lists_what_there_is(tmp_path: Path) -> None:
    registry = load(tmp_path, stand_in=None)
    with pytest.raises(
        ValueError, match="toy has no source or variant 'mirror'; it has: canonical, official, package"
    ):
        sources("toy", registry["toy"], "mirror")
    with pytest.raises(ValueError, match="no source or variant 'or_stand_in'"):
        sources("toy", registry["toy"], "or_stand_in")
    registry = load(tmp_path, sources=[OFFICIAL])
    with pytest.raises(
        ValueError, match="no source or variant 'packaged'; it has: canonical, official, stand_in"
    ):
        sources("toy", registry["toy"], "packaged")
    with pytest.raises(ValueError, match=r"no source or variant 'oficial\.or_stand_in'"):
        sources("toy", registry["toy"], "oficial.or_stand_in")


# what holds for every entry

REGISTRY = load_registry(ROOT / "config/datasets.yaml")
NOWHERE = {"parkinsons", "planning_relax", "galaxy_zoo"}
"""Sets that no package carries, that nobody may generate, and that have no stand-in."""


@pytest.mark.parametrize("name", REGISTRY)
def test_what_a_package_index_gives_is_one_content_on_every_machine(name: str) -> None:
    entry = REGISTRY[name]
    if name in NOWHERE:
        with pytest.raises(ValueError, match=f"{name} has no source or variant 'packaged'; it has"):
            sources(name, entry, "packaged")
        return
    chosen = sources(name, entry, "packaged.or_stand_in" if entry.stand_in else "packaged")
    assert len({source.variant for source in chosen}) == 1
    assert len({source.name for source in chosen}) == 1
    if len(chosen) > 1 or chosen[0].name == "generated":
        assert chosen[0].variant in entry.prepared_sha256
    assert all(file.package and file.sha256 for source in chosen for file in source.files)


@pytest.mark.parametrize("name", REGISTRY)
def test_one_variant_is_one_content(name: str) -> None:
    """Sources of one variant have files of the same hashes, or a digest that their arrays must have."""
    by_variant: dict[str, set[Any]] = {}
    for source in sources(name, REGISTRY[name]):
        files = frozenset((file.name, file.sha256) for file in source.files)
        by_variant.setdefault(source.variant, set()).add(files)
    for variant, contents in by_variant.items():
        assert len(contents) == 1 or variant in REGISTRY[name].prepared_sha256, (name, variant)


@pytest.mark.parametrize("name", REGISTRY)
def test_every_variant_has_a_digest_or_is_called_unseen(name: str) -> None:
    entry = REGISTRY[name]
    stand_in = {"stand-in"} if entry.stand_in else set()
    assert set(entry.prepared_sha256) == {source.variant for source in sources(name, entry)} | stand_in
    assert set(entry.prepared_decimals) <= set(entry.prepared_sha256)
    for source in sources(name, entry):
        if source.name in ("package", "generated"):  # what every machine with an index can have
            assert entry.prepared_sha256[source.variant] != UNSEEN


@pytest.mark.parametrize("name", REGISTRY)
def test_an_unseen_variant_is_one_content_by_its_files_alone(name: str) -> None:
    entry = REGISTRY[name]
    for variant in (v for v, digest in entry.prepared_sha256.items() if digest == UNSEEN):
        chosen = [source for source in sources(name, entry) if source.variant == variant]
        files = {frozenset((file.name, file.sha256, file.git_blob) for file in s.files) for s in chosen}
        assert len(files) == 1


def test_an_address_of_a_branch_has_a_hash_and_an_official_one_says_whether_it_was_opened() -> None:
    for entry in REGISTRY.values():
        for source in (source for source in entry.sources if source.name == "official"):
            assert source.opened is False  # remove this line with the first address that somebody opens
            for file in source.files:
                pinned = re.search(r"/[0-9a-f]{40}/", str(file.url)) or "git" not in str(file.url)
                assert pinned or MOVING.search(str(file.url))


def test_an_address_of_a_branch_without_a_hash_is_refused(tmp_path: Path) -> None:
    content = yaml.safe_load((ROOT / "config/datasets.yaml").read_text(encoding="utf-8"))
    official = next(s for s in content["datasets"]["heart"]["sources"] if s["name"] == "official")
    official["files"][0] = {"name": "heart.dat", "url": "https://example.org/HEAD/heart.dat"}
    (tmp_path / "datasets.yaml").write_text(yaml.safe_dump(content), encoding="utf-8")
    with pytest.raises(
        ValueError,
        match=r"heart\.sources\.1\.files\.0: .*/HEAD/.* may change its content any day; it needs",
    ):
        load_registry(tmp_path / "datasets.yaml")


def stand_in_digest(name: str) -> str:
    entry = REGISTRY[name]
    arrays = find_loader(entry.stand_in.loader)({})
    return array_digest(rounded(arrays, entry.prepared_decimals.get("stand-in")))


@pytest.mark.parametrize("name", ["ijcnn1", "rte", "websearch"])
def test_a_stand_in_has_its_digest(name: str) -> None:
    assert stand_in_digest(name) == REGISTRY[name].prepared_sha256["stand-in"]


# files of the user

USERS = {
    name: Entry(title="t", task=task, loader=loader, sources=[])
    for name, task, loader in (
        ("heart", "binary", "uci:heart"),
        ("speech", "audio", "audio:speech"),
        ("rte", "crowd", "crowd:rte"),
    )
}


def test_every_id_of_the_configuration_gets_an_entry_and_its_loader():
    found = with_users(USERS, {"mine": "a.csv", "heart": {"file": "b.NPZ"}, "speech": "talk.wav"})
    assert found["mine"].task == "binary"
    assert loaders(found["mine"]) == ["formats:users_table"]
    assert loaders(found["heart"]) == ["formats:users_table", "uci:heart"]
    assert loaders(found["speech"]) == ["audio:recording", "audio:speech"]
    assert USERS["heart"].local is None
    assert with_users(USERS, {}) == USERS


def test_a_set_of_one_s_own_needs_no_registry_but_a_file():
    assert find(USERS, "mine.local") == ("mine", "local", OWN)
    assert with_source("mine.local", "packaged") == "mine.local"
    assert find(USERS, "heart.local")[2] is USERS["heart"]
    with pytest.raises(ValueError, match=r"mine\.local is a file of your own, and .*local: \{mine: FILE\}"):
        sources("mine", OWN, "local")
    with pytest.raises(ValueError, match=r"'mine' is not in the registry .*would be 'mine\.local'"):
        find(USERS, "mine")


@pytest.mark.parametrize(
    ("dataset", "spec", "message"),
    [
        (
            "rte",
            "a.csv",
            r"no file can take the place of rte \(task crowd\); give your table an id of its own",
        ),
        ("speach", "talk.wav", r"talk\.wav is no table .* \(speach is not in the registry\)"),
        ("heart", "a.xlsx", r"heart: a\.xlsx is no table \(\.csv, \.tsv, \.parquet, \.npz\)$"),
        ("speech", {"file": "a.wav", "label": "y"}, "speech is no table, so label mean nothing"),
    ],
)
def test_a_file_that_cannot_stand_there_is_refused(dataset, spec, message):
    with pytest.raises(ValueError, match=rf"^data\.local: .*{message}"):
        users_loader(dataset, USERS, spec)


def test_the_home_folder_may_be_written_as_a_tilde(monkeypatch):
    monkeypatch.setenv("HOME", "/home/me")
    assert users_file("~/mine/a.csv") == users_file({"file": "~/mine/a.csv"}) == Path("/home/me/mine/a.csv")


def test_the_data_readme_is_in_step_with_the_registry() -> None:
    page = (ROOT / "data/README.md").read_text(encoding="utf-8")
    assert readme(page, REGISTRY) == page, "run: python src/scripts/generate.py"
