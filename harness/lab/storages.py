"""The file systems that a lab can have, and what each stores.

Standard library only, because the lab's master uses it, too.
"""

from collections.abc import Sequence

from harness.minicluster.buckets import bucket_name
from harness.model.layout import Layout, LayoutKind

COPIES = "replicated:N"
LAYOUTS = {
    "hdfs": (COPIES, "rs:3+2:1m", "rs:6+3:1m", "rs:10+4:1m", "xor:2+1:1m"),
    "qfs": (COPIES, "rs:6+3:64k"),
    "ceph": (
        "replicated:2",
        "replicated:3",
        "replicated:1",
        "rs:2+1:4k",
        "rs:2+2:4k",
        "rs:3+1:4k",
        "rs:4+2:4k",
        "rs:6+3:4k",
    ),
}
"""The layouts of each. Ceph has a bucket for each layout. Data without a layout goes into the first one."""


def layout_problem(text: str | None, storage: str, nodes: int) -> str | None:
    """Return why a lab cannot store this layout; None if it can.

    QFS needs fewer nodes than a Reed-Solomon file has stripes: a chunk server stores several of them.
    """
    if text is None:
        return None
    layout = Layout.parse(text)
    offered = LAYOUTS[storage]
    is_copied = layout.kind is LayoutKind.REPLICATED
    is_offered = any(layout.is_met_by(each) for each in _layouts(storage))
    if is_copied and COPIES in offered:
        is_offered = True
    if not is_offered:
        return f"does not exist on {storage}, which has {', '.join(offered)}"
    if layout.nodes > nodes and (is_copied or storage != "qfs"):
        return f"needs {layout.nodes} nodes, and the experiment has {nodes}"
    return None


def ceph_layouts(nodes: int) -> list[Layout]:
    """Return the layouts that a Ceph with an OSD on each node can store."""
    return [layout for layout in _layouts("ceph") if layout.nodes <= nodes]


def ceph_bucket(layout: str | None, nodes: int) -> str:
    """Return the name of the lab's bucket for a layout; for None, the first bucket."""
    buckets = ceph_layouts(nodes)
    if layout:
        requested = Layout.parse(layout)
        buckets = [each for each in buckets if requested.is_met_by(each)]
    return bucket_name(buckets[0])


def _layouts(storage: str) -> Sequence[Layout]:
    return [Layout.parse(text) for text in LAYOUTS[storage] if text != COPIES]
