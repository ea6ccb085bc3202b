"""The configuration of a run: each file by itself is strict, and what would be ignored is refused."""

import importlib.util
import re
from pathlib import Path
from types import ModuleType

import pytest

from reproduction import configuration, targets
from reproduction.strict_yaml import ArtifactError, read

ROOT = Path(__file__).resolve().parents[1]
BASE = ROOT / "config/config.yaml"


def examine(overlay: Path, **given: object) -> None:
    configuration.examine(read(BASE) | given, [BASE, overlay])


@pytest.mark.parametrize("name", ["smoke", "quick"])
def test_our_overlays_pass(name: str) -> None:
    examine(ROOT / f"config/{name}.yaml")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("scale: smoke\nscale: quick\n", r"line 2: key 'scale' is given twice"),
        ("scal: smoke\n", r"no key 'scal'; did you mean scale\?"),
        ("scale: smok\n", r"scale: should be 'full', .*, got 'smok'; did you mean smoke\?"),
        ("data: {offlin: true}\n", r"data: .*did you mean offline\?"),
        ("data: {offline: 'true'}\n", r"data\.offline: should be a valid boolean, got 'true'"),
        (
            "process_nois: 1\n",
            r"no key 'process_nois'; known: scale, papers, seed, seeds, data, ",
        ),
        ("formats: [pdf]\n", r"formats: png must be one of them"),
        ("formats: [png, jpg]\n", r"formats\.1: should be .*, got 'jpg'"),
        ("seed: 1.0\n", r"seed: should be a valid integer, got 1\.0; write 1"),
        ("seed: .nan\n", r"seed: nan is not allowed"),
        ("seed: 1e3\n", r"line 1: seed: 1e3 is text in YAML, not a number; write 1000"),
        ("", "the file is empty"),
    ],
)
def test_a_mistake_in_an_overlay_is_one_line_with_file_and_key(
    tmp_path: Path, text: str, message: str
) -> None:
    (tmp_path / "mine.yaml").write_text(text)
    with pytest.raises(ArtifactError, match=message) as error:
        examine(tmp_path / "mine.yaml")
    assert str(error.value).startswith(str(tmp_path / "mine.yaml"))
    assert "\n" not in str(error.value)


def test_a_mistake_on_the_command_line_is_named_as_such() -> None:
    with pytest.raises(ArtifactError, match=r"^--config: seed: .* integer, got 1000\.0; write 1000"):
        examine(ROOT / "config/smoke.yaml", seed=1000.0)


def test_a_local_id_that_nothing_names_is_refused_with_close_ones(tmp_path: Path) -> None:
    (tmp_path / "ors").mkdir()
    (tmp_path / "ors/mine.yaml").write_text("datasets: [beans.local, other-beans.local]\n")
    known = {"heart": {}, "hammer": {}}
    configuration.examine_local({"beans": "b.csv", "heart": "h.csv", "other-beans": "o.csv"}, known, tmp_path)
    with pytest.raises(ArtifactError, match=r"data\.local: hart: .* names hart\.local; did you mean heart"):
        configuration.examine_local({"hart": "h.csv"}, known, tmp_path)
    with pytest.raises(ArtifactError, match=r"data\.local: bean: .*did you mean beans"):
        configuration.examine_local({"bean": "h.csv"}, known, tmp_path)


def test_a_local_file_that_is_not_there_is_named_in_full(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "there.wav").touch()
    configuration.examine_files({"speech": "~/there.wav"})
    for spec in ("~/nope.wav", {"file": "~/nope.wav"}):
        with pytest.raises(
            ArtifactError, match=rf"^data\.local: speech: there is no file {tmp_path}/nope\.wav$"
        ):
            configuration.examine_files({"speech": spec})
    with pytest.raises(ArtifactError, match=r"there is no file .*/~nobody-of-this-name/a\.wav$"):
        configuration.examine_files({"speech": "~nobody-of-this-name/a.wav"})


def test_an_unknown_target_gets_the_nearest_names() -> None:
    names = ["all", "data", "ors", "ors_fig2", "ors_fig9", "pnorm"]
    assert targets.unknown("ors_fig99", names).startswith(
        "there is no target ors_fig99; did you mean ors_fig9"
    )
    assert targets.unknown("sites", names).endswith("; did you mean the command ./run site?")
    assert (
        targets.unknown("zzz", names) == "there is no target zzz; it would be a paper, or <paper>_<artifact>"
    )


def start() -> ModuleType:
    spec = importlib.util.spec_from_file_location("start", ROOT / "src/scripts/start.py")
    assert spec is not None
    assert spec.loader is not None
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    return script


@pytest.mark.parametrize(
    ("words", "files"),
    [
        ([], []),
        (["--configfile", "a", "b", "--cores", "2", "--", "c"], ["a", "b"]),
        (["--configfiles=a", "b", "-n"], ["a", "b"]),
        (["--cores", "2", "x", "--configfile", "a", "--", "--configfile"], ["a"]),
    ],
)
def test_the_files_of_a_command_are_those_of_its_options(words: list[str], files: list[str]) -> None:
    assert start().given(("--configfile", "--configfiles"), words) == files


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["-n", "--config", "foo"], "run: --config: foo is not key=value"),
        (["--config", "seed=7", "ors_fig5"], "ors_fig5 is not key=value, as in seed=7; targets follow --"),
        (
            ["--configfile", "config/smok.yaml"],
            "did you mean config/smoke.yaml",
        ),
    ],
)
def test_a_wrong_word_on_the_command_line_is_answered_in_one_line(words, message, monkeypatch):
    monkeypatch.chdir(ROOT)
    monkeypatch.setattr("sys.argv", ["start.py", *words])
    with pytest.raises(SystemExit, match=re.escape(message)):
        start().check_configuration()
