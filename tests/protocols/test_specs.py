"""A method of the settings is read, checked and built the same way by every protocol."""

import pytest

from noisylabels.filters.lms import NLMS
from reproduction.protocols.specs import DISPLAY, Spec, spec, specs


def test_parameters_are_fixed_and_what_was_chosen_wins():
    built = spec("m", {"method": "nlms", "parameters": {"mu": 0.2, "eps": 0.5}}).build(mu=0.7)
    assert isinstance(built, NLMS)
    assert (built.mu, built.eps) == (0.7, 0.5)


def test_other_keys_are_the_protocol_s_and_those_for_figures_are_nobody_s():
    content = {"method": "nlms", "tune": ["mu"]} | dict.fromkeys(DISPLAY, "x")
    assert spec("m", content).options == {"tune": ["mu"]}


def test_the_settings_are_left_as_they_are():
    content = {"method": "nlms", "parameters": {"mu": 0.2}}
    spec("m", content).parameters.clear()
    assert content["parameters"] == {"mu": 0.2}


def test_labels_keep_their_order_and_own_classes_need_no_registration():
    found = specs({"b": {"method": "sklearn.svm:SVC"}, "a": {"method": "nlms"}})
    assert list(found) == ["b", "a"]
    assert [method.label for method in found.values()] == ["b", "a"]
    assert found["b"].cls.__name__ == "SVC"


def test_unknown_methods_and_parameters_are_named_with_their_label():
    with pytest.raises(ValueError, match=r"^method mine: 'nmls' is unknown; did you mean nlms"):
        spec("mine", {"method": "nmls"})
    with pytest.raises(ValueError, match=r"^method mine: no parameter 'epsilon'; did you mean eps"):
        Spec("mine", NLMS, {"epsilon": 1}).check()
    with pytest.raises(ValueError, match=r"^method mine: no parameter 'r'; known: mu, eps"):
        Spec("mine", NLMS).check(["r"])


def test_a_class_with_open_keywords_takes_everything():
    class Open:
        def __init__(self, **anything):
            self.anything = anything

    method = Spec("mine", Open, {"a": 1})
    method.check(["b"])
    assert method.build(b=2).anything == {"a": 1, "b": 2}
