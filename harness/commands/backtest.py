"""`clusterlift backtest`: how well predictions would have been."""

from collections.abc import Sequence
from pathlib import Path

import click

from harness.analysis.observed.configuration import find_configuration
from harness.analysis.predict.backtest import backtest
from harness.analysis.predict.calibration import calibration
from harness.commands.command import command
from harness.commands.figures import figure_option, write_figure
from harness.commands.options import results_option
from harness.present.prediction import render_backtest
from harness.terminal import show


@command("backtest")
@click.argument("configurations", nargs=-1, required=True, metavar="CONFIGURATION...")
@figure_option(
    "Draw for each level from 5 to 99 % which part of the measured times is inside of the predicted "
    "intervals of that level."
)
@results_option
def backtest_command(configurations: Sequence[str], figure: Path | None, results: Path) -> None:
    """Predict each CONFIGURATION from each slower one, and show the errors.

    The configurations differ by the rate of their links, and perhaps by the layout of the data: predictions
    are made within a layout.
    """
    backcasts = backtest([find_configuration(name, results) for name in configurations])
    if figure is not None:
        scores = (backcast.score for backcast in backcasts)
        write_figure(figure, "calibration", calibration(scores))
    show(render_backtest(backcasts))
