"""Names for readers: one file has them; artifacts choose what is shown, no figure knows a method."""

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
from reproduction.spec.protocol import find_protocol

METHODS = {"clean": {"role": "control"}, "known only": {"shown": "known"}}
METHODS |= {"mine": {"note": "Mine is new.", "label": "my method"}}
METHODS |= {"noisy": {"role": "reference"}, "two_full": {"shown": "tables"}}


@pytest.mark.parametrize(
    ("found", "name"),
    [
        (names.method("my_method"), "my_method"),  # a key without a name is shown as it is
        (names.method("one_pred_u"), "one label and prediction (v unknown)"),
        (names.noise("independent 0.3"), "30 % symmetric"),
        (names.setting("shared_r"), "one r for all rules"),
        (names.method("rgomp mean"), "reversed Gompertz (RGomp, mean of the weights)"),
        (names.method("naive Bayes"), "naive Bayes"),
        (names.metric("my_metric", "own.protocol"), "my metric"),
        (names.x_axis("my_metric", "own.protocol"), "x"),
        (names.first_metric("own.protocol"), ""),
        (names.metric("error"), "wrong test labels / %"),
        (names.metric("error", "kernels.errors"), "wrong test labels / %"),
        (names.metric("error", "pnorm.hadamard"), "squared error"),
        (names.x_axis("misalignment", "pnorm.room"), "speech heard / s"),
        (names.x_axis("tap", "pnorm.room"), "tap of the response"),
        (names.first_metric("boosting.curves", "boosting:error_curves"), "test_error"),
        (names.first_metric("boosting.curves", "boosting:learned_rates"), "gamma01"),
    ],
)
def test_names_depend_on_the_protocol_and_on_what_is_drawn(found, name):
    assert found == name


def test_a_table_gets_names_in_header_sections_and_cells():
    frame = pd.DataFrame({"klr": ["1"], "klr, printed": ["2"], "one": ["rklr"]}, index=["klr"])
    frame.attrs["note"] = "klr"
    frame["noise"] = ["negative_only 0.2"]
    named = names.of_table(frame, {"klr", "rklr"}, {"negative_only 0.2", ""})
    assert named.pop("noise").to_list() == ["20 % asymmetric"]
    assert (list(named.columns), list(named.index)) == (["KLR", "KLR, printed", "one"], ["KLR"])
    assert (named["one"].to_list(), named.attrs["note"]) == (["rKLR"], "klr")


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
    errors = find_protocol("kernels.errors").settings
    with suppress(pydantic.ValidationError):  # models that no split takes
        settings = errors.model_validate(SETTINGS | {"noise": [label], "datasets": ["toy"]})
        rows = {"dataset": "toy", "source": "", "noise": label, "metric": "error", "x": float("nan")}
        table = [
            rows | {"method": m, "setting": "trusted", "repetition": r, "value": 1.0 + r}
            for m in settings.methods
            for r in range(2)
        ]
        results = Results({"a": pd.DataFrame(table)}, {"a": settings}, {"a": []})
        assert len(find("kernels:errors")(results))


@pytest.mark.parametrize("name", names.listed("protocols"))
def test_every_protocol_is_one_and_opens_with_a_metric_that_has_a_name(name):
    assert find_protocol(name)
    entry = names.listed("protocols")[name]
    assert {entry["opens"], *entry.get("x_of", {})} <= names.listed("metrics").keys()


@pytest.mark.parametrize(("render", "metric"), names.listed("opens").items())
def test_every_exception_is_of_a_function_that_draws(render, metric):
    assert find(render)
    assert metric in names.listed("metrics")


def test_a_place_shows_its_own_methods_and_those_of_every_place():
    assert names.shown_in(METHODS, "known") == ["clean", "known only", "mine", "noisy"]
    assert names.shown_in(METHODS, "tables") == ["clean", "mine", "noisy", "two_full"]


def test_roles_labels_and_notes():
    assert names.with_role(METHODS, "control") == ["clean"]
    assert names.reference(METHODS) == "noisy"
    assert names.reference({"a": {}, "b": {}}) == "a"
    assert names.label(METHODS, "mine") == "my method"
    assert names.label(METHODS, "noisy") == "noisy label (NLMS step)"
    assert names.notes(METHODS) == ["Mine is new."]


def renamed(name, artifact, names):
    """Inputs whose methods have other names, in the order of the names."""
    inputs = Inputs(f"kernel_boost/{name}", few=3)
    inputs.tables[artifact]["method"] = inputs.tables[artifact]["method"].replace(names)
    own = inputs.settings[artifact]["methods"]
    inputs.settings[artifact]["methods"] = {names.get(label, label): own[label] for label in {**names, **own}}
    return inputs


def test_columns_follow_the_artifact():
    """Also in their order, which is another one than that of the file."""
    names = {"rmklr": "many kernels", "rkfd": "discriminant", "svm": "machine"}
    frame = renamed("rivals", "rivals", names).draw()
    assert [c for c in frame.columns if c in names.values()] == ["many kernels", "discriminant", "machine"]
    assert set(frame["machine against"]) <= {"many kernels", "discriminant"}


def test_the_dots_show_the_reference():
    inputs = renamed("noise_harm", "klr_vs_rklr", {"klr": "plain"})
    assert inputs.draw().axes[0].get_xlabel() == "test error of KLR / %"
    del inputs.settings["klr_vs_rklr"]["methods"]["plain"]["label"]
    assert inputs.draw().axes[0].get_xlabel() == "test error of plain / %"


@pytest.mark.parametrize("module", [ors, kernels], ids=lambda m: m.__name__.rpartition(".")[2])
def test_no_method_is_named_in_the_code(module):
    text = re.sub("^MODELS = .*", "", Path(module.__file__).read_text(), flags=re.M)  # of published values
    quoted = set(re.findall(r'"([a-z_0-9]+)"', text))
    labels = {"klr", "rklr", "rmklr", "rkfd", "svm", "noisy", "opt", "beta", "two_full", "one_pred"}
    assert not quoted & (set(noisylabels.METHODS) | labels)
