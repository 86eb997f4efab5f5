"""How tables write times, intervals, changes, probabilities and bytes."""

import math
from collections.abc import Callable

from harness.base.clock import HOUR, duration_text
from harness.base.words import percent, significant
from harness.statistics.interval import Interval

UNKNOWN = "-"
"""Stands in a table for what is not known."""
NOISE = "~"
"""Marks a change that is not significant."""
UNTESTED = "?"
"""Marks a change that a single run cannot prove."""
TOO_FEW_RUNS = "too few runs"
"""Stands in place of an interval that is as wide as the value itself, or that a single run does not have."""

_LONG_S = HOUR // 2
_MAX_HOURS = 9_999
"""Longer times are shown in minutes and seconds, or hours and minutes."""
_MAX_CHANGE = 999_999
"""In percent; the digits of more carry no information and would break the table."""
_MAX_UNCERTAINTY = 99
"""In percent. A wider interval says no more than that there are too few runs."""
_ROUNDING_ERROR = 1e-9
"""0.07 x 100 is 7.000000000000001, which must not be rounded up to 8."""
_MIN_MILLISECOND = 0.0005
_MIN_P = 0.001
_BYTE_UNITS = ("B", "kB", "MB", "GB", "TB", "PB")
_UNIT_STEP = 1000
_MIN_WITHOUT_DECIMALS = 10


def if_known(value: float | None, text_of: Callable[[float], str]) -> str:
    """Return a number in words; `-` if it is not known."""
    if value is None:
        return UNKNOWN
    return text_of(value)


def ends_text(interval: Interval, text_of: Callable[[float], str]) -> str:
    """Return both ends of an interval in words: `-9.5% to -7.1%`."""
    return " to ".join(map(text_of, interval))


def share(fraction: float, decimals: int = 0, *, signed: bool = False) -> str:
    """Return `54%` as the cells of tables have it; in sentences it is `54 %`."""
    return percent(fraction, decimals, signed=signed).replace(" ", "")


def time_text(seconds: float) -> str:
    """Return `547.5 s`, `-9.87 s`, `0.123 s`: one decimal from 10 s, two from 1 s, three below.

    Times below a millisecond, which are latencies, have four digits: `45.31 µs`. Long ones are `59 min 59 s`,
    `1 h`, `2 h 07 min`.
    """
    if seconds < 0:
        return f"-{time_text(-seconds)}"
    if 0 < seconds < _MIN_MILLISECOND:
        return f"{significant(seconds * 1e6)} µs"
    for limit, decimals in ((1, 3), (10, 2), (_LONG_S, 1)):
        text = f"{abs(seconds):.{decimals}f}"  # -0.0 is no negative time
        if float(text) < limit:
            return f"{text} s"
    if seconds > _MAX_HOURS * HOUR:
        return f">{_MAX_HOURS} h"
    return duration_text(seconds).removesuffix(" 00 s").removesuffix(" 00 min")


def signed_time(seconds: float) -> str:
    """Return `+1.25 s`, `-0.050 s`."""
    text = time_text(seconds)
    if seconds < 0:
        return text
    return f"+{text}"


def is_too_wide(fraction: float, relative_change: float = 0.0) -> bool:
    """Return whether an interval is as wide as the value: it would look like a broken table.

    That of a change is in percent of the value before. After ten times as long, ±150 % of the value before is
    only ±15 % of the value after.
    """
    larger = max(1.0, 1.0 + relative_change)
    return fraction / larger * 100 - _ROUNDING_ERROR > _MAX_UNCERTAINTY


def uncertainty(fraction: float | None, relative_change: float = 0.0) -> str:
    """Return `±2%`, rounded up so that it never understates; an empty text for None.

    It is `too few runs` if the interval `is_too_wide`.
    """
    if fraction is None:
        return ""
    if is_too_wide(fraction, relative_change):
        return TOO_FEW_RUNS
    return f"±{math.ceil(fraction * 100 - _ROUNDING_ERROR)}%"


def change(fraction: float) -> str:
    """Return `-9.5%`, `+0.1%`; `0.0%` without a sign if it rounds to zero."""
    if fraction * 100 > _MAX_CHANGE:
        return f">+{_MAX_CHANGE}%"
    return share(fraction, 1, signed=True)


def p_text(value: float) -> str:
    """Return a probability as `.017`, `<.001` or `1`: a leading zero carries no information."""
    if value < _MIN_P:
        return f"<{_MIN_P:.3f}".replace("0.", ".")
    text = f"{value:.3f}"
    if text == "1.000":
        return "1"
    return text.removeprefix("0")


def p_statement(shown: str) -> str:
    """Return `p=.017` or `p<.001` for what `p_text` returned; an empty text for an empty one."""
    if not shown:
        return ""
    return f"p={shown}".replace("=<", "<")


def size_text(count: float) -> str:
    """Return a number of bytes as `0`, `950 B`, `1.2 GB`, `-34 MB`: one decimal below 10."""
    if not count:
        return "0"
    step = 0
    # Rounding may need the next unit: 999.6 kB is 1.0 MB.
    while round(abs(count)) >= _UNIT_STEP and step < len(_BYTE_UNITS) - 1:
        count /= _UNIT_STEP
        step += 1
    is_whole = step == 0 or round(abs(count), 1) >= _MIN_WITHOUT_DECIMALS
    decimals = 0 if is_whole else 1
    return f"{count:.{decimals}f} {_BYTE_UNITS[step]}"
