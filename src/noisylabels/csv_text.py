"""Strict reading of CSV text: every record unchanged, or one line that names the mistake.

A separator is found by parsing, quotes must be closed, names must differ, and records must be as
wide as the header. Nothing is guessed, filled or renamed.
"""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from noisylabels.safe_text import make_visible

SEPARATORS = (",", ";", "\t", "|")
LONGEST_FIELD = 1 << 30
"""Most characters of a field; the limit of the standard library, 131,072, is too low for texts."""
LOOKS_LIKE_UTF16 = "not UTF-8 text but perhaps UTF-16; save the CSV in UTF-8"
DECLARED_SEPARATOR = re.compile(r"sep=(.)\r?\n")
"""Pattern of the first line by which a spreadsheet names the separator."""
UTF8 = ("utf-8-sig",)
SPREADSHEET = ("utf-8-sig", "cp1252")
"""Encodings in which spreadsheets save text, in the order of trial."""


@dataclass(frozen=True)
class Records:
    """The records of a CSV file.

    Parameters
    ----------
    header : list of str
        Names of the columns, all different, with invisible characters made visible.
    rows : list of list of str
        Fields of each record below the header, without blanks around them.
    lines : list of int
        Line of the file, from 1, where each record begins.

    Examples
    --------
    >>> from noisylabels.csv_text import Records
    >>> Records(["length", "kind"], [["1.5", "red"], ["2.5", "green"]], [2, 3]).columns()
    {'length': ['1.5', '2.5'], 'kind': ['red', 'green']}
    """

    header: list[str]
    rows: list[list[str]]
    lines: list[int]

    def columns(self) -> dict[str, list[str]]:
        """Return the fields by column.

        Returns
        -------
        dict of str to list of str
            The fields of each column, by its name.
        """
        columns = {}
        for j, name in enumerate(self.header):
            columns[name] = [row[j] for row in self.rows]
        return columns


def read_records(
    path: Path, file: str, encodings: Sequence[str] = UTF8, *, fill_short_rows: bool = False
) -> Records:
    r"""Read a CSV file with a header line.

    Parameters
    ----------
    path : Path
        The file. Its separator is a comma, a semicolon, a tab or a bar, or the character that a
        first line such as ``sep=;`` declares.
    file : str
        How messages name it.
    encodings : sequence of str, default `UTF8`
        Encodings to try, in this order. A file that begins with the mark of UTF-16 is read as such
        only where more than UTF-8 is allowed.
    fill_short_rows : bool, default False
        Fill short records with empty fields, since spreadsheets drop empty fields at the end of a
        line.

    Returns
    -------
    Records
        The header and the records below it.

    Raises
    ------
    ValueError
        If the file cannot be read as text or as CSV, a record is not as wide as the header, or
        `check_header` refuses the header. The message names the line where the fault begins.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from noisylabels.csv_text import read_records
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "beans.csv")
    ...     characters = path.write_text("length;kind\n1,5;red\n2,5;green\n")
    ...     records = read_records(path, "beans.csv")
    >>> records.header, records.rows, records.lines
    (['length', 'kind'], [['1,5', 'red'], ['2,5', 'green']], [2, 3])
    """
    text = _decode(path.read_bytes(), file, encodings)
    declared = DECLARED_SEPARATOR.match(text)
    separator = declared[1] if declared else find_separator(text)
    records = _parse(text, separator, file)
    if declared:
        next(records)
    header: list[str] = []
    rows: list[list[str]] = []
    lines: list[int] = []
    for line, fields in records:
        if not header:
            header = [make_visible(name) for name in fields]
            continue
        missing = len(header) - len(fields)
        if missing > 0 and fill_short_rows:
            fields = fields + [""] * missing
        elif missing != 0:
            hint = ""
            if header[0].startswith("#"):
                hint = "; is its first line a comment? remove it"
            problem = f"{len(fields)} fields, the header has {len(header)}"
            raise ValueError(f"{file}, line {line}: {problem}{hint}")
        rows.append(fields)
        lines.append(line)
    check_header(header, file)
    return Records(header, rows, lines)


def read_header(lines: Iterable[str], file: str) -> list[str]:
    r"""Read the first record of comma-separated lines, without blanks around its fields.

    Parameters
    ----------
    lines : iterable of str
        The lines, of which no more are taken than the record needs.
    file : str
        How messages name the file.

    Returns
    -------
    list of str
        The fields.

    Raises
    ------
    ValueError
        If the file is empty, or its first record is not valid CSV.

    Examples
    --------
    >>> from noisylabels.csv_text import read_header
    >>> read_header(['"length, cm",kind\n', "1.5,red\n"], "beans.csv")
    ['length, cm', 'kind']
    """
    for _, fields in _parse(lines, ",", file):
        return fields
    raise ValueError(f"{file}: the file is empty; the first line should name the columns")


def find_separator(text: str) -> str:
    r"""Find the separator with which two records are equally wide, or the first one is widest.

    Parameters
    ----------
    text : str
        The text of the file.

    Returns
    -------
    str
        One of `SEPARATORS`; a comma if none splits the first record.

    Examples
    --------
    >>> from noisylabels.csv_text import find_separator
    >>> find_separator("length;kind\n1,5;red\n")
    ';'

    Notes
    -----
    Only the first two records are looked at. If they are equally wide with several separators, the
    one with which they are widest is chosen.
    """
    best = ","
    best_score = (False, 1)
    for separator in SEPARATORS:
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator)
        try:
            widths = [len(fields) for fields in islice(filter(None, reader), 2)]
        except csv.Error:
            continue  # the parser of the whole file reports this with its line
        if not widths or widths[0] < 2:
            continue
        score = (widths[0] == widths[-1], widths[0])
        if score > best_score:
            best = separator
            best_score = score
    return best


def check_header(header: Sequence[str], file: str) -> None:
    """Refuse a header that is empty, holds numbers only, or has a column without a unique name.

    Parameters
    ----------
    header : sequence of str
        Names of the columns.
    file : str
        How messages name the file.

    Raises
    ------
    ValueError
        If the header is refused. The message says which column is wrong, and what to do.

    Examples
    --------
    >>> from noisylabels.csv_text import check_header
    >>> check_header(["length", "length"], "beans.csv")
    Traceback (most recent call last):
    ...
    ValueError: beans.csv, line 1: columns 1 and 2 are both called 'length'; rename one
    """
    if not header:
        raise ValueError(f"{file}: the file is empty; the first line should name the columns")
    if all(is_number(name) for name in header):
        raise ValueError(f"{file}, line 1: numbers only; the first line should name the columns")
    if "" in header:
        number = header.index("") + 1
        raise ValueError(f"{file}, line 1: column {number} has no name; name it or remove it")
    for name, count in Counter(header).items():
        if count > 1:
            numbers = [str(j + 1) for j, column in enumerate(header) if column == name]
            columns = " and ".join(numbers)
            problem = f"columns {columns} are both called {name!r}"
            raise ValueError(f"{file}, line 1: {problem}; rename one")


def is_number(text: str) -> bool:
    """Decide whether a text is a number as in tables: "3", "1e-3", "nan", but not "1_000".

    Parameters
    ----------
    text : str
        The text.

    Returns
    -------
    bool
        Whether `float` reads it and it has no underscore.

    Examples
    --------
    >>> from noisylabels.csv_text import is_number
    >>> is_number("1e-3"), is_number("nan"), is_number("1_000")
    (True, True, False)
    """
    try:
        float(text)
    except ValueError:
        return False
    return "_" not in text  # float() accepts underscores


def _decode(content: bytes, file: str, encodings: Sequence[str]) -> str:
    if content[:2] in (b"\xff\xfe", b"\xfe\xff"):
        if len(encodings) == 1:
            raise ValueError(f"{file}, line 1: {LOOKS_LIKE_UTF16}")
        encodings = ("utf-16",)
    for encoding in encodings:
        try:
            text = content.decode(encoding)
        except UnicodeDecodeError as error:
            line = content.count(b"\n", 0, error.start) + 1
            continue
        if "\0" in text:
            raise ValueError(f"{file}, line 1: {LOOKS_LIKE_UTF16}")
        return text
    raise ValueError(f"{file}, line {line}: not UTF-8 text; save the CSV in UTF-8")


def _parse(text: Iterable[str], separator: str, file: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the line where each record begins, and its fields, but skip lines without a field."""
    csv.field_size_limit(LONGEST_FIELD)
    if isinstance(text, str):
        text = io.StringIO(_without_blanks_after_quotes(text, separator), newline="")
    reader = csv.reader(text, delimiter=separator, strict=True, skipinitialspace=True)
    line = 1
    try:
        for fields in reader:
            if fields:
                yield line, [field.strip() for field in fields]
            line = reader.line_num + 1
    except csv.Error as error:
        reason = str(error).replace("\t", "\\t")
        advice = "a field that begins with a quote must end with one; write a quote inside it twice"
        raise ValueError(f"{file}, line {line}: {reason} ({advice})") from None


def _without_blanks_after_quotes(text: str, separator: str) -> str:
    """Remove blanks behind a closing quote, which the strict reader refuses."""
    return re.sub(rf'(?<!")" +(?=[{re.escape(separator)}\r\n]|$)', '"', text)
