"""The digest of a job's code follows what the job reads, and neither comments nor other files."""

import os
import sys

import pytest
from checkouts import ROOT

from noisylabels import METHODS
from reproduction.plan import code_digest
from reproduction.plan.plan import configured, planned


def modules(*roots):
    return set(code_digest.closure(roots))


STEPS = """from noisylabels import NLMS
from noisylabels.filters.base import Filter

def step(mu):
    if mu > 1:
        raise ValueError(f"{mu} is too large")
"""

MINE = {
    "mine/__init__.py": "raise SystemExit('imported')",
    "mine/filters.py": "import numpy\nfrom . import steps\nfrom .deep.rates import mu\nimport helper\n"
    "class Mine:\n    def predict(self):\n        from mine import late\n",
    "mine/steps.py": STEPS,
    "mine/late.py": "class A:\n    def f(self, x=1):\n        return x\n",
    "mine/deep/__init__.py": "",
    "mine/deep/rates.py": "from ..steps import Filter\nmu = 1",
    "helper.py": "",
    "other.py": "",
}
"""A package of the user's; importing any of it would end the test."""


@pytest.fixture
def user(tmp_path, monkeypatch):
    for name, text in MINE.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    code_digest._forget()
    return tmp_path / "mine"


def digest(*roots):
    code_digest._forget()
    return code_digest.digest(roots)


def test_a_method_brings_its_own_module_and_not_its_neighbours():
    code = modules("noisylabels.filters.lms")
    assert {"noisylabels.filters.lms", "noisylabels.filters.base"} <= code
    assert "noisylabels.online.linear" not in code


READ_BY_JOBS = {"data", "data.errors", "data.prepared", "paths", "plan", "plan.code_digest", "run", "spec"}
READ_BY_JOBS |= {
    f"run.{each}" for each in ("atomic_files", "compute_ahead", "job", "points", "protocol_loop")
}
READ_BY_JOBS |= {"run.records", "run.results", "run.splits", "run.tuning"}
READ_BY_JOBS |= {"run.stock", "run.training"}  # of protocols that train as the stock one does
READ_BY_JOBS |= {f"spec.{each}" for each in ("protocol", "settings", "strict_yaml", "user_modules")}
LOADERS_OF_JOBS = {"data.loaders", "data.loaders.audio", "data.loaders.formats"}
"""Modules of the engine that experiments may read: an edit of a further one would run them again in vain."""


def test_a_job_reads_no_code_of_the_engine_but_what_can_change_a_number():
    plan = planned(ROOT, configured(ROOT, "smoke"))
    for name, artifact in plan.shown.items():
        if not artifact.protocol:
            continue
        _, *roots = plan.code(name).split()
        read = {each.partition(".")[2] for each in modules(*roots) if each.startswith("reproduction.")}
        assert sorted(read - READ_BY_JOBS - LOADERS_OF_JOBS) == [], name


def test_no_loader_of_our_data_sets_reads_tables_as_the_audit_does():
    plan = planned(ROOT, configured(ROOT, "smoke"))
    for name in plan.data_sets():
        _, *roots = plan.reading_code(name).split()
        loaders = [each for each in roots if not each.endswith(".users_table")]
        read = set().union(*(modules(each) for each in loaders))
        assert not [each for each in read if each.startswith("noisylabels.auditing")], name


def test_data_files_that_code_names_belong_to_it(tmp_path, monkeypatch):
    (tmp_path / "facts").mkdir()
    (tmp_path / "facts/rows.json").write_text("[1]")
    (tmp_path / "names.yaml").write_text("a: b")
    (tmp_path / "unread.yaml").write_text("a: b")
    (tmp_path / "reader.py").write_text("fact('rows.json')\nopen('names.yaml')")
    monkeypatch.syspath_prepend(tmp_path)
    assert modules("reader") == {"reader", "facts/rows.json", f"{tmp_path.name}/names.yaml"}
    before = digest("reader")
    (tmp_path / "facts/rows.json").write_text("[2]")
    assert digest("reader") != before


def test_a_users_class_brings_its_package_with_relative_and_lazy_imports_and_is_not_imported(user):
    code = modules("mine.filters")
    own = {name for name in code if not name.startswith(("noisylabels", "reproduction"))}
    assert own == {
        "mine",
        *(f"mine.{name}" for name in ["filters", "steps", "late", "deep", "deep.rates"]),
        "helper",
    }
    nlms = f"noisylabels.{METHODS['nlms'].partition(':')[0]}"
    assert {"noisylabels.filters.base", nlms} <= code
    assert "mine" not in sys.modules


@pytest.mark.parametrize(
    ("file", "text", "counts"),
    [
        ("deep/rates.py", "# a comment\nfrom ..steps import (\n    Filter,\n)\n\nmu = 1", False),
        ("deep/rates.py", '"""A docstring."""\nfrom ..steps import Filter\nmu = 1', False),
        ("deep/rates.py", "from ..steps import Filter\nmu = 2", True),
        ("late.py", "class A:\n    'Doc.'\n\n    def f(self, x=1):\n        'D.'\n        return x\n", False),
        ("late.py", "class A:\n    def f(self, x=2):\n        return x\n", True),
        ("steps.py", STEPS.replace("too large", "above 1"), False),
        ("steps.py", STEPS.replace("ValueError", "OSError"), True),
        ("steps.py", STEPS.replace("> 1", "> 2"), True),
    ],
)
def test_comments_docstrings_messages_and_formatting_do_not_count_but_edits_with_an_old_time_do(
    user, file, text, counts
):
    before, edited = digest("mine.filters"), user / file
    times = edited.stat().st_atime_ns, edited.stat().st_mtime_ns
    edited.write_text(text)
    os.utime(edited, ns=times)
    assert (digest("mine.filters") != before) == counts


def test_what_only_a_type_checker_imports_does_not_count(user):
    (user / "late.py").write_text("if TYPE_CHECKING:\n    import other\n")
    assert "other" not in modules("mine.filters")


def test_a_module_that_does_not_exist_is_named():
    for missing in ("no_such_module", "no_such.module", "reproduction.nothing"):
        with pytest.raises(FileNotFoundError, match=f"no module '{missing}'; is its folder on PYTHONPATH"):
            modules(missing)


@pytest.mark.parametrize("when", ["before", "while"])
def test_a_job_whose_code_is_edited_fails_in_one_sentence(user, when):
    stamp = code_digest.stamped("mine.filters")
    if when == "before":
        (user / "deep/rates.py").write_text("mu = 3")
    message = f"the code was edited {when} this job ran; start the run again"
    with pytest.raises(SystemExit, match=message), code_digest.unchanged(stamp):
        (user / "deep/rates.py").write_text("mu = 3")


def test_a_damaged_cache_of_kernels_is_named(user, tmp_path):
    caching = tmp_path / "site/numba/core/caching.py"
    caching.parent.mkdir(parents=True)
    caching.write_text("def load():\n    raise EOFError\n")
    scope = {}
    exec(compile(caching.read_text(), str(caching), "exec"), scope)
    stamp = code_digest.stamped("mine.filters")
    with pytest.raises(SystemExit, match=r"the folder \.cache/numba and start"), code_digest.unchanged(stamp):
        scope["load"]()
