"""Formulas as they are typed, such as ``sum_n w_n^2 <= ||w||^2``, as HTML."""

import html
import re
import unicodedata
from typing import Any

from docutils import nodes

LETTERS = (
    "alpha|beta|gamma|delta|epsilon|eps|zeta|eta|theta|kappa|lambda|mu|nu|xi|pi|rho|sigma|tau|phi|"
    "chi|psi|omega|"
    "Gamma|Delta|Theta|Lambda|Sigma|Phi|Psi|Omega"
)
SPECIAL = {
    "epsilon": "ε",
    "eps": "ε",
    "sum": "∑",
    "prod": "∏",
    "sqrt": "√",
    "integral": "∫",
    "inf": "∞",
}
SIGNS = {"<=>": "⇔", "<=": "≤", ">=": "≥", "!=": "≠", "->": "→", "||": "‖", "+-": "±", "-/+": "∓"}
_SIGN = re.compile("|".join(map(re.escape, SIGNS)))
_SCRIPT = re.compile(r"([_^])(?:\{([^{}]*)\}|\(([^()]*)\)|([+\-−]?[A-Za-z0-9Α-ω*∞]+))")
_WORD = re.compile(rf"(?<![A-Za-z])({'|'.join([LETTERS, *SPECIAL])})(?=[^A-Za-z]|$)")
_LETTER = re.compile(r"(?<![\w&;])([A-Zb-hj-zα-ωΑ-Ω])(?![\w;'’])")
_NAME = r"[a-z]{3,}_(?![a-z]\b)\w*|[a-z]+_[a-z]{3,}\w*"
_NO_SYMBOL = rf"(?!(?:{LETTERS}|{'|'.join(SPECIAL)})_)"
_CODE = re.compile(rf"``([^`]+)``|`([^`]+)`|(?<!\w)({_NO_SYMBOL}(?:{_NAME}))")
"""Code between backticks, and names such as ``flip_matrix_`` without."""
_FORMULA = re.compile(r"[_^=<>≤≥]|\|\|| -> ")


def looks_like(text: str) -> bool:
    """Does a line hold a formula, and not words alone?"""
    return bool(_FORMULA.search(_CODE.sub("", text)))


def _greek(match: re.Match[str]) -> str:
    name = match.group(1)
    return SPECIAL.get(name) or chr(ord(_letter(name)))


def _letter(name: str) -> str:
    size = "CAPITAL" if name[0].isupper() else "SMALL"
    return unicodedata.lookup(f"GREEK {size} LETTER {name.upper().replace('LAMBDA', 'LAMDA')}")


def _script(match: re.Match[str]) -> str:
    sign, braced, bracketed, token = match.groups()
    tag = "sub" if sign == "_" else "sup"
    inside = token if braced is None else braced
    if bracketed is not None:
        inside = f"({bracketed})"
    return f"<{tag}>{inside}</{tag}>"


def render(text: str) -> str:
    """The line as HTML; what is no formula in it stays as it is."""
    parts, start = [], 0
    for code in _CODE.finditer(text):
        name = html.escape(next(filter(None, code.groups())), quote=False)
        parts += [_rendered(text[start : code.start()]), f"<code>{name}</code>"]
        start = code.end()
    return "".join([*parts, _rendered(text[start:])])


def _rendered(text: str) -> str:
    marked = html.escape(_SIGN.sub(lambda found: SIGNS[found.group()], text), quote=False)
    marked = _WORD.sub(_greek, marked)
    for _ in range(3):  # scripts within scripts
        marked = _SCRIPT.sub(_script, marked)
    return _LETTER.sub(r"<i>\1</i>", marked)


def display(app: Any, doctree: nodes.document) -> None:
    """Hook of Sphinx: the indented formulas of the pages on the papers."""
    if not app.env.docname.startswith("src/papers/"):
        return
    for block in list(doctree.findall(nodes.literal_block)):
        if block.get("language", "none") == "none":
            lines = block.astext().splitlines()
            html_lines = [f'<p class="formula display">{render(line)}</p>' for line in lines]
            block.replace_self(nodes.raw("", "".join(html_lines), format="html"))
