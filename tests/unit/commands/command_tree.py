"""Every command of `clusterlift`, found in the tree of commands, and a valid command line for each."""

from collections.abc import Iterator

import click

from harness.commands.cli import clusterlift
from tests.unit.builders import known

Names = tuple[str, ...]
"""The words that name a command: `("lab", "up")`."""


def commands(
    command: click.Command = clusterlift, names: Names = ()
) -> Iterator[tuple[Names, click.Command]]:
    """Yield the names and the object of every command and group."""
    yield names, command
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            child = known(command.get_command(context, name))
            yield from commands(child, (*names, name))


def leaves() -> list[tuple[Names, click.Command]]:
    """Return every command that is no group."""
    return [(names, found) for names, found in commands() if not isinstance(found, click.Group)]
