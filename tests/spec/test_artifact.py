"""Artifact files: checked before the first job, merged by scale, cut into cells and blocks."""

from pathlib import Path

import pytest
import yaml
from project import artifact_paths

from reproduction.data import registry
from reproduction.spec import artifact as artifacts
from reproduction.spec import mistakes
from reproduction.spec.artifact import (
    LONGEST,
    SCALES,
    Artifact,
    ArtifactError,
    check_code,
    load,
    load_all,
)
from reproduction.spec.settings import Settings

EXPERIMENTS = Path(__file__).resolve().parents[2] / "src/papers"
FILES = artifact_paths()
FILTERS, BUDGETS, SPEECH = "ors/fig2", "ors/fig6", "ors/fig5"
FLIPS, KERNELS = "robust_sgd/table1", "kernel_boost/rivals"
WHERE = "/claims.0.checks.0.where"
TASK = {"kind": "regression", "T": 100, "d": 2, "M": 5, "process_noise": 0.01}


def put(content, path, value):
    """Set a key, ``grids.r`` of the settings or ``/claims.0.id`` of the file; None removes it."""
    *parents, name = path.strip("/").split(".")
    if not path.startswith("/"):
        parents = ["settings", *parents]
    for key in parents:
        content = content[int(key) if isinstance(content, list) else key]
    if value is None:
        del content[name]
    else:
        content[name] = value


@pytest.fixture
def write(tmp_path):
    """Write a changed copy of an artifact, {path of a key: value}, and return its path."""

    def write(source, changes, drop=("published",)):
        content = yaml.safe_load((EXPERIMENTS / f"{source}.yaml").read_text(encoding="utf-8"))
        for key in drop:
            content.pop(key, None)
        for key_path, value in changes.items():
            put(content, key_path, value)
        path = tmp_path / f"{source}.yaml"
        if not path.parent.exists():
            path.parent.mkdir()
            (path.parent / "TITLE").write_text("a paper")
            for module in (EXPERIMENTS / source).parent.glob("*.py"):
                (path.parent / module.name).symlink_to(module)
        path.write_text(yaml.safe_dump(content, sort_keys=False), encoding="utf-8")
        return path

    return write


@pytest.mark.parametrize("scale", SCALES)
def test_every_artifact_of_the_project_is_valid(scale):
    for artifact in load_all(EXPERIMENTS, {file.parent.name for file in FILES}, scale).values():
        if artifact.protocol:
            assert artifact.cells
            assert artifact.blocks[-1][1] == artifact.settings.count_repetitions()


MISTAKES = [
    (BUDGETS, {"/titel": "x"}, r"fig6\.yaml: there is no key 'titel'; did you mean title\?"),
    (BUDGETS, {"/title": "x" * 301}, r"title: .*300"),
    (BUDGETS, {"/resources": {"mem_mb": 10**18}}, r"resources\.mem_mb: .*10000000"),
    (FILTERS, {"/process_nois": 0.1}, r"no key 'process_nois'; known: title, summary, source,"),
    (BUDGETS, {"budgts": [1]}, r"fig6\.yaml: settings: .*'budgts'.* did you mean budgets\?"),
    (BUDGETS, {"budgets": [0.5]}, r"settings: budgets\.0: .*0\.5"),
    (BUDGETS, {"budgets": []}, r"settings: budgets: "),
    (BUDGETS, {"task.M": -1}, r"task\.M: .*-1"),
    (BUDGETS, {"strategies": ["autu"]}, r"strategies\.0: .*'autu'.*did you mean auto"),
    (
        BUDGETS,
        {"/protocol": "code:label_budge"},
        r"no function .label_budge.; close names: label_budget",
    ),
    (BUDGETS, {"/protocol": "orz:label_budget"}, r"protocol: .*no module .orz.; known: "),
    (
        BUDGETS,
        {"/shards": {"by": ["bugets"]}},
        r"shards\.by: 'bugets' must be .*; did you mean budgets",
    ),
    (
        BUDGETS,
        {"repetitions": 1_000_000, "/shards": {"repetitions": 1}},
        r"shards: \d+ jobs; at most 100000",
    ),
    (BUDGETS, {"/render": "nothing"}, r"render: 'nothing' is not of the form module:function"),
    (
        FILTERS,
        {"/render": "drawing:regression_curve"},
        r"no function .*; close names: regression_curves",
    ),
    (FILTERS, {"/render": "orz:curves"}, r"render: .* no module 'orz'; known: "),
    (FILTERS, {"repetitions": 20.0}, r"repetitions: .*20\.0.*; write 20"),
    (FILTERS, {"repetitions": "2e1"}, r"repetitions: .*20\.0; write 20"),
    (FILTERS, {"grids.r": {"log10": [0, 3, 0]}}, r"grids\.r.* step 0 does not lead from 0 to 3"),
    (FILTERS, {"grids.r": {"log10": [0, 3, -1]}}, r"step -1 does not lead from 0"),
    (FILTERS, {"grids.r": {"log10": [0, 3, 0.000001]}}, r"10000 are allowed"),
    (FILTERS, {"grids.r": {"log10": [0, 400, 1]}}, r"leaves the range of numbers"),
    (FILTERS, {"grids.beta": None}, r"methods\.beta.*tune: 'beta' has no grid"),
    (
        FILTERS,
        {"methods.one.tune": ["r", "beto"]},
        r"methods\.one: no parameter 'beto'; did you mean beta",
    ),
    (FILTERS, {"shared.reference": "cleen"}, r"shared\.reference: 'cleen' .* did you mean clean"),
    (FILTERS, {"shared.parameter": "q"}, r"shared\.parameter: 'q' .* known: r"),
    (FILTERS, {"shared": None}, r"shared: the mode shared_r needs"),
    (FILTERS, {"tasks": {"a,b": TASK}}, r"tasks.*: 'a,b' is empty or has a comma"),
    (FILTERS, {"tasks.M=5.process_nois": 0.1}, r"tasks\.M=5: .*did you mean process_noise\?"),
    (
        FILTERS,
        {"methods.one.method": "orz"},
        r"methods\.one.*method: 'orz' is unknown; did you mean ors",
    ),
    (
        FILTERS,
        {"methods.one.method": "pegasos"},
        r"'pegasos' is (none|not one) of the filters: .*nlms",
    ),
    (FILTERS, {"methods.one.method": "my module:X"}, r"not of the form package\.module:Class"),
    (FILTERS, {"methods.one.parameters": {"varient": "one"}}, r"'varient'; did you mean variant"),
    (
        FILTERS,
        {"methods.one.parameters": {"variant": "betta"}},
        r"variant: .*'betta'; did you mean beta",
    ),
    (
        FILTERS,
        {"methods.clean.parameters": {"beta": "a"}},
        r"clean: parameter beta: .*number, got 'a'",
    ),
    (
        KERNELS,
        {"methods.svm.parameters": {"parametrisation": "sigma"}},
        r"no parameter 'parametrisation'",
    ),
    (KERNELS, {"methods.rmklr.selection": "cv"}, r"rmklr: .* has no fit_many"),
    (KERNELS, {"methods.svm.method": "kernel_svn"}, r"did you mean kernel_svm"),
    (SPEECH, {"/datasets": ["speach"]}, r"'speach' is not in the registry; did you mean speech"),
    (FLIPS, {"datasets": ["a7a", "mnist83"]}, r"datasets: 'mnist83' is not among .*mnist38"),
    (FLIPS, {"official": ["nope"]}, r"official: 'nope' is unknown here; known: a7a"),
    (FLIPS, {"objectives": ["nope"]}, r"objectives: 'nope' is unknown here; known"),
    (FLIPS, {"families": {"f": ["log", "hing"]}}, r"families\.f: .*did you mean hinge"),
    (FLIPS, {"noise": ["symmetric 1.5"]}, r"noise\.0: noise 'symmetric 1\.5': rate"),
    (FLIPS, {"noise": ["symmetric 0.1 2"]}, r"symmetric takes rate, got 2 numbers"),
    (FLIPS, {"noise": ["symmetric 0..1"]}, r"could not convert string to float"),
    (FLIPS, {"methods.ramp.losses.0.z": 1}, r"losses\.0: no parameter 'z'; known: s"),
    (FLIPS, {"/claims.0.checks.0.where.dataset": "a8a"}, r"no row will be of 'a8a'.*a7a"),
    (FILTERS, {f"{WHERE}.metric": "mze"}, r"checks\.0\.where\.metric: .*'mze'.* did you mean mse"),
    (FILTERS, {f"{WHERE}.setting": "shard_r"}, r"setting 'shard_r'.* did you mean shared_r"),
    (
        FILTERS,
        {"repetitions": 20, f"{WHERE}.repetition": 20},
        r"repetition: 20, but the last one is 19",
    ),
    (FILTERS, {"/claims.0.checks.0.below": float("inf")}, r"line \d+: \.inf is not allowed"),
    (FILTERS, {"/claims.1.id": "ORS-1"}, r"claims\.1\.id: 'ORS-1' is also claims\.0\.id"),
    (
        FILTERS,
        {"/claims.1.form_of": "ORS-1c"},
        r"claims\.1\.form_of: 'ORS-1c' is not another claim",
    ),
    (
        FILTERS,
        {"/claims.1.form_of": "ORS-1a"},
        r"claims\.1\.form_of: 'ORS-1a' is not another claim",
    ),
    (
        FILTERS,
        {"/published": {"margin": 1, "reason": "r"}},
        r"values belong in .*fig2\.published\.csv",
    ),
]


@pytest.mark.parametrize(("source", "changes", "message"), MISTAKES)
def test_a_mistake_is_named_in_one_line_before_any_job(write, source, changes, message):
    without_published = () if "/published" in changes else ("published",)
    for scale, reductions in (("full", {}), ("smoke", {"/reductions": {}})):
        path = write(source, reductions | changes, without_published)
        with pytest.raises(ArtifactError, match=message) as error:
            load(path, scale)
        assert "\n" not in str(error.value)
        assert str(error.value).startswith(str(path.with_suffix("")))


@pytest.mark.parametrize(("source", "changes"), [case[:2] for case in MISTAKES])
def test_a_mistake_that_is_found_when_code_is_checked_later_has_the_same_line(
    write,
    source,
    changes,
):
    without_published = () if "/published" in changes else ("published",)
    path = write(source, changes, without_published)
    with pytest.raises(ArtifactError) as complete:
        load(path, "full")
    with pytest.raises(ArtifactError) as later:
        check_code(load(path, "full", with_code=False))
    assert str(later.value) == str(complete.value)


def test_a_mistake_in_a_reduction_is_found_at_its_scale(write):
    path = write(BUDGETS, {"/reductions.smoke.settings.budgets": [0]})
    load(path, "full")
    with pytest.raises(ArtifactError, match=r"at scale smoke: settings: budgets\.0"):
        load(path, "smoke")
    with pytest.raises(ArtifactError, match="scale: 'huge' is not one of smoke, part, full"):
        load(path, "huge")


def test_a_reduction_of_the_scale_that_is_gone_is_refused_and_names_what_serves(write):
    path = write(BUDGETS, {"/reductions.quick": {"settings": {"repetitions": 2}}})
    with pytest.raises(ArtifactError, match=r"reductions: quick: the scale quick is gone; .*only="):
        load(path, "full")


def test_a_plan_imports_no_class_of_a_user(write, monkeypatch, tmp_path):
    (tmp_path / "trap.py").write_text("raise SystemExit('imported')")
    monkeypatch.syspath_prepend(tmp_path)
    mine = {"method": "trap:Mine", "parameters": {"any": 1}}
    assert "mine" in load(write("ors/vss", {"methods.mine": mine}), "full").settings.methods


def test_what_goes_with_what_in_a_paper(write):
    papers = write(BUDGETS, {"/uses": ["fig99"]}).parents[1]
    for change, message in [
        ({"/uses": ["fig99"]}, "uses: ors has no artifact 'fig99'"),
        ({"/uses": ["fig6"]}, "uses: 'fig6' is this one"),
        ({}, "TITLE: is empty; it holds the title of the paper"),
    ]:
        write(BUDGETS, change)
        (papers / "ors/TITLE").write_text("" if "TITLE" in message else "a paper")
        with pytest.raises(ArtifactError, match=message):
            load_all(papers, ["ors"], "full")
    message = r"papers: 'orz' is not a folder of .*; did you mean ors\?"
    with pytest.raises(ArtifactError, match=message):
        load_all(EXPERIMENTS, ["orz"], "full")


@pytest.mark.parametrize(
    ("papers", "artifacts", "message"),
    [
        (["my", "my_a"], {"my": "a_b", "my_a": "b"}, "my_a/b and my/a_b have one name, my_a_b"),
        (
            ["my", "my_a"],
            {"my": "a", "my_a": "b"},
            "my/a and my_a have one name, my_a; rename my/a",
        ),
        (
            ["data"],
            {"data": "b"},
            "data and the rule data of the workflow have one name, data; rename data",
        ),
        (["../nowhere"], {}, "papers: there is no folder .*nowhere; ./run new-paper .* makes one"),
        (["/dev"], {}, "papers: /dev is not a paper; ./run new-paper /dev makes one"),
    ],
)
def test_names_that_would_be_one_target_or_no_folder_are_refused(
    tmp_path,
    papers,
    artifacts,
    message,
):
    for paper, name in artifacts.items():
        (tmp_path / paper).mkdir()
        (tmp_path / paper / "TITLE").write_text("a paper")
        text = (
            (EXPERIMENTS / "ors/vss.yaml")
            .read_text()
            .replace("code:", "ors.code:")
            .replace("drawing:", "stock:")
        )
        (tmp_path / paper / f"{name}.yaml").write_text(text.replace("stock:vss", "stock:curves"))
    with pytest.raises(ArtifactError, match=message):
        load_all(tmp_path, papers, "full")


def test_published_values_are_read_from_the_file_beside_the_artifact(write):
    path = write(BUDGETS, {"/published": {"margin": 0.5, "reason": "r"}}, drop=())
    published = "id,noise,method,metric,value\np,uniform,auto,mse,3\n"
    path.with_suffix(".published.csv").write_text(published)
    keys = {"noise": "uniform", "method": "auto", "metric": "mse"}
    entry = {"id": "p", "value": 3.0, "where": keys, "margin": 0.5, "reason": "r"}
    artifact = load(path, "full")
    assert artifact.values == artifact.content["published"] == [entry]
    assert artifact.describe(printed=True)["published"] == [entry]
    assert artifact.describe(printed=False) == artifact.as_written | {"protocol": artifact.protocol}


def test_a_group_is_its_data_sets_and_settings_have_those_of_the_artifact():
    ida = registry.groups()["ida"]
    artifact = load(EXPERIMENTS / f"{KERNELS}.yaml", "full")
    assert yaml.safe_load(artifact.file.read_text())["datasets"] == ["ida"]
    assert "datasets" not in yaml.safe_load(artifact.file.read_text())["settings"]
    assert artifact.datasets == artifact.settings.datasets == ida
    assert list(artifact.as_written)[:3] == ["experiment", "repetitions", "datasets"]
    check = next(claim for claim in artifact.claims if claim.id == "KB-15").checks[-1]
    assert check.where.columns["dataset"] == [name for name in ida if name != "ida_twonorm"]


def test_cells_narrow_one_entry_each_and_need_the_data_sets_that_they_name(write):
    artifact = load(write(BUDGETS, {"/shards.by": ["noise", "strategies"]}), "full")
    assert len(artifact.cells) == 3 * 4
    cell = artifact.cells["noise=uniform~strategies=auto"]
    wanted = (["uniform"], ["auto"], artifact.as_written["budgets"])
    written = cell.as_written
    assert (written["noise"], written["strategies"], written["budgets"]) == wanted
    assert cell.settings.noise == ["uniform"]
    assert cell.settings.budgets == artifact.settings.budgets
    artifact = load(EXPERIMENTS / f"{FLIPS}.yaml", "full")
    assert {tuple(artifact.data_sets(cell.settings)) for cell in artifact.cells.values()} == {
        ("a7a",),
        ("mnist38",),
    }
    assert artifact.data_sets(Settings()) == artifact.datasets == ["a7a", "mnist38"]


def test_blocks_cover_every_repetition_once(write):
    path = write(BUDGETS, {"repetitions": 23, "/shards.repetitions": 10})
    assert load(path, "full").blocks == [(0, 10), (10, 20), (20, 23)]


@pytest.mark.parametrize(("scale", "times"), [("full", 1), ("smoke", 2)])
def test_settings_are_parsed_once_for_each_scale(scale, times, monkeypatch):
    parsed = []

    def count(model, *arguments):
        parsed.append(model)
        return mistakes.check(model, *arguments)

    monkeypatch.setattr(artifacts, "check", count)
    artifact = load(EXPERIMENTS / f"{BUDGETS}.yaml", scale)
    assert parsed == [Artifact, *[type(artifact.settings)] * times]


def test_a_reduction_merges_mappings_and_replaces_lists():
    artifact = load(EXPERIMENTS / f"{BUDGETS}.yaml", "smoke")
    assert artifact.as_written["task"] == {"T": 3000, "d": 20, "M": 5, "process_noise": 0.01}
    assert artifact.settings.budgets == [1, 1.5, 2.5]
    assert list(artifact.cells) == ["all"]
    base, overlay = {"a": {"b": [1]}}, {"a": {"c": [2]}}
    merged = artifacts.merge(base, overlay)
    merged["a"]["b"].append(3)
    assert base == {"a": {"b": [1]}}
    assert overlay == {"a": {"c": [2]}}


def test_a_reduction_does_not_bring_back_what_a_copy_removed(write):
    forest = {"method": "sklearn.ensemble:RandomForestClassifier"}
    changes = {"methods.rkfd": None, "methods.forest": forest, "/datasets": ["ida_banana"]}
    path = write(KERNELS, changes, drop=("published", "claims"))
    for scale in SCALES:
        artifact = load(path, scale)
        assert set(artifact.settings.methods) == {"klr", "rklr", "svm", "rmklr", "forest"}
        assert artifact.settings.datasets == ["ida_banana"]
    assert load(path, "smoke").settings.methods["svm"].grid == [-4, 0, 4]


class Rooms(Settings):
    rooms: list[str] | dict[str, int]


def cut_by(rooms):
    """An artifact that is cut by its rooms."""
    header = {
        "title": "t",
        "source": "s",
        "origin": "ours",
        "kind": "table",
        "caption": "c",
        "render": "a:b",
    }
    content = {"protocol": "p:q", "settings": {"rooms": rooms}, "shards": {"by": ["rooms"]}}
    artifact = Artifact.model_validate(header | content)
    artifact._settings = Rooms(rooms=rooms)
    return artifact


@pytest.mark.parametrize("entries", [["room 1", "room/1"], ["a", "a"], {"x y": 1, "x-y": 2}])
def test_cells_that_would_share_a_name_are_an_error_that_names_both(entries):
    first, second = list(entries)
    message = f"rooms: the entries '{first}' and '{second}' would share the name"
    with pytest.raises(ValueError, match=message):
        _ = cut_by(entries).cells


def test_a_long_label_makes_a_cell_with_a_short_name_that_differs_from_others():
    long, short = cut_by(["r" * 300, "s"]).cells
    assert len(long) == LONGEST
    assert short == "rooms=s"
    assert len(cut_by(["a" * 200, "a" * 201]).cells) == 2
    assert all(len(name.encode()) <= LONGEST for name in cut_by(["é" * 80, "日" * 200]).cells)


def test_plain_words_are_names():
    for name in ("fig2", "table1_low", "german.packaged", "a+b", "2-norm", "_x"):
        artifacts.check_name("artifact", name, "here")


def test_anything_else_is_refused_in_one_line():
    for name in (
        "",
        ".hidden",
        "-n",
        "a b",
        "a;b",
        "$(id)",
        "a/b",
        "..",
        "é",
        "x\n",
        "{x}",
        "'",
        "a" * 101,
    ):
        message = r"\Ahere: artifact .* cannot be a name: use letters.*\Z"
        with pytest.raises(ArtifactError, match=message):
            artifacts.check_name("artifact", name, "here")


@pytest.mark.parametrize(
    ("reductions", "repetitions"),
    [(None, 2), ({}, 20), ({"smoke": {"settings": {"repetitions": 3}}}, 3)],
)
def test_an_artifact_that_does_not_say_how_it_is_reduced_runs_two_repetitions(
    write,
    reductions,
    repetitions,
):
    path = write(KERNELS, {"repetitions": 20}, drop=("published", "claims", "reductions", "shards"))
    if reductions is not None:
        content = yaml.safe_load(path.read_text(encoding="utf-8")) | {"reductions": reductions}
        path.write_text(yaml.safe_dump(content), encoding="utf-8")
    assert load(path, "smoke").settings.count_repetitions() == repetitions
    assert load(path, "full").settings.count_repetitions() == 20
