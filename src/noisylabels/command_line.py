"""The command `noisylabels`: it audits a table, and in a checkout also runs the experiments."""

import argparse
import importlib
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from noisylabels.auditing import command as audit

ENGINE = "reproduction.run.command_line"
"""Module with the commands of the experiments, which only a checkout has, next to the library."""
HELP = ("help", "-h", "--help")


class Command(NamedTuple):
    """A command with a parser for its words.

    Attributes
    ----------
    form : str
        Words that follow the name of the command.
    summary : str
        What the command does, in one sentence.
    run : callable
        Parses the words behind the name of the command, and runs it.
    """

    form: str
    """Words that follow the name of the command."""
    summary: str
    run: Callable[[list[str]], None]


def main(words: Sequence[str] | None = None) -> None:
    """Run a command.

    Parameters
    ----------
    words : sequence of str, optional
        What was typed behind the name of the program. By default it is that of the process.

    Raises
    ------
    SystemExit
        With one line if a command does not exist or cannot be obeyed.

    Examples
    --------
    >>> import contextlib
    >>> import io
    >>> from noisylabels.command_line import main
    >>> printed = io.StringIO()
    >>> with contextlib.redirect_stdout(printed):
    ...     main(["help"])
    >>> "audit FILE --label COLUMN" in printed.getvalue()
    True

    Notes
    -----
    Words that are not the name of a command start a run of the experiments in a checkout. Without a
    checkout no words at all print the help.
    """
    words = list(sys.argv[1:] if words is None else words)
    commands, run_anything = _load_engine()
    if words and words[0] == "audit":
        program = name_program()
        parser = argparse.ArgumentParser(prog=f"{program} audit", description=audit.SUMMARY)
        audit.add_arguments(parser)
        options = parser.parse_args(words[1:])
        audit.run(options, [program, "audit"], words[1:])
    elif words and words[0] in commands:
        commands[words[0]].run(words[1:])
    elif words[:1] and words[0] in HELP:
        print(describe(commands))
    elif run_anything is not None:
        run_anything(words)
    elif not words:
        print(describe(commands))
    else:
        sys.exit(f"noisylabels: there is no command {words[0]}; noisylabels help lists them")


def describe(commands: dict[str, Command]) -> str:
    """Write the help: for every command how it is typed and what it does.

    Parameters
    ----------
    commands : dict of str to Command
        The commands by name, without "audit", which is added.

    Returns
    -------
    str
        Two lines for each command, and one on further help.

    Examples
    --------
    >>> from noisylabels.command_line import describe
    >>> "audit FILE --label COLUMN" in describe({})
    True
    """
    program = name_program()
    audit_command = Command("FILE --label COLUMN", audit.SUMMARY, lambda words: None)
    lines = []
    for name, command in {**commands, "audit": audit_command}.items():
        lines.append(f"  {program} {name} {command.form}".rstrip())
        lines.append(f"      {command.summary}")
    lines.append(f"\n{program} COMMAND --help says more of a command.")
    return "\n".join(lines)


def name_program() -> str:
    """Name the program as the user typed it: ``./run`` in a checkout, else ``noisylabels``.

    Returns
    -------
    str
        The environment variable ``NOISYLABELS_COMMAND``, which ``./run`` sets, or "noisylabels".

    Examples
    --------
    >>> import os
    >>> from unittest.mock import patch
    >>> from noisylabels.command_line import name_program
    >>> with patch.dict(os.environ, NOISYLABELS_COMMAND="./run"):
    ...     name_program()
    './run'
    """
    return os.environ.get("NOISYLABELS_COMMAND") or "noisylabels"


def _load_engine() -> tuple[dict[str, Command], Callable[[list[str]], None] | None]:
    """Load the commands of the experiments, and what runs other words, in a checkout."""
    sources_of_library = Path(__file__).resolve().parents[1]
    engine_file = sources_of_library.joinpath(*ENGINE.split(".")).with_suffix(".py")
    if not engine_file.is_file():
        return {}, None
    sources = str(engine_file.parents[2])
    if sources not in sys.path:
        sys.path.insert(0, sources)
    engine = importlib.import_module(ENGINE)
    commands = {name: Command(*command) for name, command in engine.COMMANDS.items()}
    return commands, engine.run_workflow
