"""A finished run made by hand: pages and the reference need files, not hours."""

import itertools
import json
from pathlib import Path

from PIL import Image

from noisylabels.statistics import Estimate
from reproduction import plan as plans
from reproduction.results import write_provenance, write_rows
from reproduction.verdicts.estimates import Cell, Measured, digest, frame_of
from reproduction.verdicts.judge import VERDICT_COLUMNS, Judged, decide, write

CHECKOUT = Path(__file__).resolve().parents[2]
VERDICTS = ["holds", "contradicted", "leaning for", "verified", "not comparable"]
TABLE = "<html><body><table><tr><th>rule</th></tr><tr><td>1.0 ± 0.1</td></tr></table></body></html>"


def plan_of(scale, papers=("ors", "kernel_boost")):
    return plans.planned(CHECKOUT, plans.configured(CHECKOUT, scale) | {"papers": list(papers)})


def rows(artifact, offset=0.0):
    """A curve for each of the artifact's first methods, five repetitions."""
    methods = list(artifact.settings.get("methods", {"all": {}}))[:4]
    for i, method in enumerate(methods):
        for repetition, x in itertools.product(range(5), range(1, 9)):
            value = (i + 1) / x + 0.01 * repetition + offset
            yield {"method": method, "repetition": repetition, "metric": "mse", "x": x, "value": value}


def judged(artifact, scale):
    """Verdicts and estimates: claims with all verdicts in turn, published values at all distances."""
    words, estimates, kept = itertools.cycle(VERDICTS), {}, []
    for place, entry in enumerate(artifact.content.get("published", [])):
        ours = entry["value"] + (place % 9 - 4) * entry["margin"]
        cell = Cell({}, "mean", 5, 0, Estimate(ours, entry["margin"] / 4, 4))
        estimates[entry["id"], 0] = Measured(digest({"where": entry["where"]}), [[cell]])
    for claim in artifact.content.get("claims", []):
        asked = {key: claim.get(key) for key in ("checks", "theorem", "not_comparable")}
        row = {"id": claim["id"], "rule": digest(asked), "verdict": next(words)}
        kept.append(dict.fromkeys(VERDICT_COLUMNS, "") | row | {"check": json.dumps(claim["checks"][0])})
    frame = decide(artifact.content, estimates, scale, kept)
    return Judged(*(_named(artifact, part) for part in (frame, frame_of(estimates))))


def _named(artifact, frame):
    return frame.assign(paper=artifact.paper, artifact=artifact.name)


def finish(root, plan, names, offset=0.0):
    """Results, verdicts, figures and logs of some artifacts, as the workflow leaves them."""
    for name in names:
        artifact, logs = plan.artifact(name), root / f"logs/{plan.config['scale']}/{name}"
        results, drawn = root / plan.results / name, root / plan.figures / name
        for folder in (results, drawn.parent, logs):
            folder.mkdir(parents=True, exist_ok=True)
        if "protocol" in artifact.content:
            table, points = results / "table.csv", results / "points.npz"
            write_rows(rows(artifact, offset), table)
            points.write_bytes(b"")
            write_provenance(plan.about(name), {}, [], table, points, results / "provenance.json")
        found = judged(artifact, plan.config["scale"])
        write(found.verdicts, results / "verdicts.csv")
        write(found.estimates, results / "estimates.csv", digits=None)
        if artifact.content["kind"] == "table":
            for suffix in ("html", "md"):
                drawn.with_name(f"{drawn.name}.{suffix}").write_text(TABLE)
        else:
            Image.new("RGB", (900, 600), "lightblue").save(f"{drawn}.png")
        (logs / "all.0.time.tsv").write_text("s\tmax_rss\tcpu_time\n300.0\t250.1\t90.0\n")


NAMES = ("ors/fig2", "ors/fig5", "ors/final_errors", "kernel_boost/rivals", "kernel_boost/bound_table")
