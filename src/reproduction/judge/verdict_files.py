"""The verdicts of a run, read from its files: for one result or for its paper.

The page of a run reads them too and must be quick, so nothing numerical is imported.
"""

import csv
from pathlib import Path

from reproduction.plan.code_digest import digest_bytes
from reproduction.run import records
from reproduction.spec.verdict_words import convert_old_words

Row = dict[str, str]


def read_verdicts(file: Path) -> list[Row]:
    """Read rows of verdicts or agreement, with old words replaced; empty without a file."""
    if not file.is_file():
        return []
    with file.open(encoding="utf-8", newline="") as lines:
        return [convert_old_words(row) for row in csv.DictReader(lines)]


def verify_output(file: Path) -> None:
    """Check that a file of a run is the one that its record describes.

    Parameters
    ----------
    file : Path
        The file.

    Raises
    ------
    ValueError
        If no record describes it, or it is another file; the message says what to do.
    """
    if records.record_of(file) is None:
        raise ValueError(f"{file} has no record of what it was made from; run again")
    records.verify(file)


class VerdictFiles:
    """The files with verdicts of a run, each of which is read once.

    Parameters
    ----------
    root : Path
        Folder of the run.
    results : str
        Its folder with results, such as ``results/full``.
    """

    def __init__(self, root: Path, results: str) -> None:
        self.root = root
        self.results = results
        self._read: dict[Path, dict[str, list[Row]]] = {}

    def rows(self, name: str, file: str = "verdicts.csv") -> list[Row]:
        """Find the rows of a result in the verdicts on its present table.

        Parameters
        ----------
        name : str
            The result, ``<paper>/<artifact>``.
        file : {"verdicts.csv", "agreement.csv"}
            Name of the files.

        Returns
        -------
        list of dict
            The rows; empty if it was not judged since its table was made.

        Raises
        ------
        ValueError
            If a file is not the one of its record, or has none.
        """
        table = f"{self.results}/{name}/table.csv"
        for scope in (name, name.partition("/")[0]):
            path = self.root / self.results / scope / file
            rows = self._by_result(path).get(name, [])
            if rows and self._is_of_table(path, table):
                return rows
        return []

    def _by_result(self, path: Path) -> dict[str, list[Row]]:
        if path not in self._read:
            rows_by_result: dict[str, list[Row]] = {}
            for row in read_verdicts(path):
                name = f"{row['paper']}/{row['artifact']}"
                rows_by_result.setdefault(name, []).append(row)
            self._read[path] = rows_by_result
        return self._read[path]

    def _is_of_table(self, path: Path, table: str) -> bool:
        """Were the verdicts in a file reached from the present table?"""
        verify_output(path)
        record = records.record_of(path)
        judged = None
        if record is not None:
            judged = records.read_record(record)["decides"]["inputs"].get(table)
        present_table = self.root / table
        if not present_table.is_file():
            return True
        return bool(judged == digest_bytes(present_table))
