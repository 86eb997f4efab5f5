"""How times, intervals, changes and probabilities are written, the same in every table."""

from __future__ import annotations

import math

_LONGEST_PLAIN = 1e6
"""Beyond it digits are noise and break the table."""
_ROUNDING = 1e-9
"""0.07 x 100 is 7.000000000000001: no reason to round up to 8."""
_LEAST_P = 0.001

NOISE = "~"
"""In place of a change that noise explains."""


def time(seconds: float) -> str:
    """`547.5 s`, `9.87 s`, `0.123 s`: one decimal from 10 s, two from 1 s, three below."""
    for limit, decimals in ((1, 3), (10, 2)):
        text = f"{seconds:.{decimals}f}"
        if float(text) < limit:
            return f"{text} s"
    return f"{seconds:.1f} s" if seconds < _LONGEST_PLAIN else f"{seconds:.1e} s"


def uncertainty(share: float | None) -> str:
    """`±2%`, rounded up, so that the interval does lie within; empty if there is none."""
    if share is None:
        return ""
    percent = share * 100
    return f"±{math.ceil(percent - _ROUNDING)}%" if percent < _LONGEST_PLAIN else f"±{percent:.0e}%"


def change(share: float) -> str:
    """`-9.5%`, `+0.1%`; what rounds to nothing is `0.0%`."""
    percent = share * 100
    text = f"{percent:+.1f}%" if percent < _LONGEST_PLAIN else f"{percent:+.0e}%"
    return "0.0%" if text in ("+0.0%", "-0.0%") else text


def p(value: float) -> str:
    """`.017`, as a probability is never more than 1; `<.001`; 1 is `1`."""
    if value < _LEAST_P:
        return f"<{_LEAST_P:.3f}".replace("0.", ".")
    return f"{value:.3f}".removeprefix("0") if f"{value:.3f}" != "1.000" else "1"
