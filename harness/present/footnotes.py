"""Notes numbered in the order in which a table's reader meets them."""

from __future__ import annotations

from collections.abc import Iterable

_SUPERSCRIPT = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


class Footnotes:
    """Gives each note a number; the same note keeps its number."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def mark(self, notes: Iterable[str]) -> str:
        """The mark that stands where the notes belong: `¹`, `²,³`, or nothing."""
        return ",".join(superscript(number) for number in self.numbers(notes))

    def numbers(self, notes: Iterable[str]) -> tuple[int, ...]:
        """The same where the mark is more than text."""
        return tuple(self._numbers.setdefault(note, len(self._numbers) + 1) for note in notes)

    @property
    def texts(self) -> tuple[str, ...]:
        """The notes, the first being number 1."""
        return tuple(self._numbers)


def superscript(number: int) -> str:
    """`12` as `¹²`."""
    return str(number).translate(_SUPERSCRIPT)
