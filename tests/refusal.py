"""A command that is refused: one line on standard error, exit code 2, and nothing else."""

import io
from contextlib import redirect_stderr, redirect_stdout

from harness.commands.cli import main

PREFIX = "clusterlift: error: "


def refusal(*arguments: str) -> str:
    """Return why a command is refused: the only line that it prints, without the program's name."""
    with redirect_stdout(io.StringIO()) as output, redirect_stderr(io.StringIO()) as errors:
        code = main(list(arguments))
    [line] = errors.getvalue().splitlines()
    assert (code, output.getvalue()) == (2, "")
    assert line.startswith(PREFIX)
    assert line.isprintable()
    return line.removeprefix(PREFIX)
