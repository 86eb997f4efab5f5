"""How the files of a directory are stored, as their file system reports it, and what is wrong with it."""

from __future__ import annotations  # for Python 3.8

import typing
from collections import Counter
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from harness.model.layout import UNKNOWN, Layout, LayoutKind


@dataclass(frozen=True)
class StoredFile:
    """How one file is stored.

    `bytes` is the file's length. `placement` maps each node to the bytes that it stores for the file,
    copies and parity included. A part is a copy of a block, or a stripe: `missing` counts the parts
    that the layout promises and no node stores, `excess` the parts beyond that.
    """

    layout: Layout
    bytes: int
    placement: Mapping[str, int] = field(default_factory=dict)
    missing: int = 0
    excess: int = 0


@dataclass(frozen=True)
class StoredFiles:
    """How all files are stored, by name, and what else affects the speed of reading them.

    `coder` is the code that computes parity, `native` or `java`; None if there is no parity, or if it
    is not known. `page_cache` is whether the storing nodes read through their page cache; None if it is
    not known. `server` is the program of an object store, such as `ceph`; None elsewhere. `client` is
    what affects how this application reads from an object store, by name; empty elsewhere. `addresses`
    has where nodes are whose names in `placement` do not say it: `10.0.0.3:6801`.
    """

    files: Mapping[str, StoredFile]
    coder: str | None = None
    page_cache: bool | None = None
    server: str | None = None
    server_version: str = ""
    client: Mapping[str, str] = field(default_factory=dict)
    addresses: Mapping[str, str] = field(default_factory=dict)

    @property
    def layouts(self) -> Mapping[Layout, int]:
        """How many files have each layout, the most frequent layout first."""
        return dict(Counter(file.layout for file in self.files.values()).most_common())

    @property
    def layout(self) -> Layout | None:
        """The layout that all files have, complete or not; None if they differ or there are no files."""
        layouts = list(self.layouts)
        if len(layouts) == 1:
            return layouts[0]
        return None

    @property
    def missing(self) -> int:
        """Copies and stripes that the layouts promise and no node stores."""
        return sum(file.missing for file in self.files.values())

    @property
    def excess(self) -> int:
        """Copies and stripes beyond what the layouts promise."""
        return sum(file.excess for file in self.files.values())

    @property
    def placement(self) -> Mapping[str, int]:
        """Stored bytes by node."""
        total: Counter[str] = Counter()
        for file in self.files.values():
            total.update(file.placement)
        return dict(sorted(total.items()))

    @property
    def hosts(self) -> frozenset[str]:
        """The hosts of the storing nodes, by name or address."""
        return frozenset(_host(self.addresses.get(node, node)) for node in self.placement)

    @property
    def stored_bytes(self) -> int | None:
        """Bytes stored on all nodes together; None if the file system does not report them."""
        if UNKNOWN in self.layouts:
            return None
        return sum(self.placement.values())

    def differing_files(self, expected: Layout | None) -> list[str]:
        """Return the names of the files that have another layout, or missing or excess parts.

        If no layout is expected, the files are compared with the most frequent layout.
        """
        reference = expected or self._most_frequent
        return sorted(
            name
            for name, file in self.files.items()
            if file.layout != reference or file.missing or file.excess
        )

    def problem(self, expected: Layout | None) -> str | None:
        """Return what is wrong, as `of 3 files, 1 ...`; None if nothing is.

        If no layout is expected, the files are compared with the most frequent layout.
        """
        reference = expected or self._most_frequent
        by_problem: dict[str, list[str]] = {
            f"are {layout}": [] for layout in self.layouts if layout != reference
        }
        lacking = f"lack {self.missing:,} copies or stripes"
        exceeding = f"have {self.excess:,} too many"
        by_problem.update({lacking: [], exceeding: []})
        for name, file in self.files.items():
            if file.layout != reference:
                by_problem[f"are {file.layout}"].append(name)
            if file.missing:
                by_problem[lacking].append(name)
            if file.excess:
                by_problem[exceeding].append(name)
        problems = [
            f"{len(names):,} {problem} (first: {min(names)})"
            for problem, names in by_problem.items()
            if names
        ]
        if not problems:
            return None
        return f"of {len(self.files):,} files, {', '.join(problems)}"

    @property
    def _most_frequent(self) -> Layout | None:
        return next(iter(self.layouts), None)

    def as_facts(self) -> dict[str, Any]:
        """Return what a run records."""
        facts: dict[str, Any] = {
            "stored_bytes": self.stored_bytes,
            "placement": dict(self.placement),
            "coder": self.coder,
            "page_cache": self.page_cache,
        }
        if self.client:
            facts["server"] = self.server and f"{self.server} {self.server_version}".strip()
            facts["client"] = dict(self.client)
        return facts


def _host(address: str) -> str:
    """Return the host of `host:port`, or of the URL of a drive."""
    with suppress(ValueError):  # it is neither
        address = urlsplit(address if "//" in address else f"//{address}").hostname or address
    return address


Holders = typing.Mapping[int, typing.Collection[str]]
"""The nodes that store each stripe of a group, by the stripe's index: data first, then parity.

All copies of a replicated block have the index 0.
"""


def stored_file(layout: Layout, size: int, blocks: Iterable[tuple[int, Holders]]) -> StoredFile:
    """Return how a file of `size` bytes is stored.

    `blocks` has the bytes of each block, or of the data in each group of stripes, and the nodes that
    store it. Two copies on one node count once.
    """
    if layout == UNKNOWN:
        return StoredFile(UNKNOWN, size)
    copies = 1
    if layout.kind is LayoutKind.REPLICATED:
        copies = layout.data
    placement: Counter[str] = Counter()
    missing = 0
    excess = 0
    for length, holders in blocks:
        for index, stripe in enumerate(stripe_lengths(layout, length)):
            nodes = set(holders.get(index, ()))
            if stripe:  # an empty one is not stored
                missing += max(0, copies - len(nodes))
            excess += max(0, len(nodes) - copies)
            for node in nodes:
                placement[node] += stripe
    return StoredFile(layout, size, dict(placement), missing, excess)


def stripe_lengths(layout: Layout, length: int) -> list[int]:
    """Return the bytes of each stripe, data first, then parity, of a group with `length` bytes of data.

    A replicated block is one stripe. Consecutive cells go to consecutive data stripes; the last row of
    cells may be incomplete. A parity stripe is as long as the longest data stripe, the first one. A
    stripe of 0 bytes is not stored.
    """
    if layout.kind is LayoutKind.REPLICATED:
        return [length]
    cell = layout.cell_bytes or 1
    rows, rest = divmod(length, cell * layout.data)
    data = [rows * cell + min(cell, max(0, rest - index * cell)) for index in range(layout.data)]
    return data + [data[0]] * layout.parity
