"""From a render name, "module:function" below `reproduction.figures`, to what it draws."""

import difflib
import importlib
from collections.abc import Callable, Iterable, Mapping
from importlib.util import find_spec
from pathlib import Path
from pkgutil import iter_modules
from typing import TYPE_CHECKING, Any

from reproduction.figures import names
from reproduction.figures.panels import RenderError, Results, add_room
from reproduction.results import read_table, verify
from reproduction.strict_yaml import near

if TYPE_CHECKING:
    import pandas as pd

PACKAGE = "reproduction.figures"
WRITTEN = (".csv", ".md", ".tex", ".html")
"""Suffixes of the formats of `figures.tables`, which a figure does not load."""


def find(name: str) -> Callable[[Results[Any]], Any]:
    """The function that a render name stands for: one with ``@figure`` or ``@table``.

    Raises
    ------
    RenderError : not of the form module:function, no such module, no such function (with close names).
    """
    module_name, colon, function = name.partition(":")
    if not (colon and module_name.isidentifier() and function.isidentifier()):
        raise RenderError(f"render: {name!r} is not of the form module:function")
    if find_spec(f"{PACKAGE}.{module_name}") is None:
        modules = [found.name for found in iter_modules(importlib.import_module(PACKAGE).__path__)]
        nearest = near(module_name, modules)
        raise RenderError(f"render: {name!r}: {PACKAGE} has no module {module_name!r}{nearest}")
    module = importlib.import_module(f"{PACKAGE}.{module_name}")
    offered = {key: member for key, member in vars(module).items() if hasattr(member, "draws")}
    if function not in offered:
        close = difflib.get_close_matches(function, offered) or sorted(offered)
        raise RenderError(f"render: {name!r}: no function {function!r}; close names: {', '.join(close)}")
    found: Callable[[Results[Any]], Any] = offered[function]
    return found


def render(
    name: str, artifact: str, tables: Mapping[str, str | Path], settings: Mapping[str, Mapping[str, Any]]
) -> Any:
    """Call the function of a render name on the tables of an artifact.

    Parameters
    ----------
    name : "module:function".
    artifact : for messages.
    tables : artifact -> path of its result table, the artifact's own first.
    settings : artifact -> its settings at the scale of the tables with the keys ``protocol`` and, for a
        table, ``published`` (see `Artifact.shown`).

    Returns
    -------
    matplotlib Figure or pandas DataFrame, whatever the function makes, with a note if the data are stand-ins.
    Draw inside ``with style.context():``.

    Raises
    ------
    RenderError : see `find`; a table that is not of its provenance, or has no rows; missing rows.
    """
    function = find(name)
    try:
        for path in tables.values():
            verify(path)
    except ValueError as error:
        raise RenderError(f"{artifact}: {error}") from None
    frames = {table: read_table(path) for table, path in tables.items()}
    for table, frame in frames.items():
        if frame.empty:
            raise RenderError(
                f"{artifact}: the result table of {table} ({tables[table]}) has no rows; run it again"
            )
    published = {key: shown.get("published", []) for key, shown in settings.items()}
    result = function(Results(frames, {key: _typed(shown) for key, shown in settings.items()}, published))
    if hasattr(result, "attrs"):  # a data frame; figures ask for names where they draw
        keys = [{key for frame in frames.values() for key in frame[column]} for column in ("method", "noise")]
        result = names.of_table(result, *keys)
    if note := _stand_ins(frames.values()):
        _annotate(result, note)
    return result


def _typed(shown: Mapping[str, Any]) -> Any:
    """The settings of an artifact, as the model of its protocol."""
    if "protocol" not in shown:
        return shown
    from reproduction.protocols import walk

    raw = {key: value for key, value in shown.items() if key not in ("protocol", "published")}
    return walk.find(shown["protocol"]).settings.model_validate(raw)


def draw(
    name: str,
    artifact: str,
    tables: Mapping[str, str | Path],
    settings: Mapping[str, Mapping[str, Any]],
    paths: Iterable[str | Path],
) -> None:
    """`render`, written once per path; a table (csv, md, tex, html) is drawn without loading matplotlib."""
    files = [Path(path) for path in paths]
    if all(file.suffix in WRITTEN for file in files):
        from reproduction.figures import tables as writer

        writer.save(render(name, artifact, tables, settings), files)
        return
    from reproduction.figures import style

    with style.context():
        style.save(render(name, artifact, tables, settings), files)


def _stand_ins(frames: Iterable["pd.DataFrame"]) -> str:
    """A line that names every data set that is only a stand-in; "" where there is none."""
    names: set[str] = set()
    for frame in frames:
        names.update(frame.loc[frame["source"].str.contains("stand-in", regex=False).astype(bool), "dataset"])
    return f"stand-in data, not comparable: {', '.join(sorted(names))}" if names else ""


def _annotate(result: Any, note: str) -> None:
    if hasattr(result, "attrs"):  # a data frame; tables.save shows the note
        result.attrs["note"] = " ".join(filter(None, [result.attrs.get("note"), f"{note}."]))
    else:
        add_room(result, above=0.16)
        result.text(0.995, 0.995, note, ha="right", va="top", fontsize=8, style="italic")
