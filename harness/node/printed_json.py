"""JSON in what a program printed: it may have remarks before and after, or the same document twice."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

_DECODER = json.JSONDecoder()
_MAX_TRIES = 16
"""A host could print text in which every character begins something that ends in an error."""


def printed_json(text: str, opening: str) -> Iterator[Any]:
    """Yield the documents that begin with `opening`: objects for `{`, lists for `[`.

    A document begins where that stands first, at the start of a line, or after another document. Text that
    is no JSON is passed over.
    """
    position = text.find(opening)
    for _ in range(_MAX_TRIES):
        if position < 0:
            return
        try:
            document, end = _DECODER.raw_decode(text, position)
        except (ValueError, RecursionError):
            position = text.find(f"\n{opening}", position)
            if position >= 0:
                position += 1
        else:
            yield document
            position = text.find(opening, end)
