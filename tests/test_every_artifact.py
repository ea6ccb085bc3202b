"""Every artifact of the project runs from its file to its picture and its verdicts, on small data.

A smoke run shows the same of most artifacts, on real data. So the default level has those that it
leaves out.
"""

import itertools
from fnmatch import fnmatchcase
from functools import cache

import numpy as np
import pytest
from project import artifact_names, load_data_sets, load_project, paper_names

from noisylabels.noise.simulated_crowd import simulate
from reproduction.data.prepare import write_prepared
from reproduction.data.prepared import Dataset, array_digest
from reproduction.judge.verdicts import judge_files
from reproduction.plan.plan import Plan
from reproduction.run import points, records
from reproduction.run.job import Job
from reproduction.run.results import concatenate, write_rows
from reproduction.show import style, tables
from reproduction.show.rendering import render
from reproduction.spec import artifact as artifacts

NOT_IN_A_SMOKE_RUN = ["audit/court_probabilities"]
"""Artifacts whose data come from a mirror only."""
CASES = [
    name if name in NOT_IN_A_SMOKE_RUN else pytest.param(name, marks=pytest.mark.nightly)
    for name in artifact_names()
]


@cache
def smoke_plan(source="", mirror="nowhere"):
    """Plan every artifact at smoke scale; by default with a mirror that has all data."""
    data = {"mirror": mirror, "source": source, "offline": True, "local": {}}
    config = {
        "scale": "smoke",
        "papers": paper_names(),
        "seed": 1,
        "formats": ["png"],
        "data": data,
    }
    return Plan(config, load_project("smoke"), load_data_sets())


def draw_signs(rng, n):
    is_positive = rng.uniform(size=n) < 0.5
    return np.where(is_positive, 1, -1).astype(np.int8)


def make_data_set(dataset):
    """Arrays of the form of the data set, small."""
    rng = np.random.default_rng(len(dataset))
    if dataset == "speech":
        # noise that changes its colour and pauses, as speech does
        noise = rng.standard_normal(48_000)
        loud = np.repeat(rng.uniform(size=24) > 0.15, 2000)
        coloured = np.convolve(noise, 0.9 ** np.arange(50))[:48_000]
        return {"signal": loud * coloured, "rate": np.array(16_000)}
    if dataset == "living_room":
        decay = np.exp(-np.arange(2000) / 700)
        room = 0.1 * rng.standard_normal(2000) * decay
        return {"signal": np.append(1.0, room), "rate": np.array(16_000)}
    if dataset.startswith("ida_"):
        y = draw_signs(rng, 160)
        order = np.argsort(rng.uniform(size=(3, len(y))), axis=1).astype(np.int32)
        splits = {"train": order[:, :60], "test": order[:, 60:]}
        return {"X": rng.normal(y[:, None], 1.5, (len(y), 4)), "y": y} | splits
    if dataset == "rte":
        y = draw_signs(rng, 80)
        crowd = simulate(y, rng, workers=20)
        labels = {"item": crowd.item, "worker": crowd.worker, "response": crowd.response}
        return {"X": rng.normal(y[:, None], 1.5, (80, 4)), "y": y} | labels
    y = draw_signs(rng, 600)
    if dataset == "galaxy_zoo":
        wrong = rng.uniform(size=600) < 0.1
        return {
            "X": rng.normal(y[:, None], 1.0, (600, 2)),
            "y": y,
            "y_noisy": np.where(wrong, -y, y),
        }
    if dataset == "cifar10h" or dataset.endswith("_errors"):
        p = rng.dirichlet(np.full(3, 0.3), size=300)
        y = np.array([rng.choice(3, p=row) for row in p]).astype(np.int8)
        is_checked = rng.uniform(size=300) < 0.5
        wrong = np.where(is_checked, y != p.argmax(axis=1), -1).astype(np.int8)
        arrays = {"p": p, "y": y}
        if dataset == "cifar10h":
            return arrays | {"votes": np.round(50 * p)}
        return arrays | {"wrong": wrong}
    X = rng.uniform(size=(600, 12)) + 0.4 * (y[:, None] > 0)
    return {"X": X[:400], "y": y[:400], "X_test": X[400:], "y_test": y[400:]}


def test_the_default_level_runs_what_a_smoke_run_leaves_out(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # where no data have been fetched
    assert sorted(smoke_plan(source="packaged", mirror="").left_out) == NOT_IN_A_SMOKE_RUN


def labels_without_a_name(rows, patterns):
    """List the labels of rows that no pattern of the artifact names."""
    unnamed = set()
    for row, column in itertools.product(rows, artifacts.LABELS):
        label = str(row.get(column, ""))
        if not any(fnmatchcase(label, pattern) for pattern in patterns):
            unnamed.add(label)
    return unnamed


@pytest.fixture(scope="session")
def workshop(tmp_path_factory):
    """Tables of artifacts, each made once: workshop(name) -> path of its table."""
    root = tmp_path_factory.mktemp("every")
    plan = smoke_plan()

    def data_file(dataset):
        path = root / f"{dataset}.npz"
        if not path.exists():
            arrays = make_data_set(dataset)
            digest = array_digest(arrays)
            write_prepared(Dataset(dataset, "package", "canonical", arrays, digest), path)
        return path

    @cache
    def make(name):
        artifact = load_project("smoke")[name]
        folder = root / name
        files = [data_file(dataset.partition(".")[0]) for dataset in artifact.datasets]
        folder.mkdir(parents=True)
        parts = []
        tuned = {}
        for cell in artifact.cells:
            job = Job.read(plan.job(name, cell), files)
            tuned[cell] = job.tune()
            for number in range(len(artifact.blocks)):
                parts.append(folder / f"{cell}.{number}.csv")
                rows, tested = job.run(plan.repetitions(name, number), tuned[cell])
                assert labels_without_a_name(rows, artifact.labels) == set()
                write_rows(rows, parts[-1])
                tested.write(parts[-1].with_suffix(".npz"))
        concatenate(parts, folder / "table.csv")
        points.collect([part.with_suffix(".npz") for part in parts], folder / "points.npz")
        files_of_run = [folder / "table.csv", folder / "points.npz"]
        decides = {"asked": plan.job(name), "inputs": {}, "read": {}}
        records.write(folder / "record.json", decides, files_of_run, {})
        return files_of_run[0]

    return make


@pytest.mark.parametrize("name", CASES)
def test_an_artifact_runs_is_drawn_and_is_judged(name, workshop, tmp_path):
    artifact = load_project("smoke")[name]
    plan = smoke_plan()
    shown = {key: workshop(f"{artifact.paper}/{key}") for key in plan.drawn(name)}
    drawn = render(artifact.render, artifact.name, shown, plan.shown_with(name))
    if artifact.kind == "figure":
        style.save(drawn, [tmp_path / "f.png"])
        assert (tmp_path / "f.png").stat().st_size > 5000
    else:
        tables.save(drawn, [tmp_path / f"t.{suffix}" for suffix in ("csv", "md", "tex", "html")])
        assert len((tmp_path / "t.csv").read_text().splitlines()) > 1
    if artifact.claims or artifact.published:
        judged, *_ = shown.values()  # its table; without one, the first that it draws
        verdicts = judge_files([artifact.file], [judged], "smoke")
        assert set(verdicts["verdict"]) <= {"ran", "not_comparable"}
        assert len(verdicts) == len(artifact.claims) + len(artifact.values)
