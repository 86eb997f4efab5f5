"""How a directory's files lie, for the terminal."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tabulate import tabulate

from harness.terminal import visible

MOST_NAMES = 10
"""Files that are named one by one; of more, the number is told."""


def render(observed: Mapping[str, Any]) -> str:
    """Tables by layout and by node, the files that differ, and the verdict last.

    `observed` is what datagen/observe.py writes.
    """
    sections = [_heading(observed), _layouts(observed)]
    if observed["placement"]:
        sections.append(_nodes(observed))
    sections.append("\n".join(_remarks(observed)))
    return "\n\n".join(sections) + "\n"


def _heading(observed: Mapping[str, Any]) -> str:
    return visible(observed["uri"])


def _layouts(observed: Mapping[str, Any]) -> str:
    by_layout = defaultdict(list)
    for file in observed["files"].values():
        by_layout[file["layout"]].append(file)
    known = observed["stored_bytes"] is not None
    rows = []
    for layout, files in sorted(by_layout.items(), key=lambda one: -len(one[1])):
        data = sum(file["bytes"] for file in files)
        stored = sum(sum(file["placement"].values()) for file in files)
        amiss = (f"{sum(file[key] for file in files):,}" for key in ("missing", "excess"))
        told = (f"{stored:,}", _ratio(stored, data), *amiss) if known else ("unknown",) * 4
        rows.append((visible(layout), f"{len(files):,}", f"{data:,}", *told))
    headers = ["layout", "files", "bytes", "bytes stored", "stored per byte", "missing", "excess"]
    return _table(rows, headers)


def _nodes(observed: Mapping[str, Any]) -> str:
    placement = observed["placement"]
    whole = sum(placement.values())
    rows = [
        (visible(node), f"{count:,}", f"{count / whole:.1%}" if whole else "-")
        for node, count in placement.items()
    ]
    return _table(rows, ["node", "bytes stored", "share"])


def _remarks(observed: Mapping[str, Any]) -> Iterator[str]:
    if observed["coder"]:
        yield f"parity is computed by {visible(observed['coder'])} code"
    if observed["co_located"]:
        yield f"stripes that share a node with another one of their group: {observed['co_located']:,}"
    if observed["directories"]:
        yield f"directories in it, not looked into: {observed['directories']:,}"
    differing = observed["differing"]
    for name in differing[:MOST_NAMES]:
        file = observed["files"][name]
        amiss = [f"{file[key]:,} {key}" for key in ("missing", "excess") if file[key]]
        yield f"differs: {visible(name)}: {', '.join([visible(file['layout']), *amiss])}"
    if len(differing) > MOST_NAMES:
        yield f"differs: and {len(differing) - MOST_NAMES:,} more"
    yield _verdict(observed)


def _verdict(observed: Mapping[str, Any]) -> str:
    if observed["invalid"]:
        return f"NOT VALID: {visible(observed['invalid'])}"
    if observed["problem"]:
        expected = f"the manifest says {observed['manifest']}; " if observed["manifest"] else ""
        why = f" ({visible(observed['why'])})" if observed["why"] else ""
        return f"DIFFERS: {expected}{visible(observed['problem'])}{why}"
    if not observed["files"]:
        return "there are no files"
    if observed["stored_bytes"] is None:
        return "the file system does not say how it lies"
    if observed["manifest"]:
        return f"proven: every file is {observed['manifest']}, as the manifest says, and whole"
    return "every file is whole; no manifest says how they should lie"


def _ratio(stored: int, data: int) -> str:
    return f"{stored / data:.3f}" if data else "-"


def _table(rows: Sequence[Sequence[str]], headers: list[str]) -> str:
    aligned = ["left", *["right"] * (len(headers) - 1)]
    return tabulate(
        rows, headers=headers, tablefmt="simple", disable_numparse=True, colalign=aligned
    )
