"""Files are whole or not there."""

import os
import pickle
import subprocess
import sys

import pytest

from noisylabels.frame import kernel_cache
from noisylabels.frame.atomic import replacing


def test_a_file_takes_its_name_when_it_is_whole(tmp_path):
    path = tmp_path / "table.csv"
    with replacing(path) as part:
        part.write_text("half")
        assert not path.exists()
        assert part.suffix == ".csv"
    assert path.read_text() == "half"
    assert list(tmp_path.iterdir()) == [path]


def test_after_an_error_the_file_is_as_it_was(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("old")

    def fail():
        with replacing(path) as part:
            part.write_text("new")
            raise OSError("full")

    with pytest.raises(OSError, match="full"):
        fail()
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_what_a_killed_process_left_is_removed_and_what_a_living_one_writes_is_not(tmp_path):
    path = tmp_path / "a[1].csv"
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    left, other = (path.with_name(f".part.{pid}.{path.name}") for pid in (dead.pid, os.getppid()))
    left.write_text("half")
    other.write_text("half")
    with replacing(path) as part:
        part.write_text("whole")
    assert not left.exists()
    assert other.exists()


def test_the_disk_may_be_full(tmp_path):
    def write():
        with replacing(tmp_path / "a") as part:
            part.symlink_to("/dev/full")
            part.write_text("x" * 100_000)

    with pytest.raises(OSError, match="No space left"):
        write()
    assert not (tmp_path / "a").exists()


JOB = """
import sys
sys.path.insert(0, {folder!r})
from noisylabels.frame.kernel_cache import mended
with mended():
    import kernel
    print(kernel.twice(2.0))
"""


@pytest.mark.parametrize("suffix", ["nbi", "nbc"])
def test_a_truncated_file_of_compiled_kernels_is_removed_and_made_again(tmp_path, suffix):
    (tmp_path / "kernel.py").write_text(
        "from numba import njit\n@njit(cache=True)\ndef twice(x):\n    return 2 * x\n"
    )
    script, cache = tmp_path / "job.py", tmp_path / "cache"
    script.write_text(JOB.format(folder=str(tmp_path)))
    run = dict(env={"PYTHONPATH": "src", "NUMBA_CACHE_DIR": str(cache)}, capture_output=True, text=True)
    subprocess.run([sys.executable, script], check=True, **run)
    (file,) = cache.rglob(f"*.{suffix}")
    whole = file.read_bytes()
    file.write_bytes(whole[: len(whole) // 2])
    done = subprocess.run([sys.executable, script], check=True, **run)
    assert f"removed the damaged file {file} of compiled kernels" in done.stdout
    assert done.stdout.endswith("4.0\n")
    assert subprocess.run([sys.executable, script], check=True, **run).stdout == "4.0\n"


def test_any_other_error_stays_an_error():
    with pytest.raises(pickle.UnpicklingError), kernel_cache.mended():
        raise pickle.UnpicklingError("not ours")
