"""Which prepared data files an artifact needs, how each is fetched, and which data sets cannot be had."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from reproduction import code_digest
from reproduction.data import registry
from reproduction.data.registry import LOCAL, Entry, Registry, UserFile


@dataclass(frozen=True)
class DataSources:
    """The registry of data sets under the key ``data`` of the configuration.

    A data set is named as in artifacts: ``heart``, ``heart.package``.
    Where the configuration pins a kind of source, a name without pin gets it: ``heart.packaged``.
    """

    entries: Registry
    options: dict[str, Any]

    def pinned(self, name: str) -> str:
        """The name with the pin of the configuration. Raises ValueError: not in the registry."""
        dataset = registry.with_source(name, self.options["source"])
        registry.find(self.entries, dataset)
        return dataset

    def lack(self, name: str) -> str:
        """Why no source of the pinned kind has the data set, in one line; "" if one has it.

        Raises ValueError: not in the registry, or the name itself pins a source that does not exist.
        """
        dataset = self.pinned(name)
        stem, pin, entry = registry.find(self.entries, dataset)
        if stem in self.options["local"]:
            return ""
        try:
            registry.sources(stem, entry, pin)
        except ValueError as error:
            if dataset == name and pin not in ("", LOCAL):
                raise
            return str(error)
        return ""

    def prepared(self, names: Iterable[str]) -> list[str]:
        """The prepared files of data sets."""
        return [f"data/prepared/{self.pinned(name)}.npz" for name in names]

    def entry(self, dataset: str) -> Entry:
        """What the registry says of a data set, with a pin or without."""
        return registry.find(self.entries, dataset)[2]

    def code(self, dataset: str) -> str:
        """The code that turns the raw files of a data set, from any of its sources, into arrays."""
        modules = {name.partition(":")[0] for name in registry.loaders(self.entry(dataset))}
        return code_digest.stamped(
            "scripts/prepare.py", *(f"reproduction.data.{module}" for module in modules)
        )

    def _users(self, dataset: str) -> UserFile | None:
        spec: UserFile | None = self.options["local"].get(dataset.partition(".")[0])
        return spec

    def local(self, dataset: str) -> list[str]:
        """The user's own file in place of a data set, if there is one."""
        return [str(registry.users_file(spec))] if (spec := self._users(dataset)) else []

    def fetch_options(self, dataset: str) -> list[str]:
        """What the configuration says about sources, as options of the script ``fetch.py``."""
        options = [f"--mirror={self.options['mirror']}"] if self.options["mirror"] else []
        if spec := self._users(dataset):
            options += ["--local", spec if isinstance(spec, str) else json.dumps(spec)]
        return options + ["--offline"] * bool(self.options["offline"])
