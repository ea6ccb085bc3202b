"""Names for readers: one file has them; artifacts choose what to show, no figure knows a method."""

import itertools
import re
from contextlib import suppress
from pathlib import Path

import pandas as pd
import pydantic
import pytest
from made_tables import Inputs
from problems import SETTINGS

import noisylabels
from kernel_boost import kernel_drawing as kernels
from noisylabels.noise import flip_models
from ors import drawing as ors
from reproduction.show import names
from reproduction.show.panels import Results
from reproduction.show.rendering import find
from reproduction.spec.papers import HOME, find_paper, list_papers
from reproduction.spec.protocol import find_protocol
from reproduction.spec.settings import Method

WRITTEN = {"clean": {"role": "control"}, "known only": {"shown": "known"}}
WRITTEN |= {"mine": {"note": "Mine is new.", "label": "my method"}}
WRITTEN |= {"noisy": {"role": "reference"}, "two_full": {"shown": "tables"}}
METHODS = {label: Method.model_construct(**written) for label, written in WRITTEN.items()}


CURVES, RENDERS = "kernel_boost.boosting:curves", "kernel_boost.boosting_drawing"


@pytest.mark.parametrize(
    ("paper", "name", "arguments", "expected"),
    [
        ("ors", names.method, ["my_method"], "my_method"),  # a key without a name is shown as it is
        ("ors", names.method, ["one_pred_u"], "one sample and pred (v unknown)"),
        ("ors", names.noise, ["independent 0.3"], "30 % symmetric"),
        ("ors", names.setting, ["shared_r"], "one r for all rules"),
        ("robust_sgd", names.method, ["rgomp mean"], "SGD(RGomp), mean of the weights"),
        ("kernel_boost", names.method, ["naive Bayes"], "naive Bayes"),
        ("ors", names.metric, ["my_metric", "own.protocol:f"], "my metric"),
        ("ors", names.x_axis, ["my_metric", "own.protocol:f"], "x"),
        ("ors", names.first_metric, ["own.protocol:f"], ""),
        ("kernel_boost", names.metric, ["error"], "wrong test labels / %"),
        ("natarajan2013", names.metric, ["error", "stock:errors"], "wrong test labels / %"),
        ("pnorm", names.metric, ["error", "pnorm.code:hadamard"], "squared error"),
        ("pnorm", names.x_axis, ["misalignment", "pnorm.code:room"], "speech heard / s"),
        ("pnorm", names.x_axis, ["tap", "pnorm.code:room"], "tap of the response"),
        ("kernel_boost", names.first_metric, [CURVES, f"{RENDERS}:error_curves"], "test_error"),
        ("kernel_boost", names.first_metric, [CURVES, f"{RENDERS}:learned_rates"], "gamma01"),
    ],
)
def test_names_are_those_of_the_paper_and_of_its_protocols(paper, name, arguments, expected):
    with names.using(HOME / paper):
        assert name(*arguments) == expected


def test_a_table_gets_names_in_header_sections_and_cells():
    frame = pd.DataFrame({"klr": ["1"], "klr, published": ["2"], "one": ["rklr"]}, index=["klr"])
    frame.attrs["note"] = "klr"
    frame["noise"] = ["negative_only 0.2"]
    with names.using(HOME / "kernel_boost"):
        named = names.of_table(frame, {"klr", "rklr"}, {"negative_only 0.2", ""})
    assert named.pop("noise").to_list() == ["20 % asymmetric"]
    assert list(named.columns) == ["KLR", "KLR, published", "one"]
    assert list(named.index) == ["KLR"]
    assert named["one"].to_list() == ["rKLR"]
    assert named.attrs["note"] == "klr"


@pytest.mark.parametrize("model", flip_models.MODELS)
def test_every_kind_of_noise_has_a_name_that_tables_can_write(model):
    """A model with two numbers crashed the table of errors."""
    for number in ("0", "0.3"):
        label = " ".join(
            [model, *["2" if name == "times" else number for name in flip_models.numbers(model)]]
        )
        named = names.of_table(pd.DataFrame({"noise": [label]}), set(), {label})["noise"].to_list()
        assert named == [names.noise(label)]
        assert named[0] not in ("", "nan")
    errors = find_protocol("stock:errors").settings
    with suppress(pydantic.ValidationError):  # models that no split takes
        settings = errors.model_validate(SETTINGS | {"noise": [label], "datasets": ["toy"]})
        rows = {
            "dataset": "toy",
            "source": "",
            "noise": label,
            "metric": "error",
            "x": float("nan"),
        }
        table = []
        for method, repetition in itertools.product(settings.methods, range(2)):
            row = rows | {"method": method, "setting": "trusted"}
            table.append(row | {"repetition": repetition, "value": 1.0 + repetition})
        results = Results({"a": pd.DataFrame(table)}, {"a": settings}, {"a": []})
        assert len(find("stock:errors")(results))


@pytest.mark.parametrize("paper", list_papers())
def test_every_protocol_and_drawing_that_has_names_is_one_and_opens_with_a_metric_that_has_a_name(
    paper,
):
    find_paper(paper)
    with names.using(HOME / paper):
        for name, entry in names.read_names(HOME / paper).get("protocols", {}).items():
            assert find_protocol(name)
            opened = {entry["opens"]} if "opens" in entry else set()
            metrics = {*names.listed("metrics"), *entry.get("metrics", {})}
            assert opened | set(entry.get("x_of", {})) <= metrics
        for render, metric in names.read_names(HOME / paper).get("opens", {}).items():
            assert find(render)
            assert metric in names.listed("metrics")


def test_a_place_shows_its_own_methods_and_those_of_every_place():
    assert names.shown_in(METHODS, "known") == ["clean", "known only", "mine", "noisy"]
    assert names.shown_in(METHODS, "tables") == ["clean", "mine", "noisy", "two_full"]


def test_roles_labels_and_notes():
    assert names.with_role(METHODS, "control") == ["clean"]
    assert names.reference(METHODS) == "noisy"
    assert names.reference({"a": METHODS["mine"], "b": METHODS["mine"]}) == "a"
    assert names.label(METHODS, "mine") == "my method"
    with names.using(HOME / "ors"):
        assert names.label(METHODS, "noisy") == "no scaling (noisy label)"
    assert names.notes(METHODS) == ["Mine is new."]


def renamed(name, artifact, names):
    """Inputs whose methods have other names, in the order of the names."""
    inputs = Inputs(f"kernel_boost/{name}", repetitions=3)
    inputs.tables[artifact]["method"] = inputs.tables[artifact]["method"].replace(names)
    for published in inputs.published[artifact]:
        label = published["where"]["method"]
        published["where"] = published["where"] | {"method": names.get(label, label)}
    methods = inputs.settings[artifact]["methods"]
    inputs.settings[artifact]["methods"] = {
        names.get(label, label): methods[label] for label in {**names, **methods}
    }
    return inputs


def test_columns_follow_the_artifact():
    """Also in their order, which is another one than that of the file."""
    names = {"rmklr": "many kernels", "rkfd": "discriminant", "svm": "machine"}
    frame = renamed("rivals", "rivals", names).draw()
    assert [c for c in frame.columns if c in names.values()] == [
        "many kernels",
        "discriminant",
        "machine",
    ]
    assert set(frame["machine against"]) <= {"many kernels", "discriminant"}


def test_the_dots_show_the_reference():
    inputs = renamed("noise_harm", "rivals", {"klr": "plain"})
    assert inputs.draw().axes[0].get_xlabel() == "test error of KLR / %"
    del inputs.settings["rivals"]["methods"]["plain"]["label"]
    assert inputs.draw().axes[0].get_xlabel() == "test error of plain / %"


@pytest.mark.parametrize("module", [ors, kernels], ids=lambda m: m.__name__.rpartition(".")[2])
def test_no_method_is_named_in_the_code(module):
    names_of_published_values = r"^MODELS = \{[^}]*\}"
    text = re.sub(names_of_published_values, "", Path(module.__file__).read_text(), flags=re.M)
    quoted = set(re.findall(r'"([a-z_0-9]+)"', text))
    labels = {"klr", "rklr", "rmklr", "rkfd", "svm", "noisy", "opt", "beta", "two_full", "one_pred"}
    assert not quoted & (set(noisylabels.METHODS) | labels)
