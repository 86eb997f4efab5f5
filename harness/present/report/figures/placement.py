"""Placement: the bytes of the data that each node stores, including copies and parity."""

from collections.abc import Mapping
from dataclasses import dataclass

from harness.analysis.compare.comparison import Comparison
from harness.present.data_table import DataTable, Quantity
from harness.present.report.chart import BLUE, Spec, category, labels, layered, mark, quantity
from harness.present.report.figure import Figure, Section, picture
from harness.terminal import percent

_WIDTH_PX, _BAR_PX = 170, 20
_NAME_WIDTH = 18


@dataclass(frozen=True)
class Placement:
    """A dataset: the configurations that read it, its layout, and the bytes stored on each node."""

    configurations: tuple[str, ...]
    layout: str
    bytes_by_node: Mapping[str, int]

    @property
    def heading(self) -> str:
        """Return `rs:6+3:64k in 1g-rs, 2.5g-rs`."""
        return f"{self.layout} in {', '.join(self.configurations)}"

    @property
    def fractions(self) -> dict[str, float]:
        """Return the fraction of all stored bytes on each node."""
        total = sum(self.bytes_by_node.values())
        return {node: stored / total for node, stored in self.bytes_by_node.items()}

    @property
    def description(self) -> str:
        """Return `4 nodes, each 25.0 % to 25.0 %`."""
        fractions = self.fractions.values()
        return f"{len(fractions)} nodes, each {percent(min(fractions), 1)} to {percent(max(fractions), 1)}"


def placements(comparison: Comparison) -> tuple[Placement, ...]:
    """Return each distinct placement once. Storage that does not report placement is left out."""
    readers: dict[tuple[str, tuple[tuple[str, int], ...]], list[str]] = {}
    for column in comparison.columns:
        for recorded in column.runs:
            dataset = recorded.run.dataset or {}
            bytes_by_node = tuple((dataset.get("placement") or {}).items())
            if any(stored for _, stored in bytes_by_node):
                layout = (dataset.get("layout") or {}).get("observed") or "unknown"
                readers.setdefault((layout, bytes_by_node), []).append(column.name)
    return tuple(
        Placement(tuple(dict.fromkeys(names)), layout, dict(bytes_by_node))
        for (layout, bytes_by_node), names in readers.items()
    )


def figure(comparison: Comparison) -> Figure | None:
    """Return the figure; None if no placement is known."""
    found = placements(comparison)
    if not found:
        return None
    max_bytes = max(max(placement.bytes_by_node.values()) for placement in found)
    return Figure(
        alternative="Bars: the bytes that each node stores. "
        + "; ".join(f"{placement.heading}: {placement.description}" for placement in found),
        pictures=tuple(
            picture(_drawn(placement, max_bytes), heading=placement.heading) for placement in found
        ),
        numbers=DataTable.of(
            {
                "layout": placement.layout,
                "configurations": ", ".join(placement.configurations),
                "node": node,
                "bytes stored": Quantity.of(placement.bytes_by_node[node], "{:,}".format),
                "fraction": Quantity.of(fraction, "{:.1%}".format),
            }
            for placement in found
            for node, fraction in placement.fractions.items()
        ),
        remarks=("Bytes stored on each node, including copies and parity.",),
    )


def _drawn(placement: Placement, max_bytes: int) -> Spec:
    names = labels(placement.bytes_by_node, _NAME_WIDTH)
    rows = [
        {
            "node": names[node],
            "bytes": placement.bytes_by_node[node],
            "fraction": f"{fraction:.1%}",
        }
        for node, fraction in placement.fractions.items()
    ]
    place = {
        "y": category("node", sort=list(names.values())),
        "x": quantity("bytes", axis=None, ends=(0, max_bytes)),
    }
    return layered(
        rows,
        mark("bar", place, color=BLUE, height=_BAR_PX - 7),
        mark("text", {**place, "text": {"field": "fraction"}}, align="left", dx=5),
        px=(_WIDTH_PX, _BAR_PX * len(names)),
    )


SECTION = Section(
    110, "placement", "Where the data is stored", lambda evidence: figure(evidence.comparison)
)
