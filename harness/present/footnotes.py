"""Footnotes: the marks in a document, and the texts to which they refer."""

from collections.abc import Iterable

_SUPERSCRIPTS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


class Footnotes:
    """Numbers notes in the order of their first use; equal notes share a number."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def mark(self, notes: Iterable[str]) -> str:
        """Return the marks that refer to these notes: `¹`, `²,³`, or an empty text."""
        return ",".join(superscript(number) for number in self.numbers(notes))

    def numbers(self, notes: Iterable[str]) -> list[int]:
        """Return the numbers of these notes, rising, for formats that write marks in their own way."""
        return sorted(self._numbers.setdefault(note, len(self._numbers) + 1) for note in notes)

    @property
    def texts(self) -> tuple[str, ...]:
        """All notes. The first has number 1."""
        return tuple(self._numbers)


def superscript(number: int) -> str:
    """Return 12 as `¹²`."""
    return str(number).translate(_SUPERSCRIPTS)
