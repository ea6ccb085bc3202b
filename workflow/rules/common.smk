"""Functions and constants that the rules share. No rules here."""

import json
import os
import sys
import time
from pathlib import Path

from snakemake.exceptions import WorkflowError
from snakemake.utils import validate

ROOT = Path(workflow.basedir)
LIBRARY = ROOT / "src"
SCRIPTS = LIBRARY / "scripts"
SCHEMAS = ROOT / "workflow/schemas"
EXPERIMENTS = ROOT / "config/experiments"
REGISTRY = ROOT / "config/datasets.yaml"

sys.path.insert(0, str(LIBRARY))
from noisylabels.frame import artifacts
from noisylabels.frame import dependencies
from noisylabels.datasets import own, registry

# What reaches the jobs: this library, this interpreter, one thread each (more threads change the last bits of results).
os.environ["PYTHONPATH"] = os.pathsep.join(
    filter(None, [str(LIBRARY), os.environ.get("PYTHONPATH")])
)
os.environ["PATH"] = os.pathsep.join(
    [str(Path(sys.executable).parent), os.environ["PATH"]]
)
THREAD_VARIABLES = [
    f"{library}_NUM_THREADS"
    for library in ["OMP", "OPENBLAS", "MKL", "NUMBA", "VECLIB_MAXIMUM", "NUMEXPR"]
]
os.environ.update(dict.fromkeys(THREAD_VARIABLES, "1"))
# Again on the command line of a job that occupies several cores: Snakemake sets the variables to its `threads`.
ONE_THREAD = " ".join(f"{variable}=1" for variable in THREAD_VARIABLES)
os.environ["MPLBACKEND"] = "Agg"
os.environ["NUMBA_CACHE_DIR"] = str(
    ROOT / ".cache/numba" / dependencies.kernel_digest()
)
# One name for the whole run: a host that one download found unreachable is not asked again by the next.
os.environ.setdefault("NOISYLABELS_RUN", f"{os.getpid()}-{time.time()}")

# Inside braces on the command line, as in --config 'data={offline: true}', true arrives as a text.
if isinstance(config.get("data"), dict) and config["data"].get("offline") in (
    "true",
    "false",
):
    config["data"]["offline"] = config["data"]["offline"] == "true"
validate(config, SCHEMAS / "config.schema.yaml")

SCALE = config["scale"]
RESULTS = f"results/{SCALE}"
FIGURES = f"figures/{SCALE}"
LOGS = f"logs/{SCALE}"
ENVIRONMENT = ROOT / "environment.yml"


def _read(reader, *arguments):
    """Turn a mistake in a configuration file into a one-line message of the workflow."""
    try:
        return reader(*arguments)
    except (ValueError, OSError) as error:
        raise WorkflowError(str(error)) from None


ARTIFACTS = _read(artifacts.load_all, EXPERIMENTS, config["papers"], SCALE, SCHEMAS)
OWN = config["data"]["local"]
DATASETS = _read(own.with_own, _read(registry.load_registry, REGISTRY), OWN)


def of(wildcards):
    """The artifact that the wildcards paper and artifact name."""
    try:
        return ARTIFACTS[wildcards.paper, wildcards.artifact]
    except KeyError:
        raise WorkflowError(
            f"{wildcards.paper} has no artifact {wildcards.artifact}"
        ) from None


def file_of(artifact):
    return paths([artifact.file])[0]


def title(paper):
    return (EXPERIMENTS / paper / "TITLE").read_text(encoding="utf-8").strip()


def paths(files):
    """Paths as the rules name them: relative to the working directory where they lie below it."""
    here = Path.cwd()
    return [
        str(file.relative_to(here) if file.is_relative_to(here) else file)
        for file in files
    ]


def library(*modules):
    return paths(_read(dependencies.library_files, modules))


# data


def dataset_id(name):
    """`id`, or `id.source` where the configuration pins one kind of source and the artifact none."""
    dataset = registry.with_source(name, config["data"]["source"])
    name, pin, entry = _read(registry.find, DATASETS, dataset)
    if name not in OWN:
        _read(registry.sources, name, entry, pin)
    return dataset


def all_datasets():
    return sorted(
        {dataset_id(d) for a in ARTIFACTS.values() for d in a.data_sets(a.settings)}
    )


def entry_of(wildcards):
    return DATASETS[wildcards.dataset.partition(".")[0]]


def loader_modules(wildcards):
    """Modules that turn the raw files of a data set, from any of its sources, into arrays."""
    loaders = registry.loaders(entry_of(wildcards))
    return sorted({f"datasets.{loader.partition(':')[0]}" for loader in loaders})


def fetch_options(wildcards):
    options = []
    if config["data"]["mirror"]:
        options += ["--mirror", config["data"]["mirror"]]
    if spec := OWN.get(wildcards.dataset.partition(".")[0]):
        options += ["--local", own.as_option(spec)]
    if config["data"]["offline"]:
        options.append("--offline")
    return options


def local_file(wildcards):
    """The user's own file is an input, so that a changed file is read again."""
    name = wildcards.dataset.partition(".")[0]
    return [str(own.own_file(OWN[name]))] if name in OWN else []


def prepared(artifact, settings):
    """Files of the data sets that the settings of an artifact, or of one of its cells, use."""
    return [
        f"data/prepared/{dataset_id(name)}.npz" for name in artifact.data_sets(settings)
    ]


# experiments


def protocol_of(artifact):
    return f"protocols.{artifact.content['protocol']}"


def experiment_files(artifact, cell):
    """Library files of the jobs of a cell: the protocol and its imports, and the methods of the cell."""
    files = set(library(protocol_of(artifact)))
    for spec in artifact.cells[cell].get("methods", {}).values():
        files.update(paths(_read(dependencies.method_files, spec["method"])))
    return sorted(files)


def has_tuning(artifact):
    return dependencies.defines(protocol_of(artifact), "tune")


def cell_inputs(wildcards):
    artifact = of(wildcards)
    return {
        "data": prepared(artifact, artifact.cells[wildcards.cell]),
        "library": experiment_files(artifact, wildcards.cell),
    }


def run_inputs(wildcards):
    tuned = f"{RESULTS}/{wildcards.paper}/{wildcards.artifact}/cells/{wildcards.cell}/tuned.json"
    return cell_inputs(wildcards) | (
        {"tuned": tuned} if has_tuning(of(wildcards)) else {}
    )


def job(wildcards):
    """What a job computes, as JSON: a change of it re-runs the job, a change of a caption does not."""
    artifact = of(wildcards)
    return json.dumps(
        {
            "protocol": artifact.content["protocol"],
            "experiment": artifact.settings.get(
                "experiment", f"{artifact.paper}/{artifact.name}"
            ),
            "seed": config["seed"],
            "settings": artifact.cells[wildcards.cell],
        }
    )


def threads_of(wildcards):
    """A job that measures time gets all cores, so that nothing runs beside it; it uses one of them."""
    return workflow.cores or 1 if of(wildcards).content.get("measured") else 1


def block(wildcards):
    start, stop = of(wildcards).blocks[int(wildcards.block)]
    return f"{start}:{stop}"


# results, figures, report


def parts(wildcards):
    artifact = of(wildcards)
    cells = f"{RESULTS}/{artifact.paper}/{artifact.name}/cells"
    return [
        f"{cells}/{cell}/{number}.csv"
        for cell in artifact.cells
        for number in range(len(artifact.blocks))
    ]


def tuned_parts(wildcards):
    artifact = of(wildcards)
    cells = f"{RESULTS}/{artifact.paper}/{artifact.name}/cells"
    return (
        [f"{cells}/{cell}/tuned.json" for cell in artifact.cells]
        if has_tuning(artifact)
        else []
    )


def provenance(wildcards):
    artifact = of(wildcards)
    return json.dumps(
        {
            "paper": artifact.paper,
            "artifact": artifact.name,
            "scale": SCALE,
            "seed": config["seed"],
            "settings": artifact.settings,
        }
    )


def drawn_tables(artifact):
    """Names of the artifacts whose tables the figure or table shows: its own first, then those it uses."""
    own = [artifact.name] if "protocol" in artifact.content else []
    return own + artifact.content.get("uses", [])


def render_inputs(wildcards):
    artifact = of(wildcards)
    tables = [
        f"{RESULTS}/{artifact.paper}/{name}/table.csv"
        for name in drawn_tables(artifact)
    ]
    return {
        "tables": tables,
        "library": library(
            "figures.rendering",
            "figures.tables",
            f"figures.papers.{artifact.content['render'].partition(':')[0]}",
        ),
    }


def about(wildcards):
    """What the report tells about an artifact."""
    told = ("title", "source", "origin", "caption", "datasets", "deviations", "notes")
    content = of(wildcards).content
    return {key: content[key] for key in told if key in content}


def render_settings(wildcards):
    """Settings of every artifact that is shown; a table is given the printed values too, to show them beside ours."""
    artifact = of(wildcards)
    printed = artifact.content["kind"] == "table"
    return json.dumps(
        {
            name: ARTIFACTS[artifact.paper, name].shown(printed)
            for name in dict.fromkeys([artifact.name, *drawn_tables(artifact)])
        }
    )


def judged_artifacts():
    return [
        a
        for a in ARTIFACTS.values()
        if a.content.get("claims") or a.content.get("published")
    ]


def judged(artifact):
    """What a verdict depends on beside the table: a change of it judges again, a change of a caption does not."""
    return json.dumps([artifact.content.get(key) for key in ("published", "claims")])


def outputs(artifact):
    """Figure or table, and provenance, of an artifact."""
    stem = f"{FIGURES}/{artifact.paper}/{artifact.name}"
    table = artifact.content["kind"] == "table"
    suffixes = ["csv", "md", "tex", "html"] if table else config["formats"]
    kept = [f"{RESULTS}/{artifact.paper}/{artifact.name}/provenance.json"]
    return [f"{stem}.{suffix}" for suffix in suffixes] + kept * (
        "protocol" in artifact.content
    )


def outputs_and_verdict(artifact):
    """Every file that one artifact promises, when it is asked for by its name."""
    verdict = f"{RESULTS}/{artifact.paper}/{artifact.name}/verdicts.csv"
    return outputs(artifact) + [verdict] * (artifact in judged_artifacts())


def everything():
    """Every figure and table; the verdicts of all artifacts are reached in one go."""
    drawn = [file for artifact in ARTIFACTS.values() for file in outputs(artifact)]
    return drawn + [f"{RESULTS}/verdicts.html"]
