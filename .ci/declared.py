"""Gives an environment the packages that a wheel declares, from the one that runs this file.

    FROM/bin/python .ci/declared.py WHEEL FOLDER

FOLDER is the other environment's folder of packages. It gets links to what the wheel declares, to
what these packages declare, and to nothing else: a package that the wheel imports without declaring
it is missing there. Nothing is unpacked, and modules are compiled once for both environments.
"""

import sys
import zipfile
from importlib import metadata
from pathlib import Path

from packaging.metadata import Metadata
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name


def read_metadata(wheel: Path) -> Metadata:
    """Read what a wheel says of itself, and check it as the package index does."""
    with zipfile.ZipFile(wheel) as archive:
        names = [name for name in archive.namelist() if name.endswith(".dist-info/METADATA")]
        declared = Metadata.from_email(archive.read(names[0]), validate=True)
    if not declared.description:
        sys.exit(f"declared: {wheel.name} has no description; name the README in pyproject.toml")
    return declared


def find_packages(requirements: list[Requirement]) -> list[metadata.Distribution]:
    """Find the packages that requirements name, and transitively those that these declare."""
    packages: dict[str, metadata.Distribution] = {}
    waiting = list(requirements)
    while waiting:
        requirement = waiting.pop()
        name = canonicalize_name(requirement.name)
        is_extra = requirement.marker and not requirement.marker.evaluate({"extra": ""})
        if is_extra or name in packages:
            continue
        packages[name] = metadata.distribution(name)
        waiting += [Requirement(line) for line in packages[name].requires or []]
    return list(packages.values())


def link(package: metadata.Distribution, folder: Path) -> None:
    """Link the modules and the metadata of a package; its commands are left out."""
    parts = {file.parts[0] for file in package.files or []}
    for part in sorted(parts - {"..", "__pycache__"}):
        (folder / part).symlink_to(Path(str(package.locate_file(part))))


def main() -> None:
    """Check the wheel, and link what it declares."""
    wheel, folder = map(Path, sys.argv[1:])
    for package in find_packages(read_metadata(wheel).requires_dist or []):
        link(package, folder)


if __name__ == "__main__":
    main()
