"""What pages quote from the archived results: numbers, the method chooser, the gallery, citations.

A page holds ``<!-- answer: KIND WORDS -->...<!-- end -->``, or a number after a mark, see below.
Long tables are not in the files: they replace the mark
``<!-- made when this page is built: KIND WORDS -->``.
``src/scripts/generate.py`` writes what belongs there, as does the build of the documentation; a
test fails while a page says something else. In the built pages a link to archived numbers or
figures leads to the page of the artifact.
"""

import csv
import re
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

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
from reproduction.show.headlines import (
    group_headlines,
    list_short_texts,
    read_findings,
    write_summary,
)
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
_ARCHIVED = re.compile(
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
    """Fill a page with the numbers and answers of today's archive, or of another folder."""
    text = _fill_marks(text, folder or ROOT / "results/reference")

    def answer(mark: re.Match[str]) -> str:
        start, kind, words, end = mark.groups()
        return f"{start}\n{KINDS[kind](*words.split())}\n\n{end}"

    return _MARK.sub(answer, text)


def _table(head: str, rows: Sequence[tuple[str, ...]]) -> str:
    columns = head.split(" | ")
    lines = [columns, ["---"] * len(columns), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _summary(name: str, metric: str) -> list[dict[str, str]]:
    path = ROOT / "results/reference" / name / "summary.csv"
    with path.open(encoding="utf-8", newline="") as file:
        return [row for row in csv.DictReader(file) if row["metric"] == metric]


def _read_yaml(file: Path) -> Any:
    return yaml.safe_load(file.read_text(encoding="utf-8"))


def _read_all(files: Iterable[Path]) -> list[Row]:
    """Read the verdicts, or the agreement, of several files."""
    rows: list[Row] = []
    for file in files:
        rows += read_verdicts(file)
    return rows


def _with_minus(text: str) -> str:
    return text.replace("-", "−")


def _against(gaps: list[tuple[str, Estimate]], low_wins: bool) -> tuple[str, str]:
    """List methods clearly behind the best, and those whose interval of the difference holds 0."""
    behind = []
    close = []
    digits = 1 if low_wins else 2
    for name, gap in gaps:
        low, high = t_interval(gap)
        is_clear = low > 0 if low_wins else high < 0
        interval = f"[{low:+.{digits}f}, {high:+.{digits}f}]"
        figures = _with_minus(f"{gap.mean:+.{digits}f} {interval}")
        group = behind if is_clear else close
        group.append(f"{name} {figures}")
    return "<br>".join(behind) or "none", "<br>".join(close) or "none"


def _rank(means: Mapping[str, float], low_wins: bool) -> list[str]:
    """Sort methods, the best first."""
    return sorted(means, key=lambda method: means[method] if low_wins else -means[method])


def _row(label: str, means: Means, low_wins: bool = True) -> tuple[str, ...]:
    """Write the best method on average over data sets, and how far the others differ, in pairs."""
    average = {}
    for method, mean_of_set in means.items():
        average[method] = mean_se(list(mean_of_set.values())).mean
    best, *others = _rank(average, low_wins)
    gaps = []
    for method in others:
        differences = [means[method][name] - mean for name, mean in means[best].items()]
        gaps.append((method, mean_se(differences)))
    shown = f"{average[best]:.1f} %" if low_wins else f"{average[best]:.2f}"
    return (label, f"**{best}** {shown}", *_against(gaps, low_wins))


def _count_training_rows(data_set: str) -> int:
    """Read the training rows of a data set of IDA from its title in the registry."""
    title = _read_yaml(ROOT / "config/datasets.yaml")["datasets"][data_set]["title"]
    match = re.search(r"splits (\d+) \+", title)
    assert match is not None, f"config/datasets.yaml: {data_set}: title: names no training rows"
    return int(match[1])


def kernels(fewest_rows: str, most_rows: str) -> str:
    """Compare kernel classifiers on the data sets of IDA that have so many training rows."""
    rows = _summary("kernel_boost/rivals", "error")
    rows = [row for row in rows if row["setting"] != "cv"]  # trusted labels choose in all others
    counts = {}
    for dataset in sorted({row["dataset"] for row in rows}):
        count = _count_training_rows(dataset)
        if int(fewest_rows) <= count <= int(most_rows):
            counts[dataset] = count
    means_by_noise: dict[str, Means] = {}
    for row in rows:
        if row["dataset"] in counts:
            means = means_by_noise.setdefault(row["noise"], {})
            mean_of_set = means.setdefault(names.method(row["method"]), {})
            mean_of_set[row["dataset"]] = float(row["mean"])
    table = []
    for noise, means in sorted(means_by_noise.items()):
        table.append((*_row(names.noise(noise), means), _missing(means_by_noise, noise)))
    head = "flips | lowest mean error | clearly behind | no clear difference | not measured"
    listed_sets = [f"{names.data_set(dataset)} {count}" for dataset, count in counts.items()]
    introduction = f"{len(counts)} data sets (training rows): {', '.join(listed_sets)}."
    return f"{introduction}\n\n{_table(head, table)}"


def _missing(means_by_noise: Mapping[str, Means], noise: str) -> str:
    """List the methods that were measured with another noise only."""
    methods: set[str] = set()
    for means in means_by_noise.values():
        methods |= set(means)
    return ", ".join(sorted(methods - set(means_by_noise[noise]))) or "–"


def sets(name: str, metric: str, *settings: str) -> str:
    """Compare methods on the data sets of an artifact for every kind of noise, in some settings."""
    wanted = " ".join(settings).split("_")
    scale = 100 if metric == "absolute_error" else 1
    means_by_noise: dict[str, Means] = {}
    for row in _summary(name, metric):
        if settings and row["setting"] not in wanted:
            continue
        words = [names.method(row["method"]), names.setting(row["setting"])]
        method = " · ".join(filter(None, words))
        means = means_by_noise.setdefault(row["noise"], {})
        means.setdefault(method, {})[row["dataset"]] = float(row["mean"]) * scale
    low_wins = metric in ("error", "absolute_error")
    best_of_metric = {
        "error": "lowest mean error",
        "absolute_error": "lowest mean distance, in points",
    }
    best = best_of_metric.get(metric, "best")
    head = f"noise | {best} | clearly behind | no clear difference"
    table = []
    for noise, means in sorted(means_by_noise.items()):
        table.append(_row(names.noise(noise), means, low_wins))
    return _table(head, table)


def runs(name: str, metric: str, decimals: str = "1") -> str:
    """Compare methods on each data set of an artifact, by the spread over its repetitions.

    The means are not paired.
    """
    low_wins = metric.endswith("error")
    estimates_by_case: dict[tuple[str, str], dict[str, Estimate]] = {}
    for row in _summary(name, metric):  # the last x of a method replaces the others
        estimate = Estimate(float(row["mean"]), float(row["se"] or "nan"), int(row["n"]) - 1)
        estimates = estimates_by_case.setdefault((row["dataset"], row["noise"]), {})
        estimates[names.method(row["method"])] = estimate
    table = []
    for (data_set, noise), estimates in estimates_by_case.items():
        case = f"{names.data_set(data_set)}, {_noise(noise)}"
        table.append((case, *_compare_estimates(estimates, low_wins, decimals)))
    best_of = "lowest mean error" if low_wins else "best"
    return _table(f"data set and noise | {best_of} | clearly behind | no clear difference", table)


def _compare_estimates(
    estimates: Mapping[str, Estimate], low_wins: bool, decimals: str
) -> tuple[str, str, str]:
    """Write the best method, those clearly behind, and those without a clear difference."""
    means = {method: estimate.mean for method, estimate in estimates.items()}
    best, *others = _rank(means, low_wins)
    best_estimate = estimates[best]
    gaps = [(method, welch(estimates[method], best_estimate)) for method in others]
    if low_wins and best_estimate.mean > 50:
        problem = f"every method is worse than guessing ({best_estimate.mean:.0f} % or more)"
        return "none", problem, "–"
    unit = " %" if low_wins else ""
    shown = f"**{best}** {best_estimate.mean:.{decimals}f}{unit}"
    if best_estimate.df > 0:
        return (shown, *_against(gaps, low_wins))
    differences = [_with_minus(f"{method} {gap.mean:+.2f}") for method, gap in gaps]
    return shown, "one realisation, no interval", "; ".join(differences)


def _noise(key: str) -> str:
    """Name a symmetric rate as other tables of the page do."""
    match = re.fullmatch(r"symmetric ([\d.]+)", key)
    return names.flips(f"independent {match[1]}") if match else names.noise(key)


def claims(name: str, *ids: str) -> str:
    """List claims with verdict, the estimate that decides and its interval, and their source."""
    file = ROOT / "results/reference" / name / "verdicts.csv"
    rows = {row["id"]: row for row in read_verdicts(file) if is_claim(row)}
    return "\n".join(f"- {_claim(name, rows[key])}" for key in ids)


def _claim(name: str, row: dict[str, str]) -> str:
    link = f"[{row['id']}](../results/reference/{name}/verdicts.csv)"
    artifact = _read_yaml(ROOT / f"src/papers/{name}.yaml")
    x = names.x_axis(metric_of(row), artifact.get("protocol", ""))
    sentences = Sentences(lambda column, key: _NAMES.get(column, str)(key), x=x)
    measured = sentences.measured(row) if row["check"] and not row["missing"] else ""
    numbers = measured or f"{sentences.evidence(row)}."
    numbers = numbers[0].upper() + numbers[1:]
    return f"{row['statement']}: **{describe(row)}** ({link}). {numbers}"


def gallery(paper: str) -> str:
    """Show every archived figure of a paper: picture, title and summary."""
    folder = ROOT / "figures/reference" / paper
    address = f"../figures/reference/{paper}"
    parts = []
    for thumbnail in sorted(folder.glob("*.thumb.webp")):
        artifact, _, _ = thumbnail.name.partition(".")
        content = _read_yaml(next(ROOT.glob(f"*/*/{paper}/{artifact}.yaml")))
        files = folder.glob(f"{artifact}.*")
        picture = next(file for file in files if file.suffix in (".svg", ".png"))
        link = f"{address}/{picture.name}"
        image = f"[![{content['summary']}]({address}/{thumbnail.name})]({link})"
        parts.append(f"{image}\n**[{content['title']}]({link})** {content['summary']}")
    return '<div class="gallery">\n\n' + "\n\n".join(parts) + "\n\n</div>"


def headlines(*papers: str) -> str:
    """Write the claims that `findings.yaml` names for the front page, by archived verdicts."""
    rows = []
    for paper in papers:
        title = (HOME / paper / "TITLE").read_text(encoding="utf-8").strip()
        link = f"[{PAPERS[paper]}](src/papers/{paper}/page.md), *{_name_of(title)}*"
        rows.append((link, _summary_of(paper)))
    return _table("paper | what came out", rows)


def _name_of(title: str) -> str:
    """Take the name of a paper from its line ``authors (year), name``."""
    _, mark, name = title.partition("), ")
    return name if mark else title


def _summary_of(paper: str) -> str:
    """Write the headlines of a paper in a line, by its archived verdicts."""
    files = artifact_files(HOME / paper)
    archive = ROOT / "results/reference" / paper
    verdicts = _read_all(archive / file.stem / "verdicts.csv" for file in files)
    texts = list_short_texts([_read_yaml(file) for file in files])
    ids = read_findings(HOME / paper).summary
    return write_summary(group_headlines(ids, verdicts, texts))


def verdict_words() -> str:
    """Write the verdicts and their flags with what they mean, as a table."""
    rows = []
    for verdict in VERDICTS.values():
        rows.append((f"{verdict.symbol} {verdict.label}", verdict.definition))
    for word, text in FLAGS.items():
        rows.append((f"... ({word.replace('_', ' ')})", text))
    return _table("verdict | meaning", rows)


def bibtex() -> str:
    """Write the software and the papers of CITATION.cff as entries of BibTeX."""
    software = _read_yaml(ROOT / "CITATION.cff")
    references = software["references"]
    software["year"] = str(software["date-released"])[:4]
    software["key"] = "noisylabels"
    return "\n\n".join(_entry(work) for work in [software, *references])


BIBTEX_KINDS = {
    "software": "software",
    "article": "article",
    "conference-paper": "inproceedings",
}


def _name_author(author: Mapping[str, str]) -> str:
    if "family-names" in author:
        return f"{author['family-names']}, {author['given-names']}"
    return f"{{{author['name']}}}"


def _make_bibtex_key(work: Mapping[str, Any]) -> str:
    """Make a key of plain letters and digits, as BibTeX wants."""
    key = work.get("key")
    if not key:
        key = f"{work['authors'][0]['family-names'].lower()}{work['year']}"
    return re.sub(r"[^a-z0-9]", "", unicodedata.normalize("NFKD", key))


def _entry(work: Mapping[str, Any]) -> str:
    fields = {
        "title": f"{{{work['title']}}}",
        "author": " and ".join(_name_author(author) for author in work["authors"]),
        "journal": work.get("journal"),
        "booktitle": work.get("collection-title"),
        "volume": work.get("volume"),
        "number": work.get("issue"),
        "pages": f"{work['start']}--{work['end']}" if "start" in work else None,
        "year": work["year"],
        "version": work.get("version"),
        "doi": work.get("doi"),
        "note": work.get("notes"),
    }
    lines = [f"  {name} = {{{value}}}," for name, value in fields.items() if value is not None]
    kind = BIBTEX_KINDS.get(work["type"], "misc")
    opening = f"@{kind}{{{_make_bibtex_key(work)},"
    return "\n".join(["```bibtex", opening, *lines, "}", "```"])


# Numbers of README and documentation, after marks: from the tables of the archive
#
# ``<!-- count reproduced: kernel_boost/rivals kernel_boost/boosters/boost_sym -->39``: rows with
# this verdict in the named tables; what follows the artifact is how the ids begin, and a paper
# alone is all its tables.
# ``<!-- counts sentence: ors -->`` and ``<!-- values: ors -->`` up to ``<!-- end -->``, in a line:
# cells of a table, see `_count_claims` and `_count_values`.
# ``<!-- mean robust_sgd/table1: a7a, symmetric 0.4, rgomp, error -->18.2``: the mean of the row of
# the summary with these labels, at the last x, with as many decimals as the page has.
# ``<!-- minutes: ors pnorm -->6``: minutes of one core that the archived run of these papers took;
# ``<!-- minutes: robust_sgd/table1 -->21``: those of one result.
# ``<!-- distances: kernel_boost/rivals -->`` up to ``<!-- end -->``: a table of the distances to
# the published values by method.

COUNT = re.compile(r"(<!-- count (?P<verdict>[a-z_]+):(?P<tables>[^>]*) -->)(?P<number>[0-9]+)")
MEAN = re.compile(
    r"(<!-- mean (?P<name>\S+): (?P<words>[^>]*) -->)"
    r"(?P<number>-?[0-9]+(?:\.(?P<decimals>[0-9]+))?)"
)
_TABLE = re.compile(
    r"(?P<start><!-- distances:(?P<tables>[^>]*) -->\n).*?(?P<end><!-- end -->)",
    re.DOTALL,
)
_COUNTS = re.compile(
    r"(<!-- counts (?P<kind>sentence|pattern|ours): (?P<paper>\w+) -->)"
    r"[^\n]*?(?P<end><!-- end -->)"
)
_VALUES = re.compile(r"(<!-- values: (?P<paper>\w+) -->)[^\n]*?(?P<end><!-- end -->)")
_COST = re.compile(r"(<!-- minutes: (?P<names>[\w/ ]+) -->)[0-9]+")
_COUNTED = (REPRODUCED, PARTIALLY_REPRODUCED, INCONCLUSIVE, NOT_REPRODUCED)
_LABELS = ("dataset", "noise", "setting", "method", "metric")
_MEAN_DISTANCES = "mean distance, points | mean absolute distance"
_DISTANCES = f"method | artifact | noise / % | sets | {_MEAN_DISTANCES} | largest"
_VERDICTS = "artifact | claim | kind, place | verdict | in words | estimate [95 % CI] | criterion"


def _fill_marks(text: str, folder: Path) -> str:
    """Fill every mark with what ``<folder>/<paper>/<artifact>/{verdicts,summary}.csv`` have.

    What quotes an artifact without tables stays as it is. Raises ValueError: the labels of a mean
    name no rows, or rows of more than one kind.
    """
    for pattern, write in (
        (COUNT, _count_verdict),
        (_COUNTS, _count_claims),
        (_VALUES, _count_values),
        (_COST, _sum_minutes),
        (MEAN, _quote_mean),
        (_TABLE, _write_distances),
    ):
        text = pattern.sub(lambda mark, write=write: write(mark, folder) or mark[0], text)
    return text


def _sum_minutes(mark: re.Match[str], folder: Path) -> str | None:
    minutes = []
    for name in mark["names"].split():
        results = name if "/" in name else f"{name}/*"
        for file in folder.glob(f"{results}/record.json"):
            minutes.append(facts(file).get("cost", {}).get("minutes", 0.0))
    return f"{mark[1]}{sum(minutes):.0f}" if minutes else None


def _count_verdict(mark: re.Match[str], folder: Path) -> str:
    """Count rows with a verdict in ``<paper>``, ``<paper>/<artifact>`` or with a prefix of ids."""
    total = 0
    for name in mark["tables"].split():
        paper, _, table = name.partition("/")
        artifact, _, prefix = table.partition("/")
        files = sorted((folder / paper).glob(f"{artifact or '*'}/verdicts.csv"))
        if not files:
            return ""
        for row in _read_all(files):
            if row["id"].startswith(prefix) and row["verdict"] == mark["verdict"]:
                total += 1
    return f"{mark[1]}{total}"


def _count_claims(mark: re.Match[str], folder: Path) -> str:
    """Count claims of a kind by verdict, and in the last cell those with any other verdict."""
    claims = _read_deciding(folder / mark["paper"], mark["kind"])
    if claims is None:
        return ""
    counts = count_verdicts(claims)
    cells = [str(counts.pop(verdict, 0)) for verdict in _COUNTED]
    n_exact = sum(EXACT in list_flags(row) for row in claims)
    if n_exact:
        cells[0] += f" ({n_exact} exact)"
    cells.append(str(sum(counts.values())))
    return f"{mark[1]}{' | '.join(cells)}{mark['end']}"


def _count_values(mark: re.Match[str], folder: Path) -> str:
    """Count published values by verdict, those with a neighbouring method alone, and its own."""
    values = _read_deciding(folder / mark["paper"], PUBLISHED)
    if values is None:
        return ""
    values = [row for row in values if row["verdict"] in OF_A_VALUE]
    artifacts = sorted({row["artifact"] for row in values})
    files = [folder / mark["paper"] / artifact / "agreement.csv" for artifact in artifacts]
    controls = with_control(_read_all(files))
    counts = count_verdicts(values)
    by_verdict = [counts.get(verdict, 0) for verdict in OF_A_VALUE]
    cells = []
    for numbers in (by_verdict, *controls.values()):
        cells.append(" / ".join(map(str, numbers)))
    return f"{mark[1]}{' | '.join(cells)}{mark['end']}"


def _read_deciding(folder: Path, kind: str) -> list[Row] | None:
    """Read the rows of a kind that count among the verdicts of a paper; None without verdicts."""
    files = sorted(folder.glob("*/verdicts.csv"))
    if not files:
        return None
    return [row for row in select_deciding(_read_all(files)) if row["kind"] == kind]


def _quote_mean(mark: re.Match[str], folder: Path) -> str:
    file = folder / mark["name"] / "summary.csv"
    if not file.exists():
        return ""
    words = set(mark["words"].split(", "))
    rows = []
    kinds = set()
    for row in rows_of(file):
        labels = [row[column] for column in _LABELS]
        if words <= set(labels):
            rows.append(row)
            kinds.add(", ".join(filter(None, labels)))
    if len(kinds) != 1:
        several = "no row"
        if kinds:
            several = f"{len(kinds)} kinds of rows, such as {' and '.join(sorted(kinds)[:2])}"
        raise ValueError(f"{file}: {mark['words']} names {several}; it must name one")
    at_end = max(rows, key=lambda row: float(row["x"] or 0))
    places = len(mark["decimals"] or "")
    return f"{mark[1]}{float(at_end['mean']):.{places}f}"


def _write_distances(mark: re.Match[str], folder: Path) -> str:
    files = [folder / name / "verdicts.csv" for name in mark["tables"].split()]
    if not files or not all(file.exists() for file in files):
        return ""
    distances: list[Distance] = []
    for file in files:
        distances += _measure_distances(file.parent.name, read_verdicts(file))
    distances.sort(key=lambda distance: (distance.artifact, distance.method, distance.percent))
    table = _table(_DISTANCES, [distance.cells for distance in distances])
    return f"{mark['start']}\n{table}\n\n{mark['end']}"


def verdicts(paper: str) -> str:
    """Write the claims of a paper with their verdicts, and counts of its published values."""
    files = sorted((ROOT / "results/reference" / paper).glob("*/verdicts.csv"))
    lines: list[tuple[str, ...]] = []
    for file in files:
        lines += _verdicts(file.parent.name, read_verdicts(file))
    return _table(_VERDICTS, lines)


def _verdicts(artifact: str, rows: Sequence[Row]) -> Iterator[tuple[str, ...]]:
    """Yield a line for all published values of an artifact, and one for each claim."""
    name = f"`{artifact}`"
    values = [row | {"origin": "paper"} for row in rows if row["kind"] == PUBLISHED]
    if values:
        counts = []
        for verdict, count in count_verdicts(values).items():
            counts.append(f"{count} {look_up(verdict).label}")
        yield name, "", "published", ", ".join(counts), f"{len(values)} published values", "", ""
    for row in rows:
        if not is_claim(row):
            continue
        check = value(row["check"])
        figures = _write_estimate(row, check) if check else ("", "")
        statement = row["statement"].replace("|", "\\|")
        verdict = f"**{describe(row)}**"
        yield name, row["id"], _describe_origin(artifact, row), verdict, statement, *figures


def _describe_origin(artifact: str, row: Row) -> str:
    """Write the kind and the place of a claim, and whether it was written after results."""
    origin = f"weaker form of {row['form_of']}" if row["form_of"] else row["kind"]
    if row["place"]:
        origin += f", {row['place']}"
    if row["found_after"]:
        origin += " (found after looking)"
    if (f"{row['paper']}/{artifact}", row["id"]) in list_late_claims():
        origin += " (check written after results)"
    return str(origin)


@cache
def list_late_claims() -> set[tuple[str, str]]:
    """List artifact and id of the claims whose checks are younger than the first results."""
    late = set()
    for row in rows_of(ROOT / "workflow/recorded/claims.csv"):
        if row["after_results"] == "yes":
            late.add((row["artifact"], row["claim"]))
    return late


def _write_estimate(row: Row, check: Mapping[str, Any]) -> tuple[str, str]:
    """Write estimate and bound on the scale of the sentences: of logarithms the ratio."""
    effect = STATISTICS[check["statistic"]].effect
    if effect and not trend_of(check):
        row = dict(row)
        for key in ("estimate", "ci_low", "ci_high"):
            if row[key]:
                row[key] = str(effect.scale(float(row[key])))
        check = dict(check)
        for key in ("above", "below"):
            if key in check:
                check[key] = effect.scale(check[key])
    return figure(row).replace("nan", ""), bound(check)


class Distance(NamedTuple):
    """Distances of a method to the published values at one level of noise."""

    artifact: str
    method: str
    percent: int
    gaps: dict[str, float]

    @property
    def cells(self) -> tuple[str, ...]:
        """The line of a table."""
        gaps = self.gaps
        farthest = max(gaps, key=lambda dataset: abs(gaps[dataset]))
        return (
            self.method,
            f"`{self.artifact}`",
            str(self.percent),
            str(len(gaps)),
            f"{fmean(gaps.values()):+.1f}",
            f"{fmean(map(abs, gaps.values())):.1f}",
            f"{gaps[farthest]:+.1f}, {names.data_set(farthest)}",
        )


def _measure_distances(artifact: str, rows: Sequence[Row]) -> Iterator[Distance]:
    """Yield the distances of each method at each level of noise."""
    gaps_by_case: defaultdict[tuple[str, int], dict[str, float]] = defaultdict(dict)
    for row in rows:
        if row["kind"] == PUBLISHED:
            selector = value(row["where"])
            rate = float(listed(selector["noise"])[-1].split()[-1])
            gaps = gaps_by_case[selector["method"], round(100 * rate)]
            gaps[selector["dataset"]] = float(row["difference"])
    for (method, percent), gaps in gaps_by_case.items():
        yield Distance(artifact, method, percent, gaps)


def _named_as_in(paper: str, answer: Callable[..., str]) -> Callable[..., str]:
    """Let an answer use the names of a paper; "" is the paper of its first word, an artifact."""

    def named(*words: str) -> str:
        folder = paper or words[0].partition("/")[0]
        with names.using(HOME / folder):
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
    """Describe every data set of the registry, for the end of the page on data."""
    entries = registry.load_registry(ROOT / "config/datasets.yaml")
    return registry.describe_data_sets(entries)


BUILT = KINDS | {
    "data_sets": data_sets,
    "gallery": gallery,
    "settings": key_tables.format_settings,
    "verdicts": verdicts,
    "vocabulary": key_tables.format_vocabulary,
}
"""What only the built pages hold."""


def built(text: str) -> str:
    """Add the long tables that the file of a page leaves out."""
    return _BUILT.sub(lambda mark: BUILT[mark[1]](*mark[2].split()), text)


def read(app: Any, docname: str, source: list[str]) -> None:
    """Fill a page for Sphinx with today's answers, and link archived files to pages of results."""
    text = built(filled(source[0]))
    source[0] = _ARCHIVED.sub(r"[\1](/docs/results/\2_\3.rst)", text)


def quoting_pages() -> list[Path]:
    """List the pages that may quote the archive: README, documentation, pages of papers."""
    documentation = sorted((ROOT / "docs").rglob("*.md"))
    return [ROOT / "README.md", *documentation, *paper_pages()]


def pages() -> list[Path]:
    """List the pages that hold answers."""
    return [ROOT / f"docs/{page}.md" for page in PAGES]
