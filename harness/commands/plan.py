"""`clusterlift plan`: how many trials it takes."""

from __future__ import annotations

import click

from harness.commands.options import as_share
from harness.statistics.change import ALPHA, min_trials
from harness.statistics.power import MAX_TRIALS, POWER, detectable_change, trials_needed


@click.command("plan")
@click.option(
    "--change",
    callback=as_share,
    required=True,
    metavar="PERCENT",
    help="The smallest change that is to be found, such as 5%.",
)
@click.option(
    "--noise",
    callback=as_share,
    required=True,
    metavar="PERCENT",
    help="How much trials of the same differ, as a standard deviation; `clusterlift ready` tells it.",
)
@click.option(
    "--workloads",
    type=click.IntRange(1, 1000),
    default=8,
    show_default=True,
    help="How many are in the table: the more, the surer each has to be.",
)
@click.option(
    "--configurations",
    type=click.IntRange(1, 1000),
    default=1,
    show_default=True,
    help="How many are held against the baseline.",
)
@click.option(
    "--power",
    callback=as_share,
    default=f"{POWER:.0%}",
    show_default=True,
    metavar="PERCENT",
    help="How often the change is to be found.",
)
def plan_command(
    change: float, noise: float, workloads: int, configurations: int, power: float
) -> None:
    """Tell how many trials it takes to find a change, before and after.

    Of tables in which nothing changed at most one in twenty will claim anything.
    """
    comparisons = workloads * configurations
    least = min_trials(1, 1, comparisons)
    needed = trials_needed(change, noise, comparisons, power)
    table = f"a table of {comparisons} comparison{'s' if comparisons > 1 else ''}"
    if needed is None:
        click.echo(
            f"More than {MAX_TRIALS} trials on either side: a change of {change:.1%} is too small "
            f"for noise of {noise:.1%}. Make the noise less: longer trials, an idle machine."
        )
    else:
        click.echo(
            f"{needed} trials on either side find a change of {change:.1%} in {power:.0%} of cases, "
            f"in {table} with noise of {noise:.1%}."
        )
    smallest = detectable_change(noise, least, comparisons, power)
    click.echo(
        f"Fewer than {least} find nothing, however great, at {ALPHA:.0%} for the whole table; "
        f"{least} find {smallest:.1%} or more."
    )
