"""The registry: what is written wrong is named; what is written right is found."""

import re
from pathlib import Path
from urllib.parse import urlsplit

import pytest
import yaml
from project import dataset_names, load_data_sets
from pypi_simple import PYPI_SIMPLE_ENDPOINT

from reproduction.data import registry as known
from reproduction.data.prepare import find_loader, round_arrays
from reproduction.data.prepared import array_digest
from reproduction.data.registry import (
    OWN,
    Entry,
    Package,
    Shape,
    find,
    load_registry,
    loaders,
    sources,
)

ROOT = Path(__file__).parents[2]
PACKAGE = {"name": "a-b", "version": "1.0", "archive": "a_b.tar.gz", "sha256": "0" * 64, "bytes": 9}
TOY = """
title: Toy
task: binary
licence: none
citation: nobody
homepage: https://example.org/
loader: uci:heart
shape: {rows: 3, columns: 2, classes: {-1: 1, 1: 2}}
sources:
  - name: official
    files: [{name: toy.data, url: "https://example.org/toy"}]
  - {name: package, variant: rebuilt, loader: "uci:other", shape: {rows: 2},
     files: [{name: toy.txt, package: a, member: a/toy.txt}]}
stand_in: {loader: "libsvm:toy", note: made up}
"""
OFFICIAL = yaml.safe_load(TOY)["sources"][:1]
GENERATED = {"name": "generated", "variant": "generated", "loader": "uci:other"}


def load(folder, *, packages=None, **changes):
    """The registry of `TOY` with other keys; None drops one."""
    toy = yaml.safe_load(TOY) | changes
    toy = {key: value for key, value in toy.items() if value is not None}
    content = {
        "packages": {"a": PACKAGE} if packages is None else packages,
        "datasets": {"toy": toy},
    }
    path = folder / "datasets.yaml"
    path.write_text(yaml.safe_dump(content), encoding="utf-8")
    return load_registry(path)


def official(**file):
    """Changes: one official source with this file."""
    return {"sources": [{"name": "official", "files": [{"name": "x"} | file]}]}


@pytest.mark.parametrize("name", dataset_names())
def test_every_data_set_has_loaders_licence_citation_and_homepage(name):
    entry = load_data_sets()[name]
    assert all(callable(find_loader(spec)) for spec in loaders(entry))
    assert all(map(str.strip, (entry.licence, entry.citation, entry.homepage)))


def test_every_known_package_is_used_and_no_index_is_named():
    text = (ROOT / "config/datasets.yaml").read_text(encoding="utf-8")
    used_archives = set()
    for entry in load_data_sets().values():
        for source in entry.sources:
            used_archives |= {file.package.archive for file in source.files if file.package}
    packages = yaml.safe_load(text)["packages"]
    assert {package["archive"] for package in packages.values()} == used_archives
    assert str(urlsplit(PYPI_SIMPLE_ENDPOINT).hostname) not in text


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"titel": "Toy"}, r"datasets\.yaml: datasets\.toy.*titel.*title"),
        ({"title": None}, r"toy\.title: "),
        ({"loader": "heart"}, r"toy\.loader: "),
        ({"sources": [{"name": "web"}]}, r"toy\.sources\.0\.name: .*'official', 'mirror'"),
        (official(), "needs exactly one of `url`, `path`"),
        (official(url="http://h/x", path="x"), "exactly one"),
        (official(name="../x", url="http://h/x"), r"sources\.0\.files\.0\.name: "),
        (official(url="http://h/x", sha256="ab"), r"files\.0\.sha256: "),
        (
            official(url="https://h/HEAD/x"),
            r"files\.0: .*/HEAD/.* may change its content any day; it needs",
        ),
        (
            {"loader": "formats:users_table"},
            r"the loader formats:users_table is now called users_table:users",
        ),
        ({"packages": {}}, r"toy: package 'a' is not pinned; known: "),
        ({"packages": {"a": PACKAGE | {"version": 1.0}}}, r"files\.0\.package\.version: .*string"),
    ],
)
def test_a_mistake_is_named_with_its_place(changes, message, tmp_path):
    with pytest.raises(ValueError, match=message):
        load(tmp_path, **changes)


def test_a_key_given_twice_is_an_error(tmp_path):
    path = tmp_path / "datasets.yaml"
    path.write_text("packages: {}\ndatasets:\n  toy: {}\n  toy: {}\n", encoding="utf-8")
    with pytest.raises(ValueError, match=r"datasets\.yaml: line 4: key 'toy' is given twice"):
        load_registry(path)


@pytest.mark.parametrize(
    ("changes", "pin", "names"),
    [
        ({}, "", ["official", "package"]),
        ({}, "package", ["package"]),
        ({}, "rebuilt", ["package"]),
        ({}, "canonical", ["official"]),
        ({}, "stand_in", ["stand-in"]),
        ({}, "or_stand_in", ["official", "package", "stand-in"]),
        ({}, "packaged", ["package"]),
        ({}, "packaged.or_stand_in", ["package"]),  # one kind only: the same on every machine
        ({}, "official.or_stand_in", ["official", "stand-in"]),
        ({}, "mirror.or_stand_in", ["stand-in"]),
        ({"sources": [*OFFICIAL, GENERATED]}, "packaged", ["generated"]),
        ({"sources": [*OFFICIAL, GENERATED]}, "packaged.or_stand_in", ["generated"]),
        ({"sources": OFFICIAL}, "packaged.or_stand_in", ["stand-in"]),
    ],
)
def test_a_pin_chooses_by_source_or_variant(changes, pin, names, tmp_path):
    registry = load(tmp_path, **changes)
    name, pinned, entry = find(registry, f"toy.{pin}" if pin else "toy")
    assert name == "toy"
    assert pinned == pin
    assert [source.name for source in sources(name, entry, pin)] == names
    with pytest.raises(ValueError, match="data set 'toi' is not in the registry; did you mean toy"):
        find(registry, "toi.package")


def test_a_configured_source_leaves_a_pin_alone():
    for pinned in ("toy.genuine", "toy.stand_in", "mine.local"):
        assert known.with_source(pinned, "packaged") == pinned
    for name, expected in (
        ("toy", "toy.packaged"),
        ("toy.or_stand_in", "toy.packaged.or_stand_in"),
    ):
        assert known.with_source(name, "") == name
        assert known.with_source(name, "packaged") == expected


def test_a_source_takes_loader_and_shape_of_the_entry_unless_it_has_its_own(tmp_path):
    official, package = sources("toy", load(tmp_path)["toy"])
    assert official.variant == "canonical"
    assert official.loader == "uci:heart"
    assert official.shape.rows == 3
    assert package.variant == "rebuilt"
    assert package.loader == "uci:other"
    assert package.shape == Shape(rows=2)
    assert package.files[0].package == Package(**PACKAGE)


@pytest.mark.parametrize(
    ("changes", "pin", "message"),
    [
        ({"stand_in": None}, "mirror", "variant 'mirror'; it has: canonical, official, package"),
        ({"stand_in": None}, "or_stand_in", "variant 'or_stand_in'"),
        (
            {"sources": OFFICIAL},
            "packaged",
            "variant 'packaged'; it has: canonical, official, stand_in",
        ),
        ({}, "oficial.or_stand_in", r"variant 'oficial\.or_stand_in'"),
    ],
)
def test_an_unknown_pin_lists_what_there_is(changes, pin, message, tmp_path):
    with pytest.raises(ValueError, match=f"toy has no source or {message}"):
        sources("toy", load(tmp_path, **changes)["toy"], pin)


# what holds for every entry

NOWHERE = {"parkinsons", "planning_relax", "galaxy_zoo", "cifar10h"}
NOWHERE |= {"cifar10_errors", "mnist_errors", "newsgroups_errors"}
"""Sets that no package carries, that nobody may generate, and that have no stand-in."""


@pytest.mark.parametrize("name", dataset_names())
def test_what_a_package_index_gives_is_one_content_on_every_machine(name):
    entry = load_data_sets()[name]
    if name in NOWHERE:
        with pytest.raises(ValueError, match=f"{name} has no source or variant 'packaged'; it has"):
            sources(name, entry, "packaged")
        return
    chosen = sources(name, entry, "packaged.or_stand_in" if entry.stand_in else "packaged")
    assert len({source.variant for source in chosen}) == 1
    assert len({source.name for source in chosen}) == 1
    if len(chosen) > 1 or chosen[0].name == "generated":
        assert chosen[0].variant in entry.prepared_sha256
    for source in chosen:
        assert all(file.package and file.sha256 for file in source.files)


@pytest.mark.parametrize("name", dataset_names())
def test_one_variant_is_one_content_with_a_digest_or_called_unseen(name):
    """The registry has a digest for the arrays of a variant, or its sources have equal files."""
    entry = load_data_sets()[name]
    stand_in = {"stand-in"} if entry.stand_in else set()
    assert set(entry.prepared_sha256) == {source.variant for source in entry.sources} | stand_in
    assert set(entry.prepared_decimals) <= set(entry.prepared_sha256)
    for source in entry.sources:
        if entry.prepared_sha256[source.variant] == known.UNSEEN:
            # every machine with an index can have a package, and draw what is generated
            assert source.name not in ("package", "generated")
            contents = set()
            for candidate in entry.sources:
                if candidate.variant == source.variant:
                    files = [(file.name, file.sha256, file.git_blob) for file in candidate.files]
                    contents.add(frozenset(files))
            assert len(contents) == 1


def test_an_address_of_a_branch_has_a_hash_and_an_official_one_says_whether_it_was_opened():
    for entry in load_data_sets().values():
        for source in (source for source in entry.sources if source.name == "official"):
            # remove this line with the first address that somebody opens
            assert source.opened is False
            for file in source.files:
                pinned = re.search(r"/[0-9a-f]{40}/", str(file.url)) or "git" not in str(file.url)
                assert pinned or known.MOVING.search(str(file.url))


NIGHTLY = [pytest.param(name, marks=pytest.mark.nightly) for name in ("covtype", "real_sim")]


@pytest.mark.parametrize("name", ["ijcnn1", "rte", "websearch", *NIGHTLY])
def test_a_stand_in_has_its_digest(name):
    entry = load_data_sets()[name]
    load_stand_in = find_loader(entry.stand_in.loader)
    decimals = entry.prepared_decimals.get("stand-in")
    arrays = round_arrays(load_stand_in({}), decimals)
    assert array_digest(arrays) == entry.prepared_sha256["stand-in"]


# files of the user

USERS = {
    "heart": Entry(title="t", task="binary", loader="uci:heart", sources=[]),
    "speech": Entry(title="t", task="audio", loader="audio:speech", sources=[]),
    "rte": Entry(title="t", task="crowd", loader="crowd:rte", sources=[]),
}


def test_every_id_of_the_configuration_gets_an_entry_and_its_loader(monkeypatch):
    local = {"mine": "a.csv", "heart": {"file": "b.NPZ"}, "speech": "talk.wav"}
    entries = known.with_users(USERS, local)
    assert entries["mine"].task == "binary"
    assert loaders(entries["mine"]) == ["users_table:users_table"]
    assert loaders(entries["heart"]) == ["uci:heart", "users_table:users_table"]
    assert loaders(entries["speech"]) == ["audio:recording", "audio:speech"]
    assert USERS["heart"].local is None
    assert known.with_users(USERS, {}) == USERS
    monkeypatch.setenv("HOME", "/home/me")
    for spec in ("~/mine/a.csv", {"file": "~/mine/a.csv"}):
        assert known.users_file(spec) == Path("/home/me/mine/a.csv")


def test_a_set_of_one_s_own_needs_no_registry_but_a_file():
    assert find(USERS, "mine.local") == ("mine", "local", OWN)
    assert find(USERS, "heart.local")[2] is USERS["heart"]
    message = r"mine\.local is your own file, and .*local: \{mine: FILE\}"
    with pytest.raises(ValueError, match=message):
        sources("mine", OWN, "local")
    with pytest.raises(ValueError, match=r"'mine' is not in the registry .*would be 'mine\.local'"):
        find(USERS, "mine")


@pytest.mark.parametrize(
    ("dataset", "spec", "message"),
    [
        ("rte", "a.csv", r"can take the place of rte \(task crowd\); give your table another id"),
        ("speach", "talk.wav", r"talk\.wav is not a table .* \(speach is not in the registry\)"),
        ("heart", "a.xlsx", r"heart: a\.xlsx is not a table \(\.csv, \.tsv, \.parquet, \.npz\)$"),
        ("speech", {"file": "a.wav", "label": "y"}, "speech is not a table, so label mean nothing"),
    ],
)
def test_a_file_that_cannot_stand_there_is_refused(dataset, spec, message):
    with pytest.raises(ValueError, match=rf"^data\.local: .*{message}"):
        known.users_loader(dataset, USERS, spec)


def test_the_page_of_data_has_a_row_and_a_section_for_every_set():
    data_sets = load_data_sets()
    page = known.describe_data_sets(data_sets)
    rows = [line for line in page.splitlines() if line.startswith("| [`")]
    assert len(rows) == len(data_sets) > 40
    for name, entry in data_sets.items():
        row = next(row for row in rows if row.startswith(f"| [`{name}`](#{name}) |"))
        assert f"| {entry.licence} |" in row
        section = page.partition(f"\n### {name}\n")[2].partition("\n### ")[0]
        assert entry.citation in section
        for digest in entry.prepared_sha256.values():
            assert digest == "unseen" or digest in section
