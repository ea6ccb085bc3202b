"""Bring the raw files of a data set into a folder, from the first source that has them."""

import argparse
import json
import os
import sys
from pathlib import Path


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dataset", required=True, metavar="ID", help="id, or id.source, or id.variant")
    parser.add_argument("--registry", type=Path, required=True, help="config/datasets.yaml")
    parser.add_argument("--out", type=Path, required=True, help="folder of the raw files, data/raw/ID")
    parser.add_argument(
        "--mirror",
        default=os.environ.get("NOISYLABELS_MIRROR", ""),
        help="folder or URL of a mirror (default: the variable NOISYLABELS_MIRROR)",
    )
    parser.add_argument("--source", default="", help="use this source or variant only")
    parser.add_argument("--offline", action="store_true", help="never use the network")
    parser.add_argument(
        "--local", metavar="FILE", help='your own file instead, or \'{"file": FILE, "label": COLUMN}\''
    )
    arguments = parser.parse_args()

    from reproduction.data.fetch import FetchError, fetch, fetch_local
    from reproduction.data.registry import load_registry
    from reproduction.data.storage import StorageError
    from reproduction.data.transport import Network

    dataset = arguments.dataset
    if arguments.source:
        dataset = f"{dataset.partition('.')[0]}.{arguments.source}"
    try:
        registry = load_registry(arguments.registry)
        if arguments.local:
            own = json.loads(arguments.local) if arguments.local.startswith("{") else arguments.local
            record = fetch_local(dataset, registry, arguments.out, own)
        else:
            network = Network(arguments.offline, memory=arguments.out.parent / ".cache" / "unreachable.json")
            record = fetch(dataset, registry, arguments.out, mirror=arguments.mirror, network=network)
    except (FetchError, StorageError, ValueError, OSError) as error:
        sys.exit(f"error: {error}")
    size = sum((arguments.out / name).stat().st_size for name in record["files"])
    where = f"{record['id']} from {record['source']} ({record['variant']})"
    print(f"{where}: {len(record['files'])} files, {size} bytes")


if __name__ == "__main__":
    main()
