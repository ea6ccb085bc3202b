"""The names of code on the pages about the papers are names that the library has."""

import ast
import re
from pathlib import Path

import pytest
from recipes import ROOT

from reproduction.spec.papers import list_papers, paper_pages

LIBRARY = ROOT / "src/noisylabels"
ROOMS = "|".join(sorted(file.parent.name for file in LIBRARY.glob("*/__init__.py")))
PAGES = {f"{page.parent.name}/{page.name}": page for page in paper_pages()}


def defined(file: Path) -> set[str]:
    """Names that a module defines at its top level, and those of its classes' members."""
    names = set()
    for node in ast.walk(ast.parse(file.read_bytes())):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
    return names


@pytest.mark.parametrize("page", PAGES)
def test_every_module_class_and_function_on_the_page_exists(page):
    text = PAGES[page].read_text(encoding="utf-8")
    for name in re.findall(rf"`((?:{ROOMS})\.\w[\w.]*)", text):
        parts = name.rstrip(".").split(".")
        module, members = find_module(parts)
        if module is None:
            assert LIBRARY.joinpath(*parts).is_dir(), f"{page}: no module {name}"
        else:
            assert set(members) <= defined(module), f"{page}: {name}"


def find_module(parts: list[str]) -> tuple[Path | None, list[str]]:
    """Find the deepest module of a dotted name; return it and the rest of the name."""
    for depth in range(len(parts), 0, -1):
        module = LIBRARY.joinpath(*parts[:depth]).with_suffix(".py")
        if module.is_file():
            return module, parts[depth:]
    return None, parts


@pytest.mark.parametrize("page", PAGES)
def test_every_function_of_the_papers_own_modules_on_the_page_exists(page):
    files = {file.stem: file for file in PAGES[page].parent.glob("*.py")}
    text = PAGES[page].read_text(encoding="utf-8")
    modules = "|".join(files)
    for module, name in re.findall(rf"`({modules}):(\w+)`", text):
        assert name in defined(files[module]), f"{page}: {module}:{name}"


def test_every_paper_has_a_page_and_the_list_of_papers_leads_to_it():
    listed = (ROOT / "docs/papers.md").read_text(encoding="utf-8")
    for paper in list_papers():
        assert (ROOT / f"src/papers/{paper}/page.md").is_file()
        assert f"(../src/papers/{paper}/page.md)" in listed


def ways_of_values() -> dict[str, list[tuple[Path, list[str]]]]:
    """Read the table of CONTRIBUTING.md: value -> the files of its way, each with its names."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    table = text.partition("| value | its way |\n|---|---|\n")[2].partition("\n\n")[0]
    ways: dict[str, list[tuple[Path, list[str]]]] = {}
    for line in table.splitlines():
        _, value, way, _ = line.split("|")
        ways[value] = []
        for file, names in re.findall(r"`([\w/.]+\.\w+)`(?: \(([^)]*)\))?", way):
            names_of_file = re.findall(r"`([\w.]+)`", names)
            ways[value].append((find_stop(file), names_of_file))
    return ways


def find_stop(file: str) -> Path:
    """A file of the table, which is below src/ where no other folder is named."""
    if file.startswith("workflow/"):
        return ROOT / file
    return ROOT / "src" / file


def test_the_files_on_the_way_of_a_value_exist_and_have_the_names_that_the_table_says():
    ways = ways_of_values()
    assert len(ways) == 6
    for value, stops in ways.items():
        assert len(stops) >= 5, value
        for file, names in stops:
            assert file.is_file(), f"{value}: {file}"
            for name in names:
                assert set(name.split(".")) <= defined(file), f"{value}: {file}: {name}"
