"""Every command of `clusterlift`, found in the tree of commands, and a valid command line for each."""

from collections.abc import Iterator

import click

from harness.cli import clusterlift

Names = tuple[str, ...]
"""The words that name a command: `("lab", "up")`."""

VALUES = {
    "PERCENT": "5%",
    "FILE.csv": "old.csv",
    "DIR": "out",
    "NAME": "new",
    "[RUNS]...": "x",
}
"""A valid value by metavar."""


def commands(
    command: click.Command = clusterlift, names: Names = ()
) -> Iterator[tuple[Names, click.Command]]:
    """Yield the names and the object of every command and group."""
    yield names, command
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            child = command.get_command(context, name)
            assert child is not None
            yield from commands(child, (*names, name))


def leaves() -> list[tuple[Names, click.Command]]:
    """Return every command that is no group."""
    return [(names, found) for names, found in commands() if not isinstance(found, click.Group)]


def text_parameters(command: click.Command) -> list[click.Parameter]:
    """Return the options and arguments that take any text: names, paths, rates and so on."""
    return [
        parameter
        for parameter in command.params
        if not getattr(parameter, "is_flag", False)
        and isinstance(parameter.type, click.types.StringParamType | click.Path)
    ]


def command_line(
    names: Names, command: click.Command, tried: click.Parameter | None = None, value: str = ""
) -> list[str]:
    """Return a command line with all that is required, and with `value` for the parameter `tried`."""
    options, arguments, configurations = [], [], iter(("x", "y"))
    for parameter in command.params:
        known = VALUES.get(parameter.metavar or "")
        if isinstance(parameter, click.Option):
            if parameter is tried or parameter.required:
                text = value if parameter is tried else known
                options.append(f"{parameter.opts[-1]}={text}")
        elif parameter is tried:
            arguments.append(value)
        else:
            count = 2 if parameter.nargs == -1 else 1
            arguments += [known] if known else [next(configurations) for _ in range(count)]
    return [*names, *options, "--", *arguments]
