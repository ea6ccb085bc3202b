"""Folders that users name for results, accepted only if no file of theirs can be lost."""

from collections.abc import Iterable
from pathlib import Path

MARK = ".noisylabels"
"""File that a command writes into its folder first; its first line names the command."""
EARLIER_MARK = "audit.txt"
"""File with the same first line in a folder of an audit by version 1."""
MOST_NAMED = 3
"""Number of the user's files that a message names."""


def claim_output_folder(folder: Path, command: str, inputs: Iterable[Path] = ()) -> None:
    """Make a folder for results, or accept one that is empty or that the same command made.

    Parameters
    ----------
    folder : Path
        The folder, as the user names it.
    command : str
        The command that fills it, such as "audit". The mark of the folder names it.
    inputs : iterable of Path, optional
        Files of the user's that the command reads. The folder must not hold them.

    Raises
    ------
    ValueError
        If the folder holds other files or an input, is a file, or cannot be written.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from noisylabels.output_folder import claim_output_folder
    >>> folder = Path(tempfile.mkdtemp())
    >>> claim_output_folder(folder / "new", "audit")
    >>> claim_output_folder(folder / "new", "audit")
    >>> claim_output_folder(folder, "audit")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    ValueError: --out: ... holds files that are not from an audit (new); name a new folder
    """
    from noisylabels.safe_text import make_visible

    shown = make_visible(folder)
    mark = f"noisylabels {command}"
    try:
        if folder.exists() and not folder.is_dir():
            raise ValueError(f"--out: {shown} is a file; name a folder")
        foreign = _list_foreign_files(folder, mark)
        if foreign:
            listed = ", ".join(map(make_visible, foreign[:MOST_NAMED]))
            article = "an" if command[0] in "aeiou" else "a"
            problem = f"holds files that are not from {article} {command}"
            raise ValueError(f"--out: {shown} {problem} ({listed}); name a new folder")
        for file in inputs:
            if file.resolve().parent == folder.resolve():
                name = make_visible(file.name)
                raise ValueError(f"--out: {shown} holds {name}, which is read; name another folder")
        folder.mkdir(parents=True, exist_ok=True)
        (folder / MARK).write_text(f"{mark}: the next one overwrites its files\n", encoding="utf-8")
    except OSError as error:
        reason = error.strerror
        problem = f"{shown} cannot be written ({reason})"
        raise ValueError(f"--out: {problem}; name another folder") from None


def _list_foreign_files(folder: Path, mark: str) -> list[str]:
    """List what is in a folder without the mark; nothing if the folder does not exist."""
    if not folder.exists():
        return []
    for name in (MARK, EARLIER_MARK):
        if _begins_with(folder / name, mark):
            return []
    return sorted(entry.name for entry in folder.iterdir())


def _begins_with(file: Path, mark: str) -> bool:
    if not file.is_file():
        return False
    with file.open("rb") as content:
        return content.read(len(mark)) == mark.encode()
