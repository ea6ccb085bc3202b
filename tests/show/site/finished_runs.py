"""A finished run made by hand: pages and the reference need files, not hours."""

import copy
import itertools
import json
from functools import cache
from pathlib import Path
from unittest import mock

import numpy as np
import pandas as pd
from PIL import Image

from reproduction.judge import verdicts
from reproduction.judge.agreement import agreement
from reproduction.judge.claims import listed
from reproduction.plan import plan as plans
from reproduction.plan.code_digest import digest_bytes
from reproduction.run import calibration, records
from reproduction.run.results import COLUMNS, write_rows

CHECKOUT = Path(__file__).resolve().parents[3]
VERDICTS = ["reproduced", "not_reproduced", "inconclusive", "reproduced", "not_comparable"]
TABLE = "<html><body><table><tr><th>rule</th></tr><tr><td>1.0 ± 0.1</td></tr></table></body></html>"


def plan_of(scale, papers=("ors", "kernel_boost")):
    """Plan these papers at a scale; the plan may be changed."""
    return copy.deepcopy(plan_once(scale, tuple(papers)))


@cache
def plan_once(scale, papers):
    """Plan these papers once for all tests."""
    return plans.planned(CHECKOUT, plans.configured(CHECKOUT, scale) | {"papers": list(papers)})


measure_once = cache(calibration.measure_calibration)


def rows(artifact, offset=0.0):
    """Make a curve for each of the artifact's first methods, with five repetitions."""
    methods = list(artifact.settings.select_methods() or ["all"])[:4]
    for i, method in enumerate(methods):
        for repetition, x in itertools.product(range(5), range(1, 9)):
            yield {
                "method": method,
                "repetition": repetition,
                "metric": "mse",
                "x": x,
                "value": (i + 1) / x + 0.01 * repetition + offset,
            }


JUDGED = {}
"""Artifact, scale and content -> its verdicts and its agreement, which take most of the time."""


def judge_once(artifact, scale):
    """Judge an artifact as `judged`, once for all tests, and compute its agreement."""
    key = repr((artifact.paper, artifact.name, scale, artifact.content))
    if key not in JUDGED:
        frame = judged(artifact, scale)
        JUDGED[key] = frame, agreement(frame, scale)
    return tuple(frame.copy() for frame in JUDGED[key])


def judged(artifact, scale):
    """Make claims with each verdict in turn and published values at all distances, as text."""
    words = itertools.cycle(VERDICTS)
    rows = []
    content = artifact.content
    for position, entry in enumerate(content.get("published", [])):
        labels = {key: listed(wanted) for key, wanted in entry["where"].items() if key != "x"}
        ours = entry["value"] + (position % 9 - 4) * entry["margin"]
        spread = entry["margin"] / 2 * np.linspace(-1, 1, 30)
        combinations = itertools.product(enumerate(ours + spread), *labels.values())
        for (repetition, value), *labels_of_row in combinations:
            row = dict.fromkeys(COLUMNS, "-")
            row |= {"repetition": repetition, "x": 1.0, "value": value}
            rows.append(row | dict(zip(labels, labels_of_row, strict=True)))
    table = pd.DataFrame(rows, columns=COLUMNS).drop_duplicates(COLUMNS[:-1])
    frame = verdicts.judge(content | {"claims": []}, table, scale)
    for row in verdicts.unmoved(content | {"published": []}, []).to_dict("records"):
        (claim,) = [claim for claim in content["claims"] if claim["id"] == row["id"]]
        check = claim["checks"][0]
        word = next(words) if scale == "full" else "ran"
        frame.loc[len(frame)] = row | {"verdict": word, "check": json.dumps(check)}
    return frame.assign(paper=artifact.paper, artifact=artifact.name)


def write_record(plan, name, outputs):
    """Write the record of a result next to its files."""
    with mock.patch.object(calibration, "measure_calibration", measure_once):
        informs = records.describe_numbers(plan.describe_result(name), {}, [])
    informs |= records.where_made()
    decides = {"asked": plan.job(name), "inputs": {}, "read": {}}
    records.write(outputs[0].with_name("record.json"), decides, outputs, informs)


def record_verdicts(results, root):
    """Write the record of the verdicts of a result, as they are now."""
    table = results / "table.csv"
    inputs = {}
    if table.is_file():
        inputs = {table.relative_to(root).as_posix(): digest_bytes(table)}
    decides = {"asked": {}, "inputs": inputs, "read": {}}
    outputs = [results / "verdicts.csv", results / "agreement.csv"]
    records.write(results / "verdicts.record.json", decides, outputs, {})


def record_drawings(drawn):
    """Write the record of the files of a figure or table, as they are now."""
    outputs = [file for file in drawn.parent.glob(f"{drawn.name}.*") if file.suffix != ".json"]
    record = drawn.with_name(f"{drawn.name}.record.json")
    records.write(record, {"asked": {}, "inputs": {}, "read": {}}, outputs, {})


def finish(root, plan, names, offset=0.0):
    """Write results, verdicts, figures and logs of some artifacts, as the workflow leaves them."""
    for name in names:
        artifact = plan.artifact(name)
        logs = root / f"logs/{plan.config['scale']}/{name}"
        results, drawn = root / plan.results / name, root / plan.figures / name
        for folder in (results, drawn.parent, logs):
            folder.mkdir(parents=True, exist_ok=True)
        if "protocol" in artifact.content:
            table, points = results / "table.csv", results / "points.npz"
            write_rows(rows(artifact, offset), table)
            points.write_bytes(b"")
            write_record(plan, name, [table, points])
        frame, agreed = judge_once(artifact, plan.config["scale"])
        verdicts.write(frame, results / "verdicts.csv")
        verdicts.write(agreed, results / "agreement.csv")
        record_verdicts(results, root)
        if artifact.content["kind"] == "table":
            for suffix in ("html", "md"):
                drawn.with_name(f"{drawn.name}.{suffix}").write_text(TABLE)
        else:
            Image.new("RGB", (900, 600), "lightblue").save(f"{drawn}.png")
        record_drawings(drawn)
        (logs / "all.0.time.tsv").write_text("s\tmax_rss\tcpu_time\n300.0\t250.1\t90.0\n")


NAMES = (
    "ors/fig2",
    "ors/fig5",
    "ors/final_errors",
    "kernel_boost/rivals",
    "kernel_boost/bound_table",
)
