"""Bring the raw files of a data set into a folder, from the first source that has them."""

import argparse
import json
import os
import sys
from pathlib import Path
from typing import Any

parser = argparse.ArgumentParser(description=__doc__)
dataset_help = "id, or id.source, or id.variant"
parser.add_argument("--dataset", required=True, metavar="ID", help=dataset_help)
parser.add_argument("--registry", type=Path, help="config/datasets.yaml")
parser.add_argument("--out", type=Path, required=True, help="folder of the raw files, data/raw/ID")
mirror_help = "folder or URL of a mirror (default: the variable NOISYLABELS_MIRROR)"
parser.add_argument("--mirror", default=os.environ.get("NOISYLABELS_MIRROR", ""), help=mirror_help)
parser.add_argument("--source", default="", help="use this source or variant only")
parser.add_argument("--offline", action="store_true", help="never use the network")
local_help = 'your own file instead, or \'{"file": FILE, "label": COLUMN}\''
parser.add_argument("--local", metavar="FILE", help=local_help)
key_help = "what the plan requests, as JSON: it names the registry and the sources"
parser.add_argument("--key", type=Path, help=key_help)


def read_options(words: list[str]) -> argparse.Namespace:
    """Read the options of the command line, and those that a key holds.

    They are not parameters of the rule: Snakemake would fetch again where a path is another.
    """
    key = parser.parse_args(words).key
    if key:
        context = json.loads(key.read_bytes())["given"]
        words = [*words, "--registry", context["registry"], *context["options"]]
    options = parser.parse_args(words)
    if not options.registry:
        parser.error("name the registry, --registry config/datasets.yaml, or a key")
    return options


options = read_options(sys.argv[1:])

from reproduction.data.fetch import FetchError, fetch, fetch_local  # noqa: E402
from reproduction.data.registry import load_registry  # noqa: E402
from reproduction.data.transport import Network, StorageError  # noqa: E402
from reproduction.run import records  # noqa: E402


def bring(dataset: str) -> dict[str, Any]:
    """Bring the files into the folder, and return their description."""
    registry = load_registry(options.registry)
    if options.local:
        is_description = options.local.startswith("{")
        user_file = json.loads(options.local) if is_description else options.local
        return fetch_local(dataset, registry, options.out, user_file)
    memory = options.out.parent / ".cache" / "unreachable.json"
    network = Network(options.mirror, options.offline, memory)
    return fetch(dataset, registry, options.out, network)


dataset = options.dataset
if options.source:
    stem = dataset.partition(".")[0]
    dataset = f"{stem}.{options.source}"
try:
    with records.making(options.key, options.out / records.RECORD) as result:
        description = bring(dataset)
        names = ["source.json", *description["files"]]
        result.outputs = [options.out / name for name in names]
except (FetchError, StorageError, ValueError, OSError) as error:
    if not sys.stdout.isatty():  # the log of a job, whose last line is shown as the cause
        lines = str(error).partition("\nWhat helps")[0].splitlines()
        print(f"{error}\nerror: {'; '.join(line.strip() for line in lines)}")
    sys.exit(f"error: {error}")
files = description["files"]
size = sum((options.out / name).stat().st_size for name in files)
origin = f"{description['id']} from {description['source']} ({description['variant']})"
print(f"{origin}: {len(files)} files, {size} bytes")
