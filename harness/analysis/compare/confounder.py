"""A confounder: a fact that differs between two configurations besides what was meant to differ."""

from collections.abc import Sequence
from dataclasses import dataclass

from harness.base.words import shorten

MAX_VALUE_LENGTH = 80
"""Characters of a value in a line. Class paths are longer."""

MAX_TEXT_LENGTH = 400
"""Characters of a sentence."""

Workloads = frozenset[str] | None
"""Names of workloads; None: all workloads."""


@dataclass(frozen=True)
class Confounder:
    """A fact that differs from the baseline; a side whose runs differ has several values in its text.

    `workloads` are those whose times the fact may affect. `text` is a whole sentence about it, and empty
    where the values say enough.
    """

    fact: str
    before: str
    after: str
    workloads: Workloads = None
    text: str = ""

    def affects_all(self, workloads: Sequence[str]) -> bool:
        """Whether the fact may explain the changes of all these workloads."""
        return self.workloads is None or self.workloads.issuperset(workloads)

    def describe(self, baseline: str) -> str:
        """Return a line for the column that is compared with the baseline of this name."""
        if self.text:
            return shorten(self.text, MAX_TEXT_LENGTH)
        before = shorten(self.before, MAX_VALUE_LENGTH)
        after = shorten(self.after, MAX_VALUE_LENGTH)
        return f"{self.fact}: {after} here, {before} in {baseline}"
