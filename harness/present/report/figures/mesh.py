"""TCP throughput between each pair of hosts: a map for each configuration."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from harness.analysis.network.mesh import PairMatrix, pair_matrix, typical_bit_s
from harness.model.link import UNITS, throughput_text
from harness.model.network_metrics import MESH_GOODPUT
from harness.model.probe import ARROW, Pair
from harness.present.data_table import DataTable
from harness.present.quantities import UNKNOWN, change, if_known
from harness.present.report import chart
from harness.present.report.chart import Spec, as_is, category, labels, layered, mark
from harness.present.report.figure import Evidence, Figure, Picture, Section, picture

_WIDTH_PX, _MAX_SQUARE_PX, _MIN_SQUARE_WITH_TEXT_PX = 700, 44, 28
MAX_HOSTS = 40
"""A map of the pairs of more hosts could not be read."""
_NAME_WIDTH = 12
# Colours by lower bound: the highest bound that a value reaches chooses its colour.
_COLOURS = {0.5: "heat-1", 0.75: "heat-2", 0.9: "heat-3", 0.97: "heat-4"}
LEGEND = (
    "TCP throughput between each pair of hosts; rows send, columns receive. A stronger colour is closer "
    "to the typical throughput of that configuration; a red frame marks a pair that failed."
)


class Square(NamedTuple):
    """A pair of hosts in a map: its text, its colour, and whether it failed."""

    pair: Pair
    text: str
    colour: str
    has_failed: bool = False


@partial(Section, 70, "mesh", "Throughput between hosts")
def figure(evidence: Evidence) -> Figure | None:
    """Return the figure of measurements by configuration; None without pairs, or for many hosts."""
    every = {name: pair_matrix(some, MESH_GOODPUT) for name, some in evidence.measured.items()}
    meshes = {name: mesh for name, mesh in every.items() if mesh.hosts}
    if not meshes or any(len(mesh.hosts) > MAX_HOSTS for mesh in meshes.values()):
        return None
    return Figure(
        alternative="Maps of the TCP throughput between hosts; rows send, columns receive.",
        pictures=tuple(_pictures(meshes)),
        numbers=_numbers(meshes),
        remarks=(LEGEND,),
    )


def _pictures(meshes: Mapping[str, PairMatrix]) -> Iterator[Picture]:
    unit = _unit_prefix(meshes.values())
    for name, mesh in meshes.items():
        squares = list(squares_of(mesh, unit))
        yield picture(_drawn(squares, mesh.hosts), f"{name}, in {unit}bit/s")


def _unit_prefix(meshes: Iterable[PairMatrix]) -> str:
    highest = max((value for mesh in meshes for value in mesh.values.values()), default=0)
    return "G" if highest >= UNITS["g"] else "M"


def _numbers(meshes: Mapping[str, PairMatrix]) -> DataTable:
    """Return a table with a row for each pair: its value in each configuration, then the changes.

    The first configuration is the baseline.
    """
    baseline, *others = meshes.values()
    pairs = dict.fromkeys(pair for mesh in meshes.values() for pair in (*mesh.values, *mesh.errors))
    return DataTable(
        ("pair", *meshes, *(f"change in {name}" for name in [*meshes][1:])),
        tuple(
            (
                ARROW.join(pair),
                *(_cell(mesh, pair) for mesh in meshes.values()),
                *(if_known(_change(baseline, mesh, pair), change) for mesh in others),
            )
            for pair in pairs
        ),
    )


def _cell(mesh: PairMatrix, pair: Pair) -> str:
    value = mesh.values.get(pair)
    return mesh.errors.get(pair, UNKNOWN) if value is None else throughput_text(value)


def _change(before: PairMatrix, after: PairMatrix, pair: Pair) -> float | None:
    then, now = before.values.get(pair), after.values.get(pair)
    return now / then - 1 if then and now is not None else None


def squares_of(mesh: PairMatrix, unit: str) -> Iterator[Square]:
    """Yield the throughput of each pair."""
    typical = typical_bit_s(mesh)
    for pair, value in mesh.values.items():
        text = f"{value / UNITS[unit.lower()]:.{2 if unit == 'G' else 0}f}"
        fraction = value / typical if typical else 0
        yield Square(pair, text, _colour(fraction))
    for pair in mesh.errors:
        yield Square(pair, chart.FAILED, "paper", has_failed=True)


def _colour(fraction: float) -> str:
    reached = (colour for bound, colour in reversed(_COLOURS.items()) if fraction >= bound)
    return next(reached, "heat-0")


def _drawn(squares: Sequence[Square], hosts: Sequence[str]) -> Spec:
    side_px = min(_MAX_SQUARE_PX, max(4, _WIDTH_PX // len(hosts)))
    names = labels(hosts, _NAME_WIDTH)
    rows = [
        {
            "sender": names[square.pair[0]],
            "receiver": names[square.pair[1]],
            "text": square.text,
            "colour": f"var(--{square.colour})",
            "frame": chart.ALARM if square.has_failed else chart.PAPER,
            "width": 2 if square.has_failed else 1,
        }
        for square in sorted(squares, key=lambda square: square.has_failed)
    ]
    fits = max(map(len, names.values())) * 6.5 <= side_px
    receivers = {"orient": "top", "labelAngle": 0 if fits else -50, "labelOverlap": True}
    order: dict[str, Any] = {"sort": [*names.values()], "scale": {"domain": [*names.values()]}}
    place = {"x": category("receiver", **order, axis=receivers), "y": category("sender", **order)}
    look = {
        "fill": as_is("colour"),
        "stroke": as_is("frame"),
        "strokeWidth": {**as_is("width"), "type": "quantitative"},
    }
    layers = [mark("rect", {**place, **look}, cornerRadius=2)]
    if side_px >= _MIN_SQUARE_WITH_TEXT_PX:
        layers.append(mark("text", {**place, "text": {"field": "text"}}, fontSize=11))
    return layered(rows, *layers, px=(side_px * len(hosts), side_px * len(hosts)))
