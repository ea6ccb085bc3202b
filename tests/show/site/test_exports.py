"""The verdicts of a site as JSON: they follow their schema and are those of the pages."""

import json

import jsonschema
import pytest


def read_json(file):
    return json.loads(file.read_text(encoding="utf-8"))


def test_verdicts_follow_their_schema_and_are_those_of_the_pages(site):
    verdicts = read_json(site / "verdicts.json")
    schema = read_json(site / "verdicts.schema.json")
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(verdicts, schema)
    names = {(verdict["paper"], verdict["id"]) for verdict in verdicts}
    assert len(names) == len(verdicts) > 10
    for verdict in verdicts:
        page, _, anchor = verdict["page"].partition("#")
        text = (site / page).read_text(encoding="utf-8")
        assert bool(anchor) == (verdict["kind"] != "published")
        assert not anchor or f'id="{anchor}"' in text
    with pytest.raises(jsonschema.ValidationError, match="is not valid"):
        jsonschema.validate([verdicts[0] | {"estimate": "much"}], schema)


def test_a_site_holds_no_other_export(site):
    assert {file.name for file in site.glob("*.json")} == {"verdicts.json", "verdicts.schema.json"}
    assert not (site / "articles").exists()
    assert not (site / "codecheck.yml").exists()
