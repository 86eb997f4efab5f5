"""How many bytes of the data lie on which node, copies and parity included."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import altair as alt

from harness.analysis.comparison import Comparison
from harness.present.report import chart
from harness.present.report.chart import Figure, Numbers, Picture, Quantity, labels

WIDTH_PX, BAR_PX = 170, 20
_NAME_WIDTH = 18


@dataclass(frozen=True)
class Placement:
    """A dataset: the configurations that read it, its layout, and bytes by node."""

    configurations: tuple[str, ...]
    layout: str
    bytes_by_node: Mapping[str, int]

    @property
    def heading(self) -> str:
        """`rs:6+3:64k in 1g-rs, 2.5g-rs`."""
        return f"{self.layout} in {', '.join(self.configurations)}"

    def share(self, node: str) -> float:
        """Of all bytes stored."""
        return self.bytes_by_node[node] / sum(self.bytes_by_node.values())


def placements(comparison: Comparison) -> tuple[Placement, ...]:
    """Each once, however many configurations read it; none that the storage does not tell of."""
    readers: dict[tuple[str, tuple[tuple[str, int], ...]], list[str]] = {}
    for column in comparison.columns:
        for recorded in column.runs:
            dataset = recorded.run.dataset or {}
            held = tuple((dataset.get("placement") or {}).items())
            if sum(count for _, count in held):
                layout = (dataset.get("layout") or {}).get("observed") or "unknown"
                readers.setdefault((layout, held), []).append(column.name)
    return tuple(
        Placement(tuple(dict.fromkeys(names)), layout, dict(held))
        for (layout, held), names in readers.items()
    )


def figure(comparison: Comparison) -> Figure | None:
    """The figure; None where nothing is known."""
    found = placements(comparison)
    if not found:
        return None
    most = max(max(one.bytes_by_node.values()) for one in found)
    return Figure(
        anchor="placement",
        title="Where the data lay",
        alternative="Bars: the bytes that each node stores. "
        + "; ".join(f"{one.heading}: {_told(one)}" for one in found),
        pictures=tuple(Picture(_draw(one, most), heading=one.heading) for one in found),
        numbers=Numbers(
            ("layout", "configurations", "node", "bytes stored", "share"),
            tuple(
                (
                    one.layout,
                    ", ".join(one.configurations),
                    node,
                    Quantity(f"{held:,}", held),
                    Quantity(_share(one, node), one.share(node)),
                )
                for one in found
                for node, held in one.bytes_by_node.items()
            ),
        ),
        remarks=("Bytes stored on each node, copies and parity included.",),
    )


def _share(one: Placement, node: str) -> str:
    return f"{one.share(node):.1%}"


def _told(one: Placement) -> str:
    shares = [one.share(node) for node in one.bytes_by_node]
    return f"{len(shares)} nodes, each {min(shares):.1%} to {max(shares):.1%}"


def _draw(one: Placement, most: int) -> str:
    names = labels(one.bytes_by_node, _NAME_WIDTH)
    nodes: Sequence[str] = list(names.values())
    bars = alt.Chart(
        chart.rows(
            [
                {"node": names[node], "bytes": held, "share": _share(one, node)}
                for node, held in one.bytes_by_node.items()
            ]
        )
    ).encode(
        y=alt.Y("node:N", sort=nodes, title=None),
        x=alt.X("bytes:Q", axis=None, scale=alt.Scale(domain=[0, most], nice=False)),
    )
    return chart.svg(
        alt.layer(
            bars.mark_bar(color="var(--series-1)", height=BAR_PX - 7),
            bars.mark_text(align="left", dx=5).encode(text="share:N"),
        ).properties(width=WIDTH_PX, height=BAR_PX * len(nodes))
    )
