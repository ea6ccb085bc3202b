"""Every layout of a raw set gives the same arrays; a file that is not the set is refused by name."""

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from reproduction.data import uci
from reproduction.data.formats import fact

Rows = list[list[str]]


def blanks(rows: Rows) -> str:
    return "".join(" ".join(row) + "\n" for row in rows)


def commas(rows: Rows) -> str:
    return "".join(",".join(row) + "\r\n" for row in rows)


def keel(rows: Rows) -> str:
    return "@relation x\n@attribute a real [0, 1]\n@data\n" + "".join(", ".join(row) + "\n" for row in rows)


def orange(rows: Rows) -> str:
    return "a\tb\nc\td\n\tclass\n" + "".join("\t".join(row) + "\n" for row in rows)


def labelled(counts: dict[str, int], seed: int = 0) -> list[str]:
    """Labels with the given counts, in random order."""
    labels = [label for label, n in counts.items() for _ in range(n)]
    return [labels[i] for i in np.random.default_rng(seed).permutation(len(labels))]


def numbers(n: int, d: int, seed: int = 1) -> np.ndarray:
    return np.random.default_rng(seed).integers(-999, 999, (n, d)) / 8


def load(tmp_path: Path, loader: str, name: str, text: str) -> dict[str, np.ndarray]:
    (tmp_path / name).write_text(text)
    return getattr(uci, loader)({name: tmp_path / name})


def raw(tmp_path: Path, reader: str, name: str, text: str) -> tuple[np.ndarray, np.ndarray]:
    (tmp_path / name).write_text(text)
    return getattr(uci, reader)(tmp_path / name)


NUMERIC: list[tuple[str, str, Callable[[Rows], str], int, dict[str, int], Sequence[int]]] = [
    # loader, file, layout, columns, label -> rows in the file, our classes in the same order
    ("australian", "australian.dat", blanks, 14, {"0": 383, "1": 307}, (-1, 1)),
    ("german_numeric", "german.data-numeric", blanks, 24, {"1": 700, "2": 300}, (-1, 1)),
    ("haberman", "haberman.data", commas, 3, {"1": 225, "2": 81}, (-1, 1)),
    ("haberman", "haberman.dat", keel, 3, {"negative": 225, "positive": 81}, (-1, 1)),
    ("heart", "heart.dat", blanks, 13, {"1": 150, "2": 120}, (-1, 1)),
    ("ionosphere", "ionosphere.data", commas, 34, {"b": 126, "g": 225}, (-1, 1)),
    ("ionosphere", "ionosphere.tab", orange, 34, {"b": 126, "g": 225}, (-1, 1)),
    ("pima", "pima-indians-diabetes.data", commas, 8, {"0": 500, "1": 268}, (-1, 1)),
    ("pima", "pima.dat", keel, 8, {"negative": 500, "positive": 268}, (-1, 1)),
    ("planning_relax", "plrx.txt", blanks, 12, {"1.0000000e+000": 130, "2.0000000e+000": 52}, (-1, 1)),
    ("sonar", "sonar.all-data", commas, 60, {"R": 97, "M": 111}, (-1, 1)),
]


@pytest.mark.parametrize(("loader", "name", "layout", "columns", "counts", "classes"), NUMERIC)
def test_numbers_and_labels_arrive_as_they_stand(
    tmp_path: Path, loader: str, name: str, layout: Callable[[Rows], str], columns: int, counts, classes
) -> None:
    labels, X = labelled(counts), numbers(sum(counts.values()), columns)
    rows = [[*map(str, x), label] for x, label in zip(X.tolist(), labels, strict=True)]
    arrays = load(tmp_path, loader, name, layout(rows))
    code = dict(zip(counts, classes, strict=True))
    assert np.array_equal(arrays["X"], X)
    assert arrays["y"].tolist() == [code[label] for label in labels]
    assert arrays["X"].dtype == np.float64
    assert arrays["y"].dtype == np.int8
    with pytest.raises(ValueError, match="expected"):  # one row short
        load(tmp_path, loader, name, layout(rows[:-1]))
    other = next(label for label in counts if label != labels[0])
    with pytest.raises(ValueError, match=r"rows per class|none of|neither"):  # one label changed
        load(tmp_path, loader, name, layout([[*rows[0][:-1], other], *rows[1:]]))
    with pytest.raises(ValueError, match=rf"{name}, line \d+: "):  # one field short
        load(tmp_path, loader, name, layout([rows[0][1:], *rows[1:]]))


def test_parkinsons_skips_name_and_header_and_finds_its_label_in_the_middle(tmp_path: Path) -> None:
    labels, X = labelled({"0": 48, "1": 147}), numbers(195, 22)
    rows = [
        [f"phon_{i}", *map(str, x[:16]), label, *map(str, x[16:])]
        for i, (x, label) in enumerate(zip(X.tolist(), labels, strict=True))
    ]
    header = [["name", *"abcdefghijklmnop", "status", *"qrstuv"]]
    for text in (commas(header + rows), blanks(rows)):
        arrays = load(tmp_path, "parkinsons", "parkinsons.data", text)
        assert np.array_equal(arrays["X"], X)
        assert arrays["y"].tolist() == [1 if label == "1" else -1 for label in labels]


def test_a_german_category_is_its_level(tmp_path: Path) -> None:
    first = "A14 6 A34 A410 1169 A65 A75 4 A93 A101 4 A121 67 A143 A152 2 A173 1 A192 A201"
    rows = [[*first.split(), label] for label in labelled({"1": 700, "2": 300})]
    X, _ = raw(tmp_path, "german", "german.data", blanks(rows))
    expected = [4, 6, 4, 10, 1169, 5, 5, 4, 3, 1, 4, 1, 67, 3, 2, 2, 3, 1, 2, 1]
    assert X[0].tolist() == expected


def test_incomplete_rows_of_breast_cancer_are_dropped_and_levels_are_ordinal(tmp_path: Path) -> None:
    full = ["50-59", "ge40", "30-34", "3-5", "no", "3", "right", "right_up", "yes"]
    rows = [[label, *full] for label in labelled({"no-recurrence-events": 196, "recurrence-events": 81})]
    gap = [["recurrence-events", *full[:4], "?", *full[5:]]]
    for name, text in (("breast-cancer.data", commas(rows + gap)), ("breast-cancer.tab", orange(rows + gap))):
        X, _ = raw(tmp_path, "breast_cancer", name, text)
        assert X.shape == (277, 9)
        assert X[0].tolist() == [3, 1, 6, 1, 1, 2, 1, 2, 0]


def test_the_target_of_solar_flare_is_the_spot_distribution(tmp_path: Path) -> None:
    spots = labelled({"O": 477, "X": 300, "I": 200, "C": 89})
    rows = [["H", "A", spot, *"1311111002"] for spot in spots]
    X, y = raw(tmp_path, "solar_flare", "flare2.tab", orange(rows))
    assert y.tolist() == [-1 if spot == "O" else 1 for spot in spots]
    assert X[0].tolist() == [7, 4, 1, 3, 1, 1, 1, 1, 1, 0, 0, 2]


def test_statlog_heart_is_picked_from_cleveland_in_its_order(tmp_path: Path) -> None:
    import json

    order = json.loads(fact("heart_rows.json"))
    assert len(set(order)) == 270
    disease = dict(zip(order, labelled({"0": 150, "1": 120}), strict=True))
    middle = "male,non-anginal,145,233,1,ST-T abnormal,150,0,2.3,flat,0,reversable defect"
    rows = [[str(i), *middle.split(","), disease.get(i, "0")] for i in range(303)]
    arrays = load(tmp_path, "heart", "heart_disease.tab", orange(rows))
    assert arrays["X"][:, 0].tolist() == order
    assert arrays["X"][0].tolist()[1:] == [1, 3, 145, 233, 1, 1, 150, 0, 2.3, 2, 0, 7]


def test_statlog_australian_is_recoded_from_credit_approval(tmp_path: Path) -> None:
    full = ["b", "30.83", "0", "u", "g", "w", "v", "1.25", "t", "f", "1", "f", "g", "202", "0"]
    gaps = ["?", "?", "0", "?", "?", "?", "?", "1.25", "t", "f", "1", "f", "s", "?", "0"]
    rows = [[*(gaps if i == 0 else full), label] for i, label in enumerate(labelled({"-": 383, "+": 307}))]
    arrays = load(tmp_path, "australian", "crx.tab", orange(rows))
    assert arrays["X"][0].tolist() == [0, 31.57, 0, 2, 8, 4, 1.25, 1, 0, 1, 0, 1, 184, 1]
    assert arrays["X"][1].tolist() == [1, 30.83, 0, 2, 9, 4, 1.25, 1, 0, 1, 0, 2, 202, 1]
    with pytest.raises(ValueError, match=r"crx\.tab, line 4: value 'zz' is none of ff, d"):
        load(tmp_path, "australian", "crx.tab", orange([[*full[:5], "zz", *full[6:], "+"], *rows[1:]]))


def test_a_source_of_several_files_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="expected one file, got a, b"):
        uci.haberman({"a": tmp_path, "b": tmp_path})


HABERMAN = commas([["30", "64", "1", label] for label in labelled({"1": 225, "2": 81})]).encode()


@settings(max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(cut=st.integers(0, len(HABERMAN) - 4))
def test_no_truncated_file_passes(tmp_path: Path, cut: int) -> None:
    path = tmp_path / "haberman.data"
    path.write_bytes(HABERMAN[:cut])
    with pytest.raises(ValueError, match="haberman"):
        uci.haberman({path.name: path})


def test_letters_and_levels_of_raw_sets_are_ordinal(tmp_path: Path) -> None:
    X, y = raw(tmp_path, "splice", "splice.dat", keel([[*"AGCTNR" * 10, "EI"], [*"T" * 60, "N"]]))
    assert X[0, :6].tolist() == [1, 2, 3, 4, 0, 0]
    assert y.tolist() == [1, 3]
    people = [["crew", "child", "female", "no"], ["first", "adult", "male", "yes"]]
    X, y = raw(tmp_path, "titanic", "titanic.tab", orange(people))
    assert X.tolist() == [[3, 1, 0], [0, 0, 1]]
    assert y.tolist() == [-1, 1]
