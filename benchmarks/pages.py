"""Tables in pages that a benchmark writes, from ``<!-- name -->`` to ``<!-- end of name -->``."""

import re
from collections.abc import Iterable, Sequence
from pathlib import Path


def table(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A table in Markdown."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(map(str, line))} |" for line in lines)


def replaced(text: str, name: str, block: str) -> str:
    """The text of a page with the block of that name replaced. Raises ValueError: it has none."""
    start, end = f"<!-- {name} -->", f"<!-- end of {name} -->"
    pattern = re.compile(f"{re.escape(start)}.*?{re.escape(end)}", re.DOTALL)
    if not pattern.search(text):
        raise ValueError(f"the page has no block {start} ... {end}")
    return pattern.sub(lambda _: f"{start}\n\n{block}\n\n{end}", text, count=1)


def write(page: Path, name: str, block: str) -> None:
    """Replace a block of a page."""
    page.write_text(replaced(page.read_text(encoding="utf-8"), name, block), encoding="utf-8")
