"""A prepared file depends on its content only, and is refused if it is not what was registered."""

import io
import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest
import soundfile

from reproduction.data import prepare as preparing
from reproduction.data.errors import DataError
from reproduction.data.fetch import write_record
from reproduction.data.prepare import prepare, round_arrays, write_prepared
from reproduction.data.prepared import Dataset, array_digest, load_prepared
from reproduction.data.registry import sha256_of

ROOT = Path(__file__).parents[2]
ARRAYS = {
    "X": np.arange(6.0).reshape(3, 2),
    "y": np.array([-1, 1, 1], np.int8),
    "rate": np.array(16_000),
    "names": np.array(["a", "bc"]),
    "empty": np.zeros((0, 4), np.float32),
}
TOY = {"id": "toy", "source": "official", "variant": "canonical"}


def dataset(**changes):
    return Dataset(**(TOY | {"arrays": ARRAYS, "digest": array_digest(ARRAYS)} | changes))


def raw(folder, **changes):
    """A raw folder with one second of noise."""
    noise = 0.1 * np.random.default_rng(0).standard_normal(16_000)
    soundfile.write(folder / "x.wav", noise, 16_000)
    record = {
        **TOY,
        "loader": "audio:recording",
        "shape": {"samples": 16_000, "rate": 16_000},
        "prepared_sha256": "",
        "prepared_decimals": None,
        "isolated": False,
        "unverified": [],
        "files": {"x.wav": sha256_of(folder / "x.wav")},
    }
    write_record(folder, record | changes)
    return folder


def test_what_is_written_is_what_is_read(tmp_path):
    write_prepared(dataset(), tmp_path / "toy.npz")
    loaded = load_prepared(tmp_path / "toy.npz")
    assert loaded.id == "toy"
    assert loaded.source == "official"
    assert loaded.variant == "canonical"
    assert loaded.digest == array_digest(loaded.arrays) == array_digest(ARRAYS)
    for name, array in ARRAYS.items():
        np.testing.assert_array_equal(loaded.arrays[name], array)
        assert loaded.arrays[name].dtype == array.dtype
        assert loaded.arrays[name].shape == array.shape


def test_a_prepared_file_is_the_same_bytes_each_time_and_readable_by_numpy(tmp_path):
    write_prepared(dataset(), tmp_path / "a.npz")
    write_prepared(dataset(arrays=dict(reversed(ARRAYS.items()))), tmp_path / "b.npz")
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()
    with np.load(tmp_path / "a.npz") as archive:
        np.testing.assert_array_equal(archive["X"], ARRAYS["X"])
    with pytest.raises(ValueError, match="allow_pickle"):
        write_prepared(dataset(arrays={"X": np.array([object()])}), tmp_path / "toy.npz")
    # the write that failed left nothing
    assert {path.name for path in tmp_path.iterdir()} == {"a.npz", "b.npz"}


def test_the_digest_sees_name_type_shape_and_values_but_not_the_memory_layout():
    base = array_digest({"X": ARRAYS["X"]})
    assert array_digest({"X": np.asfortranarray(ARRAYS["X"])}) == base
    other_arrays = [
        {"Z": ARRAYS["X"]},
        {"X": ARRAYS["X"].astype(np.float32)},
        {"X": ARRAYS["X"].reshape(2, 3)},
        {"X": ARRAYS["X"] + 1e-16 + 1.0},
    ]
    assert len({base, *map(array_digest, other_arrays)}) == 5


def zipped(meta, *members):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, content in [("meta.json", json.dumps(meta)), *members]:
            archive.writestr(name, content)
    return buffer.getvalue()


def npy(array, **header):
    """An .npy file, some entries of whose header are not true."""
    buffer = io.BytesIO()
    written = {"descr": array.dtype.str, "fortran_order": False, "shape": array.shape}
    np.lib.format.write_array_header_1_0(buffer, written | header)
    return "X.npy", buffer.getvalue() + (b"" if array.dtype.hasobject else array.tobytes())


META = TOY | {"digest": array_digest({"X": ARRAYS["X"]})}
GOOD = npy(ARRAYS["X"])
DAMAGED = {
    "empty": (b"", "No data left"),
    "no zip": (b"no zip", "allow_pickle"),
    "a description that is none": (zipped([], GOOD), "mapping"),
    "a description of too little": (zipped({}, GOOD), "missing"),
    "a description of too much": (zipped(META | {"x": 1}, GOOD), "unexpected"),
    "no array": (zipped(META), "have digest .*, expected"),
    "another array": (zipped(META, npy(ARRAYS["X"] + 1)), "have digest .*, expected"),
    "a member that is not an array": (zipped(META, GOOD, ("a.txt", b"a")), "."),
    "a pickle": (zipped(META, npy(np.array([print]))), "Object arrays cannot be loaded"),
    "a huge shape": (zipped(META, npy(ARRAYS["X"], shape=(10**12,))), "."),
    "a negative shape": (zipped(META, npy(ARRAYS["X"], shape=(-3, -2))), "."),
    "a deep header": (
        zipped(META, ("X.npy", b"\x93NUMPY\x01\x00\x00\x20" + b"(" * 0x2000)),
        "EOF in multi-line statement|nested|recursion"),
}  # fmt: skip


@pytest.mark.parametrize("damage", DAMAGED)
def test_a_damaged_prepared_file_is_named(damage, tmp_path):
    content, reason = DAMAGED[damage]
    (tmp_path / "toy.npz").write_bytes(content)
    message = rf"toy\.npz is not a prepared data set or is damaged \(.*({reason}).*\); "
    message += "remove it and prepare again"
    with pytest.raises(DataError, match=message):
        load_prepared(tmp_path / "toy.npz")
    message = r"none\.npz does not exist; prepare the data set first"
    with pytest.raises(FileNotFoundError, match=message):
        load_prepared(tmp_path / "none.npz")


def test_a_raw_file_that_changed_since_it_was_fetched_is_refused_before_it_is_read(tmp_path):
    path = raw(tmp_path) / "x.wav"
    content = bytearray(path.read_bytes())
    before = sha256_of(path)
    content[40] ^= 1
    path.write_bytes(content)
    with pytest.raises(DataError) as caught:
        prepare(tmp_path)
    assert str(caught.value) == (
        f"{path} is not what was fetched: sha256 {sha256_of(path)}, expected {before}; "
        f"remove {tmp_path} and fetch again (src/scripts/fetch.py, or run again)"
    )
    path.unlink()
    message = r"x\.wav is missing though its record lists it; remove .* and fetch"
    with pytest.raises(DataError, match=message):
        prepare(tmp_path)


def test_a_record_that_was_changed_is_refused(tmp_path):
    record = raw(tmp_path) / "source.json"
    changed = record.read_text(encoding="utf-8").replace("16000", "16001", 1)
    record.write_text(changed, encoding="utf-8")
    message = r"source\.json is damaged, edited, or of an older version; remove"
    with pytest.raises(DataError, match=message):
        prepare(tmp_path)
    record.unlink()
    message = r"source\.json is missing; fetch the data set first"
    with pytest.raises(FileNotFoundError, match=message):
        prepare(tmp_path)


def test_a_digest_of_rounded_arrays_forgives_the_last_bits_only(tmp_path):
    arrays = {"X": np.array([0.1, -1e-9, 3.0]), "y": np.array([1, -1])}
    close = {"X": np.nextafter(arrays["X"], 1) * [1, -1, 1], "y": arrays["y"]}
    digest = array_digest(round_arrays(arrays, 6))
    assert array_digest(round_arrays(close, 6)) == digest
    assert array_digest(close) != array_digest(arrays)
    assert array_digest(round_arrays({"X": arrays["X"] + 1e-5, "y": arrays["y"]}, 6)) != digest
    assert round_arrays(arrays, None) is arrays
    signal = prepare(raw(tmp_path)).arrays
    checked = {"prepared_sha256": array_digest(round_arrays(signal, 9)), "prepared_decimals": 9}
    for read in ({}, {"isolated": True}):
        assert prepare(raw(tmp_path, **checked, **read)).digest == array_digest(signal)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"shape": {"samples": 15_999}},
         "toy from source official: samples is 16000, expected 15999"),
        ({"shape": {"rows": 3}}, "rows is missing, expected 3"),
        ({"shape": {"rows": 3}, "unverified": ["x.wav"]},
         r"expected 3.*hash of x\.wav was not known beforehand: .* remove .* and fetch again"),
        ({"prepared_sha256": "0" * 64}, "variant canonical have digest .*, expected 000"),
        ({"shape": {"rows": 3}, "registry": "me/datasets.yaml"},
         "^me/datasets.yaml: datasets.toy: toy from"),
        ({"loader": "nowhere:toy"},
         "nowhere:toy: No module named .*; correct `loader` in the registry .*"),
        ({"loader": "audio:nothing"}, "loader audio:nothing: no function nothing in"),
    ],
)  # fmt: skip
def test_what_is_not_as_registered_is_refused(changes, message, tmp_path):
    with pytest.raises(ValueError, match=message):
        prepare(raw(tmp_path, **changes))


def test_rows_columns_classes_and_values_are_checked():
    matrix = {"data": np.ones(2), "indices": np.array([0, 49]), "indptr": np.array([0, 1, 2, 2])}
    sparse = matrix | {"shape": np.array([3, 50]), "y": ARRAYS["y"]}
    correct_shape = {"rows": 3, "columns": 2, "classes": {"-1": 1, "1": 2}}
    preparing.check_arrays("toy", "official", ARRAYS, correct_shape)
    preparing.check_arrays("toy", "official", sparse, {"rows": 3, "columns": 50})
    for arrays, shape, message in (
        (ARRAYS, {"columns": 3}, "columns is 2, expected 3"),
        (ARRAYS, {"classes": {"-1": 2}}, r"classes is \{'-1': 1, '1': 2\}, expected \{'-1': 2\}"),
        (sparse, {"columns": 2}, "columns is 50, expected 2"),
        (ARRAYS | {"X": np.array([[np.inf]])}, {}, "a value of X is not finite"),
    ):
        with pytest.raises(ValueError, match=f"toy from source official: {message}"):
            preparing.check_arrays("toy", "official", arrays, shape)


def test_the_command_line_prepares_and_reports_mistakes_in_one_line(tmp_path):
    def run(**changes):
        script = ROOT / "src/scripts/prepare.py"
        folder = raw(tmp_path, **changes)
        command = [sys.executable, script, "--raw", folder, "--out", tmp_path / "p/toy.npz"]
        path = os.environ | {"PYTHONPATH": str(ROOT / "src")}
        return subprocess.run(command, env=path, capture_output=True, text=True)

    done = run(shape={"samples": 1})
    assert done.returncode == 1
    assert done.stderr.startswith("error: toy from source official: samples is 16000, expected 1")
    assert not (tmp_path / "p/toy.npz").exists()
    done = run()
    assert done.returncode == 0, done.stderr
    arrays = "rate (), signal (16000,)"
    assert done.stdout.startswith(f"toy from official (canonical): {arrays}; digest ")
