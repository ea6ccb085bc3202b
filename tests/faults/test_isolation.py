"""What a child process does to itself, and what its parent makes of it."""

import gzip
import json
import os
import sys
from pathlib import Path

import numpy as np
import pytest
from mutate import mutated
from seeds import CASES

from reproduction.data import prepare
from reproduction.data.errors import DataError
from reproduction.data.loaders import uci
from reproduction.data.prepare import read_isolated

CRASHES = [106, *(pytest.param(number, marks=pytest.mark.nightly) for number in (137, 242))]
"""Mutations of .mat files that make SciPy 1.17 touch memory that is not its own."""


def written(folder: Path, **contents: bytes) -> dict[str, Path]:
    for name, content in contents.items():
        (folder / name).write_bytes(content)
    return {name: folder / name for name in contents}


def test_a_child_gives_the_same_arrays_as_the_loader_itself(tmp_path: Path) -> None:
    rows = b"".join(b"%d,%d,1.5,%d\n" % (i, i % 9, 1 + (i < 81)) for i in range(306))
    files = written(tmp_path, **{"haberman.data": rows})
    for name, array in uci.haberman(files).items():
        from_child = read_isolated("uci:haberman", files)[name]
        assert from_child.dtype == array.dtype
        assert from_child.shape == array.shape
        np.testing.assert_array_equal(from_child, array)


def test_options_reach_the_loader(tmp_path: Path) -> None:
    rows = b"".join(b"%d,%s\n" % (i % 2, b"0.5," * 17 + b"1") for i in range(30))
    files = written(tmp_path, **{"SUSY.csv": rows})
    arrays = read_isolated("libsvm:susy", files, {"test": 10})
    assert arrays["X"].shape == (20, 18)
    assert arrays["X_test"].shape == (10, 18)


def test_what_a_loader_refuses_is_one_type_with_the_folder_and_the_reason(tmp_path: Path) -> None:
    files = written(tmp_path, **{"haberman.data": b"1,2,3,1\n4,5,x,1\n"})
    with pytest.raises(DataError, match=rf"^{tmp_path}: could not convert string to float: 'x'"):
        read_isolated("uci:haberman", files)
    with pytest.raises(DataError, match=r"loader nowhere:toy: No module named"):
        read_isolated("nowhere:toy", files)
    with pytest.raises(DataError, match=r"the loader uci:_ordinal fails \(TypeError"):
        read_isolated("uci:_ordinal", files, {"no": 1})


def test_a_file_that_unpacks_to_more_than_the_memory_is_refused(tmp_path: Path) -> None:
    bomb = gzip.compress(bytes(1_500_000_000 // 1000), 1) * 1000  # one line without an end
    with pytest.raises(DataError, match=r"SUSY\.csv\.gz|out of memory|needs more than \d+ MiB"):
        read_isolated("libsvm:susy", written(tmp_path, **{"SUSY.csv.gz": bomb}))


@pytest.mark.parametrize("number", CRASHES)
def test_a_file_that_crashes_scipy_is_refused_like_any_other(number: int, tmp_path: Path) -> None:
    mat = CASES["mat"]
    files = written(tmp_path, **{mat.name: mutated(mat, number)})
    with pytest.raises(DataError, match=rf"^{tmp_path}: "):
        read_isolated(mat.loader, files)


CHILDREN = {
    "kill -SEGV $$": r"the reader crashed \(SIGSEGV\); the file may mean harm",
    "kill -ABRT $$": r"the reader crashed \(SIGABRT\)",
    "kill -KILL $$": r"the reader was killed: no answer within \S+ s, or no memory left",
    "exit 3": r"the reader ended without an answer \(exit code 3\)",
    "exit 0": r"ended without an answer \(exit code 0\)",
    'echo nonsense > "${@: -1}"': r"ended without an answer \(exit code 0\)",
    "exec sleep 60": r"the reader was killed: no answer within",
    "while :; do :; done": r"the reader was (killed|stopped)",
}


@pytest.mark.parametrize("script", CHILDREN)
def test_however_the_child_ends_the_parent_says_it(
    script: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    child = tmp_path / "python"
    child.write_text(f"#!/bin/bash\n{script}\n", encoding="utf-8")
    child.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(child))
    hangs = "no answer within" in CHILDREN[script] or "while" in script
    monkeypatch.setattr(prepare, "SECONDS", 1)
    monkeypatch.setattr(prepare, "PATIENCE", 0.5 if hangs else 60)
    with pytest.raises(DataError, match=rf"^{tmp_path}: .*({CHILDREN[script]})"):
        read_isolated("uci:toy", written(tmp_path, toy=b"1"))


def test_a_reader_that_works_for_ever_is_stopped_by_its_processor_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    order = {"loader": "uci:toy", "options": {}, "files": {}, "seconds": 1}
    order["memory"] = prepare.MEMORY
    spin = "from reproduction.data import prepare as i\n"
    spin += "i.follow = lambda _: exec('while 1: 1')\n"
    spin += "i.main()"
    child = prepare.subprocess.run(
        [sys.executable, "-P", "-c", spin, json.dumps(order), str(tmp_path / "answer")],
        capture_output=True,
        env=os.environ | {"PYTHONPATH": str(Path(prepare.__file__).parents[2])},
    )
    assert (
        prepare.explain_exit(child.returncode, 1)
        == "the reader was stopped after 1 s; the file may mean harm"
    )
