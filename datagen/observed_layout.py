"""How the files of a directory are stored, as their file system reports it, and what is wrong with it."""

from __future__ import annotations  # for Python 3.8

import typing
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from harness.model.layout import UNKNOWN, Layout


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
    not known. `server` is the program of an object store and its version: `ceph 18.2.7`; None elsewhere.
    `client` is what affects how this application reads from an object store, by name; empty elsewhere.
    `addresses` has where nodes are whose names in `placement` do not say it: `10.0.0.3:6801`.
    """

    files: Mapping[str, StoredFile]
    coder: str | None = None
    page_cache: bool | None = None
    server: str | None = None
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
        return layouts[0] if len(layouts) == 1 else None

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
        reference = expected or next(iter(self.layouts), None)
        return self._names(lambda file: file.layout != reference or file.missing or file.excess)

    def problem(self, expected: Layout | None) -> str | None:
        """Return what is wrong, as `of 3 files, 1 ...`; None if nothing is.

        If no layout is expected, the files are compared with the most frequent layout.
        """
        reference = expected or next(iter(self.layouts), None)
        groups = [
            (f"are {layout}", [name for name, file in self.files.items() if file.layout == layout])
            for layout in self.layouts
            if layout != reference
        ]
        groups += [
            (f"lack {self.missing:,} copies or stripes", self._names(lambda file: file.missing)),
            (f"have {self.excess:,} too many", self._names(lambda file: file.excess)),
        ]
        problems = [
            f"{len(names):,} {problem} (first: {min(names)})" for problem, names in groups if names
        ]
        return f"of {len(self.files):,} files, {', '.join(problems)}" if problems else None

    def _names(self, selects: Callable[[StoredFile], object]) -> list[str]:
        return sorted(name for name, file in self.files.items() if selects(file))

    def as_facts(self) -> dict[str, Any]:
        """Return what a run records."""
        return {
            "stored_bytes": self.stored_bytes,
            "placement": dict(self.placement),
            "coder": self.coder,
            "page_cache": self.page_cache,
            **({"server": self.server, "client": dict(self.client)} if self.client else {}),
        }


def _host(address: str) -> str:
    """Return the host of `host:port`, or of the URL of a drive."""
    with suppress(ValueError):  # it is neither
        address = urlsplit(address if "//" in address else f"//{address}").hostname or address
    return address


Holders = typing.Mapping[int, typing.Collection[str]]
"""The nodes that store each stripe of a group, by the stripe's index: data first, then parity."""


def replicated_file(
    layout: Layout, size: int, blocks: Iterable[tuple[int, Collection[str]]]
) -> StoredFile:
    """Return how a replicated file is stored.

    `size` is its length in bytes; `blocks` gives the bytes of each block and the nodes that store it.
    """
    placement: Counter[str] = Counter()
    missing = excess = 0
    for length, nodes in blocks:
        missing += max(0, layout.data - len(set(nodes)))
        excess += max(0, len(set(nodes)) - layout.data)
        placement.update(dict.fromkeys(nodes, length))
    return StoredFile(layout, size, dict(placement), missing, excess)


def striped_file(layout: Layout, size: int, groups: Iterable[tuple[int, Holders]]) -> StoredFile:
    """Return how a striped file is stored.

    `size` is its length in bytes; `groups` gives the bytes of data in each group of stripes and the
    nodes that store the stripes.
    """
    placement: Counter[str] = Counter()
    missing = excess = 0
    for length, holders in groups:
        for index, stripe in enumerate(stripe_lengths(layout, length)):
            nodes = holders.get(index, ())
            missing += bool(stripe and not nodes)
            excess += max(0, len(nodes) - 1)
            for node in nodes:
                placement[node] += stripe
    return StoredFile(layout, size, dict(placement), missing, excess)


def stripe_lengths(layout: Layout, length: int) -> list[int]:
    """Return the bytes of each stripe, data first, then parity, of a group with `length` bytes of data.

    Consecutive cells go to consecutive data stripes; the last row of cells may be incomplete. A parity
    stripe is as long as the longest data stripe, the first one. A stripe of 0 bytes is not stored.
    """
    cell = layout.cell_bytes or 1
    rows, rest = divmod(length, cell * layout.data)
    data = [rows * cell + min(cell, max(0, rest - index * cell)) for index in range(layout.data)]
    return data + [data[0]] * layout.parity
