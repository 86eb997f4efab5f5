"""Why nodes receive bytes of input: what the layout and the file system of the data explain."""

from collections.abc import Collection
from itertools import chain

from harness.analysis.observed.configuration import ConfigurationRuns
from harness.analysis.observed.environment import dataset_layouts, storages, table_layouts
from harness.analysis.observed.executors import executors_in_pods
from harness.base.items import union
from harness.model.layout import Layout, LayoutKind

LITTLE = 0.1
"""Bytes received for each byte of input; fewer need no explanation."""
ALL = 1.1
"""Bytes received for each byte of input; with more, nodes receive bytes that no task uses."""
_STRIPED = (LayoutKind.REED_SOLOMON, LayoutKind.XOR)


def cause(column: ConfigurationRuns, received: float) -> str | None:
    """Return why nodes receive so much for each byte of input, in one sentence.

    None if it is little, and if not all data has the same known layout in the same file system.
    """
    texts: list[str] = []
    for run in column.descriptions:
        texts += chain(dataset_layouts(run), *table_layouts(run).values())
    layouts = set(map(Layout.recorded, texts))
    schemes = union(map(storages, column.descriptions))
    if received < LITTLE or len(layouts) != 1 or len(schemes) > 1:
        return None
    layout = layouts.pop()
    if layout.kind is LayoutKind.UNKNOWN:
        return None
    if any(executors_in_pods(run.environment) for run in column.descriptions):
        return (
            f"the data is {layout}, and executors are in pods with a network of their own: what a server on "
            "the same node sends counts as received, although no link of the node carries it"
        )
    return _by_layout(layout, schemes, received)


def _by_layout(layout: Layout, schemes: Collection[str], received: float) -> str:
    """Return why nodes receive so much of data with a known layout."""
    data = f"the data is {layout}"
    if "s3a" in schemes:
        task = (
            f"{data} in an object store: a task receives its input from a server, wherever it runs"
        )
        gateway = (
            "if a gateway of the store is on one of these nodes, it receives all of the input first"
        )
        return task if received <= ALL else f"{task}; {gateway}"
    if layout.kind in _STRIPED and received <= ALL:
        return (
            f"{data}: the {layout.data} stripes of a block are on different nodes if there are enough, so a "
            "task receives most of its input over the network, whichever node it runs on"
        )
    if layout.kind in _STRIPED and "qfs" in schemes:
        return (
            f"{data} on QFS, whose client reads ahead 1 MiB of each of {layout.data} stripes: what is beyond "
            "the end of a split is received again for the next one. Larger splits, or fewer and larger "
            "files, receive less"
        )
    if received <= ALL:
        return (
            f"{data}: a task receives its input over the network if its node has no copy, or if the client "
            "of the file system chose the copy of another node"
        )
    return (
        f"nodes received more than the whole input, which its layout ({layout}) does not explain: the rest "
        "may be what tasks write, broadcasts, or traffic of others"
    )
