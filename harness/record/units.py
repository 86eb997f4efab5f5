"""What people write with its unit on a command line: `2%`, `30m`."""

from __future__ import annotations

import re

_SECONDS = {"s": 1, "m": 60, "min": 60, "h": 3600}
_AMOUNT = re.compile(r"(\d+(?:\.\d+)?)\s*(s|min|m|h)\s*")


def parse_share(text: str) -> float:
    """`2%` or `0.02` as 0.02. Raises ValueError unless it is more than 0% and less than 100%."""
    number, percent = text.strip().removesuffix("%"), text.strip().endswith("%")
    try:
        share = float(number) / (100 if percent else 1)
    except ValueError:
        raise ValueError(f"'{text}' is not a percentage; write for example 2%") from None
    if not 0 < share < 1:
        raise ValueError(f"{text} is out of range: it must be more than 0% and less than 100%")
    return share


def parse_time(text: str) -> float:
    """`30m`, `90 s` or `1h30m` in seconds. Raises ValueError unless it is more than 0 s."""
    amounts = _AMOUNT.findall(text)
    if not amounts or _AMOUNT.sub("", text.strip()):
        raise ValueError(f"'{text}' is not a time; write for example 90s, 30m or 1h30m")
    seconds = sum(float(number) * _SECONDS[unit] for number, unit in amounts)
    if seconds <= 0:
        raise ValueError(f"{text} is out of range: it must be more than 0 s")
    return seconds
