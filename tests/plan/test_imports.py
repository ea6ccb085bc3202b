"""What planning and jobs import: a plan nothing that computes, a job nothing that only checks."""

import json
import subprocess
import sys

import pytest
import yaml
from project import EXPERIMENTS, ROOT, load_data_sets

from reproduction.plan import plan, steps
from reproduction.spec.artifact import load

TOO_SLOW = [
    "matplotlib",
    "noisylabels.classifiers.base",
    "noisylabels.crowds",
    "pandas",
    "scipy.optimize",
    "scipy.signal",
    "scipy.stats",
    "sklearn",
]
PLANNING = """
import sys
from pathlib import Path
from reproduction.plan import plan, steps
root = Path(sys.argv[1])
config = plan.configured(root, "smoke")
made = plan.of_run(root, config, [root / "config/config.yaml"])
assert len(list(steps.list_steps(made))) > 100
print(*(name for name in sys.argv[2:] if name in sys.modules))
"""
ONLY_CHECKS = [
    "reproduction.data.array_rules",
    "reproduction.run.learning_check",
    "reproduction.spec.class_check",
    "reproduction.spec.declarations",
    "reproduction.spec.guarded_classes",
    "reproduction.spec.mistakes",
    "reproduction.spec.strict_yaml",
]
"""Modules with which the main process checks what it plans."""
OTHER_JOBS = [
    "noisylabels.classifiers.nystrom_logistic",
    "noisylabels.classifiers.stpmkl_like",
    "noisylabels.noise.exact_flips",
    "noisylabels.solvers.flipped_softmax",
    "noisylabels.solvers.softmax_multi_kernel",
]
"""Modules of other methods, of more than two classes and of other noise than the job below has."""
JOB = """
import json, sys
from pathlib import Path
import numpy as np
from reproduction.run.job import Job
request = json.loads(sys.argv[1])
job = Job.read(request, [])
for noise in job.settings.noise:
    noise.observe(np.arange(100) % 2, np.random.default_rng(0), "two classes")
X = np.random.default_rng(0).normal(size=(60, 2))
for method in job.settings.select_methods().values():
    method.build().fit(X, X[:, 0] > 0)
assert "noisylabels.noise.coin_flips" in sys.modules
print(*(name for name in sys.argv[2:] if name in sys.modules))
"""
CONFIG = {
    "scale": "full",
    "papers": ["ors", "pnorm"],
    "seed": 1,
    "formats": ["png"],
    "data": {"mirror": "", "source": "packaged", "offline": False, "local": {}},
}


def test_a_plan_imports_no_package_that_computes_or_draws():
    command = [sys.executable, "-c", PLANNING, str(ROOT), *TOO_SLOW]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    assert run.stdout.split() == []


def test_a_job_imports_no_checks_and_nothing_of_other_methods_and_noise():
    methods = ("kernel_logistic", "robust_kernel_logistic")
    settings = {
        "experiment": "imports",
        "repetitions": 1,
        "datasets": ["toy"],
        "noise": ["independent 0.1", "negative_only 0.1"],
        "metrics": ["error"],
        "methods": {name: {"method": name} for name in methods},
    }
    request = {"protocol": "stock:classification", "seed": 1, "experiment": "imports"}
    text = json.dumps(request | {"settings": settings})
    command = [sys.executable, "-c", JOB, text, *ONLY_CHECKS, *OTHER_JOBS]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    assert run.stdout.split() == []


@pytest.fixture
def wrong(tmp_path):
    """A plan of two papers, one of which has a method with a parameter that its class lacks."""
    content = yaml.safe_load((EXPERIMENTS / "ors/vss.yaml").read_text(encoding="utf-8"))
    content["settings"]["methods"]["rls"]["parameters"] = {"noize": 0.01}
    file = tmp_path / "ors/vss.yaml"
    file.parent.mkdir()
    for module in (EXPERIMENTS / "ors").glob("*.py"):
        (file.parent / module.name).symlink_to(module)
    file.write_text(yaml.safe_dump(content), encoding="utf-8")
    files = [file, EXPERIMENTS / "pnorm/sparsity.yaml"]
    artifacts = {}
    for path in files:
        artifacts[f"{path.parent.name}/{path.stem}"] = load(path, "full", with_code=False)
    return plan.Plan(CONFIG, artifacts, load_data_sets())


def test_a_mistake_in_what_will_run_leaves_its_paper_out_with_its_line(wrong):
    checked = plan.without_wrong_code(wrong, ["ors/vss", "pnorm/sparsity"])
    assert list(checked.artifacts) == ["pnorm/sparsity"]
    assert "vss.yaml: settings: methods.rls: no parameter 'noize'" in checked.broken["ors"]
    assert plan.without_wrong_code(wrong, ["pnorm/sparsity"]) is wrong


def test_what_has_no_result_yet_is_checked_before_any_job(wrong, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    checked, made_by, reasons = steps.decide(wrong)
    assert "no parameter 'noize'" in checked.broken["ors"]
    assert {step.artifact for step in made_by} <= {"", "pnorm/sparsity"}
    assert set(reasons) == {step.record for step in made_by}
