"""Types of the options of `clusterlift` that click does not have."""

import math
import re
from typing import Any

import click


class WholeNumber(click.IntRange):
    """A whole number between bounds, in plain digits: Python itself would take `1_0` and `٣`, too."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the number. Raise BadParameter for other text, and out of bounds."""
        if isinstance(value, str) and not re.fullmatch("-?[0-9]{1,18}", value):
            self.fail(f"{value!r} is not a whole number of at most 18 digits", param, ctx)
        return super().convert(value, param, ctx)

    def _describe_range(self) -> str:
        """Return the bounds for the help; click would write `x<=None` where there are none."""
        return "" if self.min is None and self.max is None else super()._describe_range()


class RealNumber(click.FloatRange):
    """A number between bounds. `nan`, which no comparison finds out of bounds, is none."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the number. Raise BadParameter for other text, and out of bounds."""
        number = super().convert(value, param, ctx)
        if math.isnan(number):
            self.fail(f"{value!r} is not a number", param, ctx)
        return number
