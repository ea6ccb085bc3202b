"""Keys of methods, metrics and settings in what claims say, with their names for readers."""

import re
from collections.abc import Mapping
from html import escape
from typing import Any

from markupsafe import Markup

from reproduction.figures import names
from reproduction.site import text
from reproduction.verdicts.sentences import Sentences, value

NAMES = {"setting": names.setting, "noise": names.noise, "dataset": names.data_set}


class Keys:
    """What the keys of an artifact are called.

    methods : key -> label.   protocol : whose metrics are meant.
    """

    def __init__(self, methods: Mapping[str, str], protocol: str) -> None:
        self.methods, self.protocol = methods, protocol
        self.sentences = Sentences(self._named, Markup())

    def _named(self, column: str, key: str) -> str:
        """The key as HTML: its name with the key behind it, or the key."""
        name = NAMES.get(column, str)(key)
        if column == "method":
            name = self.methods.get(key, names.method(key))
        elif column == "metric":
            name = names.metric(key, self.protocol)
        if name in ("", key, key.replace("_", " ")):
            return Markup(escape(key))
        return Markup(f'<span class="named" title="{escape(key)}">{escape(name)}</span>')

    def evidence(self, row: Mapping[str, Any]) -> str:
        """The sentence behind a verdict, with names for keys."""
        if row["missing"] and row["verdict"] in ("ran", "no rows"):
            return "its data sets or settings are not part of this scale"
        return self.sentences.evidence(row)

    def where(self, row: Mapping[str, Any]) -> str:
        """The selector of a published value, with names for keys."""
        return self.sentences.words(value(row["where"]))

    def explained(self, sentence: str) -> Markup:
        """A sentence of a claim, in which keys that are not words have their names as tooltips."""
        body = text.plain(sentence)
        keys = sorted((key for key in self.methods if "_" in key), key=len, reverse=True)
        if not keys:
            return body
        pattern = rf"(?<!\w)({'|'.join(map(re.escape, keys))})(?!\w)"
        return Markup(re.sub(pattern, self._abbreviation, str(body)))

    def _abbreviation(self, found: re.Match[str]) -> str:
        return f'<abbr title="{escape(self.methods[found[1]])}">{found[1]}</abbr>'
