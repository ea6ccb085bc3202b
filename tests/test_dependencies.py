"""The files of a job are exactly what its modules import."""

import subprocess
import sys

import pytest

from reproduction.frame import dependencies


def names(files):
    return {file.stem for file in files}


def test_a_protocol_depends_on_what_it_imports_but_on_no_method():
    files = names(dependencies.library_files(["protocols.ors"]))
    assert {"tuning", "walk", "additive", "seeding", "base"} <= files
    assert not {"nlms", "rls"} & files


def test_a_method_adds_its_own_file():
    without = names(dependencies.library_files(["protocols.ors"]))
    added = names(dependencies.library_files(["protocols.ors", "filters.nlms"])) - without
    assert "nlms" in added
    assert "lms" not in added


def test_every_module_that_a_process_imports_is_listed():
    code = (
        "import sys, reproduction.protocols.ors; modules = sys.modules;"
        "names = [m for m in modules if m[:12] == 'noisylabels.' and not hasattr(modules[m], '__path__')];"
        "print('\\n'.join(names))"
    )
    imported = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env={"PYTHONPATH": "src"}
    ).stdout.split()
    listed = names(dependencies.library_files(["protocols.ors"]))
    assert {module.rpartition(".")[2] for module in imported} <= listed


def test_methods_are_found_by_the_name_of_their_file():
    assert {"nlms", "base"} <= names(dependencies.method_files("nlms"))
    with pytest.raises(FileNotFoundError, match=r".nlsm. is unknown; did you mean .*nlms"):
        dependencies.method_files("nlsm")


def test_a_missing_module_is_named():
    with pytest.raises(FileNotFoundError, match=r"no module protocols\.nothing: expected .*nothing\.py"):
        dependencies.library_files(["protocols.nothing"])
    with pytest.raises(FileNotFoundError, match=r"no module protocols\.nothing"):
        dependencies.defines("protocols.nothing", "tune")


def test_the_kernel_digest_follows_kernels_and_nothing_else(tmp_path, monkeypatch):
    kernel, other = tmp_path / "kernel.py", tmp_path / "other.py"
    kernel.write_text("from numba import njit")
    other.write_text("x = 1")
    monkeypatch.setattr(dependencies, "ROOT", tmp_path)
    before = dependencies.kernel_digest()
    other.write_text("x = 2")
    assert dependencies.kernel_digest() == before
    kernel.write_text("from numba import njit, int64")
    assert dependencies.kernel_digest() != before


def test_functions_are_seen_without_importing():
    assert dependencies.defines("protocols.ors", "tune_curves")
    assert not dependencies.defines("protocols.ors", "nothing")


def test_a_users_own_method_is_a_file_outside_the_library(tmp_path, monkeypatch):
    (tmp_path / "my_filters.py").write_text("class Mine: pass")
    monkeypatch.syspath_prepend(tmp_path)
    assert dependencies.method_files("my_filters:Mine") == [tmp_path / "my_filters.py"]
    for missing in ("no_such_module:Mine", "no_such.module:Mine"):
        with pytest.raises(FileNotFoundError, match="is its folder on PYTHONPATH"):
            dependencies.method_files(missing)


def test_a_users_own_method_brings_its_neighbours_and_is_not_imported(tmp_path, monkeypatch):
    package = tmp_path / "mine"
    package.mkdir()
    (package / "__init__.py").write_text("raise SystemExit('imported')")
    (package / "filters.py").write_text(
        "raise SystemExit('imported')\nimport numpy\nfrom mine import steps\nimport helper"
    )
    (package / "steps.py").write_text("from noisylabels.filters.base import Filter")
    (tmp_path / "helper.py").write_text("")
    monkeypatch.syspath_prepend(tmp_path)
    found = dependencies.method_files("mine.filters:Mine")
    assert {tmp_path / "helper.py", package / "steps.py", package / "filters.py"} <= set(found)
    assert "base" in names(found)
    assert not any("numpy" in file.parts for file in found)
    assert "mine" not in sys.modules


def test_a_script_brings_what_it_imports_but_not_what_this_job_does_not_need():
    files = names(dependencies.script_files("run"))
    assert {"run", "jobs", "results", "seeding", "atomic", "prepare"} <= files
    assert "prepare" not in names(dependencies.script_files("run", ["datasets.prepare"]))


def test_facts_belong_to_what_reads_them():
    assert "a7a_rows" in names(dependencies.library_files(["datasets.adult"]))
    assert "a7a_rows" not in names(dependencies.library_files(["datasets.keel"]))


def test_what_only_a_type_checker_imports_is_no_dependency(tmp_path):
    file = tmp_path / "a.py"
    file.write_text("if TYPE_CHECKING:\n    from noisylabels import seeding\nimport reproduction.results")
    assert names(dependencies._used(file)) == {"results"}


NESTED = """
try:
    import a.one
except ImportError:
    import a.two
else:
    import a.three
finally:
    import a.four
if TYPE_CHECKING:
    import a.never
match 1:
    case 1:
        import a.five
class C:
    def f(self):
        for _ in ():
            import a.six
        else:
            with open("x"):
                async def g():
                    while True:
                        from a import seven
"""


def test_imports_are_seen_wherever_they_stand(tmp_path):
    file = tmp_path / "nested.py"
    file.write_text(NESTED)
    numbers = ("one", "two", "three", "four", "five", "six", "seven")
    assert dependencies._imported(file) == {"a"} | {f"a.{number}" for number in numbers}
