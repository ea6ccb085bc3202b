"""The schema and the script of the verdicts."""

import copy
import json
import os
import subprocess
import sys

import numpy as np
import pytest
import yaml
from verdict_inputs import (
    ROOT,
    claim,
    difference_check,
    everything,
)

from reproduction.judge.claims import Claim, PublishedRule
from reproduction.run.results import write_rows
from reproduction.spec.mistakes import ArtifactError, check


def rule(**changes):
    return {"margin": 0.5, "reason": "half a point"} | changes


def schema_errors(content):
    try:
        for entry in content.get("claims", []):
            check(Claim, entry, "claim")
        if "published" in content:
            check(PublishedRule, content["published"], "published")
    except ArtifactError as error:
        return str(error)
    return ""


GAP = difference_check()
BAD_YAML = [
    {"claims": [claim(difference_check(where={"x": "lst"}))]},
    {"claims": [claim(difference_check(where={"setting": 5}))]},
    {"claims": [claim(GAP, theorem=False)]},
    {"claims": [claim(GAP, data_differ=False)]},
    {"claims": [claim(GAP, data_differ=True)]},
    {"claims": [claim(GAP, data_differ=True, expected="on a", not_comparable="on a")]},
    {"claims": [claim({"statistic": "ratio_of_differences", "base": {"method": "a"}, "below": 1})]},
    {"published": rule(reason="")},
    {"published": rule(margin=0)},
    {"published": rule(margin={"share": 0})},
    {"published": rule(margin={"at_least": 0.5})},
    {"published": rule(tolerance=1)},
    {"published": rule(exceptions=[{"where": {"method": "ours"}}])},
    {"published": rule(exceptions=[{"where": {}, "margin": 1}])},
]


@pytest.mark.parametrize("content", BAD_YAML)
def test_the_schema_rejects_typos(content):
    assert schema_errors(copy.deepcopy(content))


def run(script, *arguments):
    environment = os.environ | {"PYTHONPATH": str(ROOT / "src")}
    command = [sys.executable, str(ROOT / "src/scripts" / script), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, env=environment)


def write_inputs(folder, content=None):
    entries, frame = everything(np.random.default_rng(0))
    artifact = folder / "ors/fig2.yaml"
    artifact.parent.mkdir(exist_ok=True)
    keys = {"published": rule(), "claims": entries["claims"]} | (content or {})
    artifact.write_text(yaml.safe_dump(keys), encoding="utf-8")
    value = entries["published"][0]["value"]
    lines = f"id,method,metric,value\nv,ours,error,{value}\n"
    artifact.with_suffix(".published.csv").write_text(lines, encoding="utf-8")
    write_rows(frame.to_dict("records"), folder / "table.csv")
    return artifact, folder / "table.csv"


def write_key(folder, artifacts):
    """The options that name what a plan requests, and the place of the record."""
    key = folder / "key.json"
    context = {"artifacts": [str(artifact) for artifact in artifacts]}
    key.write_text(json.dumps({"asked": {}, "given": context, "inputs": []}))
    return ["--key", key, "--record", folder / "verdicts.record.json"]


@pytest.mark.nightly
def test_the_script_writes_the_same_bytes_twice(tmp_path):
    artifact, table = write_inputs(tmp_path)
    pages = []
    for name in ("1", "2"):
        csv = tmp_path / f"{name}.csv"
        inputs = [*write_key(tmp_path, [artifact, artifact]), "--tables", table, table]
        done = run("verdicts.py", *inputs, "--scale", "full", "--csv", csv)
        assert done.returncode == 0, done.stderr
        pages.append(csv.read_bytes())
    assert pages[0] == pages[1]
    assert pages[0].startswith(b"paper,artifact,id,kind,place,statement,expected,verdict,")
    assert b"\nors,fig2," in pages[0]
    assert b"\r" not in pages[0]


def test_the_script_names_artifact_and_claim_and_writes_nothing(tmp_path):
    check = difference_check(a={"method": "our"})
    artifact, table = write_inputs(tmp_path, {"claims": [claim(check)]})
    csv = tmp_path / "out.csv"
    inputs = [*write_key(tmp_path, [artifact]), "--tables", table, "--scale", "full"]
    done = run("verdicts.py", *inputs, "--csv", csv)
    assert done.returncode == 1
    assert done.stderr.startswith(f"{artifact}: claim c: check 1: no row has method = our")
    assert done.stderr.count("\n") == 1
    assert not csv.exists()
