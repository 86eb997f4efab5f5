"""TCP throughput of each host, as sender and as receiver, where hosts are too many for a map of pairs."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from harness.analysis.network.mesh import (
    RECEIVES,
    SENDS,
    PairMatrix,
    natural_order,
    typical_bit_s,
)
from harness.analysis.network.mesh_verdict import MeshVerdict
from harness.model.link import UNITS, throughput_text
from harness.present.data_table import DataTable, Quantity, relative_change
from harness.present.report import chart
from harness.present.report.chart import COLOUR, SHAPE, Spec, layered, mark, quantity
from harness.present.report.figure import Figure, picture

MAX_HOSTS_IN_MAP = 40
"""More are drawn by this figure."""
_WIDE_PX, _NARROW_PX, _HEIGHT_PX = 700, 300, 160
_SHAPES = {SENDS: "triangle-up", RECEIVES: "triangle-down"}
LEGEND = (
    "TCP throughput of each host (the median of its pairs), in the order of names: ▲ as a sender, ▼ as a "
    "receiver. A red mark is a host that is slow in its newest probe, or that carried nothing."
)


@dataclass(frozen=True)
class Mark:
    """A host as sender or as receiver. `position` is its place in the order of all names, from 1.

    If the host carried nothing, `bit_s` is 0.
    """

    position: int
    host: str
    role: str
    bit_s: float
    is_slow: bool


def figure(meshes: Mapping[str, PairMatrix], verdicts: Mapping[str, MeshVerdict]) -> Figure:
    """Return the figure, with one picture for each configuration."""
    hosts = sorted({host for mesh in meshes.values() for host in mesh.hosts}, key=natural_order)
    positions = {host: position for position, host in enumerate(hosts, 1)}
    marks = {
        name: list(marks_of(mesh, verdicts.get(name), positions)) for name, mesh in meshes.items()
    }
    unit = unit_prefix(meshes.values())
    return Figure(
        alternative="Marks of the TCP throughput of each host, as sender and as receiver. "
        + "; ".join(_description(name, mesh) for name, mesh in meshes.items()),
        pictures=tuple(
            picture(
                _drawn(own, unit, _WIDE_PX),
                _drawn(own, unit, _NARROW_PX),
                heading=f"{name}, in {unit}bit/s, by the position of the host in the order of names",
            )
            for name, own in marks.items()
        ),
        numbers=_numbers(marks),
        remarks=(LEGEND,),
    )


def unit_prefix(meshes: Iterable[PairMatrix]) -> str:
    """Return `G` if any pair reaches 1 Gbit/s, else `M`."""
    highest = max((value for mesh in meshes for value in mesh.values.values()), default=0)
    return "G" if highest >= UNITS["g"] else "M"


def marks_of(
    mesh: PairMatrix, verdict: MeshVerdict | None, positions: Mapping[str, int]
) -> Iterator[Mark]:
    """Yield a mark for each direction in which a host was measured."""
    slow = {(role.host, role.direction) for role in verdict.roles} if verdict else set()
    failed = {
        role for sender, receiver in mesh.errors for role in ((sender, SENDS), (receiver, RECEIVES))
    }
    for host in mesh.hosts:
        for role, values in ((SENDS, mesh.sent_by(host)), (RECEIVES, mesh.received_by(host))):
            if values or (host, role) in failed:
                bit_s = median(values.values()) if values else 0.0
                yield Mark(
                    positions[host], host, role, bit_s, is_slow=not values or (host, role) in slow
                )


def _description(name: str, mesh: PairMatrix) -> str:
    typical = typical_bit_s(mesh)
    middle = "no pair has a value" if typical is None else f"typically {throughput_text(typical)}"
    return f"{name}: {len(mesh.hosts):,} hosts, {middle}"


def _numbers(marks: Mapping[str, Sequence[Mark]]) -> DataTable:
    values = {
        name: {(mark.position, f"{mark.host} {mark.role}"): mark.bit_s for mark in own}
        for name, own in marks.items()
    }
    baseline, *others = values
    rows: list[tuple[str | Quantity, ...]] = [
        (
            Quantity(str(key[0]), key[0]),
            key[1],
            *(Quantity.of(own.get(key), throughput_text) for own in values.values()),
            *(relative_change(values[baseline].get(key), values[name].get(key)) for name in others),
        )
        for key in dict.fromkeys(key for own in values.values() for key in own)
    ]
    headings = (
        "position",
        "host and direction",
        *values,
        *(f"change in {name}" for name in others),
    )
    return DataTable(headings, tuple(rows))


def _drawn(marks: Sequence[Mark], unit: str, width_px: int) -> Spec:
    rows = [
        {
            "position": mark.position,
            "rate": mark.bit_s / UNITS[unit.lower()],
            "shape": _SHAPES[mark.role],
            "colour": chart.ALARM if mark.is_slow else chart.BLUE,
        }
        for mark in sorted(marks, key=lambda mark: mark.is_slow)
    ]
    last = max(mark.position for mark in marks)
    x = quantity(
        "position",
        ends=(0, last + 1),
        axis={"tickMinStep": 1, "tickCount": width_px // 90, "grid": False},
    )
    y = quantity("rate", scale={"zero": True}, axis={"tickCount": 4})
    place = {"x": x, "y": y, **COLOUR, **SHAPE}
    points = mark("point", place, filled=True, size=20, opacity=0.8)
    return layered(rows, points, px=(width_px, _HEIGHT_PX))
