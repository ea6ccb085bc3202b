"""The configuration of a run: each file is strict, what would be ignored is refused; all keys."""

import json
import re
import runpy
from pathlib import Path

import pytest
import yaml
from jsonschema import Draft202012Validator

from noisylabels.noise import flip_models
from reproduction.plan.plan import unknown_target
from reproduction.run.results import COLUMNS
from reproduction.spec import configuration, key_tables
from reproduction.spec.artifact import expanded
from reproduction.spec.mistakes import ArtifactError
from reproduction.spec.papers import HOME
from reproduction.spec.strict_yaml import read

ROOT = Path(__file__).resolve().parents[2]
CONFIG = ROOT / "config"
BASE = CONFIG / "config.yaml"


def examine(overlay, **options):
    configuration.examine(read(BASE) | options, [BASE, overlay])


def test_our_overlays_pass():
    examine(CONFIG / "smoke.yaml")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("scal: smoke\n", r"no key 'scal'; did you mean scale\?"),
        ("scale: smok\n", r"scale: should be 'full' or 'smoke', got 'smok'; did you mean smoke\?"),
        ("scale: quick\n", r"scale: the scale quick is gone; a part of the full one: \./run full"),
        ("data: {offlin: true}\n", r"data: .*did you mean offline\?"),
        ("data: {offline: 'true'}\n", r"data\.offline: should be a valid boolean, got 'true'"),
        ("process_nois: 1\n", r"no key 'process_nois'; known: scale, papers, seed, only, "),
        ("formats: [pdf]\n", r"formats: png must be one of them"),
        ("formats: [png, jpg]\n", r"formats\.1: should be .*, got 'jpg'"),
        (
            "seeds: [1, 2]\n",
            r"seeds: there is no such key; make one run for each seed",
        ),
        ("seed: 1.0\n", r"seed: should be a valid integer, got 1\.0; write 1"),
        (
            "data: {mirror: --help}\n",
            r"data\.mirror: '--help' is neither a folder that exists nor an addr",
        ),
        ("data: {mirror: 'ftp://x'}\n", r"data\.mirror: 'ftp://x' is neither a folder"),
        ("seed: .nan\n", r"line 1: \.nan is not allowed"),
        ("seed: 1e3\n", r"seed: should be a valid integer, got 1000\.0; write 1000"),
        ("seed: 010\n", r"seed: should be a valid integer, got '010'; write 10"),
    ],
)
def test_a_mistake_in_an_overlay_is_one_line_with_file_and_key(tmp_path, text, message):
    (tmp_path / "mine.yaml").write_text(text)
    with pytest.raises(ArtifactError, match=message) as error:
        examine(tmp_path / "mine.yaml")
    assert str(error.value).startswith(str(tmp_path / "mine.yaml"))
    assert "\n" not in str(error.value)


def test_a_mistake_on_the_command_line_is_named_as_such():
    message = r"^--config: seed: .* integer, got 1000\.0; write 1000"
    with pytest.raises(ArtifactError, match=message):
        examine(CONFIG / "smoke.yaml", seed=1000.0)


def test_a_local_id_that_nothing_names_and_a_file_that_is_not_there_are_refused(
    tmp_path,
    monkeypatch,
):
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "ors").mkdir()
    (tmp_path / "ors/mine.yaml").write_text("datasets: [beans.local, other-beans.local]\n")
    (tmp_path / "there.csv").touch()
    right = {"beans": "~/there.csv", "heart": {"file": "~/there.csv"}, "other-beans": "~/there.csv"}
    configuration.examine_local(right, {"heart", "hammer"}, tmp_path)
    for local, message in [
        ({"hart": "h.csv"}, r"^data\.local: hart: .* names hart\.local; did you mean heart"),
        ({"bean": "h.csv"}, r"^data\.local: bean: .*did you mean beans"),
        (
            {"heart": "/proc/self/mem"},
            r"^data\.local: heart: /proc/self/mem is not a regular file;",
        ),
        ({"heart": str(tmp_path)}, rf"^data\.local: heart: {tmp_path} is not a regular file"),
        ({"heart": "~/nope.wav"}, rf"^data\.local: heart: there is no file {tmp_path}/nope\.wav$"),
        ({"heart": {"file": "~/nope.wav"}}, rf"there is no file {tmp_path}/nope\.wav$"),
        (
            {"heart": "~nobody-of-this-name/a.wav"},
            r"there is no file .*/~nobody-of-this-name/a\.wav$",
        ),
    ]:
        with pytest.raises(ArtifactError, match=message):
            configuration.examine_local(local, {"heart", "hammer"}, tmp_path)


def test_an_unknown_target_gets_the_nearest_names():
    names = ["all", "data", "ors", "ors_fig2", "ors_fig9", "pnorm"]
    for name, hint in (
        ("ors_fig99", "did you mean ors_fig9"),
        ("sites", "did you mean the command ./run site?"),
        ("zzz", "it would be a paper, or <paper>_<artifact>"),
    ):
        message = unknown_target(name, names)
        assert message.startswith(f"there is no target {name}; {hint}")
        assert f"outside the repository by its path, as in ./run full FOLDER/{name})" in message


# The command line, before Snakemake reads it


@pytest.fixture(scope="module")
def start():
    return runpy.run_path(str(ROOT / "src/scripts/start.py"))


def test_the_files_of_a_command_are_those_of_its_options(start):
    for words, files in (
        ("", []),
        ("--configfile a b --cores 2 -- c", ["a", "b"]),
        ("--configfiles=a b -n", ["a"]),
        ("--cores 2 x --configfile a -- --configfile", ["a"]),
    ):
        assert start["configuration_words"](words.split()).configfile == files


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("-n --config foo", "run: --config: foo is not key=value"),
        ("--config seed=7 ors_fig5", "ors_fig5 is not key=value, as in seed=7; targets follow --"),
        ("--configfile config/smok.yaml", "did you mean config/smoke.yaml"),
        ("--configfile /dev/null", "there is no file /dev/null"),
        ("--configfile BAD", "BAD: top level: the file is empty"),
    ],
)
def test_a_wrong_word_on_the_command_line_is_answered_in_one_line(
    start, words, message, monkeypatch, tmp_path
):
    bad = str(tmp_path / "bad.yaml")
    Path(bad).touch()
    monkeypatch.chdir(ROOT)
    with pytest.raises(SystemExit, match=re.escape(message.replace("BAD", bad))):
        start["check_configuration"](words.replace("BAD", bad).split())


# Tables of keys and JSON Schemas come from the models that check the files


def test_the_page_of_keys_is_in_step_with_the_models():
    text = (CONFIG / "README.md").read_text(encoding="utf-8")
    assert text == key_tables.fill_blocks(text), "run: python src/scripts/generate.py"


def test_the_vocabulary_has_every_noise_with_its_numbers_every_field_and_every_column():
    page = key_tables.format_vocabulary()
    for name in flip_models.MODELS:
        assert f"| `{' '.join([name, *flip_models.numbers(name)])}` | " in page
    for word in (*COLUMNS, "X_test", "arrays"):
        assert f"`{word}`" in page


def test_every_key_of_an_artifact_and_of_the_configuration_is_explained():
    for name in ("config", "artifact"):
        for row in key_tables.format_key_table(key_tables.list_models()[name]).splitlines():
            assert not row.endswith("|  |"), row


def test_the_committed_schema_is_that_of_the_configuration():
    written = (CONFIG / "schema.json").read_text(encoding="utf-8")
    assert written == key_tables.format_config_schema(), "run: python src/scripts/generate.py"


def test_the_schemas_accept_our_files_and_refuse_a_typo(tmp_path):
    key_tables.write_schemas(tmp_path)
    content = expanded(HOME / "kernel_boost/rivals.yaml")
    for name, value in {
        "config": yaml.safe_load(BASE.read_text()),
        "artifact": content,
        f"settings.{content['protocol']}".replace(":", "."): content["settings"],
    }.items():
        validator = Draft202012Validator(json.loads((tmp_path / f"{name}.schema.json").read_text()))
        assert not list(validator.iter_errors(value))
        assert list(validator.iter_errors(value | {"nonsense": 1}))
