"""What `./run` does, without a checkout: `noisylabels-reproduction WORDS` in a folder of your own.

Every paper in the folder is run; data, results, figures and pages stay there.

  noisylabels-reproduction new-paper natarajan    a working paper; then new-artifact and new-method
  noisylabels-reproduction --configfile config/smoke.yaml -- natarajan    seconds: does it run?
  noisylabels-reproduction -- natarajan           the full protocol, judged; any arguments go to Snakemake
  noisylabels-reproduction site                   pages of whatever is finished
  noisylabels-reproduction audit FILE --label COLUMN    how noisy your own labels are; and try: the methods
"""

import hashlib
import os
import shutil
import sys
from importlib.metadata import distribution
from pathlib import Path

import noisylabels

NAME = "noisylabels-reproduction"
SCRIPTS = {"new-paper": "new", "new-artifact": "new", "new-method": "new"}
SCRIPTS |= {"site": "site", "audit": "audit", "try": "trial"}
OF_THE_REPOSITORY = ("compare", "lint", "reference", "test")
OWN_DISPLAY = ("-n", "-p", "-q", "--dry", "--logger", "--printshellcmds", "--quiet", "--verbose")


def unpacked() -> Path:
    """The checkout of these versions in ``.cache`` of the folder, as a run keeps compiled kernels beside it.

    What is installed is only read, and code has the digest that it has in any checkout.
    """
    installed = [distribution(name) for name in ("noisylabels", NAME)]
    versions = [f"{each.version} {each.read_text('RECORD')}" for each in installed]
    digest = hashlib.sha256("".join(versions).encode()).hexdigest()[:12]
    place = Path(".cache").absolute() / f"checkout-{digest}"
    if not place.is_dir():
        part = place.with_name(f"part-{os.getpid()}")
        shutil.copytree(Path(noisylabels.__file__).parent, part / "src/noisylabels")
        shutil.copytree(Path(__file__).parent / "checkout", part, dirs_exist_ok=True)
        part.chmod(0o755)  # also where nobody may write what is installed
        part.rename(place)
    return place


def own_papers() -> list[str]:
    """The folders of the papers in this folder."""
    return sorted(str(file.parent.absolute()) for file in Path().glob("*/TITLE"))


def has_papers() -> bool:
    """Is there a paper in this folder? Else it is no project, and only our papers can be run."""
    return any(Path().glob("*/TITLE"))


def snakemake(words: list[str], checkout: Path) -> list[str]:
    """The words that `./run` hands on, with the files of the checkout, and the papers of this folder."""

    def given(*options: str) -> bool:
        return any(word.startswith(options) for word in words)

    found = ["--snakefile", str(checkout / "Snakefile")]
    found += [] if given(*OWN_DISPLAY) else ["--logger", "console"]
    found += [] if given("--profile") else ["--profile", str(checkout / "workflow/profiles/default")]
    found += [] if given("--profile", "--cores", "-c", "--jobs", "-j") else ["--cores", "all"]
    for word in words:
        ours = word.startswith(("config/", "workflow/")) and not Path(word).exists()
        found += [str(checkout / word) if ours else word] * (word != "--verbose")
    if has_papers() and not given("papers="):
        at = found.index("--config") + 1 if "--config" in found else 0
        found[at:at] = ["--config"] * (at == 0) + [f"papers=[{','.join(own_papers())}]"]
    return found


def main() -> None:
    """Become the script that `./run` would start."""
    words = sys.argv[1:] or ["help"]
    if words[0] in ("help", "-h", "--help"):
        sys.exit(print(__doc__))
    if words[0] in OF_THE_REPOSITORY:
        sys.exit(f"{NAME}: {words[0]} is for the repository's own results; it works in a checkout only")
    try:
        checkout = unpacked()
    except OSError as error:
        sys.exit(f"{NAME}: cannot write {Path.cwd()}: {error.strerror or error}")
    path = [str(checkout / "src"), *filter(None, [os.environ.get("PYTHONPATH")])]
    os.environ |= {"MPLBACKEND": "Agg", "NOISYLABELS_COMMAND": NAME, "PYTHONPATH": os.pathsep.join(path)}
    os.environ |= {f"{library}_NUM_THREADS": "1" for library in ("OMP", "OPENBLAS", "MKL", "NUMBA")}
    # The commit of a repository of the user's, around this folder, is not that of our code.
    os.environ["GIT_CEILING_DIRECTORIES"] = str(checkout.parent)
    script = SCRIPTS.get(words[0], "start")
    own = {"start": snakemake(words, checkout), "new": words}.get(script, words[1:])
    own += ["--papers", *own_papers()] * (script == "site" and has_papers() and "--papers" not in own)
    os.execv(sys.executable, [sys.executable, "-P", str(checkout / f"src/scripts/{script}.py"), *own])
