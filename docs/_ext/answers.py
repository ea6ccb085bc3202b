"""What pages quote from the kept results: numbers, the method chooser, the gallery, the entries to cite.

A page holds ``<!-- answer: KIND WORDS -->...<!-- end -->``, or a number after a mark, see below.
Long tables are not in the files: ``<!-- made when this page is built: KIND WORDS -->`` is replaced by them.
``src/scripts/generate.py`` writes what belongs there, as does the build of the documentation; a test fails
while a page says something else. In the built pages a link to kept numbers or figures leads to the page of
the artifact.
"""

import csv
import re
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from statistics import fmean
from typing import Any

import yaml

from noisylabels.statistics import Estimate, mean_se, t_interval, welch
from reproduction.data import registry
from reproduction.judge.archived_run import read_verdicts
from reproduction.judge.check_statistics import STATISTICS
from reproduction.judge.claims import listed, trend_of
from reproduction.judge.estimates import rows_of, value
from reproduction.judge.sentences import Row, Sentences, bound, figure, metric_of, with_control
from reproduction.run.records import facts
from reproduction.show import names
from reproduction.show.headlines import group_headlines, list_short_texts, read_findings, write_summary
from reproduction.spec import key_tables
from reproduction.spec.papers import HOME, artifact_files, paper_pages
from reproduction.spec.verdict_words import (
    EXACT,
    FLAGS,
    INCONCLUSIVE,
    NOT_REPRODUCED,
    OF_A_VALUE,
    PARTIALLY_REPRODUCED,
    PUBLISHED,
    REPRODUCED,
    VERDICTS,
    count_verdicts,
    describe,
    is_claim,
    list_flags,
    look_up,
    select_deciding,
)

ROOT = Path(__file__).resolve().parents[2]
PAGES = ("choose", "cite")
PAPERS = {
    "ors": "Moroshko and Crammer (2017)",
    "pnorm": "Kivinen, Warmuth and Hassibi (2006)",
    "robust_sgd": "Han, Tsang and Chen (2016)",
    "kernel_boost": "Kabán and Bootkrajang (2017)",
    "noisy_online": "Cesa-Bianchi, Shalev-Shwartz and Shamir (2011)",
    "audit": "Our own study",
}
_BUILT = re.compile(r"<!-- made when this page is built: (\w+) ?(.*?) -->")
_MARK = re.compile(r"(<!-- answer: (\w+) ?(.*?) -->\n).*?(<!-- end -->)", re.DOTALL)
_KEPT = re.compile(
    r"(?<!!)\[(!\[[^\]]*\]\([^)]*\)|[^\[\]]+)\]"
    r"\((?:\.\./)*(?:results|figures)/reference/(\w+)/(\w+)(?:\.(?:svg|png|html|md)|/[\w.]+)\)"
)
_NAMES = {
    "dataset": names.data_set,
    "method": names.method,
    "noise": names.noise,
    "setting": names.setting,
    "metric": names.metric,
}
Means = dict[str, dict[str, float]]
"""Method -> data set -> mean."""


def filled(text: str, folder: Path | None = None) -> str:
    """The page with the numbers and answers of today's reference, or with the numbers of another folder."""
    text = _counted(text, folder or ROOT / "results/reference")
    return _MARK.sub(lambda found: f"{found[1]}\n{KINDS[found[2]](*found[3].split())}\n\n{found[4]}", text)


def _table(head: str, rows: list[tuple[str, ...]]) -> str:
    columns = head.split(" | ")
    lines = [columns, ["---"] * len(columns), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _summary(name: str, metric: str) -> list[dict[str, str]]:
    with (ROOT / "results/reference" / name / "summary.csv").open(encoding="utf-8", newline="") as file:
        return [row for row in csv.DictReader(file) if row["metric"] == metric]


def _against(others: list[tuple[str, Estimate]], low_wins: bool) -> tuple[str, str]:
    """The methods clearly behind the best, and those whose interval of the difference holds 0."""
    groups: tuple[list[str], list[str]] = ([], [])
    for name, gap in others:
        low, high = t_interval(gap)
        clear = low > 0 if low_wins else high < 0
        digits = 1 if low_wins else 2
        figures = f"{gap.mean:+.{digits}f} [{low:+.{digits}f}, {high:+.{digits}f}]".replace("-", "−")
        groups[not clear].append(f"{name} {figures}")
    behind, close = ("<br>".join(group) or "none" for group in groups)
    return behind, close


def _row(label: str, means: Means, low_wins: bool = True) -> tuple[str, ...]:
    """The best method on average over data sets, and the others by their paired differences to it."""
    average = {method: mean_se(list(of.values())).mean for method, of in means.items()}
    ranked = sorted(average, key=lambda method: average[method] if low_wins else -average[method])
    best = means[ranked[0]]
    gaps = [(m, mean_se([means[m][name] - best[name] for name in best])) for m in ranked[1:]]
    shown = f"{average[ranked[0]]:.1f} %" if low_wins else f"{average[ranked[0]]:.2f}"
    return (label, f"**{ranked[0]}** {shown}", *_against(gaps, low_wins))


def _rows_of(data_set: str) -> int:
    """Training rows of a data set of IDA, as its title in the registry says."""
    entries = yaml.safe_load((ROOT / "config/datasets.yaml").read_text(encoding="utf-8"))["datasets"]
    found = re.search(r"splits (\d+) \+", entries[data_set]["title"])
    assert found is not None, f"config/datasets.yaml: {data_set}: title: names no training rows"
    return int(found[1])


def kernels(least: str, most: str) -> str:
    """Kernel classifiers on the data sets of IDA that have so many training rows."""
    rows = [r for n in ("klr_vs_rklr", "rivals") for r in _summary(f"kernel_boost/{n}", "error")]
    sets = {name for name in {row["dataset"] for row in rows} if int(least) <= _rows_of(name) <= int(most)}
    found: dict[str, Means] = {}
    for row in rows:
        if row["dataset"] in sets:
            means = found.setdefault(row["noise"], {}).setdefault(names.method(row["method"]), {})
            means[row["dataset"]] = float(row["mean"])
    table = [(*_row(names.noise(noise), found[noise]), _missing(found, noise)) for noise in sorted(found)]
    head = "flips | lowest mean error | clearly behind | no clear difference | not measured"
    listed = ", ".join(f"{names.data_set(name)} {_rows_of(name)}" for name in sorted(sets))
    return f"{len(sets)} data sets (training rows): {listed}.\n\n{_table(head, table)}"


def _missing(found: Mapping[str, Means], noise: str) -> str:
    everyone = {method for means in found.values() for method in means}
    return ", ".join(sorted(everyone - set(found[noise]))) or "–"


def sets(name: str, metric: str, *wanted: str) -> str:
    """Methods on the data sets of an artifact, for every kind of noise; ``wanted`` are settings."""
    found: dict[str, Means] = {}
    for row in _summary(name, metric):
        if wanted and row["setting"] not in " ".join(wanted).split("_"):
            continue
        method = " · ".join(filter(None, [names.method(row["method"]), names.setting(row["setting"])]))
        means = found.setdefault(row["noise"], {}).setdefault(method, {})
        means[row["dataset"]] = float(row["mean"]) * (100 if metric == "absolute_error" else 1)
    low_wins = metric in ("error", "absolute_error")
    best = {"error": "lowest mean error", "absolute_error": "lowest mean distance, in points"}
    head = f"noise | {best.get(metric, 'best')} | clearly behind | no clear difference"
    return _table(head, [_row(names.noise(noise), found[noise], low_wins) for noise in sorted(found)])


def runs(name: str, metric: str, decimals: str = "1") -> str:
    """Methods on each data set of an artifact, by the spread over its repetitions (of unpaired means)."""
    found: dict[tuple[str, str], dict[str, Estimate]] = {}
    for row in _summary(name, metric):  # the last x of a method stands
        estimate = Estimate(float(row["mean"]), float(row["se"] or "nan"), int(row["n"]) - 1)
        found.setdefault((row["dataset"], row["noise"]), {})[names.method(row["method"])] = estimate
    table = []
    for (data_set, noise), methods in found.items():
        low_wins = metric.endswith("error")
        ranked = sorted(methods, key=lambda m, of=methods, sign=1 if low_wins else -1: sign * of[m].mean)
        best = methods[ranked[0]]
        where = f"{names.data_set(data_set)}, {_noise(noise)}"
        shown = f"**{ranked[0]}** {best.mean:.{decimals}f}{' %' if low_wins else ''}"
        gaps = [(method, welch(methods[method], best)) for method in ranked[1:]]
        if low_wins and best.mean > 50:
            table.append(
                (where, "none", f"every method is worse than guessing ({best.mean:.0f} % or more)", "–")
            )
        elif best.df > 0:
            table.append((where, shown, *_against(gaps, low_wins)))
        else:
            rest = "; ".join(f"{method} {gap.mean:+.2f}".replace("-", "−") for method, gap in gaps)
            table.append((where, shown, "one realisation, no interval", rest))
    best_of = "lowest mean error" if metric.endswith("error") else "best"
    return _table(f"data set and noise | {best_of} | clearly behind | no clear difference", table)


def _noise(key: str) -> str:
    """A symmetric rate as it reads elsewhere on the page."""
    found = re.fullmatch(r"symmetric ([\d.]+)", key)
    return names.flips(f"independent {found[1]}") if found else names.noise(key)


def claims(name: str, *ids: str) -> str:
    """Statements with verdict, the estimate that decides and its interval, and where they were judged."""
    file = ROOT / "results/reference" / name / "verdicts.csv"
    rows = {row["id"]: row for row in read_verdicts(file) if is_claim(row)}
    return "\n".join(f"- {_claim(name, rows[key])}" for key in ids)


def _claim(name: str, row: dict[str, str]) -> str:
    link = f"[{row['id']}](../results/reference/{name}/verdicts.csv)"
    artifact = yaml.safe_load((ROOT / f"src/papers/{name}.yaml").read_text(encoding="utf-8"))
    x = names.x_axis(metric_of(row), artifact.get("protocol", ""))
    sentences = Sentences(lambda column, key: _NAMES.get(column, str)(key), x=x)
    measured = sentences.measured(row) if row["check"] and not row["missing"] else ""
    numbers = measured or f"{sentences.evidence(row)}."
    numbers = numbers[0].upper() + numbers[1:]
    return f"{row['statement']}: **{describe(row)}** ({link}). {numbers}"


def gallery(paper: str) -> str:
    """Every kept figure of a paper: picture, title and summary."""
    parts = []
    for thumb in sorted((ROOT / "figures/reference" / paper).glob("*.thumb.webp")):
        artifact = thumb.name.partition(".")[0]
        file = next(ROOT.glob(f"*/*/{paper}/{artifact}.yaml"))
        content = yaml.safe_load(file.read_text(encoding="utf-8"))
        picture = next(f for f in thumb.parent.glob(f"{artifact}.*") if f.suffix in (".svg", ".png"))
        link = f"../figures/reference/{paper}/{picture.name}"
        image = f"[![{content['summary']}](../figures/reference/{paper}/{thumb.name})]({link})"
        parts.append(f"{image}\n**[{content['title']}]({link})** {content['summary']}")
    return '<div class="gallery">\n\n' + "\n\n".join(parts) + "\n\n</div>"


def headlines(*papers: str) -> str:
    """The claims that `findings.yaml` names for the front page, by their archived verdicts."""
    rows = []
    for paper in papers:
        title = (HOME / paper / "TITLE").read_text(encoding="utf-8").strip()
        link = f"[{PAPERS[paper]}](src/papers/{paper}/page.md), *{_name_of(title)}*"
        rows.append((link, _summary_of(paper)))
    return _table("paper | what came out", rows)


def _name_of(title: str) -> str:
    """The name of a paper, of its line ``authors (year), name``."""
    _, mark, name = title.partition("), ")
    return name if mark else title


def _summary_of(paper: str) -> str:
    """The headlines of a paper in a line, by its archived verdicts."""
    files = artifact_files(HOME / paper)
    artifacts = [yaml.safe_load(file.read_text(encoding="utf-8")) for file in files]
    verdicts: list[Row] = []
    for file in files:
        verdicts += read_verdicts(ROOT / "results/reference" / paper / file.stem / "verdicts.csv")
    chosen = read_findings(HOME / paper).summary
    return write_summary(group_headlines(chosen, verdicts, list_short_texts(artifacts)))


def verdict_words() -> str:
    """The verdicts and their flags with what they mean, as a table."""
    rows = [(f"{verdict.symbol} {verdict.label}", verdict.definition) for verdict in VERDICTS.values()]
    rows += [(f"... ({word.replace('_', ' ')})", text) for word, text in FLAGS.items()]
    return _table("verdict | meaning", rows)


def bibtex() -> str:
    """The software and the papers of CITATION.cff as entries of BibTeX."""
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    software = cited | {"year": str(cited["date-released"])[:4], "key": "noisylabels"}
    return "\n\n".join(_entry(each) for each in [software, *cited["references"]])


def _entry(of: dict[str, Any]) -> str:
    kinds = {"software": "software", "article": "article", "conference-paper": "inproceedings"}
    people = [f"{a['family-names']}, {a['given-names']}" if "family-names" in a else f"{{{a['name']}}}"
              for a in of["authors"]]  # fmt: skip
    pages = f"{of['start']}--{of['end']}" if "start" in of else None
    fields = {
        "title": f"{{{of['title']}}}",
        "author": " and ".join(people),
        "journal": of.get("journal"),
        "booktitle": of.get("collection-title"),
        "volume": of.get("volume"),
        "number": of.get("issue"),
        "pages": pages,
        "year": of["year"],
        "version": of.get("version"),
        "doi": of.get("doi"),
        "note": of.get("notes"),
    }
    key = of.get("key") or f"{of['authors'][0]['family-names'].lower()}{of['year']}"
    key = re.sub(r"[^a-z0-9]", "", unicodedata.normalize("NFKD", key))  # BibTeX wants plain letters
    lines = [f"  {name} = {{{value}}}," for name, value in fields.items() if value is not None]
    return "\n".join(["```bibtex", f"@{kinds.get(of['type'], 'misc')}{{{key},", *lines, "}", "```"])


# Numbers of README and documentation, after marks: from the tables of the reference
#
# ``<!-- count reproduced: kernel_boost/rivals kernel_boost/boosters/boost_sym -->39``: rows with this verdict
# in the named tables; what follows the artifact is how the ids begin, and a paper alone is all its tables.
# ``<!-- counts sentence: ors -->`` and ``<!-- values: ors -->`` up to ``<!-- end -->``, within a line: cells
# of a table, see `_counts` and `_count_values`.
# ``<!-- mean robust_sgd/table1: a7a, symmetric 0.4, rgomp, error -->18.2``: the mean of the row of the
# summary with these labels, at the last x, with the decimals that are there.
# ``<!-- minutes: ors pnorm -->6``: minutes of one core that the reference of these papers took.
# ``<!-- distances: kernel_boost/rivals -->`` up to ``<!-- end -->``: a table of the distances to the
# published values by method.

COUNT = re.compile(r"(<!-- count (?P<verdict>[a-z_]+):(?P<tables>[^>]*) -->)(?P<number>[0-9]+)")
MEAN = re.compile(
    r"(<!-- mean (?P<name>\S+): (?P<words>[^>]*) -->)(?P<number>-?[0-9]+(?:\.(?P<decimals>[0-9]+))?)"
)
_TABLE = re.compile(r"(?P<start><!-- distances:(?P<tables>[^>]*) -->\n).*?(?P<end><!-- end -->)", re.S)
_COUNTS = re.compile(
    r"(<!-- counts (?P<kind>sentence|pattern|ours): (?P<paper>\w+) -->)[^\n]*?(?P<end><!-- end -->)"
)
_VALUES = re.compile(r"(<!-- values: (?P<paper>\w+) -->)[^\n]*?(?P<end><!-- end -->)")
_COST = re.compile(r"(<!-- minutes: (?P<papers>[\w ]+) -->)[0-9]+")
_COUNTED = (REPRODUCED, PARTIALLY_REPRODUCED, INCONCLUSIVE, NOT_REPRODUCED)
_LABELS = ("dataset", "noise", "setting", "method", "metric")
_DISTANCES = "method | artifact | noise / % | sets | mean distance, points | mean absolute distance | largest"
_VERDICTS = "artifact | claim | kind, place | verdict | in words | estimate [95 % CI] | criterion"


def _counted(text: str, folder: Path) -> str:
    """A text with every mark as ``<folder>/<paper>/<artifact>/{verdicts,summary}.csv`` have it.

    What quotes an artifact without tables stays as it is.
    Raises ValueError : a mean whose labels name no rows, or rows of more than one kind.
    """
    text = COUNT.sub(lambda found: _count(found, folder) or found[0], text)
    text = _COUNTS.sub(lambda found: _counts(found, folder) or found[0], text)
    text = _VALUES.sub(lambda found: _count_values(found, folder) or found[0], text)
    text = _COST.sub(lambda found: f"{found[1]}{_minutes(found, folder)}", text)
    text = MEAN.sub(lambda found: _quoted_mean(found, folder) or found[0], text)
    return _TABLE.sub(lambda found: _counts_table(found, folder) or found[0], text)


def _minutes(found: re.Match[str], folder: Path) -> str:
    files = [file for paper in found["papers"].split() for file in folder.glob(f"{paper}/*/record.json")]
    return f"{sum(facts(file).get('cost', {}).get('minutes', 0.0) for file in files):.0f}"


def _count(found: re.Match[str], folder: Path) -> str:
    total = 0
    for name in found["tables"].split():
        paper, artifact, *prefix = [*name.split("/"), "*"][: max(2, name.count("/") + 1)]
        files = sorted((folder / paper).glob(f"{artifact}/verdicts.csv"))
        if not files:
            return ""
        rows = [row for file in files for row in read_verdicts(file)]
        rows = [row for row in rows if row["id"].startswith("/".join(prefix))]
        total += sum(row["verdict"] == found["verdict"] for row in rows)
    return f"{found[1]}{total}"


def _counts(found: re.Match[str], folder: Path) -> str:
    """Claims of a kind by verdict, and what else there is."""
    claims = _deciding(folder / found["paper"], found["kind"])
    if claims is None:
        return ""
    counts = count_verdicts(claims)
    exact = sum(EXACT in list_flags(row) for row in claims)
    cells = [str(counts.pop(verdict, 0)) for verdict in _COUNTED]
    if exact:
        cells[0] += f" ({exact} exact)"
    return f"{found[1]}{' | '.join([*cells, str(sum(counts.values()))])}{found['end']}"


def _count_values(found: re.Match[str], folder: Path) -> str:
    """Published values by verdict, those with a neighbouring method alone, and the neighbour's."""
    values = _deciding(folder / found["paper"], PUBLISHED)
    if values is None:
        return ""
    values = [row for row in values if row["verdict"] in OF_A_VALUE]
    names = sorted({row["artifact"] for row in values})
    agreement = [folder / found["paper"] / name / "agreement.csv" for name in names]
    control = with_control(row for file in agreement for row in read_verdicts(file))
    counts = count_verdicts(values)
    by_verdict = [counts.get(verdict, 0) for verdict in OF_A_VALUE]
    cells = [" / ".join(map(str, each)) for each in (by_verdict, *control.values())]
    return f"{found[1]}{' | '.join(cells)}{found['end']}"


def _deciding(folder: Path, kind: str) -> list[Row] | None:
    """The rows of a kind that count among the verdicts of a paper; None if it has no verdicts."""
    files = sorted(folder.glob("*/verdicts.csv"))
    rows = select_deciding(row for file in files for row in read_verdicts(file))
    return [row for row in rows if row["kind"] == kind] if files else None


def _quoted_mean(found: re.Match[str], folder: Path) -> str:
    file, words = folder / found["name"] / "summary.csv", found["words"].split(", ")
    if not file.exists():
        return ""
    rows = [row for row in rows_of(file) if all(word in (row[key] for key in _LABELS) for word in words)]
    kinds = sorted({", ".join(filter(None, (row[key] for key in _LABELS))) for row in rows})
    if len(kinds) != 1:
        several = f"{len(kinds)} kinds of rows, such as {' and '.join(kinds[:2])}" if kinds else "no row"
        raise ValueError(f"{file}: {', '.join(words)} names {several}; it must name one")
    last = max(rows, key=lambda row: float(row["x"] or 0))
    return f"{found[1]}{float(last['mean']):.{len(found['decimals'] or '')}f}"


def _counts_table(found: re.Match[str], folder: Path) -> str:
    files = [folder / name / "verdicts.csv" for name in found["tables"].split()]
    if not files or not all(file.exists() for file in files):
        return ""
    lines = [cells for file in files for cells in _distances(file.parent.name, read_verdicts(file))]
    lines.sort(key=lambda cells: (cells[1].strip("`"), cells[0], int(cells[2])))
    return f"{found['start']}\n{_table(_DISTANCES, lines)}\n\n{found['end']}"


def verdicts(paper: str) -> str:
    """The claims of a paper with their verdicts, and the counts of its published values, as a table."""
    files = sorted((ROOT / "results/reference" / paper).glob("*/verdicts.csv"))
    lines = [cells for file in files for cells in _verdicts(file.parent.name, read_verdicts(file))]
    return _table(_VERDICTS, lines)


def _verdicts(artifact: str, rows: Sequence[Row]) -> Iterator[tuple[str, ...]]:
    """A line for all published values of an artifact, and one for each claim."""
    values = [row | {"origin": "paper"} for row in rows if row["kind"] == PUBLISHED]
    if values:
        counts = ", ".join(f"{n} {look_up(verdict).label}" for verdict, n in count_verdicts(values).items())
        yield f"`{artifact}`", "", "published", counts, f"{len(values)} published values", "", ""
    for row in rows:
        if is_claim(row):
            check, statement = value(row["check"]), row["statement"].replace("|", "\\|")
            asked = _asked(row, check) if check else ("", "")
            whose = f"weaker form of {row['form_of']}" if row["form_of"] else row["kind"]
            whose += f", {row['place']}" if row["place"] else ""
            after = " (found after looking)" if row["found_after"] else ""
            if (f"{row['paper']}/{artifact}", row["id"]) in list_late_claims():
                after += " (check written after results)"
            yield f"`{artifact}`", row["id"], whose + after, f"**{describe(row)}**", statement, *asked


@cache
def list_late_claims() -> set[tuple[str, str]]:
    """List artifact and id of the claims whose checks are younger than the first archived results."""
    rows = rows_of(ROOT / "workflow/recorded/claims.csv")
    return {(row["artifact"], row["claim"]) for row in rows if row["after_results"] == "yes"}


def _asked(row: Row, check: Mapping[str, Any]) -> tuple[str, str]:
    """Estimate and bound, on the scale on which sentences give them: of logarithms the ratio."""
    effect = STATISTICS[check["statistic"]].effect
    if effect and not trend_of(check):
        shown = [key for key in ("estimate", "ci_low", "ci_high") if row[key]]
        bounds = [key for key in ("above", "below") if key in check]
        row = {**row} | {key: str(effect.scale(float(row[key]))) for key in shown}
        check = {**check} | {key: effect.scale(check[key]) for key in bounds}
    return figure(row).replace("nan", ""), bound(check)


def _distances(artifact: str, rows: Sequence[Row]) -> Iterator[tuple[str, ...]]:
    """A line for each method and level of noise."""
    found: defaultdict[tuple[str, int], dict[str, float]] = defaultdict(dict)
    for row in rows:
        if row["kind"] == PUBLISHED:
            where = value(row["where"])
            percent = round(100 * float(listed(where["noise"])[-1].split()[-1]))
            found[where["method"], percent][where["dataset"]] = float(row["difference"])
    for (method, percent), gaps in found.items():
        farthest = max(gaps, key=lambda dataset: abs(gaps[dataset]))
        means = f"{fmean(gaps.values()):+.1f}", f"{fmean(map(abs, gaps.values())):.1f}"
        largest = f"{gaps[farthest]:+.1f}, {farthest.removeprefix('ida_').replace('_', ' ')}"
        yield method, f"`{artifact}`", str(percent), str(len(gaps)), *means, largest


def _named_as_in(paper: str, answer: Callable[..., str]) -> Callable[..., str]:
    """Let an answer use the names of a paper; "" is the paper of the artifact that it is asked about."""

    def named(*words: str) -> str:
        with names.using(HOME / (paper or words[0].partition("/")[0])):
            return answer(*words)

    return named


KINDS = {
    "kernels": _named_as_in("kernel_boost", kernels),
    "sets": _named_as_in("", sets),
    "runs": _named_as_in("", runs),
    "claims": _named_as_in("", claims),
    "bibtex": bibtex,
    "verdict_words": verdict_words,
    "headlines": headlines,
}


def data_sets() -> str:
    """Every data set of the registry, for the end of the page on data."""
    return registry.describe_data_sets(registry.load_registry(ROOT / "config/datasets.yaml"))


BUILT = KINDS | {
    "data_sets": data_sets,
    "gallery": gallery,
    "settings": key_tables.format_settings,
    "verdicts": verdicts,
    "vocabulary": key_tables.format_vocabulary,
}
"""What only the built pages hold."""


def built(text: str) -> str:
    """The page with the long tables that its file leaves out."""
    return _BUILT.sub(lambda found: BUILT[found[1]](*found[2].split()), text)


def read(app: Any, docname: str, source: list[str]) -> None:
    """Hook of Sphinx: today's answers, and links from kept numbers and figures to the pages of results."""
    source[0] = _KEPT.sub(r"[\1](/docs/results/\2_\3.rst)", built(filled(source[0])))


def quoting_pages() -> list[Path]:
    """List the pages that may quote the archived results: the README, the documentation, pages of papers."""
    return [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")), *paper_pages()]


def pages() -> list[Path]:
    """The pages that hold answers."""
    return [ROOT / f"docs/{page}.md" for page in PAGES]
