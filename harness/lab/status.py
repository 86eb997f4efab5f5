"""What is up, and how its links are."""

from __future__ import annotations

from tabulate import tabulate

from harness.lab.cluster import MASTER, Lab
from harness.lab.lifecycle import shape_of
from harness.lab.links import read_links
from harness.model.errors import ClusterliftError
from harness.model.link import rate_text

LIMITS = "; shared cores and disk, no CPU saved by jumbo frames"


def render(lab: Lab) -> str:
    """A line for the whole, then a table with a line for each node."""
    links = dict(zip((node.name for node in lab.linked), read_links(lab.linked), strict=True))
    rows = [(node.name, node.state, links.get(node.name, "")) for node in lab.nodes]
    table = tabulate(rows, ("node", "state", "link"))
    return "\n".join([f"{shape_of(lab)}: {uri(lab)}", _readiness(lab), "", table])


def uri(lab: Lab) -> str:
    """Of the file system, which is Spark's default: a path alone will do."""
    if lab.storage == "hdfs":
        return "hdfs://master:9820"
    [address, *_] = lab.master.execute("hostname", "-i").split()
    return f"qfs://{address}:20000"


def _readiness(lab: Lab) -> str:
    try:
        lab.node(MASTER).execute("ready", MASTER)
    except ClusterliftError as error:
        return f"not ready: {error}"
    return "ready"


def facts(lab: Lab) -> dict[str, str]:
    """What a run in the lab has to say of it: that it is emulated, and how."""
    links = read_links(lab.linked)
    is_shaped = any(link.rate_bit_s for link in links)
    said = {
        "emulated": f"{len(lab.workers)} nodes on one host, "
        + ("links shaped by tc" if is_shaped else "links not shaped")
        + LIMITS,
        "link": _common([link.rate for link in links]),
        "mtu": _common([str(link.mtu) for link in links]),
        "cpus": f"{lab.cpus:g}",
    }
    if uplink := shape_of(lab).uplink_bit_s:
        said["uplink"] = rate_text(uplink)
    return said


def _common(values: list[str]) -> str:
    return values[0] if len(set(values)) == 1 else "mixed: " + " ".join(values)
