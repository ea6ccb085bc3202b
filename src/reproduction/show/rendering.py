"""Drawing by a render name, "paper.module:function" or "stock:function"."""

import difflib
import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from reproduction.run.records import verify
from reproduction.run.results import read_table
from reproduction.show import names, style
from reproduction.show import tables as writer
from reproduction.show.panels import RenderError, Results, Shown, add_room
from reproduction.spec.declarations import check_declared
from reproduction.spec.user_modules import import_module, module_file

STOCK = "reproduction.show.stock"
"""Module with figures and tables for any result table."""


def module_of(name: str) -> str:
    """Find the module of a render name: that of a paper, or `STOCK`."""
    module, _, _ = name.partition(":")
    if module == "stock":
        return STOCK
    return module


def find(name: str) -> Callable[[Results[Any]], Any]:
    """Find the function of a render name: one with ``@figure`` or ``@table``.

    Raises RenderError: not of the form module:function, no such module or function (with close
    names).
    """
    module_name, colon, function = name.partition(":")
    is_module_name = re.fullmatch(r"[a-z_0-9]+(\.[a-z_0-9]+)*", module_name)
    if not (colon and is_module_name and function.isidentifier()):
        raise RenderError(f"render: {name!r} is not of the form module:function")
    full_module = module_of(name)
    if module_file(full_module) is None:
        remedy = "is its folder in `papers`, or on PYTHONPATH?"
        raise RenderError(f"render: {name!r}: no module {module_name!r}; {remedy}")
    try:
        check_declared(full_module, function, ("panels.figure", "panels.table", "panels.picture"))
        module = import_module(full_module)
    except ValueError as error:
        raise RenderError(f"render: {error}") from error
    offered = {key: member for key, member in vars(module).items() if hasattr(member, "draws")}
    if function not in offered:
        close = difflib.get_close_matches(function, offered) or sorted(offered)
        remedy = f"close names: {', '.join(close)}" if close else "put @panels.figure above it"
        raise RenderError(f"render: {name!r}: no function {function!r}; {remedy}")
    return offered[function]


def render(
    name: str,
    artifact: str,
    tables: Mapping[str, str | Path],
    shown: Mapping[str, Shown],
) -> Any:
    """Draw the tables of an artifact, with a note on stand-in data.

    Draw inside ``with style.context():``.

    Parameters
    ----------
    name : str
        The drawing, ``module:function``.
    artifact : str
        Name of the artifact, for messages.
    tables : mapping
        Artifact -> path of its result table, the artifact's own first.
    shown : mapping
        Artifact -> what is shown of it, the one that is drawn first (see `Plan.shown_with`).

    Returns
    -------
    Figure or DataFrame
        A figure of matplotlib, or a table of pandas.

    Raises
    ------
    RenderError
        See `find`; or a table is not the one of its record, has no rows, or misses some.
    """
    function = find(name)
    frames = {}
    for table, path in tables.items():
        try:
            verify(path)
        except ValueError as error:
            raise RenderError(f"{artifact}: {error}") from None
        frames[table] = read_table(path)
        if frames[table].empty:
            problem = f"the result table of {table} ({path}) has no rows; run it again"
            raise RenderError(f"{artifact}: {problem}")
    published = {key: entry.published for key, entry in shown.items()}
    settings = {key: entry.settings for key, entry in shown.items()}
    protocol = shown[next(iter(frames))].protocol if frames else ""
    result = function(Results(frames, settings, published, protocol))
    stand_ins: set[str] = set()
    for frame in frames.values():
        is_stand_in = frame["source"].str.contains("stand-in", regex=False)
        stand_ins.update(map(str, frame.loc[is_stand_in, "dataset"]))
    note = f"stand-in data, not comparable: {', '.join(map(names.data_set, sorted(stand_ins)))}"
    if hasattr(result, "attrs"):  # a data frame; figures ask for names where they draw
        methods: set[str] = set()
        kinds_of_noise: set[str] = set()
        for frame in frames.values():
            methods.update(frame["method"])
            kinds_of_noise.update(frame["noise"])
        result = names.of_table(result, methods, kinds_of_noise)
        if stand_ins:
            result.attrs["note"] = " ".join(filter(None, [result.attrs.get("note"), f"{note}."]))
    elif stand_ins:
        add_room(result, above=0.16)
        result.text(0.995, 0.995, note, ha="right", va="top", fontsize=8, style="italic")
    return result


def draw(
    name: str,
    artifact: str,
    tables: Mapping[str, str | Path],
    shown: Mapping[str, Shown],
    paths: Iterable[str | Path],
) -> None:
    """`render` the tables of an artifact, and write the result once per path."""
    if find(name).draws == "table":  # type: ignore[attr-defined]
        writer.save(render(name, artifact, tables, shown), paths)
    else:
        with style.context():
            style.save(render(name, artifact, tables, shown), paths)
