"""How the files of a directory are stored, for the terminal."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any

from harness.base.words import count_of, visible
from harness.present import quantities
from harness.present.text import simple_table

MAX_NAMES = 10
"""Differing files that are listed by name; further ones are only counted."""

_FAULTS = ("missing", "excess")


def render(observed: Mapping[str, Any]) -> str:
    """Return tables by layout and by node, the files that differ, and the verdict.

    `observed` is the JSON object that datagen/observe.py writes.
    """
    sections = [visible(observed["uri"]), _layouts(observed)]
    if observed["placement"]:
        sections.append(_nodes(observed))
    sections.append("\n".join([*_remarks(observed), _verdict(observed)]))
    return "\n\n".join(sections) + "\n"


def _layouts(observed: Mapping[str, Any]) -> str:
    by_layout = defaultdict(list)
    for file in observed["files"].values():
        by_layout[file["layout"]].append(file)
    rows = []
    for layout, files in sorted(by_layout.items(), key=lambda group: -len(group[1])):
        size = sum(file["bytes"] for file in files)
        stored = sum(sum(file["placement"].values()) for file in files)
        faults = (f"{sum(file[fault] for file in files):,}" for fault in _FAULTS)
        is_known = observed["stored_bytes"] is not None
        ratio = f"{stored / size:.3f}" if size else "-"
        storage = (f"{stored:,}", ratio, *faults) if is_known else ("unknown",) * 4
        rows.append((visible(layout), f"{len(files):,}", f"{size:,}", *storage))
    headings = ("layout", "files", "bytes", "bytes stored", "stored per byte", *_FAULTS)
    return simple_table(headings, rows)


def _nodes(observed: Mapping[str, Any]) -> str:
    placement = observed["placement"]
    total = sum(placement.values())
    rows = [
        (visible(node), f"{stored:,}", quantities.share(stored / total, 1) if total else "-")
        for node, stored in placement.items()
    ]
    return simple_table(("node", "bytes stored", "share"), rows)


def _remarks(observed: Mapping[str, Any]) -> Iterator[str]:
    if observed["coder"]:
        yield f"parity is computed by {visible(observed['coder'])} code"
    if observed["directories"]:
        yield f"subdirectories, which were not searched: {observed['directories']:,}"
    differing = observed["differing"]
    for name in differing[:MAX_NAMES]:
        file = observed["files"][name]
        faults = [f"{file[fault]:,} {fault}" for fault in _FAULTS if file[fault]]
        yield f"differs: {visible(name)}: {', '.join([visible(file['layout']), *faults])}"
    if len(differing) > MAX_NAMES:
        yield f"differs: {count_of(len(differing) - MAX_NAMES, 'more file')}"


def _verdict(observed: Mapping[str, Any]) -> str:
    if observed["problem"]:
        expected = f"the manifest says {observed['manifest']}; " if observed["manifest"] else ""
        why = f" ({visible(observed['why'])})" if observed["why"] else ""
        return f"DIFFERS: {expected}{visible(observed['problem'])}{why}"
    if not observed["files"]:
        return "the directory has no files"
    if observed["stored_bytes"] is None:
        return "the file system does not report how it stores files"
    if observed["manifest"]:
        return f"verified: every file is complete and {observed['manifest']}, as in the manifest"
    return "every file is complete; no manifest says which layout they should have"
