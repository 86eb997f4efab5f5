"""How the files of a dataset really lie, as their file system says, and what is wrong with that."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from datagen.layout import UNKNOWN, Layout


@dataclass(frozen=True)
class StoredFile:
    """One file.

    `layout` is the one that the file system keeps it in. `placement` maps a node to the bytes that
    it stores of the file, copies and parity included. `lacking` counts the copies of blocks, or the
    stripes, that the layout promises and that are not there, `surplus` those that are there and that
    it does not promise. `sharing` counts the stripes that lie on a node with another one of their
    group: no layout forbids it, and one node's loss then costs several.
    """

    layout: Layout
    bytes: int
    placement: Mapping[str, int] = field(default_factory=dict)
    lacking: int = 0
    surplus: int = 0
    sharing: int = 0


@dataclass(frozen=True)
class Stored:
    """All files by name; and what else explains how fast they are read.

    `coder` is what computes parity (`native` or `java`, None where there is none or it is not
    known); `page_cache` is whether the storing nodes' page cache was in play, None if unknown.
    """

    files: Mapping[str, StoredFile]
    coder: str | None = None
    page_cache: bool | None = None

    @property
    def layouts(self) -> Mapping[Layout, int]:
        """How many files have each layout, the commonest first."""
        return dict(Counter(file.layout for file in self.files.values()).most_common())

    @property
    def layout(self) -> Layout | None:
        """The layout that all files have, whole or not; None if they differ, or there are none."""
        layouts = list(self.layouts)
        return layouts[0] if len(layouts) == 1 else None

    @property
    def lacking(self) -> int:
        """Copies and stripes that should be there and are not."""
        return sum(file.lacking for file in self.files.values())

    @property
    def surplus(self) -> int:
        """Copies and stripes that are there and should not."""
        return sum(file.surplus for file in self.files.values())

    @property
    def sharing(self) -> int:
        """Stripes that share a node with another one of their group."""
        return sum(file.sharing for file in self.files.values())

    @property
    def placement(self) -> Mapping[str, int]:
        """Bytes stored by node."""
        total: Counter[str] = Counter()
        for file in self.files.values():
            total.update(file.placement)
        return dict(sorted(total.items()))

    @property
    def stored_bytes(self) -> int | None:
        """Bytes stored on all nodes together; None where the file system does not say."""
        if UNKNOWN in self.layouts:
            return None
        return sum(self.placement.values())

    def differing(self, expected: Layout | None) -> list[str]:
        """Names of the files that have another layout, or lack a part of it.

        Without an expectation, the commonest layout is the one to have.
        """
        wanted = expected or next(iter(self.layouts), None)
        return self._names(lambda file: file.layout != wanted or file.lacking or file.surplus)

    def problem(self, expected: Layout | None) -> str | None:
        """What is wrong, in half a sentence that begins with a number of files; None if nothing."""
        wanted = expected or next(iter(self.layouts), None)
        groups = [
            (f"are {layout}", [name for name, file in self.files.items() if file.layout == layout])
            for layout in self.layouts
            if layout != wanted
        ]
        groups += [
            (f"lack {self.lacking:,} copies or stripes", self._names(lambda file: file.lacking)),
            (f"have {self.surplus:,} too many", self._names(lambda file: file.surplus)),
        ]
        said = [f"{len(names):,} {what} (first: {min(names)})" for what, names in groups if names]
        return f"of {len(self.files):,} files, {', '.join(said)}" if said else None

    def _names(self, are: Callable[[StoredFile], object]) -> list[str]:
        return sorted(name for name, file in self.files.items() if are(file))

    def as_facts(self) -> dict[str, Any]:
        """What a run records."""
        return {
            "stored_bytes": self.stored_bytes,
            "placement": dict(self.placement),
            "sharing": self.sharing,
            "coder": self.coder,
            "page_cache": self.page_cache,
        }
