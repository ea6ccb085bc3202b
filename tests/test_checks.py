"""What no schema can see in an artifact is named before the first job, at every scale."""

import inspect
from pathlib import Path

import pytest
import yaml

from reproduction import artifact as artifacts
from reproduction import methods
from reproduction.frame import method_checks, signatures

ROOT = Path(__file__).resolve().parents[1]
EXPERIMENTS = ROOT / "config/experiments"

FILTERS = "ors/fig2"
SPEECH = "ors/fig5"
FLIPS = "robust_sgd/table1"
KERNELS = "kernel_boost/rivals"
TASK = {"kind": "regression", "T": 100, "d": 2, "M": 5, "process_noise": 0.01}


def put(content, place, value):
    """Set a key, ``grids.r`` of the settings or ``/claims.0.id`` of the file; None removes it."""
    *above, last = place.strip("/").split(".")
    for key in above if place.startswith("/") else ["settings", *above]:
        content = content[int(key) if isinstance(content, list) else key]
    if value is None:
        del content[last]
    else:
        content[last] = value


@pytest.mark.parametrize("scale", ["full", "smoke"])
@pytest.mark.parametrize(
    ("source", "place", "value", "message"),
    [
        (FILTERS, "grids.r", {"log10": [0, 3, 0]}, r"grids\.r\.log10: step 0 does not lead from 0 to 3"),
        (FILTERS, "grids.r", {"log10": [0, 3, -1]}, r"step -1 does not lead from 0"),
        (FILTERS, "grids.r", {"log10": [0, 3, 0.000001]}, r"10000 are allowed"),
        (FILTERS, "grids.r", {"log10": [0, 400, 1]}, r"leaves the range of numbers"),
        (FILTERS, "grids.beta", None, r"methods\.beta\.tune: 'beta' has no grid"),
        (FILTERS, "shared.reference", "cleen", r"shared\.reference: 'cleen' .* did you mean clean"),
        (FILTERS, "shared.parameter", "q", r"shared\.parameter: 'q' .* known: r"),
        (FILTERS, "shared", None, r"settings\.shared: the mode shared_r needs"),
        (FILTERS, "repetitions", 20.0, r"20\.0 is not a whole number; write 20 "),
        (FILTERS, "repetitions", "2e1", r"2e1 is text in YAML, not a number; write 20"),
        (FILTERS, "methods.one.method", "orz", r"methods\.one\.method: 'orz' is unknown; did you mean ors"),
        (FILTERS, "methods.one.method", "pegasos", r"'pegasos' is none of the filters: .*nlms"),
        (FILTERS, "methods.one.method", "my module:X", r"not of the form package\.module:Class"),
        (
            FILTERS,
            "methods.one.parameters",
            {"varient": "one"},
            r"no parameter 'varient'; did you mean variant",
        ),
        (
            FILTERS,
            "methods.one.parameters",
            {"variant": "two", "two_variance": "hlf"},
            r"methods\.one\.parameters\.two_variance: 'hlf' is unknown; did you mean half",
        ),
        (
            FILTERS,
            "methods.one.parameters",
            {"variant": "betta"},
            r"methods\.one\.parameters\.variant: 'betta' is unknown; did you mean beta\? known: clean,",
        ),
        (
            FILTERS,
            "tasks.M=5.process_nois",
            0.1,
            r"tasks\.M=5: .*'process_nois' .* did you mean process_noise\?",
        ),
        (FILTERS, "/process_nois", 0.1, r"no key 'process_nois'; known: title, source,"),
        (KERNELS, "methods.svm.parameters", {"parametrisation": "sigma"}, r"did you mean sigma\d\?"),
        (
            FILTERS,
            "methods.clean.parameters",
            {"beta": "a"},
            r"parameters\.beta: 'a' is of type str; None or",
        ),
        (FILTERS, "methods.one.tune", ["r", "beto"], r"methods\.one\.tune: 'beto' has no grid"),
        (FILTERS, "tasks", {"a,b": TASK}, r"tasks: 'a,b' is empty or has a comma"),
        (FILTERS, "/claims.0.checks.0.where.metric", "mze", r"checks\.0\.where\.metric: .*'mze'.*mse"),
        (FILTERS, "/claims.0.checks.0.where.setting", "shard_r", r"no row .*'shard_r'.*shared_r"),
        (FILTERS, "/claims.0.checks.0.where.repetition", 20, r"repetition: 20, but the last one is 19"),
        (
            FILTERS,
            "/claims.0.checks.1.below",
            float("inf"),
            r"claims\.0\.checks\.1\.below: inf is not allowed",
        ),
        (FILTERS, "/claims.1.id", "ORS-1", r"claims\.1\.id: 'ORS-1' is also claims\.0\.id"),
        (FILTERS, "/render", "ors:regression_curve", r"no function .*; close names: regression_curves"),
        (FILTERS, "/render", "orz:curves", r"render: .* no module 'orz'; did you mean ors\?"),
        (FILTERS, "/protocol", "ors.filter_curve", r"did you mean ors\.filter_curves"),
        (SPEECH, "/datasets", ["speach"], r"'speech' is unknown here; did you mean speach"),
        (FLIPS, "official", ["nope"], r"official: 'nope' is unknown here; known: a7a"),
        (FLIPS, "objectives", ["nope"], r"objectives: 'nope' is unknown here; known"),
        (FLIPS, "families", {"f": ["log", "hing"]}, r"families\.f: .*did you mean hinge"),
        (FLIPS, "noise", ["symmetric 1.5"], r"noise\.0: noise 'symmetric 1\.5': rate"),
        (FLIPS, "noise", ["symmetric 0.1 2"], r"symmetric takes rate, got 2 numbers"),
        (FLIPS, "noise", ["symmetric 0..1"], r"could not convert string to float"),
        (FLIPS, "methods.ramp.losses.0.z", 1, r"losses\.0: no parameter 'z'"),
        (FLIPS, "/claims.0.checks.0.where.dataset", "a8a", r"no rows will be of 'a8a'; data sets: a7a"),
        (KERNELS, "methods.rmklr.selection", "cv", r"rmklr\.selection: .*drop it"),
        (KERNELS, "methods.svm.method", "kernel_svn", r"did you mean kernel_svm"),
    ],
)
def test_what_a_schema_cannot_see_is_named_before_any_job(tmp_path, source, place, value, message, scale):
    content = yaml.safe_load((EXPERIMENTS / f"{source}.yaml").read_text(encoding="utf-8"))
    content.pop("published", None)
    put(content, place, value)
    if scale == "smoke":
        del content["reductions"]
    path = tmp_path / f"{source}.yaml"
    path.parent.mkdir()
    path.write_text(yaml.safe_dump(content), encoding="utf-8")
    with pytest.raises(artifacts.ArtifactError, match=message) as error:
        artifacts.load(path, scale)
    assert "\n" not in str(error.value)
    assert str(error.value).startswith(str(path))


@pytest.mark.parametrize("name", methods.known())
def test_the_words_that_an_argument_takes_have_its_default_among_them(name):
    method = methods.find(name)
    for function in ("__init__", "fit_many"):
        defaults = inspect.signature(getattr(method, function, method)).parameters
        for argument, words in signatures.choices(name, function).items():
            assert defaults[argument].default in words


OWN = """
from sklearn.base import BaseEstimator

class NearestMean(BaseEstimator):
    def __init__(self, shrinkage=0.0, how="mean", *, power: float = 1.0):
        self.shrinkage = shrinkage
"""


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"how": ["mean", {"a": 1}]}, r"parameters\.how: \{'a': 1\} in a list"),
        ({"shrinkag": 0.1}, r"no parameter 'shrinkag'; did you mean shrinkage"),
        ({"shrinkage": "a"}, r"parameters\.shrinkage: 'a' is of type str"),
        ({"power": "a"}, r"parameters\.power: 'a' is of type str; float is expected"),
    ],
)
def test_parameters_of_ones_own_class_are_checked_without_importing_it(
    tmp_path, monkeypatch, parameters, message
):
    (tmp_path / "mine_for_checks.py").write_text(OWN + "raise SystemExit\n")
    monkeypatch.syspath_prepend(tmp_path)
    own = {"method": "mine_for_checks:NearestMean"}
    method_checks.examine({"methods": {"a": own | {"parameters": {"shrinkage": 1, "how": 3}}}}, False)
    with pytest.raises(artifacts.ArtifactError, match=rf"methods\.a\.{message}|{message}"):
        method_checks.examine({"methods": {"a": own | {"parameters": parameters}}}, False)


@pytest.mark.parametrize(
    ("method", "why"),
    [
        ("no_such_module_here:X", "no module 'no_such_module_here'; is its folder on PYTHONPATH?"),
        ("sklearn.svm:SVQ", "has no class 'SVQ'; did you mean SV"),
        ("sklearn.svm:SVC", ""),
    ],
)
def test_a_class_that_is_not_to_be_found_is_a_reason_to_leave_the_artifact_out(method, why):
    """No error: other artifacts can run without it."""
    settings = {"methods": {"a": {"method": method}}}
    method_checks.examine(settings, False)
    assert (why in method_checks.lacking(settings)) if why else not method_checks.lacking(settings)
