"""What a figure of the report consists of, and which figures there are.

Each Section in a module of figures/ is one figure of the report.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from operator import attrgetter
from pkgutil import iter_modules

from harness.analysis.compare.comparison import Comparison
from harness.model.probe import Measurement
from harness.present.blocks import Table
from harness.present.report import chart
from harness.present.report.chart import Spec, Style

Measured = Mapping[str, Sequence[Measurement]]
"""Measurements of probes by configuration."""


@dataclass(frozen=True)
class Picture:
    """An SVG element, and the text above it."""

    svg: str
    heading: str = ""


def picture(spec: Spec, heading: str = "") -> Picture:
    """Draw a picture."""
    return Picture(chart.svg(spec), heading)


@dataclass(frozen=True)
class Figure:
    """Numbers, and the pictures that show them, with what belongs to them.

    `alternative` is the text for readers who cannot see the pictures, `keys` the legend. Below the pictures,
    `remarks` are the sentences of one paragraph and `lines` a list.
    """

    numbers: Table
    alternative: str = ""
    pictures: tuple[Picture, ...] = ()
    keys: Mapping[str, Style] = field(default_factory=dict)
    remarks: tuple[str, ...] = ()
    lines: tuple[str, ...] = ()


@dataclass(frozen=True)
class Evidence:
    """What the figures of a report show: its comparison, and what probes found in its configurations."""

    comparison: Comparison
    measured: Measured = field(default_factory=dict)

    @property
    def styles(self) -> dict[str, Style]:
        """How each configuration is drawn, by its name. The baseline is the first."""
        return chart.series_of(column.name for column in self.comparison.columns)


@dataclass(frozen=True)
class Section:
    """A figure of the report: its place among the others, the target of links to it, and its heading.

    `draw` returns None if the evidence has nothing for it. `@partial(Section, 10, "change", "Title")` before
    such a function makes a section of it.
    """

    order: int
    anchor: str
    title: str
    draw: Callable[[Evidence], Figure | None]


def sections() -> list[Section]:
    """Return the figures of the report in their order; the first belongs at the top of the page."""
    package = import_module(f"{__package__}.figures")
    found: list[Section] = []
    for module in iter_modules(package.__path__, f"{package.__name__}."):
        values = vars(import_module(module.name)).values()
        found += [value for value in values if isinstance(value, Section)]
    return sorted(found, key=attrgetter("order"))
