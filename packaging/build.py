"""Build the wheel `noisylabels-reproduction`: a command, and in one folder what a run reads of a checkout.

python packaging/build.py FOLDER [OPTIONS OF PIP]
"""

import shutil
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FILES = ("CITATION.cff", "Snakefile", "environment.yml", "runtime.lock")
FOLDERS = ("config", "src/papers", "src/reproduction", "src/scripts", "workflow")
VERSION = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
METADATA = f"""
[build-system]
requires = ["setuptools>=77"]
build-backend = "setuptools.build_meta"
[project]
name = "noisylabels-reproduction"
version = "{VERSION}"
description = "Experiments of papers on noisy labels, from settings to verdicts, in a folder of your own"
license = "MIT"
license-files = ["LICENSE"]
authors = [{{ name = "The noisylabels authors" }}]
requires-python = ">=3.11,<3.14"  # as of ./run
dependencies = ["noisylabels[pipeline]=={VERSION}"]
scripts = {{ noisylabels-reproduction = "noisylabels_reproduction:main" }}
[project.readme]
content-type = "text/markdown"
text = "`pip install 'noisylabels[reproduction]'`, then `noisylabels-reproduction help`."
[tool.setuptools]
packages = ["noisylabels_reproduction"]
package-data = {{ noisylabels_reproduction = ["checkout/**"] }}
"""

with tempfile.TemporaryDirectory() as scratch:
    package = Path(scratch, "noisylabels_reproduction")
    for name in FOLDERS:
        unread = shutil.ignore_patterns("__pycache__", ".*")
        shutil.copytree(ROOT / name, package / "checkout" / name, ignore=unread)
    for name in FILES:
        shutil.copy(ROOT / name, package / "checkout")
    shutil.copy(ROOT / "packaging/command.py", package / "__init__.py")
    shutil.copy(ROOT / "LICENSE", scratch)
    Path(scratch, "pyproject.toml").write_text(METADATA, encoding="utf-8")
    pip = [sys.executable, "-m", "pip", "wheel", "--no-deps", "--wheel-dir", *sys.argv[1:], scratch]
    subprocess.run(pip, check=True)
