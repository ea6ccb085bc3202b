"""The recipes of docs/extending.md and of the tutorial on papers work as they are written."""

import csv
import re
from pathlib import Path

import pytest
import yaml
from recipes import PAGE, ROOT, recipe, titles, write

VERDICTS = "results/full/tukey/efficiency/verdicts.csv"
MADE = {
    "Your classifier in a table": ["figures/smoke/kernel_boost/mine.md"],
    "Your finder of wrong labels": ["figures/smoke/audit/mine.md"],
    "Your filter": ["figures/smoke/ors/mine.png"],
    "Your loss": ["figures/smoke/robust_sgd/correntropy.md"],
    "Your own table": ["figures/smoke/kernel_boost/beans.md", "figures/smoke/robust_sgd/beans.md"],
    "A data set for everyone": [
        "figures/smoke/kernel_boost/camera_beans.md",
        "data/prepared/camera_beans.mirror.npz",
    ],
    "Your experiment": ["figures/smoke/ors/growing_noise.png"],
    "Your figure": ["figures/smoke/ors/last_errors.png"],
    "Your paper": [
        "figures/full/natarajan/table1.png",
        "figures/full/natarajan/table2.png",
        "figures/smoke/natarajan/beans.png",
        "results/full/natarajan/verdicts.csv",
        "figures/full/natarajan2/table1.png",
    ],
    "Example: an experiment without data": [
        "figures/full/tukey/median.png",
        "results/full/tukey/median/verdicts.csv",
    ],
    "Judge published numbers": ["figures/full/tukey/efficiency.png", VERDICTS],
}
"""Recipe -> what its commands leave behind."""


def test_every_recipe_is_followed():
    assert titles() == list(MADE)


# In the newcomer's checkout, whose library may have one more protocol.
LOAD = """PYTHONPATH=src:src/papers "$NOISYLABELS_VENV/bin/python" -c '
from pathlib import Path
from reproduction.spec.artifact import SCALES, load
for scale in SCALES:
    load(Path("{file}"), scale)
'"""


@pytest.mark.nightly
@pytest.mark.workflow
@pytest.mark.parametrize("title", MADE)
def test_a_recipe_works_as_written(title, newcomer):
    artifacts = []
    for language, text in recipe(title):
        if language == "sh":
            newcomer.run(text)
            continue
        file = write(text, newcomer.checkout, newcomer.home)
        if file.suffix == ".yaml" and "papers" in file.parts:
            artifacts.append(file)
            newcomer.run(LOAD.format(file=file))
    for result in MADE[title]:
        assert (newcomer.checkout / result).stat().st_size > 100
        if result == VERDICTS:
            with (newcomer.checkout / result).open(encoding="utf-8") as rows:
                verdicts = {row["id"]: row["verdict"] for row in csv.DictReader(rows)}
            wrong = {"median_wrong": "not_reproduced"}
            assert verdicts == dict.fromkeys(verdicts, "reproduced") | wrong
    for file in artifacts:
        only_its_methods_ran(file, newcomer.checkout)


@pytest.mark.nightly
@pytest.mark.workflow
def test_a_table_that_cannot_be_used_stops_the_run_with_its_line_and_column(newcomer):
    for language, text in recipe("Your own table"):
        if language == "yaml":
            write(text, newcomer.checkout, newcomer.home)
    good = (newcomer.home / "mine/beans.csv").read_text(encoding="utf-8").splitlines()
    bad = [*good[:5], "wide" + good[5][good[5].index(",") :], *good[6:]]
    (newcomer.home / "mine/bad.csv").write_text("\n".join(bad), encoding="utf-8")
    table = "data={local: {beans: {file: ~/mine/bad.csv, label: kind, positive: bombay}}}"
    output = newcomer.run(f"! ./run smoke kernel_boost_beans --config '{table}'")
    problem = r"bad\.csv, line 6: column 'width' is 'wide', not a number"
    assert re.search(rf"^why: .*{problem}.* \(logs/data/", output, re.M)


def only_its_methods_ran(artifact: Path, checkout: Path) -> None:
    """No reduction brings back a method that a copy left out."""
    settings = yaml.safe_load(artifact.read_text(encoding="utf-8")).get("settings", {})
    methods = settings.get("methods", {})
    for table in checkout.glob(f"results/*/{artifact.parent.name}/{artifact.stem}/table.csv"):
        with table.open(encoding="utf-8") as rows:
            run = {row["method"] for row in csv.DictReader(rows)}
        assert run == set(methods or ["mean", "median"])


def test_the_page_names_files_that_exist():
    for name in re.findall(r"`((?:classifiers|filters)/\w+\.py)`", PAGE):
        assert (ROOT / "src/noisylabels" / name).is_file(), name
