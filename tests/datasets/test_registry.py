"""The registry: what is written wrong is named; what is written right is found."""

from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
import yaml
from pypi_simple import PYPI_SIMPLE_ENDPOINT

from reproduction.data.prepare import find_loader
from reproduction.data.registry import find, load_registry, loaders, sources, with_source

ROOT = Path(__file__).parents[2]
SCHEMA = ROOT / "workflow/schemas/datasets.schema.yaml"
HASH = "0" * 64
PACKAGE = {
    "index": "pypi",
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
        "loader": "uci:german",
        "sources": [
            {
                "name": "official",
                "files": [{"name": "toy.data", "url": "https://example.org/toy", "sha256": [HASH]}],
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
        "stand_in": {"loader": "standins:toy", "note": "made up"},
    }
    return {key: value for key, value in (entry | changes).items() if value is not None}


def load(folder: Path, *, packages: Any = None, **changes: Any) -> dict[str, dict[str, Any]]:
    content = {
        "packages": {"a": PACKAGE} if packages is None else packages,
        "datasets": {"toy": toy(**changes)},
    }
    path = folder / "datasets.yaml"
    path.write_text(yaml.safe_dump(content), encoding="utf-8")
    return load_registry(path, SCHEMA)


def test_the_registry_of_the_project_is_valid_and_every_loader_exists() -> None:
    registry = load_registry(ROOT / "config/datasets.yaml")
    for entry in registry.values():
        for spec in loaders(entry):
            assert callable(find_loader(spec))


def test_every_data_set_states_licence_citation_and_homepage() -> None:
    for name, entry in load_registry(ROOT / "config/datasets.yaml").items():
        assert all(entry[key].strip() for key in ("licence", "citation", "homepage")), name


def test_every_known_package_is_used() -> None:
    registry = load_registry(ROOT / "config/datasets.yaml")
    used = {
        file["package"]["archive"]
        for entry in registry.values()
        for source in entry["sources"]
        for file in source.get("files", [])
        if "package" in file
    }
    pinned = yaml.safe_load((ROOT / "config/datasets.yaml").read_text(encoding="utf-8"))["packages"]
    assert {package["archive"] for package in pinned.values()} == used


def test_the_registry_names_no_package_index() -> None:
    host = urlsplit(PYPI_SIMPLE_ENDPOINT).hostname
    assert host not in (ROOT / "config/datasets.yaml").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"titel": "Toy"}, r"datasets\.toy: .*'titel' was unexpected"),
        ({"licence": None}, r"datasets\.toy: 'licence' is a required property"),
        ({"loader": "german"}, r"datasets\.toy\.loader: 'german' does not match"),
        ({"sources": []}, r"datasets\.toy\.sources"),
        ({"sources": [{"name": "web"}]}, r"sources\.0\.name: 'web' is not one of"),
        ({"sources": [{"name": "official", "files": [{"name": "x"}]}]}, "needs exactly one of `url`, `path`"),
        (
            {"sources": [{"name": "official", "files": [{"name": "x", "url": "http://h/x", "path": "x"}]}]},
            "exactly one",
        ),
        (
            {"sources": [{"name": "official", "files": [{"name": "../x", "url": "http://h/x"}]}]},
            "does not match",
        ),
        (
            {
                "sources": [
                    {"name": "official", "files": [{"name": "x", "url": "http://h/x", "sha256": ["ab"]}]}
                ]
            },
            "'ab'",
        ),
        ({"packages": {}}, r"toy: package 'a' is not pinned; known: "),
        (
            {"packages": {"a": PACKAGE | {"version": 1.0}}},
            r"packages\.a\.version: 1\.0 is not of type 'string'",
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
        load_registry(path, SCHEMA)


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
    assert (official.variant, official.loader, official.shape["rows"]) == ("canonical", "uci:german", 3)
    assert (package.variant, package.loader, package.shape) == ("rebuilt", "uci:other", {"rows": 2})
    assert package.files[0].package == PACKAGE


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
