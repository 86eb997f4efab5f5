"""Numbers in the JSON reports of programs."""

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
    return None if values.get(key) is None else number(values, key)
