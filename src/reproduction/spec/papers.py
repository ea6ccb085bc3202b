"""Papers: folders with a TITLE, in src/papers or anywhere on the user's disk.

A configuration names a paper by its folder: by the folder's name in src/papers, or by its path.
Each is a package with its name, which can be imported once it was found. In its files,
``module:object`` is an object of a module of its folder.
"""

import re
import sys
from collections.abc import Iterable
from pathlib import Path

from reproduction.paths import SOURCES
from reproduction.spec.mistakes import ArtifactError
from reproduction.spec.suggestions import near

HOME = SOURCES / "papers"
"""The folder of the repository's papers."""
FOLDERS_OF_RUNS = ("data", "figures", "logs", "results", "site")
MODULES_OF_PYTHON = sys.stdlib_module_names | {"test"}
"""Modules that Python's own list lacks, because they are its tests."""
INSTALLED = (
    "matplotlib",
    "noisylabels",
    "numpy",
    "pandas",
    "pydantic",
    "reproduction",
    "scipy",
    "scripts",
    "sklearn",
    "snakemake",
    "yaml",
)
"""Packages that a folder of the same name would hide, or that would hide the folder."""
NOT_ARTIFACTS = ("names.yaml", "datasets.yaml", "findings.yaml")
"""YAML files of a paper other than those of figures and tables: names, data sets and findings."""


def list_code_folders(papers: Iterable[str]) -> list[str]:
    """List the folders with code: the engine, our papers, and folders of papers named by path."""
    folders = [SOURCES, HOME]
    for paper in papers:
        if "/" in paper or paper.startswith("~"):
            folders.append(Path(paper).expanduser().absolute().parent)
    return list(dict.fromkeys(map(str, folders)))


def list_papers(home: Path = HOME) -> list[str]:
    """List the papers of the repository, in alphabetical order."""
    return sorted(file.parent.name for file in home.glob("*/TITLE"))


def paper_pages(home: Path = HOME) -> list[Path]:
    """List the pages of the repository's papers, with page.md of each before those on topics."""
    pages: list[Path] = []
    for name in list_papers(home):
        pages += (home / name).glob("*.md")
    return sorted(pages, key=lambda page: (page.parent.name, page.name != "page.md", page.name))


def find_paper(name: str, home: Path = HOME) -> Path:
    """Find the folder of a paper by its name in ``home`` or by its path, and make it importable.

    Raises ArtifactError: there is no such folder, or it is not a paper.
    """
    folder = home / name
    if "/" in name or name.startswith("~"):
        folder = Path(name).expanduser().absolute()
    if not (folder / "TITLE").is_file():
        raise ArtifactError(f"papers: {_why_not_a_paper(name, folder, home)}")
    if folder.parent != home:
        check_folder_name(folder)
    for parent in (folder.parent, home):  # a user's paper may use our experiments
        if str(parent) not in sys.path:
            sys.path.append(str(parent))
    return folder


def check_folder_name(folder: Path) -> None:
    """Refuse a paper with the name of a folder of results, or of another module of Python.

    Raises ArtifactError: what has the name.
    """
    owner = ""
    if folder.name in FOLDERS_OF_RUNS:
        owner = "a folder that a run writes"
    elif folder.name in MODULES_OF_PYTHON:
        owner = "a module of Python"
    elif folder.name in INSTALLED:
        owner = "an installed package"
    if owner:
        raise ArtifactError(f"papers: {folder}: {folder.name} is {owner}; rename the folder")


def _why_not_a_paper(name: str, folder: Path, home: Path) -> str:
    remedy = f"./run new-paper {folder} makes one"
    if folder.parent == home and not folder.exists():
        hint = near(name, list_papers(home))
        rule = "name your own folder by its path"
        return f"{name!r} is not a folder of {home}{hint} ({rule})"
    papers_inside = sorted(str(file.parent) for file in folder.glob("*/TITLE"))
    if papers_inside:
        paths = ", ".join(papers_inside)
        return f"{folder} holds papers and is not one; name each: [{paths}]"
    if folder.is_dir() and any(folder.glob("*.yaml")):
        return f"{folder} has no TITLE, a file with the title of the paper"
    if folder.exists():
        return f"{folder} is not a paper; {remedy}"
    return f"there is no folder {folder}; {remedy}"


def find_papers(names: Iterable[str], home: Path = HOME) -> dict[str, Path]:
    """Find the folders of papers, by their names.

    Raises ArtifactError: see `find_paper`; two have one name.
    """
    folders: dict[str, Path] = {}
    for name in dict.fromkeys(names):
        folder = find_paper(name, home)
        if folders.setdefault(folder.name, folder) != folder:
            pair = f"{folders[folder.name]} and {folder}"
            raise ArtifactError(f"papers: {pair} have one name; rename one of them")
    for name, folder in folders.items():
        if folder.parent != home and (home / name / "TITLE").is_file():
            rule = "the repository has a paper of this name; rename the folder"
            raise ArtifactError(f"papers: {folder}: {rule}")
    return folders


def artifact_files(folder: Path) -> list[Path]:
    """List the files of the artifacts of a paper. Raises ArtifactError: it has none."""
    files = sorted(file for file in folder.glob("*.yaml") if file.name not in NOT_ARTIFACTS)
    if not files:
        remedy = f"./run new-artifact {folder}/table1 makes one"
        raise ArtifactError(f"{folder}: has a TITLE and no artifact; {remedy}")
    return files


def has_module(folder: Path, module: str) -> bool:
    """Decide whether a paper has the module."""
    is_file = (folder / f"{module}.py").is_file()
    return is_file or (folder / module / "__init__.py").is_file()


RENAMED = {"kernel_boost.kernels:errors": "stock:errors", "kernels:errors": "stock:errors"}
"""Name of a protocol or drawing in version 1 -> its name now."""


def full_name(name: str, folder: Path) -> str:
    """Write a name of a paper's file in full: ``code:errors`` -> ``paper.code:errors``."""
    module, colon, _ = name.partition(":")
    if colon and re.fullmatch(r"\w+", module) and has_module(folder, module):
        return f"{folder.name}.{name}"
    return name


def check_short(key: str, name: str, folder: Path, built_in: Iterable[str] = ()) -> None:
    """Refuse the name of a protocol or drawing that is not ``module:object``, or has an old form.

    Raises ValueError: the name to write in its place, or the modules that there are.
    """
    module, colon, attribute = name.partition(":")
    if not colon:
        example = f"code:{name.rpartition('.')[2]}"
        rule = f"the module is a file of {folder}, as in {example}"
        raise ValueError(f"{key}: {name!r} is not of the form module:function; {rule}")
    if name in RENAMED and not has_module(folder, module):
        raise ValueError(f"{key}: {name!r} is now called {RENAMED[name]!r}; write that")
    if module.startswith(f"{folder.name}."):
        short = f"{module.partition('.')[2]}:{attribute}"
        raise ValueError(f"{key}: {name!r} starts with its own folder; write {short}")
    exists = module in built_in or has_module(folder, module)
    if re.fullmatch(r"\w+", module) and not exists:
        files = sorted(folder.glob("*.py"))
        modules = [file.stem for file in files if not file.name.startswith(("_", "test_"))]
        nearest = near(module, [*modules, *built_in])
        raise ValueError(f"{key}: {name!r}: {folder} has no module {module!r}{nearest}")
