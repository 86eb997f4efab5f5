"""What a run observed of its links and its data, as far as it was told the truth."""

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
    """Whether its links are not what its kernel says of them."""
    return "emulated" in run.facts


def link_speeds(run: Run) -> dict[str, dict[str, int]]:
    """By node, Mbit/s of each link that is up and knows, by name; none where they are emulated."""
    if is_emulated(run):
        return {}
    return _by_node(
        run, lambda link: link.get("driver") not in VIRTUAL_NIC_DRIVERS and link.get("speed_mbit_s")
    )


def link_mtus(run: Run) -> dict[str, dict[str, int]]:
    """By node, bytes, of each link that is up, by name; of emulated links what the lab read from them."""
    if is_emulated(run):
        told = run.facts.get("mtu", "")
        return {"": {"the emulated links": int(told)}} if told.isdecimal() else {}
    return _by_node(run, lambda link: link.get("mtu_bytes"))


def link_drivers(run: Run) -> dict[str, dict[str, str]]:
    """By node, the driver of each link that is up, and its bus if that is known: `r8152 (usb)`."""
    return _by_node(run, _driver)


def sysctls(run: Run) -> dict[str, str]:
    """Each setting that matters to TCP: its values on all nodes that could be asked."""
    nodes = links_by_host(run.environment).values()
    held = [run.environment, *(link for links in nodes for link in links.values())]
    found: dict[str, set[str]] = {}
    for one in held:
        for name, value in (one.get("sysctls") or {}).items():
            if value is not None:
                found.setdefault(name, set()).add(" ".join(str(value).split()))
    return {name: ", ".join(sorted(values)) for name, values in found.items()}


def layouts(run: Run) -> tuple[str, ...]:
    """How the data lies; none where no data was read, and where the file system does not say."""
    observed = ((run.dataset or {}).get("layout") or {}).get("observed") or ""
    return tuple(layout for layout in observed.split(", ") if layout not in {"", "unknown"})


def _driver(link: Link) -> str | None:
    driver, bus = link.get("driver"), link.get("bus")
    return f"{driver} ({bus})" if driver and bus else driver


def _by_node(run: Run, known: Callable[[Link], T | None]) -> dict[str, dict[str, T]]:
    """What is known of the links of each node that knows it of any."""
    nodes = {
        node: {name: value for name, link in links.items() if (value := known(link))}
        for node, links in _links_up(run).items()
    }
    return {node: links for node, links in nodes.items() if links}


def _links_up(run: Run) -> dict[str, dict[str, Link]]:
    """Those of hardware, and bonds of them: bridges and virtual links have no driver."""
    return {
        node: {
            name: link
            for name, link in links.items()
            if link.get("state") == "up" and (link.get("driver") or _BOND.fullmatch(name))
        }
        for node, links in links_by_host(run.environment).items()
    }
