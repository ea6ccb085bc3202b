"""Record from the git history which checks of claims were written after results of their artifact.

A claim that is set in advance cannot have been fitted to what came out. The file that is written
has a row for each claim: since when its checks are what they are, and since when its artifact has
archived results. It needs the whole history; a shallow clone is refused.
"""

import argparse
import csv
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parents[2]
OUT = ROOT / "workflow/recorded/claims.csv"
COLUMNS = ("artifact", "claim", "checks_since", "results_since", "after_results")
LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def run_git(*words: str) -> str:
    """Return what a git command prints in this checkout, also if it fails."""
    command = ["git", *words]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    return done.stdout


def list_versions(path: str) -> Iterator[tuple[str, str, str]]:
    """Yield commit, date and path of each version of a file, oldest first, across renames."""
    log = run_git("log", "--follow", "--name-only", "--format=@%H %cI", "--", path)
    for entry in reversed(log.split("@")):
        words = entry.split()
        if len(words) == 3:
            yield words[0], words[1], words[2]


def read_checks(text: str) -> dict[str, str]:
    """Read the checks of each claim of an artifact file; none if the file is not YAML."""
    try:
        content: Any = yaml.load(text, LOADER)
    except yaml.YAMLError:
        return {}
    claims = content.get("claims") if isinstance(content, dict) else None
    checks = {}
    for claim in claims or []:
        checks[str(claim["id"])] = json.dumps(claim.get("checks"), sort_keys=True)
    return checks


def find_first_results(name: str) -> str:
    """Find the date of the first archived results of an artifact; empty if there are none."""
    folder = f"results/reference/{name}"
    log = run_git("log", "--reverse", "--format=%cI", "--", f"{folder}/summary.csv", folder)
    return log.split("\n", 1)[0]


def find_rows(name: str) -> Iterator[tuple[str, ...]]:
    """Yield a row of `COLUMNS` for each claim of an artifact."""
    path = f"src/papers/{name}.yaml"
    today = read_checks((ROOT / path).read_text(encoding="utf-8"))
    if not today:
        return
    since = dict.fromkeys(today, "")
    for commit, date, old_path in list_versions(path):
        earlier_checks = read_checks(run_git("show", f"{commit}:{old_path}"))
        for claim, checks in today.items():
            if earlier_checks.get(claim) != checks:
                since[claim] = ""
            elif not since[claim]:
                since[claim] = date
    results = find_first_results(name)
    for claim, date in since.items():
        is_after = bool(results) and (not date or date > results)
        yield name, claim, date[:10], results[:10], "yes" if is_after else "no"


parser = argparse.ArgumentParser(description=__doc__)

if __name__ == "__main__":
    parser.parse_args()
    if run_git("rev-parse", "--is-shallow-repository").strip() != "false":
        sys.exit("claim_history: this clone has no whole history; run git fetch --unshallow")
    names = sorted(
        file.relative_to(ROOT / "src/papers").with_suffix("").as_posix()
        for file in (ROOT / "src/papers").glob("[a-z]*/*.yaml")
    )
    with OUT.open("w", encoding="utf-8", newline="") as lines:
        writer = csv.writer(lines, lineterminator="\n")
        writer.writerow(COLUMNS)
        for name in names:
            writer.writerows(find_rows(name))
