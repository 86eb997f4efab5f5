"""Lines in panels: of packet sizes, and of percentiles."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from harness.present.report import chart


@dataclass(frozen=True)
class Point:
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


def keys_of(
    points: Sequence[Point], configurations: Mapping[str, object]
) -> dict[str, chart.Series]:
    """Return the series of the lines; a configuration's own line has the colour of the other figures."""
    lines = dict.fromkeys(point.line for point in points)
    named = (*configurations, *lines) if configurations.keys() & lines.keys() else lines
    keys = chart.series_of(dict.fromkeys(named))
    return {line: keys[line] for line in lines}


def panel(
    points: Sequence[Point],
    keys: Mapping[str, chart.Series],
    x: chart.Spec,
    y: chart.Spec,
    px: tuple[int, int],
    title: str = "",
) -> chart.Spec:
    """Return a panel. `x` and `y` encode the fields `x` and `value`."""
    rows = [
        {
            "x": point.x,
            "value": point.value,
            "dash": chart.DASHES if point.both_ways else [1, 0],
            "line": f"{point.line} {point.direction}",
            **keys[point.line].mark,
            "inside": chart.PAPER if point.both_ways else keys[point.line].colour,
        }
        for point in points
    ]
    place = {"x": x, "y": y, **chart.COLOUR, "detail": {"field": "line", "type": "nominal"}}
    return chart.layered(
        rows,
        chart.mark("line", {**place, "strokeDash": chart.as_is("dash")}, strokeWidth=2),
        chart.mark(
            "point", {**place, **chart.SHAPE, "fill": chart.as_is("inside")}, size=42, opacity=1
        ),
        px=px,
        title=title,
    )
