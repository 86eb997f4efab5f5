"""What TCP carries between every two hosts, as a map a configuration; and how the maps differ."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import altair as alt

from harness.analysis.mesh import Matrix, Pair, matrix, slow_pairs, slowness, usual_bit_s
from harness.model.link import UNITS, throughput_text
from harness.model.network_metrics import MESH_GOODPUT
from harness.model.probe import ARROW, Measurement
from harness.present import quantities
from harness.present.report import chart
from harness.present.report.chart import Figure, Numbers, Picture, Quantity, labels

_WIDE_PX, _NARROW_PX, _LARGEST_PX, _LEAST_FOR_TEXT_PX = 700, 190, 44, 28
_HOSTS_OF_A_SMALL_MAP = 6
_NAME_WIDTH = 12
# The greatest bound that is reached chooses the colour.
_OF_USUAL = {0.0: "heat-0", 0.5: "heat-1", 0.75: "heat-2", 0.9: "heat-3", 0.97: "heat-4"}
_OF_CHANGE = {
    -1.0: "warm-3",
    -0.5: "warm-2",
    -0.25: "warm-1",
    -0.1: "heat-0",
    0.1: "cool-1",
    0.5: "cool-2",
    1.0: "cool-3",
}
LEGEND = (
    "Senders down, receivers across. The stronger the colour, the nearer to what is usual in that "
    "mesh; a red frame marks what is slower than usual."
)


@dataclass(frozen=True)
class Square:
    """A pair in a map: what is written there, its colour, and whether it is marked as slow."""

    pair: Pair
    text: str
    colour: str
    is_slow: bool = False


@dataclass(frozen=True)
class Map:
    """One configuration's mesh, or how it differs from the baseline's."""

    heading: str
    hosts: tuple[str, ...]
    squares: tuple[Square, ...]


def figure(measured: Mapping[str, Sequence[Measurement]]) -> Figure | None:
    """The figure, of measurements by configuration; None where no mesh was measured."""
    meshes = {name: pair_matrix(some, MESH_GOODPUT) for name, some in measured.items()}
    meshes = {name: held for name, held in meshes.items() if held.hosts}
    if not meshes:
        return None
    maps = tuple(maps_of(meshes))
    slow = [
        f"{name}: {line}" for name, held in meshes.items() for line in slow_hosts_and_pairs(held)
    ]
    return Figure(
        anchor="mesh",
        title="From every host to every other",
        alternative="Maps of what TCP carries, senders down, receivers across. "
        + "; ".join(_told(name, held) for name, held in meshes.items()),
        pictures=tuple(map(_picture, maps)),
        numbers=_numbers(meshes),
        remarks=(LEGEND,),
        lines=tuple(slow),
    )


def maps_of(meshes: Mapping[str, PairMatrix]) -> Iterator[Map]:
    """A map for each mesh, then one of the changes for each but the first."""
    unit = _unit(meshes.values())
    for name, held in meshes.items():
        yield Map(f"{name}, in {unit}bit/s", held.hosts, tuple(_squares(held, unit)))
    baseline, *others = meshes
    for name in others:
        changed = tuple(_changed(meshes[baseline], meshes[name]))
        if changed:
            heading = f"{name} against {baseline}"
            yield Map(heading, meshes[name].hosts, changed)


def _unit(meshes: Iterable[PairMatrix]) -> str:
    """`G` where anything reaches a Gbit/s, else `M`."""
    most = max((value for held in meshes for value in held.values.values()), default=0)
    return "G" if most >= UNITS["g"] else "M"


def _squares(held: PairMatrix, unit: str) -> Iterator[Square]:
    usual, slow = typical_bit_s(held), slow_pairs(held)
    for pair, value in held.values.items():
        text = f"{value / UNITS[unit.lower()]:.{2 if unit == 'G' else 0}f}"
        share = value / usual if usual else 0
        yield Square(pair, text, _class(_OF_USUAL, share), is_slow=pair in slow)
    for pair in held.errors:
        yield Square(pair, chart.TIMES, "paper", is_slow=True)


def _changed(before: PairMatrix, after: PairMatrix) -> Iterator[Square]:
    for pair, value in after.values.items():
        change = _change(before.values.get(pair), value).value
        if change is not None:
            yield Square(pair, f"{change:+.0%}", _class(_OF_CHANGE, change))


def _class(bounds: Mapping[float, str], value: float) -> str:
    """The colour of the greatest bound that is reached; of none, that of the least."""
    reached = [colour for bound, colour in bounds.items() if value >= bound]
    return reached[-1] if reached else next(iter(bounds.values()))


def _told(name: str, held: PairMatrix) -> str:
    if not held.values:
        return f"{name}: {len(held.hosts)} hosts, no pair with a value"
    usual, values = typical_bit_s(held) or 0, held.values.values()
    return (
        f"{name}: {len(held.hosts)} hosts, {throughput_text(min(values))} to {throughput_text(max(values))}, "
        f"usual is {throughput_text(usual)}"
    )


def _numbers(meshes: Mapping[str, PairMatrix]) -> Numbers:
    pairs = list(dict.fromkeys(p for held in meshes.values() for p in (*held.values, *held.errors)))
    baseline, *others = meshes
    rows: list[tuple[str | Quantity, ...]] = []
    for pair in pairs:
        base = meshes[baseline].values.get(pair)
        values = [_value(held, pair) for held in meshes.values()]
        changes = [_change(base, meshes[name].values.get(pair)) for name in others]
        rows.append((ARROW.join(pair), *values, *changes))
    headings = ("pair", *meshes, *(f"change in {name}" for name in others))
    return Numbers(headings, tuple(rows))


def _value(held: PairMatrix, pair: Pair) -> Quantity:
    value = held.values.get(pair)
    return Quantity(held.errors.get(pair, "") if value is None else throughput_text(value), value)


def _change(before: float | None, after: float | None) -> Quantity:
    if before is None or after is None or before == 0:
        return Quantity("", None)
    change = after / before - 1
    return Quantity(quantities.change(change), change)


def _picture(one: Map) -> Picture:
    """A small map fits a phone, a large one is drawn twice."""
    narrow = _draw(one, _NARROW_PX)
    if len(one.hosts) <= _HOSTS_OF_A_SMALL_MAP:
        return Picture(narrow, heading=one.heading)
    return Picture(_draw(one, _WIDE_PX), narrow, heading=one.heading)


def _draw(one: Map, room_px: int) -> str:
    side_px = min(_LARGEST_PX, max(4, room_px // len(one.hosts)))
    names = labels(one.hosts, _NAME_WIDTH)
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
        for square in sorted(one.squares, key=lambda square: square.is_slow)
    ]
    fits = max(map(len, hosts)) * 6.5 <= side_px
    receivers = alt.Axis(orient="top", labelAngle=0 if fits else -50, labelOverlap=True)
    base = alt.Chart(chart.rows(rows)).encode(
        x=alt.X(
            "receiver:N", sort=hosts, scale=alt.Scale(domain=hosts), axis=receivers, title=None
        ),
        y=alt.Y("sender:N", sort=hosts, scale=alt.Scale(domain=hosts), title=None),
    )
    squares = base.mark_rect(cornerRadius=2).encode(
        fill=alt.Fill("colour:N", scale=None),
        stroke=alt.Stroke("frame:N", scale=None),
        strokeWidth=alt.StrokeWidth("width:Q", scale=None),
    )
    texts = base.mark_text(fontSize=11).encode(text="text:N")
    layers = [squares, texts] if side_px >= _LEAST_FOR_TEXT_PX else [squares]
    return chart.svg(
        alt.layer(*layers).properties(width=side_px * len(hosts), height=side_px * len(hosts))
    )
