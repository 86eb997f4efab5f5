"""The page that each probe prints, and what the pages share."""

from collections.abc import Sequence

from harness.model.probe import RecordedProbes
from harness.present.table import Footnotes
from harness.present.text import footnotes

UNKNOWN = "?"
"""Stands for a value that is not known."""


def page(sections: Sequence[str], notes: Footnotes | None = None) -> str:
    """Return the sections that are not empty, then the footnotes; ends with a newline."""
    last = "\n".join(footnotes(notes)) if notes else ""
    return "\n\n".join(filter(None, (*sections, last))) + "\n"


def remarks(probed: RecordedProbes) -> list[str]:
    """Return lines that a reader of any of the pages must know: what is emulated, what is odd."""
    description = probed.run.facts.get("emulated")
    return [*([f"emulated: {description}"] if description else []), *probed.warnings]
