"""What decides about a job: what it computes with, and no text for people."""

from project import load_plan

from reproduction.plan.currency import arrange
from reproduction.plan.steps import list_steps


def test_texts_of_a_data_set_decide_nothing_and_its_loader_does():
    entry = load_plan("smoke").entry("ida_heart")
    for text in ("title", "citation", "licence", "note"):
        assert entry.model_copy(update={text: "in other words"}).decisive() == entry.decisive()
    assert entry.model_copy(update={"loader": "uci:other"}).decisive() != entry.decisive()


def test_a_job_comes_behind_those_whose_results_it_reads():
    steps = list(list_steps(load_plan("smoke")))
    names = [step.record for step in steps]
    assert len(set(names)) == len(names)
    position = {name: number for number, name in enumerate(names)}
    for number, step in enumerate(steps):
        for file in step.inputs:
            if file.endswith("/table.csv"):
                assert position[file.replace("/table.csv", "/record.json")] < number


def test_the_order_of_settings_has_no_meaning_and_that_of_labels_has():
    written = {"settings": {"a": 1, "methods": {"x": {"p": 1, "q": 2}, "y": {}}}}
    reordered = {"settings": {"methods": {"x": {"q": 2, "p": 1}, "y": {}}, "a": 1}}
    relabelled = {"settings": {"a": 1, "methods": {"y": {}, "x": {"p": 1, "q": 2}}}}
    assert arrange(written) == arrange(reordered)
    assert arrange(written) != arrange(relabelled)
