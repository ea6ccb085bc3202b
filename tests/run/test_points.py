"""Points tested: counts of blocks add up to the whole, in any order, with the same bytes."""

from contextlib import suppress

import numpy as np
import psutil
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reproduction.run.points import KEY, Points, Scored, collect

COLUMNS = {"dataset": "toy", "source": "made", "noise": "independent 0.1", "method": "svm"}
POOL = 12
POINTS_AND_ERRORS = st.tuples(st.integers(0, POOL - 1), st.booleans())
FINDINGS = st.lists(POINTS_AND_ERRORS, min_size=1, max_size=20)


def row(tested, **columns):
    rows, wrong = zip(*tested, strict=True)
    scored = Scored(np.array(rows), np.array(wrong), POOL)
    return COLUMNS | columns | scored.row("error")


def points_of(rows):
    points = Points()
    points.take(rows)
    return points


def counts(points):
    listed = {}
    for name, curve in points.curves.items():
        listed[name] = (curve.tests.tolist(), curve.errors.tolist(), curve.pool)
    return listed


def test_the_counts_of_a_curve_by_hand_and_its_rows_without_them():
    points = Points()
    tested = [(3, True), (1, False), (3, True), (0, True)]
    (plain,) = points.take([row(tested, repetition=4)])
    assert plain == COLUMNS | {"repetition": 4, "metric": "error", "value": 75.0}
    name = '["toy", "made", "independent 0.1", "", "svm", "error", null]'
    assert counts(points) == {name: ([1, 1, 0, 2], [1, 0, 0, 2], POOL)}


def test_rows_that_carry_no_points_pass_unchanged():
    points = Points()
    rows = [COLUMNS | {"metric": "width", "value": 2.0}]
    assert points.take(rows) == rows
    assert points.curves == {}


SPLITS = st.tuples(st.sampled_from(["svm", "klr"]), FINDINGS)


@given(st.lists(SPLITS, min_size=1, max_size=5), st.data())
def test_blocks_in_any_order_and_any_cut_are_the_whole(tmp_path_factory, splits, data):
    folder = tmp_path_factory.mktemp("points")
    whole = folder / "whole.npz"
    added = folder / "sum.npz"
    rows = []
    for repetition, (method, tested) in enumerate(splits):
        rows.append(row(tested, method=method, repetition=repetition))
    points_of(rows).write(whole)
    cut = data.draw(st.integers(0, len(rows)))
    blocks = data.draw(st.permutations([rows[:cut], rows[cut:]]))
    for number, block in enumerate(blocks):
        points_of(block[::-1]).write(folder / f"{number}.npz")
    collect([folder / "0.npz", folder / "1.npz"], added)
    assert added.read_bytes() == whole.read_bytes()
    read = Points.read(whole)
    for name, curve in points_of(rows).curves.items():
        np.testing.assert_array_equal(read.curves[name].tests, curve.tests)
        np.testing.assert_array_equal(read.curves[name].errors, curve.errors)


@given(FINDINGS, st.integers(1, 700))
def test_counts_beyond_a_byte_survive_the_file(tmp_path_factory, tested, times):
    path = tmp_path_factory.mktemp("points") / "p.npz"
    points = points_of([row(tested)] * times)
    points.write(path)
    assert counts(Points.read(path)) == counts(points)


def test_tests_that_curves_share_stand_in_the_file_once(tmp_path):
    tested = [(i, i % 3 == 0) for i in range(POOL)]
    rows = [row(tested, method=f"m{number}", x=number) for number in range(20)]
    points_of(rows).write(tmp_path / "p.npz")
    with np.load(tmp_path / "p.npz") as file:
        assert sum(name.startswith("tests") for name in file.files) == 1


def test_no_points_are_a_file_too(tmp_path):
    Points().write(tmp_path / "p.npz")
    assert Points.read(tmp_path / "p.npz").curves == {}


def test_pools_of_two_sizes_are_not_added():
    first = row([(0, True)])
    larger_pool = first | {KEY: first[KEY]._replace(pool=9)}
    message = r"curve .*svm.*: points of a pool of 12 rows, and of one of 9"
    with pytest.raises(ValueError, match=message):
        points_of([first, larger_pool])


def flip_bits(content, position, bits):
    changed = bytearray(content)
    changed[position] ^= bits
    return bytes(changed)


def test_a_damaged_file_is_named_in_one_line(tmp_path):
    path = tmp_path / "points.npz"
    points_of([row([(0, True), (5, False)])]).write(path)
    whole = path.read_bytes()
    half = len(whole) // 2
    flipped = flip_bits(whole, len(whole) // 3, 0xFF)
    message = r"points\.npz is not a whole file of points \(.*delete it"
    for content in (b"", b"PK", whole[:-1], whole[:half], whole[7:], flipped):
        path.write_bytes(content)
        with pytest.raises(ValueError, match=message) as error:
            Points.read(path)
        assert "\n" not in str(error.value)
        open_files = [file.path for file in psutil.Process().open_files()]
        assert str(path) not in open_files
    path.unlink()
    message = r"points\.npz is not a whole file of points \(.*No such file"
    with pytest.raises(ValueError, match=message):
        collect([path], tmp_path / "sum.npz")
    assert not (tmp_path / "sum.npz").exists()


def test_every_changed_byte_is_noticed_or_changes_nothing(tmp_path):
    path = tmp_path / "points.npz"
    points = points_of([row([(0, True), (5, False)])])
    points.write(path)
    whole = path.read_bytes()
    for position in range(0, len(whole), 7):
        path.write_bytes(flip_bits(whole, position, 0x01))
        with suppress(ValueError):
            assert counts(Points.read(path)) == counts(points)
