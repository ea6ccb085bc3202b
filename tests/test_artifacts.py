"""Artifact files: checked completely, merged by scale, cut into cells and blocks."""

from pathlib import Path

import pytest
import yaml

from reproduction import artifact as artifacts

ROOT = Path(__file__).resolve().parents[1]
EXPERIMENTS = ROOT / "config/experiments"
FILES = sorted(EXPERIMENTS.glob("*/*.yaml"))


@pytest.fixture
def write(tmp_path):
    """Write a changed copy of fig6.yaml and return its path."""

    def write(change):
        content = yaml.safe_load((EXPERIMENTS / "ors/fig6.yaml").read_text())
        change(content)
        path = tmp_path / "ors/fig6.yaml"
        path.parent.mkdir(exist_ok=True)
        path.write_text(yaml.safe_dump(content))
        return path

    return write


@pytest.mark.parametrize("scale", artifacts.SCALES)
@pytest.mark.parametrize("file", FILES, ids=lambda f: f"{f.parent.name}/{f.stem}")
def test_every_artifact_of_the_project_is_valid(file, scale):
    artifact = artifacts.load(file, scale)
    if "protocol" in artifact.content:
        assert artifact.cells
        assert artifact.blocks[-1][1] == artifact.settings.get("repetitions", 1)


def test_cells_narrow_one_entry_each(write):
    artifact = artifacts.load(write(lambda c: c["shards"].update(by=["noise", "strategies"])), "full")
    assert len(artifact.cells) == 3 * 4
    cell = artifact.cells["noise=uniform~strategies=auto"]
    assert (cell["noise"], cell["strategies"], cell["budgets"]) == (
        ["uniform"],
        ["auto"],
        artifact.settings["budgets"],
    )


def test_a_cell_needs_only_the_data_sets_that_it_names():
    artifact = artifacts.load(EXPERIMENTS / "robust_sgd/table1.yaml", "full")
    assert artifact.data_sets(artifact.settings) == artifact.content["datasets"] == ["a7a", "mnist38"]
    cells = {tuple(artifact.data_sets(cell)) for cell in artifact.cells.values()}
    assert cells == {("a7a",), ("mnist38",)}
    assert artifact.data_sets({"datasets": ["a7a"]}) == ["a7a"]
    assert artifact.data_sets({}) == ["a7a", "mnist38"]


def test_a_table_is_given_the_printed_values():
    artifact = artifacts.load(EXPERIMENTS / "robust_sgd/table1.yaml", "full")
    assert artifact.shown(printed=False) == artifact.settings | {"protocol": "robust_sgd.errors"}
    assert artifact.shown(printed=True)["published"] == artifact.content["published"]


def test_the_printed_values_are_read_from_the_file_beside_the_artifact(write):
    path = write(lambda c: c.update(published={"margin": 0.5, "reason": "r"}))
    with pytest.raises(artifacts.ArtifactError, match=r"the printed values belong in .*fig6\.published\.csv"):
        artifacts.load(path, "full")
    path.with_suffix(".published.csv").write_text("id,method,value\np,auto,3\n")
    entry = {"id": "p", "value": 3.0, "where": {"method": "auto"}, "margin": 0.5, "reason": "r"}
    assert artifacts.load(path, "full").content["published"] == [entry]


def test_settings_cannot_name_a_data_set_that_the_artifact_does_not_list(tmp_path):
    content = yaml.safe_load((EXPERIMENTS / "robust_sgd/table1.yaml").read_text())
    content["settings"]["datasets"] = ["a7a", "mnist83"]
    del content["published"]
    file = tmp_path / "robust_sgd/table1.yaml"
    file.parent.mkdir()
    file.write_text(yaml.safe_dump(content))
    with pytest.raises(
        artifacts.ArtifactError, match=r"settings.datasets: 'mnist83' is not among .* mnist38"
    ):
        artifacts.load(file, "full")


def test_blocks_cover_every_repetition_once(write):
    def change(content):
        content["settings"]["repetitions"] = 23
        content["shards"]["repetitions"] = 10

    assert artifacts.load(write(change), "full").blocks == [(0, 10), (10, 20), (20, 23)]


def test_a_reduction_merges_mappings_and_replaces_lists(write):
    artifact = artifacts.load(write(lambda c: None), "smoke")
    assert artifact.settings["task"] == {"T": 3000, "d": 20, "M": 5, "process_noise": 0.01}
    assert artifact.settings["budgets"] == [1, 1.5, 2.5]
    assert list(artifact.cells) == ["all"]


def test_a_reduction_does_not_bring_back_what_a_copy_removed(tmp_path):
    content = yaml.safe_load((EXPERIMENTS / "kernel_boost/rivals.yaml").read_text())
    del content["published"], content["claims"]
    del content["settings"]["methods"]["rkfd"]
    content["settings"]["methods"]["forest"] = {"method": "sklearn.ensemble:RandomForestClassifier"}
    content["settings"]["datasets"] = content["datasets"] = ["ida_banana"]
    file = tmp_path / "kernel_boost/mine.yaml"
    file.parent.mkdir()
    file.write_text(yaml.safe_dump(content))
    for scale in artifacts.SCALES:
        artifact = artifacts.load(file, scale)
        assert set(artifact.settings["methods"]) == {"svm", "rmklr", "forest"}
        assert artifact.settings["datasets"] == ["ida_banana"]
    assert artifacts.load(file, "smoke").settings["methods"]["svm"]["grid"] == [-4, 0, 4]


def test_merge_changes_neither_argument():
    base, overlay = {"a": {"b": [1]}}, {"a": {"c": [2]}}
    merged = artifacts.merge(base, overlay)
    merged["a"]["b"].append(3)
    merged["a"]["c"].append(3)
    assert (base, overlay) == ({"a": {"b": [1]}}, {"a": {"c": [2]}})


def rename(key, new):
    def change(content):
        content["settings"][new] = content["settings"].pop(key)

    return change


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda c: c.update(titel="x"), r"fig6\.yaml: there is no key 'titel'; did you mean title\?"),
        (
            rename("budgets", "budgts"),
            r"fig6\.yaml at scale full: settings: top level: .*'budgts' was unexpected",
        ),
        (
            lambda c: c["settings"].update(budgets=[0.5]),
            r"settings: budgets\.0: 0\.5 is less than the minimum of 1",
        ),
        (lambda c: c["settings"]["task"].update(M=-1), r"task\.M: -1 is less than the minimum"),
        (lambda c: c["settings"].update(strategies=["autu"]), r"strategies\.0: 'autu' is not one of"),
        (
            lambda c: c.update(protocol="label_budge"),
            r"no protocol 'label_budge'",
        ),
        (
            lambda c: c["shards"].update(by=["bugets"]),
            r"shards\.by: 'bugets' must be a non-empty list or mapping",
        ),
        (lambda c: c.update(render="nothing"), r"render: .* should match pattern .*, got 'nothing'"),
        (lambda c: c["settings"].update(budgets=[]), r"budgets: \[\] should be non-empty"),
    ],
)
def test_a_mistake_is_named_in_one_line(write, change, message):
    with pytest.raises(artifacts.ArtifactError, match=message) as error:
        artifacts.load(write(change), "full")
    assert "\n" not in str(error.value)


def test_a_plan_imports_no_class_of_the_user(write, monkeypatch, tmp_path):
    (tmp_path / "trap.py").write_text("raise SystemExit('imported')")
    monkeypatch.syspath_prepend(tmp_path)
    content = yaml.safe_load((EXPERIMENTS / "ors/vss.yaml").read_text())
    content["settings"]["methods"]["mine"] = {"method": "trap:Mine", "parameters": {"any": 1}}
    path = tmp_path / "vss.yaml"
    path.write_text(yaml.safe_dump(content))
    assert "mine" in artifacts.load(path, "full").settings["methods"]


def test_a_mistake_in_a_reduction_is_found_at_its_scale(write):
    path = write(lambda c: c["reductions"]["smoke"]["settings"].update(budgets=[0]))
    artifacts.load(path, "full")
    with pytest.raises(artifacts.ArtifactError, match=r"at scale smoke: settings: budgets\.0"):
        artifacts.load(path, "smoke")


def test_broken_yaml_is_named(tmp_path):
    path = tmp_path / "a.yaml"
    path.write_text("a: [1,")
    with pytest.raises(artifacts.ArtifactError, match=r"a\.yaml: not valid YAML") as error:
        artifacts.load(path, "full")
    assert "\n" not in str(error.value)


def test_an_unknown_scale_is_named(write):
    with pytest.raises(artifacts.ArtifactError, match="scale: 'huge' is none of smoke, quick, full"):
        artifacts.load(write(lambda c: None), "huge")


def test_an_unknown_paper_is_named():
    message = r"papers: 'orz' has no artifacts in .*; did you mean ors\?"
    with pytest.raises(artifacts.ArtifactError, match=message):
        artifacts.load_all(EXPERIMENTS, ["orz"], "full")


def test_a_used_artifact_must_exist(write):
    path = write(lambda c: c.update(uses=["fig99"]))
    with pytest.raises(artifacts.ArtifactError, match="uses: ors has no artifact 'fig99'"):
        artifacts.load_all(path.parents[1], ["ors"], "full")
    path = write(lambda c: c.update(uses=["fig6"]))
    with pytest.raises(artifacts.ArtifactError, match="uses: 'fig6' is this one"):
        artifacts.load_all(path.parents[1], ["ors"], "full")


def test_a_paper_has_a_title(write):
    path = write(lambda c: None)
    with pytest.raises(artifacts.ArtifactError, match="TITLE: no title of the paper can be read"):
        artifacts.load_all(path.parents[1], ["ors"], "full")


def test_two_cells_cannot_share_a_name(write):
    def change(content):
        task = content["settings"]["task"]
        content["settings"] = {"experiment": "e", "repetitions": 1, "windows": 1, "modes": ["per_variant"]}
        content["settings"]["methods"] = {"nlms": {"method": "nlms"}}
        content["settings"]["tasks"] = {name: {"kind": "regression"} | task for name in ("room 1", "room/1")}
        content |= {"protocol": "ors.filter_curves", "shards": {"by": ["tasks"]}, "reductions": {}}
        content.pop("claims", None)

    message = r"shards\.by: tasks: the entries 'room 1' and 'room/1' would share"
    with pytest.raises(artifacts.ArtifactError, match=message):
        artifacts.load(write(change), "full")


def test_jobs_are_counted_before_they_are_listed(write):
    def change(content):
        content["settings"]["repetitions"] = 1_000_000
        content["shards"]["repetitions"] = 1

    with pytest.raises(artifacts.ArtifactError, match=r"shards: [0-9]+ jobs; at most 100000 are allowed"):
        artifacts.load(write(change), "full")
