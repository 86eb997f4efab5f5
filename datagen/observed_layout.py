"""How the files of a dataset really lie, as their file system says, and what is wrong with that."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from datagen.layout import UNKNOWN, Layout


@dataclass(frozen=True)
class StoredFile:
    """One file.

    `layout` is the one that the file system keeps it in. `placement` maps a node to the bytes that
    it stores of the file, copies and parity included. `missing` counts the copies of blocks, or the
    stripes, that the layout promises and that are not there, `excess` those that are there and that
    it does not promise. `co_located` counts the stripes that lie on a node with another one of their
    group: no layout forbids it, and one node's loss then costs several.
    """

    layout: Layout
    bytes: int
    placement: Mapping[str, int] = field(default_factory=dict)
    missing: int = 0
    excess: int = 0
    co_located: int = 0


@dataclass(frozen=True)
class StoredFiles:
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
    def missing(self) -> int:
        """Copies and stripes that should be there and are not."""
        return sum(file.missing for file in self.files.values())

    @property
    def excess(self) -> int:
        """Copies and stripes that are there and should not."""
        return sum(file.excess for file in self.files.values())

    @property
    def co_located(self) -> int:
        """Stripes that share a node with another one of their group."""
        return sum(file.co_located for file in self.files.values())

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

    def differing_files(self, expected: Layout | None) -> list[str]:
        """Names of the files that have another layout, or lack a part of it.

        Without an expectation, the commonest layout is the one to have.
        """
        wanted = expected or next(iter(self.layouts), None)
        return self._names(lambda file: file.layout != wanted or file.missing or file.excess)

    def problem(self, expected: Layout | None) -> str | None:
        """What is wrong, in half a sentence that begins with a number of files; None if nothing."""
        wanted = expected or next(iter(self.layouts), None)
        groups = [
            (f"are {layout}", [name for name, file in self.files.items() if file.layout == layout])
            for layout in self.layouts
            if layout != wanted
        ]
        groups += [
            (f"lack {self.missing:,} copies or stripes", self._names(lambda file: file.missing)),
            (f"have {self.excess:,} too many", self._names(lambda file: file.excess)),
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
            "sharing": self.co_located,
            "coder": self.coder,
            "page_cache": self.page_cache,
        }


# MERGED from datagen.blocks: 'From the blocks of a file, and the nodes that hold them, to how the file is stored.'
Holders = Mapping[int, Collection[str]]
"""The nodes that hold each stripe of a group, by the stripe's index: data first, then parity."""


def replicated_file(
    layout: Layout, size: int, blocks: Iterable[tuple[int, Collection[str]]]
) -> StoredFile:
    """A file of `size` bytes from each block's bytes and the nodes that hold it."""
    placement: Counter[str] = Counter()
    missing = excess = 0
    for length, nodes in blocks:
        missing += max(0, layout.data - len(set(nodes)))
        excess += max(0, len(set(nodes)) - layout.data)
        placement.update(dict.fromkeys(nodes, length))
    return StoredFile(layout, size, dict(placement), missing, excess)


def striped_file(layout: Layout, size: int, groups: Iterable[tuple[int, Holders]]) -> StoredFile:
    """A file of `size` bytes from each block group's bytes of data and the holders of its stripes."""
    placement: Counter[str] = Counter()
    missing = excess = co_located = 0
    for length, holders in groups:
        used: Counter[str] = Counter()
        for index, stripe in enumerate(stripe_lengths(layout, length)):
            nodes = holders.get(index, ())
            used.update(nodes)
            missing += bool(stripe and not nodes)
            excess += max(0, len(nodes) - 1)
            for node in nodes:
                placement[node] += stripe
        co_located += sum(count for count in used.values() if count > 1)
    return StoredFile(layout, size, dict(placement), missing, excess, co_located)


def stripe_lengths(layout: Layout, length: int) -> list[int]:
    """Bytes of each stripe, data first, then parity, of `length` bytes of data.

    Cells go round the data stripes, and the last row of cells may be cut; a parity stripe is as long
    as the longest data stripe, which is the first. A stripe of 0 bytes is not stored at all.
    """
    cell = layout.cell_bytes or 1
    rows, rest = divmod(length, cell * layout.data)
    data = [rows * cell + min(cell, max(0, rest - index * cell)) for index in range(layout.data)]
    return data + [data[0]] * layout.parity
