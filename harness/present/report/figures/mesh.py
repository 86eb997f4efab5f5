"""TCP throughput between each pair of hosts: a map for each configuration, and maps of the differences."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from harness.analysis.network.mesh import (
    Pair,
    PairMatrix,
    pair_matrix,
    typical_bit_s,
)
from harness.analysis.network.mesh_verdict import MeshVerdict
from harness.model.link import UNITS, throughput_text
from harness.model.network_metrics import MESH_GOODPUT
from harness.model.probe import ARROW
from harness.present.data_table import DataTable, Quantity, relative_change
from harness.present.report import chart
from harness.present.report.chart import Spec, as_is, category, labels, layered, mark
from harness.present.report.figure import Figure, Measured, Picture, Section, picture
from harness.present.report.figures import many_hosts
from harness.present.report.figures.many_hosts import MAX_HOSTS_IN_MAP, unit_prefix

_WIDE_PX, _NARROW_PX, _MAX_SQUARE_PX, _MIN_SQUARE_WITH_TEXT_PX = 700, 190, 44, 28
_MAX_HOSTS_OF_A_SMALL_MAP = 6
_NAME_WIDTH = 12
# Colours by lower bound: the highest bound that a value reaches chooses its colour.
_FRACTION_COLOURS = {0.0: "heat-0", 0.5: "heat-1", 0.75: "heat-2", 0.9: "heat-3", 0.97: "heat-4"}
_CHANGE_COLOURS = {
    -1.0: "warm-3",
    -0.5: "warm-2",
    -0.25: "warm-1",
    -0.1: "heat-0",
    0.1: "cool-1",
    0.5: "cool-2",
    1.0: "cool-3",
}
LEGEND = (
    "TCP throughput between each pair of hosts; rows send, columns receive. A stronger colour is closer "
    "to the typical throughput of that configuration; a red frame marks a pair that is slow in the newest "
    "probe. In maps of changes, green pairs became faster and orange pairs slower."
)


@dataclass(frozen=True)
class Square:
    """A pair of hosts in a map: its text, its colour, and whether it is marked as slow."""

    pair: Pair
    text: str
    colour: str
    is_slow: bool = False


@dataclass(frozen=True)
class Map:
    """The throughput of one configuration, or its difference from the baseline."""

    heading: str
    hosts: tuple[str, ...]
    squares: tuple[Square, ...]


def figure(measured: Measured, verdicts: Mapping[str, MeshVerdict]) -> Figure | None:
    """Return the figure of measurements by configuration; None if no pair of hosts was measured.

    `verdicts` are those of each configuration's newest mesh. A map of the pairs of many hosts could not be
    read, so the hosts are drawn instead.
    """
    meshes = {name: pair_matrix(some, MESH_GOODPUT) for name, some in measured.items()}
    meshes = {name: mesh for name, mesh in meshes.items() if mesh.hosts}
    if not meshes:
        return None
    if any(len(mesh.hosts) > MAX_HOSTS_IN_MAP for mesh in meshes.values()):
        return many_hosts.figure(meshes, verdicts)
    maps = tuple(maps_of(meshes, verdicts))
    return Figure(
        alternative="Maps of the TCP throughput between hosts; rows send, columns receive. "
        + "; ".join(_description(name, mesh) for name, mesh in meshes.items()),
        pictures=tuple(map(_picture, maps)),
        numbers=_numbers(meshes),
        remarks=(LEGEND,),
    )


def maps_of(meshes: Mapping[str, PairMatrix], verdicts: Mapping[str, MeshVerdict]) -> Iterator[Map]:
    """Yield a map for each configuration, then a map of changes for each except the baseline."""
    unit = unit_prefix(meshes.values())
    for name, mesh in meshes.items():
        yield Map(
            f"{name}, in {unit}bit/s", mesh.hosts, tuple(_squares(mesh, verdicts.get(name), unit))
        )
    baseline, *others = meshes
    for name in others:
        if changes := tuple(_change_squares(meshes[baseline], meshes[name])):
            yield Map(f"{name} against {baseline}", meshes[name].hosts, changes)


def _squares(mesh: PairMatrix, verdict: MeshVerdict | None, unit: str) -> Iterator[Square]:
    typical, slow = typical_bit_s(mesh), verdict.slow_pairs if verdict else frozenset()
    for pair, value in mesh.values.items():
        text = f"{value / UNITS[unit.lower()]:.{2 if unit == 'G' else 0}f}"
        fraction = value / typical if typical else 0
        yield Square(pair, text, _colour(_FRACTION_COLOURS, fraction), is_slow=pair in slow)
    for pair in mesh.errors:
        yield Square(pair, chart.FAILED, "paper", is_slow=True)


def _change_squares(before: PairMatrix, after: PairMatrix) -> Iterator[Square]:
    for pair, value in after.values.items():
        change = relative_change(before.values.get(pair), value).value
        if change is not None:
            yield Square(pair, f"{change:+.0%}", _colour(_CHANGE_COLOURS, change))


def _colour(bounds: Mapping[float, str], value: float) -> str:
    """Return the colour of the highest bound that the value reaches, or that of the lowest bound."""
    reached = [colour for bound, colour in bounds.items() if value >= bound]
    return reached[-1] if reached else next(iter(bounds.values()))


def _description(name: str, mesh: PairMatrix) -> str:
    if not mesh.values:
        return f"{name}: {len(mesh.hosts)} hosts, no pair has a value"
    typical, values = typical_bit_s(mesh) or 0, mesh.values.values()
    return (
        f"{name}: {len(mesh.hosts)} hosts, {throughput_text(min(values))} to {throughput_text(max(values))}, "
        f"typically {throughput_text(typical)}"
    )


def _numbers(meshes: Mapping[str, PairMatrix]) -> DataTable:
    pairs = list(dict.fromkeys(p for mesh in meshes.values() for p in (*mesh.values, *mesh.errors)))
    baseline, *others = meshes
    rows: list[tuple[str | Quantity, ...]] = []
    for pair in pairs:
        base = meshes[baseline].values.get(pair)
        values = [_value(mesh, pair) for mesh in meshes.values()]
        changes = [relative_change(base, meshes[name].values.get(pair)) for name in others]
        rows.append((ARROW.join(pair), *values, *changes))
    headings = ("pair", *meshes, *(f"change in {name}" for name in others))
    return DataTable(headings, tuple(rows))


def _value(mesh: PairMatrix, pair: Pair) -> Quantity:
    value = mesh.values.get(pair)
    return Quantity(mesh.errors.get(pair, "") if value is None else throughput_text(value), value)


def _picture(pair_map: Map) -> Picture:
    """Draw a map; a large one does not fit on a phone and is drawn twice."""
    narrow = _drawn(pair_map, _NARROW_PX)
    if len(pair_map.hosts) <= _MAX_HOSTS_OF_A_SMALL_MAP:
        return picture(narrow, heading=pair_map.heading)
    return picture(_drawn(pair_map, _WIDE_PX), narrow, heading=pair_map.heading)


def _drawn(pair_map: Map, available_px: int) -> Spec:
    side_px = min(_MAX_SQUARE_PX, max(4, available_px // len(pair_map.hosts)))
    names = labels(pair_map.hosts, _NAME_WIDTH)
    hosts = list(names.values())
    rows = [
        {
            "sender": names[square.pair[0]],
            "receiver": names[square.pair[1]],
            "text": square.text,
            "colour": f"var(--{square.colour})",
            "frame": chart.ALARM if square.is_slow else chart.PAPER,
            "width": 2 if square.is_slow else 1,
        }
        for square in sorted(pair_map.squares, key=lambda square: square.is_slow)
    ]
    fits = max(map(len, hosts)) * 6.5 <= side_px
    receivers = {"orient": "top", "labelAngle": 0 if fits else -50, "labelOverlap": True}
    order = {"sort": hosts, "scale": {"domain": hosts}}
    place = {"x": category("receiver", **order, axis=receivers), "y": category("sender", **order)}
    look = {
        "fill": as_is("colour"),
        "stroke": as_is("frame"),
        "strokeWidth": {**as_is("width"), "type": "quantitative"},
    }
    squares = mark("rect", {**place, **look}, cornerRadius=2)
    texts = mark("text", {**place, "text": {"field": "text"}}, fontSize=11)
    layers = [squares, texts] if side_px >= _MIN_SQUARE_WITH_TEXT_PX else [squares]
    return layered(rows, *layers, px=(side_px * len(hosts), side_px * len(hosts)))


SECTION = Section(
    70,
    "mesh",
    "Throughput between hosts",
    lambda evidence: figure(evidence.measured, evidence.verdicts),
)
