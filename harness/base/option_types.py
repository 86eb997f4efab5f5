"""Types of the options of `clusterlift` that click does not have, and how a parser of ours becomes one."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, TypeVar

import click

from harness.base.option_values import plain_number

T = TypeVar("T")


class WholeNumber(click.IntRange):
    """A whole number between bounds, in plain digits: Python itself would take `1_0` and `٣`, too."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the number. Raise BadParameter for other text, and out of bounds."""
        if isinstance(value, str) and not re.fullmatch("-?[0-9]{1,18}", value):
            self.fail(f"{value!r} is not a whole number of at most 18 digits", param, ctx)
        return super().convert(value, param, ctx)

    def _describe_range(self) -> str:
        """Return the bounds for the help; click would write `x<=None` where there are none."""
        if self.min is None and self.max is None:
            return ""
        return super()._describe_range()


class RealNumber(click.FloatRange):
    """A number between bounds, in plain digits: Python itself would take `nan` and `1_0`, too."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the number. Raise BadParameter for other text, and out of bounds."""
        try:
            number = plain_number(str(value))
        except ValueError as error:
            self.fail(str(error), param, ctx)
        try:
            return super().convert(number, param, ctx)
        except click.BadParameter:  # whose `0.0` nobody wrote
            self.fail(f"{value} is not in the range {self._describe_range()}.", param, ctx)


def converted(parse: Callable[[Any], T]) -> Callable[..., T | None]:
    """Return an option's callback: `parse`, whose ValueError becomes an error that names the option."""

    def convert(_: click.Context, __: click.Parameter, value: Any) -> T | None:
        try:
            if value is None:
                return None
            return parse(value)
        except ValueError as error:
            raise click.BadParameter(str(error)) from error

    return convert
