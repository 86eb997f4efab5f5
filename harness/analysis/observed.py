"""The links, TCP settings and data layout that a run observed, without what emulation falsifies."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from harness.model.link import VIRTUAL_NIC_DRIVERS
from harness.model.run import Run
from harness.node.node_links import links_by_host

Link = Mapping[str, Any]
T = TypeVar("T")
_BOND = re.compile(r"(bond|team)\d+")


def is_emulated(run: Run) -> bool:
    """Whether the run's links are emulated, so that the kernel's description of them is false."""
    return "emulated" in run.facts


def link_speeds(run: Run) -> dict[str, dict[str, int]]:
    """Return Mbit/s by node and interface, for links that are up and know their speed.

    Empty for emulated links. Drivers of virtual NICs report an invented speed, which is left out.
    """
    if is_emulated(run):
        return {}
    return _by_node(
        run, lambda link: link.get("driver") not in VIRTUAL_NIC_DRIVERS and link.get("speed_mbit_s")
    )


def link_mtus(run: Run) -> dict[str, dict[str, int]]:
    """Return the MTU in bytes by node and interface, for links that are up.

    For emulated links it is the MTU that the lab read from them and declared as a fact.
    """
    if is_emulated(run):
        mtu = run.facts.get("mtu", "")
        return {"": {"the emulated links": int(mtu)}} if mtu.isdecimal() else {}
    return _by_node(run, lambda link: link.get("mtu_bytes"))


def link_drivers(run: Run) -> dict[str, dict[str, str]]:
    """Return driver and bus (`r8152 (usb)`) by node and interface, for links that are up."""
    return _by_node(run, _driver)


def sysctls(run: Run) -> dict[str, str]:
    """Return each recorded TCP setting by name, with its distinct values on all nodes: `bbr, cubic`."""
    nodes = links_by_host(run.environment).values()
    found: dict[str, set[str]] = {}
    for source in (run.environment, *(link for links in nodes for link in links.values())):
        for name, value in (source.get("sysctls") or {}).items():
            if value is not None:
                found.setdefault(name, set()).add(" ".join(str(value).split()))
    return {name: ", ".join(sorted(values)) for name, values in found.items()}


def layouts(run: Run) -> tuple[str, ...]:
    """Return the layouts of the data; empty if no data was read or the file system reports none."""
    observed = ((run.dataset or {}).get("layout") or {}).get("observed") or ""
    return tuple(layout for layout in observed.split(", ") if layout not in {"", "unknown"})


def _driver(link: Link) -> str | None:
    driver, bus = link.get("driver"), link.get("bus")
    return f"{driver} ({bus})" if driver and bus else driver


def _by_node(run: Run, read: Callable[[Link], T | None]) -> dict[str, dict[str, T]]:
    """Return what `read` finds, by node and interface, without nodes where it finds nothing."""
    nodes = {
        node: {name: value for name, link in links.items() if (value := read(link))}
        for node, links in _links_up(run).items()
    }
    return {node: links for node, links in nodes.items() if links}


def _links_up(run: Run) -> dict[str, dict[str, Link]]:
    """Return physical links and bonds that are up; bridges and the like have no driver."""
    return {
        node: {
            name: link
            for name, link in links.items()
            if link.get("state") == "up" and (link.get("driver") or _BOND.fullmatch(name))
        }
        for node, links in links_by_host(run.environment).items()
    }
