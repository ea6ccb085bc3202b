"""Every variant of every set has a digest, or the registry says that nobody has seen it; addresses last."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from reproduction.data.isolation import find_loader
from reproduction.data.prepare import array_digest, rounded
from reproduction.data.registry import MOVING, UNSEEN, load_registry, sources

ROOT = Path(__file__).parents[2]
REGISTRY = load_registry(ROOT / "config/datasets.yaml")
SCHEMA = ROOT / "workflow/schemas/datasets.schema.yaml"
NEWER = "X86_V3 X86_V4 AVX2 FMA3 AVX512F AVX512CD AVX512_SKX AVX512_CLX AVX512_CNL AVX512_ICL"
OLDER_PROCESSOR = {"NPY_DISABLE_CPU_FEATURES": NEWER, "OPENBLAS_CORETYPE": "Nehalem"}


@pytest.mark.parametrize("name", REGISTRY)
def test_every_variant_has_a_digest_or_is_called_unseen(name: str) -> None:
    entry = REGISTRY[name]
    stand_in = {"stand-in"} if "stand_in" in entry else set()
    assert set(entry["prepared_sha256"]) == {source.variant for source in sources(name, entry)} | stand_in
    assert set(entry.get("prepared_decimals", {})) <= set(entry["prepared_sha256"])
    for source in sources(name, entry):
        if source.name in ("package", "generated"):  # what every machine with an index can have
            assert entry["prepared_sha256"][source.variant] != UNSEEN


@pytest.mark.parametrize("name", REGISTRY)
def test_an_unseen_variant_is_one_content_by_its_files_alone(name: str) -> None:
    entry = REGISTRY[name]
    for variant in (v for v, digest in entry["prepared_sha256"].items() if digest == UNSEEN):
        chosen = [source for source in sources(name, entry) if source.variant == variant]
        files = {frozenset((file.name, file.sha256, file.git_blob) for file in s.files) for s in chosen}
        assert len(files) == 1


def test_an_address_of_a_branch_has_a_hash_and_an_official_one_says_whether_it_was_opened() -> None:
    for entry in REGISTRY.values():
        for source in (source for source in entry["sources"] if source["name"] == "official"):
            assert source["opened"] is False  # remove this line with the first address that somebody opens
            for file in source["files"]:
                pinned = re.search(r"/[0-9a-f]{40}/", file["url"]) or "git" not in file["url"]
                assert pinned or MOVING.search(file["url"])


def test_an_address_of_a_branch_without_a_hash_is_refused(tmp_path: Path) -> None:
    content = yaml.safe_load((ROOT / "config/datasets.yaml").read_text(encoding="utf-8"))
    official = next(s for s in content["datasets"]["hammer"]["sources"] if s["name"] == "official")
    del official["files"][0]["sha256"]
    (tmp_path / "datasets.yaml").write_text(yaml.safe_dump(content), encoding="utf-8")
    with pytest.raises(
        ValueError, match=r"hammer: .*/HEAD/.* may change its content any day; it needs a sha256"
    ):
        load_registry(tmp_path / "datasets.yaml", SCHEMA)


def stand_in_digest(name: str) -> str:
    entry = REGISTRY[name]
    arrays = find_loader(entry["stand_in"]["loader"])({})
    return array_digest(rounded(arrays, entry.get("prepared_decimals", {}).get("stand-in")))


@pytest.mark.parametrize("name", ["speech", "living_room", "ijcnn1"])
def test_a_stand_in_has_its_digest(name: str) -> None:
    assert stand_in_digest(name) == REGISTRY[name]["prepared_sha256"]["stand-in"]


def test_a_rounded_digest_holds_on_an_older_processor_too() -> None:
    """Of numerical libraries that may not use what newer processors have; the last bits do differ there."""
    code = (
        f"import sys; sys.path.insert(0, {str(Path(__file__).parent)!r}); import test_registered as t;"
        " print(t.stand_in_digest('living_room'))"
    )
    environment = os.environ | OLDER_PROCESSOR
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True)
    assert done.stdout.strip() == REGISTRY["living_room"]["prepared_sha256"]["stand-in"], done.stderr
