"""Tables of keys and JSON Schemas come from the models that check the files."""

import json
from pathlib import Path

import pytest
import yaml
from jsonschema import Draft202012Validator

from reproduction import schemas
from reproduction.artifact import expanded

CONFIG = Path(__file__).resolve().parents[1] / "config"


@pytest.mark.parametrize("page", ["README.md", "settings.md"])
def test_the_pages_of_keys_are_in_step_with_the_models(page):
    text = (CONFIG / page).read_text(encoding="utf-8")
    wanted = schemas.filled(text) if page == "README.md" else schemas.settings_page()
    assert text == wanted, "run: python src/scripts/schemas.py"


def test_every_key_of_an_artifact_and_of_the_configuration_is_explained():
    for name in ("config", "artifact"):
        for row in schemas.table(schemas.models()[name]).splitlines():
            assert not row.endswith("|  |"), row


def test_the_schemas_accept_our_files_and_refuse_a_typo(tmp_path):
    schemas.write(tmp_path)
    kept = {
        file.name.removesuffix(".schema.json"): json.loads(file.read_text()) for file in tmp_path.iterdir()
    }
    content = expanded(CONFIG / "experiments/kernel_boost/rivals.yaml")
    for name, value in {
        "config": yaml.safe_load((CONFIG / "config.yaml").read_text()),
        "artifact": content,
        f"settings.{content['protocol']}": content["settings"],
    }.items():
        validator = Draft202012Validator(kept[name])
        assert not list(validator.iter_errors(value))
        assert list(validator.iter_errors(value | {"nonsense": 1}))
