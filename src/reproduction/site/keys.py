"""Keys of methods, metrics and settings in what claims say, with their names for readers."""

import re
from collections.abc import Callable, Mapping
from html import escape, unescape

from markupsafe import Markup

from reproduction.figures import names
from reproduction.site import text

PARTS = re.compile(r"( / | − | \(|\(|\)|, )")
"""What stands between the keys of a quantity, as in ``a / b (dataset, metric)``."""

PLACES: dict[str, Callable[[str], str]] = {
    "method": names.method,
    "setting": names.setting,
    "noise": names.noise,
    "dataset": names.data_set,
}
"""Columns of a result table that evidence names, with what names their entries."""
PLACE = re.compile(rf"\b({'|'.join(PLACES)}) ([^,;()]+?)(?=,|;|$| →)")


class Keys:
    """What the keys of an artifact are called.

    methods : key -> label.   protocol : whose metrics are meant.
    """

    def __init__(self, methods: Mapping[str, str], protocol: str) -> None:
        self.methods, self.protocol = methods, protocol

    def _known(self, key: str) -> str:
        """The name of a key that has one, else ""."""
        named = [self.methods.get(key, names.method(key)), names.metric(key, self.protocol)]
        named += [name(key) for name in (names.setting, names.noise) if key]
        named += [names.data_set(key)] * key.startswith("ida_")
        return next((name for name in named if name not in (key, key.replace("_", " "))), "")

    def evidence(self, sentence: str) -> Markup:
        """The evidence of a verdict: names for keys, in its quantity and behind "method" and the like."""
        told = text.evidence(sentence)
        quantity, equals, rest = told.partition(" = ")
        if not equals:
            return Markup(escape(told))
        rest = PLACE.sub(self._at, escape(rest))
        parts = PARTS.split(quantity)
        functions = [after == "(" for after in [*parts[1:], ""]]  # log(a / b)
        shown = [
            part if place % 2 or functions[place] else self._shown(part, self._known)
            for place, part in enumerate(parts)
        ]
        return Markup("".join(shown) + equals + rest)

    def _at(self, found: re.Match[str]) -> str:
        return f"{found[1]} {self._shown(unescape(found[2]), PLACES[found[1]])}"

    def _shown(self, key: str, name: Callable[[str], str]) -> str:
        found = self.methods.get(key) or name(key)
        return _named(found, key) if found and found != key else escape(key)

    def explained(self, sentence: str) -> Markup:
        """A sentence of a claim: keys that are no words stay, and tell whoever points at them their names."""
        body = text.plain(sentence)
        keys = sorted((key for key in self.methods if "_" in key), key=len, reverse=True)
        if not keys:
            return body
        pattern = rf"(?<!\w)({'|'.join(map(re.escape, keys))})(?!\w)"
        return Markup(re.sub(pattern, self._abbreviation, str(body)))

    def _abbreviation(self, found: re.Match[str]) -> str:
        return f'<abbr title="{escape(self.methods[found[1]])}">{found[1]}</abbr>'


def _named(name: str, key: str) -> str:
    return f'<span class="named" title="{escape(key)}">{escape(name)}</span>'
