"""Docstrings of the modules that are not in numpydoc form yet, as reStructuredText.

The older docstrings are plain text with formulas and lists of names: a docstring opens with its
formula, a line ``name : meaning`` explains a parameter, and ``Raises ValueError: ...`` and
``Source: ...`` end it. Nothing else in it is markup, so everything else is escaped. The extension
numpydoc reads all other docstrings. This module goes when `NOT_CONVERTED` is empty.
"""

import re
from collections.abc import Iterator
from typing import Any

import formulas
from numpydoc import numpydoc

_NAMED = re.compile(r"^([\w*][\w*,. ]*?) : (.*)$|^((?!Sources?:|Raises:)\w+(?:, \w+)*): (.*)$")
_MARKED = re.compile(r"``(?P<code>.+?)``|`(?P<name>.+?)`|(?<![\w*])\*(?P<stress>[\w ]+)\*(?![\w*])")
_SEVERAL = re.compile(r"(?<=[.;]) +(?=[a-z]\w* : )|(?<=[.;,])  +(?=\w+(?: \([^()]*\))? ?: )")
_TABLE = re.compile(r"^=+( +=+)+$")
_UNDERLINE = re.compile(r"^-{3,}$")
_NUMPYDOC = re.compile(
    r"^(Parameters|Returns|Attributes|Examples|Notes|References)\n-+$",
    re.MULTILINE,
)

NOT_CONVERTED = frozenset(
    f"noisylabels.{module}"
    for module in (
        "auditing.audit",
        "auditing.columns",
        "auditing.command",
        "auditing.copies",
        "auditing.corrected",
        "auditing.cross_fitting",
        "auditing.finders",
        "auditing.flip_rates",
        "auditing.intervals",
        "auditing.matching",
        "auditing.page",
        "auditing.review",
        "auditing.tables",
        "blas_threads",
        "classifiers.base",
        "classifiers.boosting",
        "classifiers.kernel",
        "classifiers.kernel_fisher",
        "classifiers.kernel_logistic",
        "classifiers.kernel_svm",
        "classifiers.large_margin",
        "classifiers.linear",
        "classifiers.logistic",
        "classifiers.multi_kernel",
        "classifiers.projections",
        "command_line",
        "compilation",
        "csv_text",
        "filters.label_budget",
        "fixed_order.exp_and_log",
        "fixed_order.lanes",
        "fixed_order.linear_algebra",
        "out_of_core",
        "safe_text",
        "solvers.flipped_kernel",
        "solvers.flipped_linear",
        "solvers.flipped_logistic",
        "solvers.flipped_softmax",
        "solvers.linear_margin",
        "solvers.multi_kernel",
        "solvers.regression_tree",
        "solvers.sgd",
        "solvers.svm_path",
        "solvers.weighted_logistic",
        "validation",
    )
)
"""Modules with docstrings in the older form. A test lets the list only get shorter."""


def _escape(text: str) -> str:
    return re.sub(r"([\\*`_|<>])", r"\\\1", text)


def inline(text: str) -> str:
    """Text with code in backticks and stress in asterisks, everything else literal."""
    parts, start = [], 0
    for found in _MARKED.finditer(text):
        stress, code = found["stress"], found["code"] or found["name"]
        parts += [
            _escape(text[start : found.start()]),
            f"\\ *{stress}*\\ " if stress else f"\\ ``{code}``\\ ",
        ]
        start = found.end()
    # An empty word first: "T. ..." at the start of a line would be item T of a list.
    return "".join(["\\ ", *parts, _escape(text[start:])])


def _paragraphs(lines: list[str]) -> Iterator[list[str]]:
    block: list[str] = []
    for line in [*lines, ""]:
        if line.strip():
            block.append(line)
        elif block:
            yield block
            block = []


def _opening(block: list[str]) -> Iterator[str]:
    if not any(map(formulas.looks_like, block)):
        yield from map(inline, block)
        return
    yield from [".. raw:: html", ""]
    yield from (f'   <p class="formula">{formulas.render(line)}</p>' for line in block)


def _joined(block: list[str]) -> list[str]:
    """Join the lines that continue an item: indented ones, or those after a part of a sentence."""
    joined: list[str] = []
    for line in block:
        last = joined[-1] if joined else ""
        is_open = _NAMED.match(last) and not last.endswith((".", ";", ":"))
        unfinished = is_open and not _NAMED.match(line)
        if last and (line.startswith(" ") or unfinished):
            joined[-1] += f" {line.strip()}"
        else:
            joined.append(line.strip())
    return joined


def _block(block: list[str]) -> Iterator[str]:
    if _TABLE.match(block[0]):
        yield from ["::", "", *(f"   {line}" for line in block)]
        return
    if len(block) > 1 and _UNDERLINE.match(block[1].strip()):
        yield from [f".. rubric:: {block[0].strip()}", ""]
        block = block[2:]
    if block and all(line.startswith("  ") for line in block):  # a sketch or an example
        yield from ["::", "", *(f"   {line}" for line in block)]
        return
    for item in _joined(block):
        for line in _SEVERAL.split(item):
            yield from _item(line)


def _item(line: str) -> Iterator[str]:
    if named := _NAMED.match(line):
        name, meaning = filter(None, named.groups())
        yield from ["", f"**{_escape(name)}**", f"    {inline(meaning)}", ""]
    else:
        yield inline(line)


def convert(lines: list[str]) -> list[str]:
    """The lines of a docstring as reStructuredText."""
    first, *others = [*_paragraphs(lines)] or [[]]
    converted = [*_opening(first), ""]
    for block in others:
        converted += [*_block(block), ""]
    return converted


def skip(app: Any, what: str, name: str, obj: object, skipped: bool, options: Any) -> bool | None:
    """Hook of autodoc: leave out what others made, such as ``set_score_request``."""
    made = name.startswith("set_") and name.endswith("_request")
    return True if made or str(getattr(obj, "__doc__", "")).startswith("Alias for field") else None


def is_converted(name: str, text: str) -> bool:
    """Decide whether a docstring is in numpydoc form: by its sections, else by its module."""
    if _NUMPYDOC.search(text):
        return True
    return not any(name == module or name.startswith(f"{module}.") for module in NOT_CONVERTED)


def connect(app: Any) -> None:
    """Read docstrings in the form that they have: numpydoc's own hook would read all of them."""
    for listener in list(app.events.listeners["autodoc-process-docstring"]):
        if listener.handler is numpydoc.mangle_docstrings:
            app.disconnect(listener.id)
    app.connect("autodoc-process-docstring", process)


def process(app: Any, what: str, name: str, obj: object, options: Any, lines: list[str]) -> None:
    """Hook of autodoc."""
    if is_converted(name, "\n".join(lines)):
        numpydoc.mangle_docstrings(app, what, name, obj, options, lines)
    else:
        lines[:] = convert(lines)
