"""The lab: whether it is ready, its nodes and their links."""

from collections.abc import Iterator, Sequence

from harness.present.blocks import Block, Lines, Table


def lab_page(about: str, reason: str, nodes: Sequence[Sequence[str]]) -> Iterator[Block]:
    """Yield what the lab is, whether it is ready, and a table with a line for each node.

    `reason` is why it is not ready, empty if it is. `nodes` has name, state and link of each node.
    """
    state = "ready"
    if reason:
        state = f"not ready: {reason}"
    yield Lines([about, state])
    yield Table(("node", "state", "link"), nodes, align="<")
