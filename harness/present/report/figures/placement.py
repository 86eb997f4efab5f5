"""Placement: the bytes of the data that each node stores, including copies and parity."""

from collections.abc import Mapping
from functools import partial

from harness.analysis.compare.comparison import Comparison
from harness.present.data_table import DataTable, Quantity
from harness.present.report.chart import BLUE, Spec, category, labels, layered, mark, quantity
from harness.present.report.figure import Evidence, Figure, Section, alternative, picture
from harness.words import percent

_WIDTH_PX, _BAR_PX = 170, 20
_NAME_WIDTH = 18
Placements = Mapping[tuple[str, str], Mapping[str, int]]
"""By layout, and the configurations whose data has it: the bytes stored on each node."""


def placements(comparison: Comparison) -> Placements:
    """Return each distinct placement once. Storage that does not report placement is left out."""
    readers: dict[tuple[str, tuple[tuple[str, int], ...]], list[str]] = {}
    for column in comparison.columns:
        for recorded in column.runs:
            dataset = recorded.run.dataset or {}
            bytes_by_node = tuple((dataset.get("placement") or {}).items())
            if any(stored for _, stored in bytes_by_node):
                layout = (dataset.get("layout") or {}).get("observed") or "unknown"
                readers.setdefault((layout, bytes_by_node), []).append(column.name)
    return {
        (layout, ", ".join(dict.fromkeys(names))): dict(bytes_by_node)
        for (layout, bytes_by_node), names in readers.items()
    }


@partial(Section, 110, "placement", "Where the data is stored")
def figure(evidence: Evidence) -> Figure | None:
    """Return the figure; None if no placement is known."""
    found = placements(evidence.comparison)
    if not found:
        return None
    highest = max(max(stored.values()) for stored in found.values())
    return Figure(
        alternative=alternative(
            "Bars: the bytes that each node stores.",
            ((" in ".join(where), _description(stored)) for where, stored in found.items()),
        ),
        pictures=tuple(
            picture(_drawn(stored, highest), heading=" in ".join(where))
            for where, stored in found.items()
        ),
        numbers=DataTable.of(
            {
                "layout": layout,
                "configurations": configurations,
                "node": node,
                "bytes stored": Quantity.of(stored[node], "{:,}".format),
                "fraction": Quantity.of(fraction, "{:.1%}".format),
            }
            for (layout, configurations), stored in found.items()
            for node, fraction in _fractions(stored).items()
        ),
        remarks=("Bytes stored on each node, including copies and parity.",),
    )


def _fractions(stored: Mapping[str, int]) -> dict[str, float]:
    """Return the fraction of all stored bytes on each node."""
    return {node: count / sum(stored.values()) for node, count in stored.items()}


def _description(stored: Mapping[str, int]) -> str:
    """Return `4 nodes, each 25.0 % to 25.0 %`."""
    fractions = _fractions(stored).values()
    return f"{len(stored)} nodes, each {percent(min(fractions), 1)} to {percent(max(fractions), 1)}"


def _drawn(stored: Mapping[str, int], highest: int) -> Spec:
    names = labels(stored, _NAME_WIDTH)
    rows = [
        {"node": names[node], "bytes": stored[node], "fraction": f"{fraction:.1%}"}
        for node, fraction in _fractions(stored).items()
    ]
    place = {
        "y": category("node", sort=list(names.values())),
        "x": quantity("bytes", axis=None, ends=(0, highest)),
    }
    return layered(
        rows,
        mark("bar", place, color=BLUE, height=_BAR_PX - 7),
        mark("text", {**place, "text": {"field": "fraction"}}, align="left", dx=5),
        px=(_WIDTH_PX, _BAR_PX * len(names)),
    )
