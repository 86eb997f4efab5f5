"""What a lab consists of: the shape to start it in, the shape that it has, and the facts for results."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from harness.lab import racks
from harness.lab.cluster import MASTER, ROUTER, Lab
from harness.lab.links import read_link, read_links
from harness.model.link import rate_text

LIMITATIONS = "; shared cores and disk, no CPU saved by jumbo frames"


@dataclass(frozen=True)
class Shape:
    """The number of workers and what each has. `uplink_bit_s` is None if there is one rack."""

    workers: int
    cpus: float
    storage: str
    uplink_bit_s: int | None = None

    @property
    def services(self) -> list[str]:
        """The names of the nodes, which are Compose's services."""
        workers = [f"worker-{number}" for number in range(1, self.workers + 1)]
        return [MASTER, *workers, *([ROUTER] if self.uplink_bit_s else [])]

    def __str__(self) -> str:
        uplink = f", an uplink of {rate_text(self.uplink_bit_s)}" if self.uplink_bit_s else ""
        return f"{self.workers} workers of {self.cpus:g} processors, {self.storage}{uplink}"


def shape_of(lab: Lab) -> Shape:
    """Return the shape of a lab that is up."""
    uplink = None
    if lab.router is not None and lab.router.is_running:
        uplink = racks.uplink_bit_s(lab.router, read_link(lab.master).mtu)
    return Shape(len(lab.workers), lab.cpus, lab.storage, uplink)


def facts(lab: Lab) -> dict[str, str]:
    """Return what a run in the lab records about it: that it is emulated, and how."""
    links = read_links(lab.linked)
    is_shaped = any(link.rate_bit_s for link in links)
    found = {
        "emulated": f"{len(lab.workers)} nodes on one host, "
        + ("links shaped by tc" if is_shaped else "links not shaped")
        + LIMITATIONS,
        "link": _common_value([link.rate for link in links]),
        "mtu": _common_value([str(link.mtu) for link in links]),
        "cpus": f"{lab.cpus:g}",
    }
    if uplink := shape_of(lab).uplink_bit_s:
        found["uplink"] = rate_text(uplink)
    return found


def _common_value(values: Sequence[str]) -> str:
    return values[0] if len(set(values)) == 1 else "mixed: " + " ".join(values)
