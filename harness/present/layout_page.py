"""How the files of a directory are stored."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from harness.base.words import count_of
from harness.model.layout import UNKNOWN_LAYOUT
from harness.present import quantities
from harness.present.blocks import Block, Lines, Table

MAX_NAMES = 10
"""Differing files that are listed by name. Further ones are only counted."""

_FAULTS = ("missing", "excess")
_HEADINGS = ("layout", "files", "bytes", "bytes stored", "stored per byte", *_FAULTS)


def layout_page(observed: Mapping[str, Any]) -> Iterator[Block]:
    """Yield tables by layout and by node, the files that differ, and the verdict.

    `observed` is the JSON object that datagen/observe.py writes.
    """
    yield Lines([observed["uri"]])
    yield _layouts(observed)
    if observed["placement"]:
        yield _nodes(observed["placement"])
    yield Lines([*_remarks(observed), _verdict(observed)])


def _layouts(observed: Mapping[str, Any]) -> Table:
    by_layout = defaultdict(list)
    for file in observed["files"].values():
        by_layout[file["layout"]].append(file)
    rows = []
    for layout, files in sorted(by_layout.items(), key=lambda group: -len(group[1])):
        size = sum(file["bytes"] for file in files)
        row = [layout, f"{len(files):,}", f"{size:,}"]
        if layout == UNKNOWN_LAYOUT:
            row += ["unknown"] * (len(_HEADINGS) - len(row))
        else:
            row += _stored(files, size)
        rows.append(row)
    return Table(_HEADINGS, rows)


def _stored(files: Sequence[Mapping[str, Any]], size: int) -> list[str]:
    """Return the bytes stored, in all and per byte, and the faults."""
    stored = 0
    faults = dict.fromkeys(_FAULTS, 0)
    for file in files:
        stored += sum(file["placement"].values())
        for fault in faults:
            faults[fault] += file[fault]
    per_byte = f"{stored / size:.3f}" if size else "-"
    numbers = [f"{number:,}" for number in faults.values()]
    return [f"{stored:,}", per_byte, *numbers]


def _nodes(placement: Mapping[str, int]) -> Table:
    total = sum(placement.values())
    rows = []
    for node, stored in placement.items():
        share = quantities.share(stored / total, 1) if total else "-"
        rows.append([node, f"{stored:,}", share])
    return Table(("node", "bytes stored", "share"), rows)


def _remarks(observed: Mapping[str, Any]) -> Iterator[str]:
    if observed["placement"] and observed["stored_bytes"] is None:
        yield "the bytes of nodes are those of the files whose layout is known"
    if observed["coder"]:
        yield f"parity is computed by {observed['coder']} code"
    if observed["directories"]:
        yield f"subdirectories, which were not searched: {observed['directories']:,}"
    differing = observed["differing"]
    for name in differing[:MAX_NAMES]:
        file = observed["files"][name]
        faults = [f"{file[fault]:,} {fault}" for fault in _FAULTS if file[fault]]
        yield f"differs: {name}: {', '.join([file['layout'], *faults])}"
    if len(differing) > MAX_NAMES:
        yield f"differs: {count_of(len(differing) - MAX_NAMES, 'more file')}"


def _verdict(observed: Mapping[str, Any]) -> str:
    if observed["problem"]:
        expected = ""
        why = ""
        if observed["manifest"]:
            expected = f"the manifest says {observed['manifest']}; "
        if observed["why"]:
            why = f" ({observed['why']})"
        return f"DIFFERS: {expected}{observed['problem']}{why}"
    if not observed["files"]:
        return "the directory has no files"
    if observed["stored_bytes"] is None:
        return "the file system does not report how it stores files"
    if observed["manifest"]:
        return f"verified: every file is complete and {observed['manifest']}, as in the manifest"
    return "every file is complete; no manifest says which layout they should have"
