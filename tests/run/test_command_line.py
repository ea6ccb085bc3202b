"""A word names the scale, options never do; what cannot be done is a line with what to use."""

import json

import pytest

from reproduction.plan import currency, plan
from reproduction.run import command_line, console
from reproduction.run.command_line import check_scale, check_values, read_request
from scripts import preview

OURS = ["--profile", "workflow/profiles/default", "--cores", "all"]
SMOKE = ["--configfile", "config/smoke.yaml"]
CONSOLE, PREVIEW = ["--logger", "console"], ["--logger", "preview"]


@pytest.mark.parametrize(
    ("typed", "scale", "handed_on"),
    [
        ("", "smoke", [*CONSOLE, *OURS, *SMOKE]),
        ("smoke", "smoke", [*CONSOLE, *OURS, *SMOKE]),
        ("full", "full", [*CONSOLE, *OURS]),
        ("ors_fig2", "smoke", [*CONSOLE, *OURS, *SMOKE, "--", "ors_fig2"]),
        ("full ors_fig2 pnorm", "full", [*CONSOLE, *OURS, "--", "ors_fig2", "pnorm"]),
        ("full ors --cores 2", "full", [*CONSOLE, *OURS[:2], "--cores", "2", "--", "ors"]),
        ("full --cores 2 -- ors", "full", [*CONSOLE, *OURS[:2], "--cores", "2", "--", "ors"]),
        ("full data", "full", [*CONSOLE, *OURS, "--", "data"]),
        ("-n", "smoke", [*PREVIEW, *OURS, *SMOKE, "-n"]),
        ("full --dry-run", "full", [*PREVIEW, *OURS, "--dry-run"]),
        ("full -n --verbose", "full", [*OURS, "-n"]),
        ("--verbose", "smoke", [*OURS, *SMOKE]),
        ("full --logger mine", "full", [*OURS, "--logger", "mine"]),
        ("full --profile mine", "full", [*CONSOLE, "--profile", "mine"]),
        ("full x --config a=1 b=2", "full", [*CONSOLE, *OURS, "--config", "a=1", "b=2", "--", "x"]),
        ("x --configfile a b -n", "smoke", [*PREVIEW, *OURS, *SMOKE, "a", "b", "-n", "--", "x"]),
        ("full --configfile=mine.yaml", "full", [*CONSOLE, *OURS, "--configfile", "mine.yaml"]),
    ],
)  # fmt: skip
def test_only_the_word_names_the_scale(typed, scale, handed_on):
    request = read_request(typed.split())
    assert request.scale == scale
    assert request.arguments == handed_on


OPTIONS = ["--cores 2", "--verbose", "-n", "--keep-going -p", "--unlock", "-j 4"]


@pytest.mark.parametrize("options", OPTIONS)
def test_no_option_changes_the_scale(options):
    for scale in command_line.SCALES:
        assert read_request([scale, *options.split()]).scale == scale
    request = read_request(options.split())
    assert request.scale == "smoke"
    assert request.remarks == ["This is the smoke scale; the papers' settings: ./run full"]


@pytest.mark.parametrize(
    ("typed", "line"),
    [
        ("ors full", "the scale is the first word: ./run full, then targets and options"),
        ("--cores 2 -- smoke", "the scale is the first word: ./run smoke"),
        ("quick", "the scale quick is gone; a part of the full one: ./run full --config"),
        (
            "--configfile config/quick.yaml",
            "this scale is gone; a part of the full one: ./run full --config",
        ),
        ("full --configfile config/smoke.yaml", "the scale is a word: ./run smoke; you typed full"),
        ("-n --config scale=full", "the scale is a word: ./run smoke or ./run full"),
    ],
)
def test_an_old_form_names_the_new_one(typed, line):
    with pytest.raises(ValueError, match=r"\./run") as error:
        read_request(typed.split())
    assert line in str(error.value)
    assert "\n" not in str(error.value)


def test_the_old_form_of_a_smoke_run_is_run_and_names_the_new_one():
    request = read_request(["--configfile", "config/smoke.yaml", "--", "ors_fig2"])
    assert request.arguments == [*CONSOLE, *OURS, *SMOKE, "--", "ors_fig2"]
    assert request.remarks == [
        "The scale is a word now: ./run smoke in place of --configfile config/smoke.yaml"
    ]


@pytest.mark.parametrize(
    ("word", "line"),
    [
        ("seed=1_000", "write the number 1_000 as 1000"),
        ("papers=[ors,2_0]", "write the number 2_0 as 20"),
        ("only={repetitions: 1_0}", "write the number 1_0 as 10"),
        ("ors_fig2", "is not key=value, as in seed=7; targets follow --"),
        ("²=3", "is not key=value"),
        ("=3", "is not key=value"),
    ],
)
def test_a_value_that_would_be_read_as_another_is_refused(word, line):
    with pytest.raises(ValueError, match=r"^--config: ") as error:
        check_values([word])
    assert line in str(error.value)


def test_names_with_underscores_are_no_numbers_with_groups():
    check_values(
        [
            "papers=[kernel_boost]",
            "only={datasets: [ida_1, a7a_2]}",
            "data={mirror: /tmp/1_a/x1_2}",
        ],
    )


def test_a_file_that_chooses_another_scale_is_refused():
    check_scale({"seed": 3}, "mine.yaml", "full")
    check_scale({"scale": "full"}, "mine.yaml", "full")
    check_scale([], "mine.yaml", "full")
    with pytest.raises(ValueError, match=r"mine\.yaml: scale: .* \./run smoke \(this is full\)"):
        check_scale({"scale": "smoke"}, "mine.yaml", "full")


def test_results_of_another_seed_have_folders_of_their_own():
    plan_of_seed = plan.Plan({"scale": "full", "seed": 7}, {}, {}, usual_seed=7)
    assert plan_of_seed.results == "results/full"
    assert plan_of_seed.figures == "figures/full"
    plan_of_seed = plan.Plan({"scale": "smoke", "seed": 8}, {}, {}, usual_seed=7)
    assert plan_of_seed.results == "results/smoke-seed8"
    assert plan_of_seed.figures == "figures/smoke-seed8"
    for name in ("smoke", "full-seed8", "part-seed123"):
        assert plan.is_results_folder(name)
    for name in ("reference", "full-seed", "full-seed8x", "smoke-seed²", "seed8"):
        assert not plan.is_results_folder(name)


def test_the_seed_of_a_folder_of_results_is_read():
    from project import ROOT

    assert plan.configured(ROOT, "smoke-seed8")["seed"] == 8
    assert plan.configured(ROOT, "smoke")["seed"] == plan.configured(ROOT, "full")["seed"]


# The preview


def job(rule, outputs, reason, **wildcards):
    return {"rule_name": rule, "output": outputs, "reason": reason, "wildcards": wildcards}


def test_a_preview_says_in_one_screen_what_would_run_and_why(monkeypatch):
    reasons = {f"results/smoke/ors/fig{k}/record.json": currency.NOT_MADE for k in range(300)}
    reasons |= {
        "results/smoke/pnorm/room/record.json": "settings.mu: 0.1 -> 0.2",
        "figures/smoke/ors/fig2.record.json": "follows results/smoke/ors/fig2/table.csv",
        "data/raw/a7a/record.json": currency.NOT_MADE,
        "site/smoke/record.json": "follows figures/smoke/ors/fig2.png",
    }
    jobs = [job("a rule", [record], "Updated input files: a key") for record in reasons]
    jobs.append(job("all", [], "Input files updated by another job: x"))
    monkeypatch.setattr(console, "WHY", reasons)
    monkeypatch.setattr(console, "PLAN", None)
    lines = preview.describe(jobs, 2).splitlines()
    assert len(lines) < 24
    assert max(map(len, lines)) < 100
    table = {line[:16].strip(): line[16:].split(maxsplit=3) for line in lines[1:6]}
    assert table["ors"] == ["300", "301", "0.0", "not made yet"]
    assert table["pnorm"] == ["1", "1", "0.0", "settings.mu: 0.1 -> 0.2"]
    assert table["data sets"][-1].endswith("made yet")
    assert table["pages"][-1] == "follows"
    assert table["together"][:2] == ["301", "304"]
    assert lines[-1].startswith("nothing was run")


@pytest.fixture
def mine(tmp_path, monkeypatch):
    """A folder with two papers, in which commands are typed."""
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "TITLE").touch()
    (tmp_path / "notes").mkdir()
    monkeypatch.setenv(command_line.TYPED_IN, str(tmp_path))
    return tmp_path


@pytest.mark.parametrize(
    ("typed", "papers"),
    [("./one", ["one"]), ("two/", ["two"]), (".", ["one", "two"]), ("../{name}/two", ["two"])],
)
def test_a_paper_or_a_folder_of_papers_is_named_by_its_path(mine, typed, papers):
    request = read_request(["smoke", typed.format(name=mine.name), "--config", "seed=3"])
    assert request.targets == []  # all that is planned, so that a broken paper stops only itself
    folders = ", ".join(f'"{mine / name}"' for name in papers)
    position = request.arguments.index("--config")
    assert request.arguments[position : position + 3] == [
        "--config",
        f"papers=[{folders}]",
        "seed=3",
    ]
    assert "--" not in request.arguments


def test_a_target_beside_a_path_is_found_among_the_papers_of_the_configuration(mine):
    request = read_request(["full", "ors_fig2", "./one"])
    (word,) = [word for word in request.arguments if word.startswith("papers=")]
    papers = json.loads(word.removeprefix("papers="))
    assert papers[-1] == str(mine / "one")
    assert "ors" in papers
    assert request.targets == ["ors_fig2", "one"]


@pytest.mark.parametrize(
    ("typed", "line"),
    [
        ("./three", "./three: there is no folder .*three"),
        (
            "notes/",
            "notes/: .* is not a paper and contains none; a paper is a folder with a file TITLE",
        ),
        ("./one --config papers=[ors]", "by its path or by --config papers=, not by both"),
    ],
)
def test_a_path_without_a_paper_is_refused(mine, typed, line):
    with pytest.raises(ValueError, match=line):
        read_request(typed.split())


def test_a_mistyped_target_is_compared_with_every_command_of_the_help():
    targets = {"smoke", "full"}
    assert {*plan.COMMANDS} == {*command_line.COMMANDS, "audit", "help"} - targets
