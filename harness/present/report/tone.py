"""How something may be coloured; its words say the same."""

from __future__ import annotations

from enum import StrEnum


class Tone(StrEnum):
    """Less time, more time, neither, or something that puts the numbers in doubt."""

    GAIN = "gain"
    LOSS = "loss"
    LEVEL = "level"
    ALARM = "alarm"
