"""Names, roles and order of the methods come from the artifact: no figure or table knows a method by name."""

import re
from pathlib import Path

import pytest
from kernel_boost_inputs import Inputs

from reproduction.figures import kernels, names, ors
from reproduction.methods import known

METHODS = {
    "clean": {"role": "control"},
    "known only": {"shown": "known"},
    "mine": {"note": "Mine is new.", "label": "my method"},
    "noisy": {"role": "reference"},
    "two_full": {"shown": "tables"},
}


def test_a_place_shows_its_own_methods_and_those_of_every_place():
    assert names.shown_in(METHODS, "known") == ["clean", "known only", "mine", "noisy"]
    assert names.shown_in(METHODS, "unknown") == ["clean", "mine", "noisy"]
    assert names.shown_in(METHODS, "tables") == ["clean", "mine", "noisy", "two_full"]


def test_roles_labels_and_notes():
    assert names.with_role(METHODS, "control") == ["clean"]
    assert names.reference(METHODS) == "noisy"
    assert names.reference({"a": {}, "b": {}}) == "a"
    assert [names.label(METHODS, method) for method in ("mine", "noisy")] == [
        "my method",
        "noisy label, NLMS step",
    ]
    assert names.notes(METHODS) == ["Mine is new."]


def renamed(name, artifact, names):
    inputs = Inputs(name)
    inputs.tables[artifact]["method"] = inputs.tables[artifact]["method"].replace(names)
    own = inputs.settings[artifact]["methods"]
    inputs.settings[artifact]["methods"] = {names.get(label, label): spec for label, spec in own.items()}
    return inputs


def test_columns_follow_the_artifact():
    names = {"rkfd": "discriminant", "svm": "machine", "rmklr": "many kernels"}
    inputs = renamed("rivals", "rivals", names)
    frame = inputs.draw()
    assert [c for c in frame.columns if c in names.values()] == ["discriminant", "machine", "many kernels"]
    own = inputs.settings["rivals"]["methods"]
    inputs.settings["rivals"]["methods"] = {
        label: own[label] for label in ("many kernels", "discriminant", "machine")
    }
    frame = inputs.draw()
    assert [c for c in frame.columns if c in names.values()] == ["many kernels", "discriminant", "machine"]
    assert set(frame["machine against"]) <= {"many kernels", "discriminant"}


@pytest.mark.usefixtures("look")
def test_the_bars_show_the_reference():
    inputs = renamed("noise_harm", "klr_vs_rklr", {"klr": "plain"})
    assert inputs.draw().axes[0].get_ylabel() == "test error of KLR / %"
    del inputs.settings["klr_vs_rklr"]["methods"]["plain"]["label"]
    assert inputs.draw().axes[0].get_ylabel() == "test error of plain / %"


@pytest.mark.parametrize("module", [ors, kernels], ids=lambda m: m.__name__.rpartition(".")[2])
def test_no_method_is_named_in_the_code(module):
    text = Path(module.__file__).read_text()
    quoted = set(re.findall(r'"([a-z_0-9]+)"', text))
    labels = {"klr", "rklr", "rmklr", "rkfd", "svm", "noisy", "opt", "beta", "two_full", "one_pred"}
    assert not quoted & (set(known()) | labels)
