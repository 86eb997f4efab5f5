"""The option that draws a figure into a file of its own."""

from importlib import import_module
from pathlib import Path

import click

from harness.commands.options import Decorator, optional_import
from harness.records.outputs import OutputKind, write_file


def figure_option(text: str) -> Decorator:
    """Return the option --figure with this help."""
    return click.option(
        "--figure", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE.svg", help=text
    )


def write_figure(file: Path, name: str, numbers: object) -> None:
    """Write the picture of this name, one of present.report.pictures, with these numbers as SVG.

    Raises BadInput if the file is something else, or cannot be written, or without the packages for it.
    """
    with optional_import("--figure"):
        chart = import_module("harness.present.report.chart")
        pictures = import_module("harness.present.report.pictures")
    picture = chart.standalone(pictures.PICTURES[name](numbers))
    kind = OutputKind("a picture of clusterlift", chart.is_standalone, option="--figure")
    write_file(file, picture.encode(), kind)
