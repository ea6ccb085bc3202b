"""Prints environment.yml: what the project needs directly, with the versions of runtime.lock.

    python3 .ci/environment.py >environment.yml

`.ci/lock` calls it, and a test compares. It needs Python 3.11 or newer, and no package.
"""

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
HEADER = """\
# For those who prefer conda: `conda env create -f environment.yml && conda activate noisylabels`.
# conda brings Python, the package index the packages: the files are those of runtime.lock, with
# one BLAS, so the results have the same bytes. `.ci/lock` writes this file; do not edit it.
name: noisylabels
channels:
  - conda-forge
dependencies:
  - python >=3.11,<3.14
  - pip
  - pip:
"""


def read_versions() -> dict[str, str]:
    """Read the version of each package that runtime.lock has in one version only."""
    lock = (ROOT / "runtime.lock").read_text(encoding="utf-8")
    return dict(re.findall(r"^([a-z0-9-]+)==(\S+)", lock, re.M))


def list_requirements() -> list[str]:
    """List the names that pyproject.toml declares for the library and the pipeline."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    declared = project["dependencies"] + project["optional-dependencies"]["pipeline"]
    return sorted({re.split(r"[^A-Za-z0-9-]", line, maxsplit=1)[0] for line in declared})


def main() -> None:
    """Print the file."""
    versions = read_versions()
    lines = [f"      - {name}=={versions[name]}\n" for name in list_requirements()]
    print(HEADER + "".join(lines), end="")


if __name__ == "__main__":
    main()
