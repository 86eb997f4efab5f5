"""The page that each probe prints, and what the pages share."""

from collections.abc import Iterable

from harness.model.probe import PROBED_IN, RecordedProbes
from harness.model.run import EMULATED

UNKNOWN = "?"
"""Stands for a value that is not known."""


def page(sections: Iterable[str]) -> str:
    """Return the sections that are not empty, one below the other; ends with a newline."""
    return "\n\n".join(filter(None, sections)) + "\n"


def remarks(probed: RecordedProbes) -> list[str]:
    """Return lines that a reader of any of the pages must know: what is emulated, what is odd."""
    facts = probed.run.facts
    known = [f"emulated: {facts[EMULATED]}"] if facts.get(EMULATED) else []
    if PROBED_IN in facts:
        known.append(f"measured in {facts[PROBED_IN]}, whose links are the same")
    return [*known, *probed.warnings]
