"""What a run observed of its links and its data, as far as it was told the truth."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from harness.model import Run
from harness.rate import MADE_UP_SPEEDS

_BOND = re.compile(r"(bond|team)\d+")


def is_emulated(run: Run) -> bool:
    """Whether its links are not what its kernel says of them."""
    return "emulated" in run.facts


def link_speeds(run: Run) -> dict[str, int]:
    """Mbit/s of each link that is up and knows, by name; none where they are emulated."""
    if is_emulated(run):
        return {}
    return {
        name: link["speed_mbit_s"]
        for name, link in _links_up(run).items()
        if link.get("speed_mbit_s") and link.get("driver") not in MADE_UP_SPEEDS
    }


def link_mtus(run: Run) -> dict[str, int]:
    """Bytes, of each link that is up, by name; of emulated links what the lab read from them."""
    if is_emulated(run):
        told = run.facts.get("mtu", "")
        return {"the emulated links": int(told)} if told.isdecimal() else {}
    return {
        name: link["mtu_bytes"] for name, link in _links_up(run).items() if link.get("mtu_bytes")
    }


def layouts(run: Run) -> tuple[str, ...]:
    """How the data lies; none where no data was read, and where the file system does not say."""
    observed = ((run.dataset or {}).get("layout") or {}).get("observed") or ""
    return tuple(layout for layout in observed.split(", ") if layout not in {"", "unknown"})


def _links_up(run: Run) -> Mapping[str, Any]:
    """Those of hardware, and bonds of them: bridges and virtual links have no driver."""
    links = run.environment.get("links") or {}
    return {
        name: link
        for name, link in links.items()
        if link.get("state") == "up" and (link.get("driver") or _BOND.fullmatch(name))
    }
