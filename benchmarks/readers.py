"""Time and memory of preparing the two largest sets, from synthetic files of their size.

    python benchmarks/readers.py [--folder DIR] [--fraction 1.0]

SUSY: gzipped CSV, 5,000,000 x 19 (goal 120 s, 3 GiB). real-sim: bzip2 svmlight, 72,309 x 20,958,
51 nonzeros a row (goal 30 s). Each is prepared in its own process, whose peak memory is given.
"""

import argparse
import bz2
import gzip
import multiprocessing
import resource
import tempfile
import time
from pathlib import Path

import numpy as np

SUSY_BLOCK = 50_000  # rows that are written over and over


def write_susy(path: Path, rows: int) -> None:
    block = np.random.default_rng(0).standard_normal((min(rows, SUSY_BLOCK), 18))
    lines = []
    for i, row in enumerate(block.astype(np.float32).tolist()):
        lines.append(",".join(f"{value:.18e}" for value in (i % 2, *row)))
    content = ("\n".join(lines) + "\n").encode()
    with gzip.open(path, "wb", compresslevel=1) as stream:
        for _ in range(rows // len(block)):
            stream.write(content)


def write_real_sim(path: Path, rows: int) -> None:
    from reproduction.data.loaders.formats import unpack
    from reproduction.spec.papers import find_paper

    find_paper("robust_sgd")
    from robust_sgd import stand_ins

    X, y = unpack(stand_ins.real_sim({}, n=rows))
    with bz2.open(path, "wb", compresslevel=1) as stream:
        for i, label in enumerate(y):
            pieces = range(X.indptr[i], X.indptr[i + 1])
            cells = " ".join(f"{X.indices[k] + 1}:{X.data[k]:.6f}" for k in pieces)
            stream.write(f"{label:+d} {cells}\n".encode())


def measure(loader: str, path: Path, out: Path, rows: int) -> None:
    from reproduction.data.loaders import libsvm
    from reproduction.data.prepare import write_prepared
    from reproduction.data.prepared import Dataset, array_digest

    start = time.perf_counter()
    if loader == "susy":
        arrays = libsvm.susy({path.name: path}, test=rows // 10)
    else:
        arrays = libsvm.real_sim({path.name: path})
    read = time.perf_counter() - start
    write_prepared(Dataset(loader, "benchmark", "benchmark", arrays, array_digest(arrays)), out)
    total = time.perf_counter() - start
    cpu = time.process_time()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    seconds = f"read {read:.1f} s, with digest and .npz {total:.1f} s (CPU {cpu:.1f} s)"
    print(f"{loader}: {seconds}, peak {peak:.2f} GiB", flush=True)


def main() -> None:
    form = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=form)
    folder = "where the files go (default: a temporary folder)"
    parser.add_argument("--folder", type=Path, help=folder)
    parser.add_argument("--fraction", type=float, default=1.0, help="of the rows")
    arguments = parser.parse_args()
    spawn = multiprocessing.get_context("spawn")
    with tempfile.TemporaryDirectory(dir=arguments.folder) as folder:
        out = Path(folder) / "out.npz"
        for loader, name, all_rows, write in (
            ("real_sim", "real-sim.bz2", 72_309, write_real_sim),
            ("susy", "SUSY.csv.gz", 5_000_000, write_susy),
        ):
            rows = int(all_rows * arguments.fraction)
            if loader == "susy":
                rows = rows // SUSY_BLOCK * SUSY_BLOCK
            path = Path(folder) / name
            write(path, rows)
            process = spawn.Process(target=measure, args=(loader, path, out, rows))
            process.start()
            process.join()


if __name__ == "__main__":
    main()
