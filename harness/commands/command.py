"""Commands as `clusterlift` has them: they print as everything does, and refuse values that are empty."""

from collections.abc import Callable
from typing import Any

import click

from harness.base.terminal import show

MAX_SUMMARY = 400


class Command(click.Command):
    """A command whose options and arguments, if they are given, must not be blank.

    An argument of type UNPROCESSED is passed on to another program as it is.
    """

    def get_help_option(self, ctx: click.Context) -> click.Option | None:
        option = super().get_help_option(ctx)
        if option is not None:
            option.callback = _show_help
        return option

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        given, _, order = self.make_parser(ctx).parse_args(args=list(args))
        for parameter in order:
            found = given.get(parameter.name or "")
            values = found if isinstance(found, list | tuple) else (found,)
            is_blank = any(isinstance(value, str) and not value.strip() for value in values)
            if is_blank and parameter.type is not click.UNPROCESSED:
                option = isinstance(parameter, click.Option)
                name = parameter.opts[-1] if option else parameter.make_metavar(ctx)
                raise click.UsageError(f"{name} is empty; give a value", ctx)
        return super().parse_args(ctx, args)


class Group(Command, click.Group):
    """A group of such commands."""

    command_class = Command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands, each with its whole first sentence, which click cuts to one line."""
        found = [(name, self.get_command(ctx, name)) for name in self.list_commands(ctx)]
        with formatter.section("Commands"):
            formatter.write_dl(
                [(name, each.get_short_help_str(limit=MAX_SUMMARY)) for name, each in found if each]
            )


Group.group_class = Group


def command(
    name: str, cls: type[Command] = Command, **attributes: Any
) -> Callable[[Callable[..., Any]], Command]:
    """Make a Command of a function, like `click.command`."""
    return click.command(name, cls=cls, **attributes)  # noqa: TID251  the one place


def group(
    name: str | None = None, cls: type[Group] = Group, **attributes: Any
) -> Callable[[Callable[..., Any]], Group]:
    """Make a Group of a function, like `click.group`."""
    return click.group(name, cls=cls, **attributes)  # noqa: TID251  the one place


def _show_help(ctx: click.Context, _: click.Parameter, value: object) -> None:
    if value and not ctx.resilient_parsing:
        show(ctx.get_help())
        ctx.exit()
