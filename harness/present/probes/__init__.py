"""The page that each probe prints, and what the pages share."""

from collections.abc import Iterable

from harness.model.probe import RecordedProbes

UNKNOWN = "?"
"""Stands for a value that is not known."""


def page(sections: Iterable[str]) -> str:
    """Return the sections that are not empty, one below the other; ends with a newline."""
    return "\n\n".join(filter(None, sections)) + "\n"


def remarks(probed: RecordedProbes) -> list[str]:
    """Return lines that a reader of any of the pages must know: what is emulated, what is odd."""
    description = probed.run.facts.get("emulated")
    return [*([f"emulated: {description}"] if description else []), *probed.warnings]
