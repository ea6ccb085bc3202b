"""What machines and journals read beside the pages: verdicts as JSON, the research object, the articles."""

import json
import shutil
import subprocess

import jsonschema
import pytest
import yaml

from reproduction.judge.verdict_words import look_up
from reproduction.show.site import exports


def json_of(file):
    return json.loads(file.read_text(encoding="utf-8"))


def test_verdicts_follow_their_schema_and_are_those_of_the_pages(site):
    verdicts, schema = json_of(site / "verdicts.json"), json_of(site / "verdicts.schema.json")
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(verdicts, schema)
    assert len({(each["paper"], each["id"]) for each in verdicts}) == len(verdicts) > 10
    for each in verdicts:
        page, _, id = each["page"].partition("#")
        assert f'id="{id}"' in (site / page).read_text(encoding="utf-8")
    with pytest.raises(jsonschema.ValidationError, match="is not valid"):
        jsonschema.validate([verdicts[0] | {"estimate": "much"}], schema)


def test_the_crate_names_things_that_are_there(site):
    crate = json_of(site / "ro-crate-metadata.json")["@graph"]
    things = {each["@id"]: each for each in crate}
    assert len(things) == len(crate)

    def references(value):
        if isinstance(value, dict):
            yield value["@id"]
        elif isinstance(value, list):
            for each in value:
                yield from references(each) if isinstance(each, dict) else ()

    for each in crate:
        for key, value in each.items():
            if key != "conformsTo" or each["@id"] == "./":
                assert set(references(value)) <= things.keys()
        if "File" in each["@type"]:
            assert (site / each["@id"]).is_file()
    runs = [each for each in crate if each["@type"] == "CreateAction"]
    assert {run["instrument"]["@id"] for run in runs} == {things["./"]["mainEntity"]["@id"]} == {"Snakefile"}
    assert any("commit " in run["description"] and run["object"] for run in runs)


def test_codecheck_lists_an_output_of_every_page(site):
    manifest = yaml.safe_load((site / "codecheck.yml").read_text(encoding="utf-8"))["manifest"]
    crate = json_of(site / "ro-crate-metadata.json")["@graph"]
    assert len(manifest) == sum(each["@type"] == "CreateAction" for each in crate)
    assert all((site / each["file"]).is_file() and each["comment"] for each in manifest)


def test_an_article_has_the_claims_with_their_verdicts_and_its_figures(site):
    articles = {file: file.read_text(encoding="utf-8") for file in (site / "articles").glob("*.md")}
    for verdict in json_of(site / "verdicts.json"):
        if verdict["kind"] in ("sentence", "pattern"):
            lines = articles[site / f"articles/{verdict['paper']}.md"].splitlines()
            found = [line for line in lines if line.startswith(f"| {verdict['id']}: ")]
            assert all(look_up(verdict["verdict"]).label in line for line in found)
    for article, text in articles.items():
        figures = [line for line in text.splitlines() if line.startswith("![")]
        assert all((article.parent / line.rpartition("(")[2].rstrip(")")).is_file() for line in figures)


@pytest.mark.skipif(not shutil.which("pdflatex"), reason="needs pdflatex (texlive-latex-recommended)")
def test_latex_sets_every_article(site, tmp_path):
    for article in (site / "articles").glob("*.tex"):
        options = ["-halt-on-error", "-interaction=nonstopmode", "-output-directory", tmp_path]
        command = ["pdflatex", *options, article.name]
        done = subprocess.run(command, cwd=article.parent, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout[-2000:]


def test_texts_keep_their_formulas_and_lose_nothing_in_latex():
    assert exports.tex("50 % of a_b & {c} ~ d^2 \\ `x`") == (
        r"50 \% of a\_b \& \{c\} \textasciitilde{} d\textasciicircum{}2 \textbackslash{} \texttt{x}"
    )
    assert (
        exports.prose("The *mean* :math:`\\bar x_i` of `it` & more", exports.tex)
        == r"The mean $\bar x_i$ of it \& more"
    )
