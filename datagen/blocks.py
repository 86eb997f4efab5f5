"""From the blocks of a file, and the nodes that hold them, to how the file is stored."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping

from datagen.layout import Layout
from datagen.stored import StoredFile

Holders = Mapping[int, Collection[str]]
"""The nodes that hold each stripe of a group, by the stripe's index: data first, then parity."""


def replicated_file(
    layout: Layout, size: int, blocks: Iterable[tuple[int, Collection[str]]]
) -> StoredFile:
    """A file of `size` bytes from each block's bytes and the nodes that hold it."""
    placement: Counter[str] = Counter()
    lacking = surplus = 0
    for length, nodes in blocks:
        lacking += max(0, layout.data - len(set(nodes)))
        surplus += max(0, len(set(nodes)) - layout.data)
        placement.update(dict.fromkeys(nodes, length))
    return StoredFile(layout, size, dict(placement), lacking, surplus)


def striped_file(layout: Layout, size: int, groups: Iterable[tuple[int, Holders]]) -> StoredFile:
    """A file of `size` bytes from each block group's bytes of data and the holders of its stripes."""
    placement: Counter[str] = Counter()
    lacking = surplus = sharing = 0
    for length, holders in groups:
        used: Counter[str] = Counter()
        for index, stripe in enumerate(stripe_lengths(layout, length)):
            nodes = holders.get(index, ())
            used.update(nodes)
            lacking += bool(stripe and not nodes)
            surplus += max(0, len(nodes) - 1)
            for node in nodes:
                placement[node] += stripe
        sharing += sum(count for count in used.values() if count > 1)
    return StoredFile(layout, size, dict(placement), lacking, surplus, sharing)


def stripe_lengths(layout: Layout, length: int) -> list[int]:
    """Bytes of each stripe, data first, then parity, of `length` bytes of data.

    Cells go round the data stripes, and the last row of cells may be cut; a parity stripe is as long
    as the longest data stripe, which is the first. A stripe of 0 bytes is not stored at all.
    """
    cell = layout.cell_bytes or 1
    rows, rest = divmod(length, cell * layout.data)
    data = [rows * cell + min(cell, max(0, rest - index * cell)) for index in range(layout.data)]
    return data + [data[0]] * layout.parity
