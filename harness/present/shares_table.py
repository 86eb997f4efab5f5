"""Where the time of one run's workloads went, as shares of their wall time."""

from __future__ import annotations

import math
from collections.abc import Mapping

from harness.analysis.attribution.attribution import PARTS, Attribution
from harness.present.escape import shorten, visible
from harness.present.parts import HEADINGS, UNKNOWN, WORKLOAD_WIDTH, narrow_table


def shares_table(attributions: Mapping[str, Attribution]) -> str:
    """Workloads down, parts across; `attributions` by workload, at least one."""
    kept = [part for part in PARTS if any(one.parts_s.get(part) for one in attributions.values())]
    lines = [
        [shorten(visible(workload), WORKLOAD_WIDTH), *(_share(one, part) for part in kept)]
        for workload, one in attributions.items()
    ]
    return narrow_table(["workload", *(HEADINGS[part] for part in kept)], lines)


def _share(attribution: Attribution, part: str) -> str:
    whole_s = math.fsum(attribution.parts_s.values())
    if part not in attribution.parts_s or not whole_s:
        return UNKNOWN
    return f"{attribution.parts_s[part] / whole_s:.0%}"
