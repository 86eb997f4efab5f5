"""Lines in panels: of packet sizes, and of percentiles."""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from harness.present.report import chart


class Point(NamedTuple):
    """A value of a line, in the panel of one quantity; `both_ways` are drawn hollow, and dashed."""

    panel: str
    line: str
    x: float
    value: float
    both_ways: bool = False

    @property
    def direction(self) -> str:
        """Return `one way` or `both ways`."""
        return "both ways" if self.both_ways else "one way"


def keys_of(points: Iterable[Point], configurations: Iterable[str]) -> dict[str, chart.Series]:
    """Return the series of the lines; a configuration's own line has the colour of the other figures."""
    configurations = list(configurations)
    lines = dict.fromkeys(point.line for point in points)
    named = dict.fromkeys([*configurations, *lines])
    keys = chart.series_of(named if len(named) < len(configurations) + len(lines) else lines)
    return {line: keys[line] for line in lines}


def panel(
    points: Sequence[Point],
    keys: Mapping[str, chart.Series],
    x: chart.Spec,
    y: chart.Spec,
    px: tuple[int, int],
) -> chart.Spec:
    """Return a panel. `x` and `y` encode the fields `x` and `value`."""
    rows = [
        {
            **point._asdict(),
            **keys[point.line].mark,
            "line": f"{point.line} {point.direction}",
            "dash": chart.DASHES if point.both_ways else [1, 0],
            "inside": chart.PAPER if point.both_ways else keys[point.line].colour,
        }
        for point in points
    ]
    place = {"x": x, "y": y, **chart.COLOUR, "detail": {"field": "line", "type": "nominal"}}
    dots = {**place, **chart.SHAPE, "fill": chart.as_is("inside")}
    return chart.layered(
        rows,
        chart.mark("line", {**place, "strokeDash": chart.as_is("dash")}, strokeWidth=2),
        chart.mark("point", dots, size=42, opacity=1),
        px=px,
    )
