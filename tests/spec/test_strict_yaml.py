"""Files of the configuration: what YAML would pass over is refused with its line or key."""

import math
from typing import Annotated, Literal

import pytest
from pydantic import Field

from reproduction.spec.mistakes import ArtifactError, check
from reproduction.spec.models import Model
from reproduction.spec.strict_yaml import read

BOMB = "a0: &a0 [[], []]\n" + "".join(f"a{n}: &a{n} [*a{n - 1}, *a{n - 1}]\n" for n in range(1, 40))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: 1\nb: {c: 1, c: 2}\n", r"line 2: key 'c' is given twice, first in line 2; keep one"),
        ("a: 1\nb: 2\na: 3\n", r"line 3: key 'a' is given twice, first in line 1"),
        ("a: 1.0e+999\n", r"line 1: 1\.0e\+999 is not allowed; give a finite number"),
        ("a: 1\nb: {c: [1, -.inf]}\n", r"line 2: -\.inf is not allowed; give a finite number"),
        ("a: .nan\n", r"line 1: \.nan is not allowed"),
        ("1: 2\n", r"line 1: key '1': a key must be text; quote it"),
        ("true: 2\n", r"line 1: key 'true': a key must be text; quote it"),
        ("{}: 2\n", r"line 1: key \[\]: a key must be text"),
        ("a: !!set {b}\n", r"YAML: line 1: could not determine a constructor"),
        (
            "a: !!python/object/apply:os.getcwd []\n",
            r"YAML: line 1: could not determine a constructor",
        ),
        ("", r"top level: the file is empty; a mapping"),
        ("# nothing\n", r"top level: the file is empty"),
        ("- a\n", r"top level: a list; a mapping of keys to values is expected"),
        ("a\n", r"top level: a str; a mapping"),
        ("a: [1,", r"not valid YAML: .*line 2"),
        (
            'a: "b\nc: 1\n',
            r"line 3: while scanning a quoted .* from line 1 on, found unexpected end",
        ),
        (
            "a: 1\n---\nb: 2\n",
            r"line 2: expected a single document in .*, but found another document$",
        ),
        ("a: &a [*a]\n", r"an anchor \(&\) inside itself"),
        (BOMB, r"an anchor \(&\) inside itself"),
        ("a: " + "[" * 200 + "]" * 200, r"over 50 levels"),
        ("a: " + "[" * 40_000, r"line 1: over 50 levels of lists and mappings"),
        ("a: \x07\n", r"not valid YAML"),
        ('a: 1\nb: ["x", "y\\e[2J"]\n', r"line 2: holds the control character '.x1b'; remove it"),
    ],
)
def test_a_trap_is_named_in_one_line(tmp_path, text, message):
    file = tmp_path / "x.yaml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(ArtifactError, match=message) as error:
        read(file)
    assert str(error.value).startswith(f"{file}: ")
    assert "\n" not in str(error.value)


def test_another_encoding_is_named_with_its_line(tmp_path):
    file = tmp_path / "x.yaml"
    file.write_bytes("a: 1\nb: Kabán\n".encode("latin-1"))
    with pytest.raises(ArtifactError, match=r"x\.yaml: line 2: not UTF-8"):
        read(file)


def test_the_core_schema_is_read(tmp_path):
    file = tmp_path / "x.yaml"
    file.write_text("a: &a {b: [1, 2.5, 1e-6, -1E3, true, null, ~, '1e3', .5, +3]}\nc: *a\n")
    inner = {"b": [1, 2.5, 1e-6, -1000.0, True, None, None, "1e3", 0.5, 3]}
    assert read(file) == {"a": inner, "c": inner}
    words = ["on", "1:30", "0123", "2017-09-18", "1_000", "é"]
    file.write_text(f"a: [{', '.join(words)}]\n", encoding="utf-8")
    assert read(file) == {"a": words}


def test_numbers_may_be_keys_where_the_reader_says_so(tmp_path):
    file = tmp_path / "x.yaml"
    file.write_text("a: {-1: 2}\n", encoding="utf-8")
    assert read(file, keys=str | int) == {"a": {-1: 2}}
    with pytest.raises(ArtifactError, match="key '-1': a key must be text"):
        read(file)


class Round(Model):
    kind: Literal["round"]
    radius: float = Field(gt=0)


class Square(Model):
    kind: Literal["square"]
    side: float


class Page(Model):
    shapes: dict[str, Annotated[Round | Square, Field(discriminator="kind")]] = Field(default={})
    sizes: list[int] | Literal["all"] = "all"
    grid: list[float] | Round = Field(default=[])


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({"shapse": {}}, "there is no key 'shapse'; did you mean shapes?"),
        ({"colour": 1}, "there is no key 'colour'; known: shapes, sizes, grid"),
        ({"shapes": None}, "shapes: is empty; give a value or drop the key"),
        (
            {"shapes": {"a": {"kind": "rund"}}},
            "shapes.a: .*'round', 'square'.*got {'kind': 'rund'}",
        ),
        ({"shapes": {"a": {"kind": "round"}}}, "shapes.a.radius: this key is required"),
        (
            {"shapes": {"a": {"kind": "round", "radius": 0}}},
            r"a\.radius: should be greater than 0, got 0",
        ),
        (
            {"shapes": {"a": {"kind": "square", "side": "1e3"}}},
            "a.side: .* number, got '1e3'; write 1000",
        ),
        (
            {"shapes": {"a": {"kind": "square", "side": math.inf}}},
            "a.side: should be a finite number",
        ),
        ({"sizes": [1, 2.0]}, r"sizes.1: should be a valid integer, got 2\.0; write 2"),
        ({"sizes": "al"}, "sizes: should be 'all', got 'al'"),
        ({"sizes": {}}, "sizes: should be a valid list or should be 'all', got {}|sizes: .*got {}"),
        ({"grid": {"kind": "round"}}, "grid.radius: this key is required"),
        ({"grid": ["x" * 900]}, r"^here: grid.0: .{,300} \.\.\. .{,120}$"),
    ],
)
def test_a_broken_rule_is_one_line_with_key_rule_and_value(content, message):
    with pytest.raises(ArtifactError, match=message) as error:
        check(Page, content, "here")
    assert str(error.value).startswith("here: ")
    assert "\n" not in str(error.value)
