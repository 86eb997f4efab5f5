"""`ethtool -k`: what the card does instead of the processor."""

from __future__ import annotations

import re

OFFLOADS = (
    "rx-checksumming",
    "tx-checksumming",
    "scatter-gather",
    "tcp-segmentation-offload",
    "generic-segmentation-offload",
    "generic-receive-offload",
    "large-receive-offload",
)
_FEATURE = re.compile(r"^([a-z0-9-]+): (on|off)(?: \[[a-z ]+\])?$", re.MULTILINE)


def read_offloads(text: str) -> dict[str, bool] | None:
    """Which of the offloads that matter are on; None where ethtool is missing or knows nothing."""
    told = dict(_FEATURE.findall(text))
    return {name: told[name] == "on" for name in OFFLOADS if name in told} or None
