"""Numbers in the JSON reports of programs, and in packets."""

import math
from collections.abc import Mapping
from typing import Any


def number(values: Mapping[str, Any], key: str) -> float:
    """Return a number, 0 or more. Raise KeyError if there is none, and TypeError if it is something else."""
    value = values[key]
    if type(value) not in (int, float) or not 0 <= value < math.inf:
        raise TypeError(f"{key} is {value!r}")
    return float(value)


def number_or_none(values: Mapping[str, Any], key: str) -> float | None:
    """Return a number like `number`, but None if there is none."""
    if values.get(key) is None:
        return None
    return number(values, key)


def ip_header_bytes(address: str) -> int:
    """Return the size of the header of IP without options (RFC 791, 8200)."""
    return 40 if ":" in address else 20
