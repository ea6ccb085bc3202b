"""Pickles that mean harm, or are damaged, are refused with a message; arrays are read."""

import contextlib
import gzip
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reproduction.data.pickles import load_numpy_pickle


class _Evil:
    def __reduce__(self) -> tuple[Any, ...]:
        return (print, ("run",))


def dump(path: Path, content: Any, protocol: int = 2) -> Path:
    path.write_bytes(gzip.compress(pickle.dumps(content, protocol=protocol)))
    return path


@pytest.mark.parametrize("protocol", [2, 4])
def test_arrays_in_a_pickle_are_read(protocol: int, tmp_path: Path) -> None:
    arrays = ((np.arange(6, dtype=np.float32).reshape(2, 3), np.array([3, 8])), {"a": np.ones(2)})
    (X, y), rest = load_numpy_pickle(dump(tmp_path / "p", arrays, protocol))
    np.testing.assert_array_equal(X, arrays[0][0])
    np.testing.assert_array_equal(y, [3, 8])
    np.testing.assert_array_equal(rest["a"], 1.0)


@pytest.mark.parametrize("content", [_Evil(), eval, np.random.default_rng, np.array([_Evil()], dtype=object)])
def test_a_foreign_global_in_a_pickle_is_refused_and_not_run(
    content: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(ValueError, match="which is not part of an array; refused"):
        load_numpy_pickle(dump(tmp_path / "p", content))
    assert capsys.readouterr().out == ""


def test_a_pickle_bomb_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="unpacks to more than 1000 bytes; refused"):
        load_numpy_pickle(dump(tmp_path / "p", np.zeros(1000)), largest=1000)


@settings(max_examples=40)
@given(data=st.data())
def test_a_damaged_pickle_is_an_error_or_an_object_without_code(
    data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    raw = bytearray(pickle.dumps((np.arange(5), "text", [1, 2]), protocol=2))
    for _ in range(data.draw(st.integers(1, 4))):
        raw[data.draw(st.integers(0, len(raw) - 1))] = data.draw(st.integers(0, 255))
    path = tmp_path_factory.mktemp("pickle") / "p"
    path.write_bytes(raw[: data.draw(st.integers(2, len(raw)))])
    with contextlib.suppress(ValueError):
        load_numpy_pickle(path)
