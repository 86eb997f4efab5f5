"""Names that others chose, made to fit a picture and still to differ."""

from __future__ import annotations

from collections.abc import Iterable

from harness.present.escape import shorten, visible


def labels(names: Iterable[str], width: int) -> dict[str, str]:
    """Each name with at most about `width` characters for it; different names stay different."""
    chosen: dict[str, str] = {}
    for name in names:
        if name not in chosen:
            chosen[name] = _unlike(set(chosen.values()), shorten(visible(name), width) or "(empty)")
    return chosen


def _unlike(taken: set[str], label: str) -> str:
    number, unlike = 2, label
    while unlike in taken:
        unlike, number = f"{label} #{number}", number + 1
    return unlike
