"""A finished run made by hand: pages and the reference need files, not hours."""

import csv
import itertools
from pathlib import Path

from PIL import Image

from reproduction import provenance
from reproduction.reference import plans
from reproduction.results import write_rows
from reproduction.verdicts.findings import VERDICT_COLUMNS

CHECKOUT = Path(__file__).resolve().parents[2]
VERDICTS = ["holds", "contradicted", "not shown", "verified", "not comparable"]
TABLE = "<html><body><table><tr><th>rule</th></tr><tr><td>1.0 ± 0.1</td></tr></table></body></html>"
STATES = ["inside", "undecided", "outside", "not comparable"]


def plan_of(scale, papers=("ors", "kernel_boost")):
    return plans.planned(CHECKOUT, plans.configured(CHECKOUT, scale) | {"papers": list(papers)})


def rows(artifact, offset=0.0):
    """A curve for each of the artifact's first methods, five repetitions."""
    methods = list(artifact.settings.get("methods", {"all": {}}))[:4]
    for i, method in enumerate(methods):
        for repetition, x in itertools.product(range(5), range(1, 9)):
            value = (i + 1) / x + 0.01 * repetition + offset
            yield {"method": method, "repetition": repetition, "metric": "mse", "x": x, "value": value}


def verdict_rows(artifact, scale):
    """A row for each printed value and claim, all verdicts in turn."""
    words = {"published": itertools.cycle(STATES), "claims": itertools.cycle(VERDICTS)}
    for key, kind in (("published", "published"), ("claims", "claim")):
        for place, entry in enumerate(artifact.content.get(key, [])):
            row = dict.fromkeys(["paper", "artifact", *VERDICT_COLUMNS], "")
            row |= {"paper": artifact.paper, "artifact": artifact.name, "id": entry["id"], "kind": kind}
            row |= {"statement": entry.get("statement", str(entry.get("where"))), "evidence": "a < b & c"}
            row["expected"] = entry.get("expected", "")
            row["verdict"] = next(words[key]) if scale == "full" else "ran"
            if kind == "published":
                ours = entry["value"] + (place % 9 - 4) * entry["margin"]
                row |= {"published": entry["value"], "margin": entry["margin"], "estimate": ours, "n": 5}
                row |= {"ci_low": ours - entry["margin"] / 2, "ci_high": ours + entry["margin"] / 2}
            yield row


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
            provenance.write(plan.about(name), {}, [], table, points, results / "provenance.json")
        if found := list(verdict_rows(artifact, plan.config["scale"])):
            with (results / "verdicts.csv").open("w", newline="") as lines:
                writer = csv.DictWriter(lines, list(found[0]))
                writer.writeheader()
                writer.writerows(found)
        if artifact.content["kind"] == "table":
            for suffix in ("html", "md"):
                drawn.with_name(f"{drawn.name}.{suffix}").write_text(TABLE)
        else:
            Image.new("RGB", (900, 600), "lightblue").save(f"{drawn}.png")
        (logs / "all.0.time.tsv").write_text("s\tmax_rss\tcpu_time\n300.0\t250.1\t90.0\n")


NAMES = ("ors/fig2", "ors/fig5", "ors/final_errors", "kernel_boost/rivals", "kernel_boost/bound_table")
