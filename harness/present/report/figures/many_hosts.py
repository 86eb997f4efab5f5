"""TCP throughput of each host, as sender and as receiver, where hosts are too many for a map of pairs."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from statistics import median
from typing import NamedTuple

from harness.analysis.network.mesh import RECEIVES, SENDS, PairMatrix, natural_order, typical_bit_s
from harness.analysis.network.mesh_verdict import MeshVerdict
from harness.model.link import UNITS, throughput_text
from harness.present.data_table import DataTable, Quantity, relative_change
from harness.present.report import chart
from harness.present.report.chart import COLOUR, SHAPE, Spec, layered, mark, quantity
from harness.present.report.figure import Figure, alternative, picture

MAX_HOSTS_IN_MAP = 40
"""More are drawn by this figure."""
_WIDTH_PX, _HEIGHT_PX = 700, 160
_SHAPES = {SENDS: "triangle-up", RECEIVES: "triangle-down"}
LEGEND = (
    "TCP throughput of each host (the median of its pairs), in the order of names: ▲ as a sender, ▼ as a "
    "receiver. A red mark is a host that is slow in its newest probe, or that carried nothing."
)


class Mark(NamedTuple):
    """A host as sender or as receiver; `bit_s` is 0 if it carried nothing."""

    host: str
    role: str
    bit_s: float
    is_slow: bool


def figure(meshes: Mapping[str, PairMatrix], verdicts: Mapping[str, MeshVerdict]) -> Figure:
    """Return the figure, with one picture for each configuration."""
    hosts = sorted({host for mesh in meshes.values() for host in mesh.hosts}, key=natural_order)
    positions = {host: position for position, host in enumerate(hosts, 1)}
    marks = {name: list(marks_of(mesh, verdicts.get(name))) for name, mesh in meshes.items()}
    unit = unit_prefix(meshes.values())
    return Figure(
        alternative=alternative(
            "Marks of the TCP throughput of each host, as sender and as receiver.",
            ((name, _description(mesh)) for name, mesh in meshes.items()),
        ),
        pictures=tuple(
            picture(
                _drawn(own, positions, unit),
                heading=f"{name}, in {unit}bit/s, by the position of the host in the order of names",
            )
            for name, own in marks.items()
        ),
        numbers=numbers_by_configuration(
            {
                name: {
                    f"{positions[mark.host]}: {mark.host} {mark.role}": Quantity.of(
                        mark.bit_s, throughput_text
                    )
                    for mark in own
                }
                for name, own in marks.items()
            },
            "position, host and direction",
        ),
        remarks=(LEGEND,),
    )


def unit_prefix(meshes: Iterable[PairMatrix]) -> str:
    """Return `G` if any pair reaches 1 Gbit/s, else `M`."""
    highest = max((value for mesh in meshes for value in mesh.values.values()), default=0)
    return "G" if highest >= UNITS["g"] else "M"


def numbers_by_configuration(
    values: Mapping[str, Mapping[str, Quantity]], heading: str
) -> DataTable:
    """Return a table with a row for each name: its value in each configuration, then the changes.

    `values` are those of each name, by configuration; the first configuration is the baseline.
    """
    missing = Quantity("", None)
    baseline, *others = values.values()
    return DataTable(
        (heading, *values, *(f"change in {name}" for name in [*values][1:])),
        tuple(
            (
                name,
                *(own.get(name, missing) for own in values.values()),
                *(
                    relative_change(baseline.get(name, missing).value, own.get(name, missing).value)
                    for own in others
                ),
            )
            for name in dict.fromkeys(name for own in values.values() for name in own)
        ),
    )


def marks_of(mesh: PairMatrix, verdict: MeshVerdict | None) -> Iterator[Mark]:
    """Yield a mark for each direction in which a host was measured; the verdict says which are slow."""
    slow = {(role.host, role.direction) for role in verdict.roles} if verdict else set()
    failed = {
        role for sender, receiver in mesh.errors for role in ((sender, SENDS), (receiver, RECEIVES))
    }
    for host in mesh.hosts:
        for role, values in ((SENDS, mesh.sent_by(host)), (RECEIVES, mesh.received_by(host))):
            if values:
                yield Mark(host, role, median(values.values()), (host, role) in slow)
            elif (host, role) in failed:
                yield Mark(host, role, 0.0, is_slow=True)


def _description(mesh: PairMatrix) -> str:
    typical = typical_bit_s(mesh)
    middle = "no pair has a value" if typical is None else f"typically {throughput_text(typical)}"
    return f"{len(mesh.hosts):,} hosts, {middle}"


def _drawn(marks: Sequence[Mark], positions: Mapping[str, int], unit: str) -> Spec:
    rows = [
        {
            "position": positions[mark.host],
            "rate": mark.bit_s / UNITS[unit.lower()],
            "shape": _SHAPES[mark.role],
            "colour": chart.ALARM if mark.is_slow else chart.BLUE,
        }
        for mark in sorted(marks, key=lambda mark: mark.is_slow)
    ]
    x = quantity(
        "position",
        ends=(0, max(positions[mark.host] for mark in marks) + 1),
        axis={"tickMinStep": 1, "tickCount": _WIDTH_PX // 90, "grid": False},
    )
    y = quantity("rate", scale={"zero": True}, axis={"tickCount": 4})
    points = mark("point", {"x": x, "y": y, **COLOUR, **SHAPE}, filled=True, size=20, opacity=0.8)
    return layered(rows, points, px=(_WIDTH_PX, _HEIGHT_PX))
