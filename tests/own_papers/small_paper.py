"""A small paper of a user, and all steps of its run in this process."""

import sys
from pathlib import Path

import pandas as pd
from sklearn.datasets import load_breast_cancer

from reproduction.data.fetch import fetch
from reproduction.data.prepare import prepare, write_prepared
from reproduction.judge.verdicts import judge_files
from reproduction.plan import plan
from reproduction.run import records
from reproduction.run.job import Job
from reproduction.run.results import write_rows
from reproduction.show.rendering import draw

ROOT = Path(__file__).parents[2]
FILES = {
    "TITLE": "Importance reweighting\n",
    "__init__.py": "",
    "code.py": '''"""The protocol."""

import numpy as np
from pydantic import Field
from sklearn.metrics import balanced_accuracy_score, roc_auc_score

from reproduction.spec.protocol import protocol
from reproduction.spec.settings import Method, Methods, SplitSettings


class Settings(SplitSettings):
    """Settings of `errors`."""

    methods: Methods[Method] = Field(description="label -> method")


@protocol(Settings, labels=("error", "auc", "balanced"))
def errors(settings, loop):
    """Test error and balanced error in %, AUC."""
    for repetition, split, observed, _, method in loop.fits(settings, settings.methods):
        model = repetition.build(method).fit(split.X, observed)
        found = model.predict(split.X_test)
        probability = model.predict_proba(split.X_test)[:, 1]
        yield repetition.row("error", split.scored(found))
        yield repetition.row("balanced", 100 * (1 - balanced_accuracy_score(split.truth, found)))
        yield repetition.row("auc", roc_auc_score(split.truth, probability))
''',
    "methods.py": '''"""The methods."""

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LogisticRegression


class Plain(ClassifierMixin, BaseEstimator):
    """Logistic regression."""

    def __init__(self, C=1.0):
        self.C = C

    def weights(self, X, y):
        return np.ones(len(y))

    def fit(self, X, y):
        self.model_ = LogisticRegression(C=self.C).fit(X, y, sample_weight=self.weights(X, y))
        self.classes_ = self.model_.classes_
        return self

    def predict_proba(self, X):
        return self.model_.predict_proba(X)

    def predict(self, X):
        return self.model_.predict(X)


class Reweighted(Plain):
    """Logistic regression with importance weights."""

    def weights(self, X, y):
        p = LogisticRegression(C=self.C).fit(X, y).predict_proba(X)
        low = np.quantile(p, 0.02, axis=0)
        of = p[np.arange(len(y)), y]
        other = np.where(y == 1, low[1], low[0])
        return np.clip((of - other) / ((1 - low.sum()) * of), 0, None) + 1e-9
''',
    "datasets.yaml": """datasets:
  tumours:
    title: Tumours, malignant or benign
    task: binary
    loader: users_table:users_table
    options: {label: target, positive: malignant}
    sources:
      - {name: project, files: [{name: tumours.csv, path: tumours.csv}]}
""",
    "tab.yaml": """title: "Errors"
source: "Liu and Tao (2016), Table 2"
origin: paper
kind: table
caption: "Test error, balanced error and AUC."
protocol: code:errors
datasets: [tumours]
settings:
  experiment: t
  repetitions: 3
  splits: {test: 0.4, stratified: true}
  noise: [class_conditional 0.3 0.1]
  methods:
    rw: {method: "methods:Reweighted", parameters: {C: 1.0}}
    plain: {method: "methods:Plain"}
render: stock:last_values
published:
  as: value
  margin: 2
  reason: "two points"
claims:
  - id: T-1
    kind: ours
    statement: "Reweighting has the lower error"
    expected: "difference below 0"
    checks:
      - {statistic: difference, a: {method: rw}, b: {method: plain},
         where: {metric: error}, below: 0}
reductions:
  smoke: {settings: {repetitions: 2}}
""",
    "tab.published.csv": """id,dataset,noise,method,metric,value
P-1,tumours,class_conditional 0.3 0.1,rw,error,10.5
P-2,tumours,class_conditional 0.3 0.1,plain,error,13.5
""",
}
"""File of the paper -> its content; `tumours.csv` is made from a set of scikit-learn."""


def write_paper(folder: Path) -> Path:
    """Write the paper into a new folder, and return it."""
    folder.mkdir(parents=True)
    for name, content in FILES.items():
        (folder / name).write_text(content, encoding="utf-8")
    measured = load_breast_cancer(as_frame=True)
    table = measured.data.iloc[:, :7].copy()
    table.columns = [f"x{number}" for number in range(7)]
    table["target"] = [str(measured.target_names[label]) for label in measured.target]
    table.to_csv(folder / "tumours.csv", index=False)
    return folder


def change(file: Path, old: str, new: str, count: int = -1) -> None:
    """Replace a text in a file that has it."""
    text = file.read_text(encoding="utf-8")
    assert old in text, (file, old)
    file.write_text(text.replace(old, new, count), encoding="utf-8")


def add_method(folder: Path, body: str) -> None:
    """Add a third method `own`, a subclass of `Plain`, next to rw and plain."""
    file = folder / "methods.py"
    lines = "\n".join("    " + line for line in body.splitlines())
    text = f"\n\nimport os, sys, time, warnings\n\n\nclass Own(Plain):\n{lines}\n"
    file.write_text(file.read_text(encoding="utf-8") + text, encoding="utf-8")
    change(folder / "tab.yaml", "    plain:", '    own: {method: "methods:Own"}\n    plain:')


def add_loader(folder: Path, body: str) -> None:
    """Read the table by a loader of the paper, given the lines after those that read the file."""
    read = "rows = np.genfromtxt(files['tumours.csv'], delimiter=',', skip_header=1, dtype=str)\n"
    read += "X, t = rows[:, :-1].astype(float), rows[:, -1] == 'malignant'\n"
    lines = "\n".join("    " + line for line in (read + body).splitlines())
    (folder / "data.py").write_text(f"import numpy as np\n\n\ndef load(files):\n{lines}\n")
    old = "users_table:users_table\n    options: {label: target, positive: malignant}"
    change(folder / "datasets.yaml", old, "data:load")


def run_paper(folder: Path, scale: str = "smoke") -> pd.DataFrame:
    """Run every step of a paper in the current folder, and return its last result table.

    Raises
    ------
    ValueError, OSError
        What a run would say of a mistake.
    """
    if str(folder.parent) not in sys.path:
        sys.path.append(str(folder.parent))
    config = plan.configured(ROOT, scale) | {"papers": [str(folder)]}
    planned_paper = plan.planned(ROOT, config, run=True)
    if planned_paper.left_out:
        lines = [f"left out: {name}: {reason}" for name, reason in planned_paper.left_out.items()]
        raise ValueError("; ".join(lines))
    planned_paper.check_custom([""])
    for dataset in planned_paper.data_sets():
        raw = Path("data/raw") / dataset
        fetch(dataset, planned_paper.entries, raw)
        write_prepared(prepare(raw), Path(f"data/prepared/{dataset}.npz"))
    table = pd.DataFrame()
    for name, artifact in planned_paper.artifacts.items():
        job = Job.read(planned_paper.job(name), planned_paper.data(name))
        tuned = job.tune()
        rows, tested = job.run(planned_paper.repetitions(name), tuned)
        if planned_paper.is_run_twice(name):
            job.check_repeatable(rows, planned_paper.repetitions(name), tuned)
        file = Path(planned_paper.results, name, "table.csv")
        file.parent.mkdir(parents=True)
        write_rows(rows, file)
        points_file = file.with_name("points.npz")
        tested.write(points_file)
        decides = {"asked": planned_paper.job(name), "inputs": {}, "read": {}}
        records.write(file.with_name("record.json"), decides, [file, points_file], {})
        drawings = [Path(drawing) for drawing in planned_paper.drawings(name)]
        drawings[0].parent.mkdir(parents=True, exist_ok=True)
        draw(
            artifact.render,
            artifact.name,
            planned_paper.drawn(name),
            planned_paper.shown_with(name),
            drawings,
        )
        judge_files(
            [artifact.file],
            [file],
            scale,
            [Path(data_file) for data_file in planned_paper.data(name)],
        )
        table = pd.read_csv(file)
    return table
