"""What a check of a baseline found, before the network that it was measured on is gone."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum


class Standing(StrEnum):
    """How a check ended. What lacks cannot be had later, and a comparison needs it."""

    OK = "ok"
    ADVICE = "advice"
    LACKING = "LACKING"


@dataclass(frozen=True)
class Finding:
    """How it stands; and in a line what is there, or what is not and what to do about it."""

    standing: Standing
    said: str


def ok(said: str) -> Finding:
    return Finding(Standing.OK, said)


def advice(said: str) -> Finding:
    return Finding(Standing.ADVICE, said)


def lacking(said: str) -> Finding:
    return Finding(Standing.LACKING, said)


def listed(names: Iterable[str]) -> str:
    """`a, b`: each once."""
    return ", ".join(dict.fromkeys(names))


def counted(number: int, what: str) -> str:
    """`1 run`, `2 runs`."""
    return f"{number} {what}" if number == 1 else f"{number} {what}s"
