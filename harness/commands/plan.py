"""`clusterlift plan`: how many trials a comparison needs."""

from __future__ import annotations

import click

from harness.commands.command import command
from harness.commands.options import as_fraction
from harness.statistics.change import ALPHA, min_trials
from harness.statistics.power import MAX_TRIALS, POWER, detectable_change, trials_needed
from harness.terminal import count_of, show


@command("plan")
@click.option(
    "--change",
    callback=as_fraction,
    required=True,
    metavar="PERCENT",
    help="Smallest change to detect, such as 5%.",
)
@click.option(
    "--noise",
    callback=as_fraction,
    required=True,
    metavar="PERCENT",
    help="Relative standard deviation of repeated trials; `clusterlift ready` measures it.",
)
@click.option(
    "--workloads",
    type=click.IntRange(1, 1000),
    default=9,
    show_default=True,
    help="Workloads in the table. A table of more workloads needs more trials of each.",
)
@click.option(
    "--configurations",
    type=click.IntRange(1, 1000),
    default=1,
    show_default=True,
    help="Configurations in the table, without the baseline.",
)
@click.option(
    "--power",
    callback=as_fraction,
    default=f"{POWER:.0%}",
    show_default=True,
    metavar="PERCENT",
    help="Probability of detecting the change.",
)
def plan_command(
    change: float, noise: float, workloads: int, configurations: int, power: float
) -> None:
    """Compute how many trials are needed to detect a change.

    The baseline and each other configuration need that many trials of each workload. The significance
    level is 5% for the whole table: if nothing changed, at most one table in twenty shows a change.
    """
    comparisons = workloads * configurations
    needed = trials_needed(change, noise, comparisons, power)
    table = f"a table of {count_of(comparisons, 'comparison')}"
    if needed is None:
        show(
            f"More than {MAX_TRIALS} trials of each workload are needed: a change of {change:.1%} is "
            f"too small for noise of {noise:.1%}. Reduce the noise: use longer trials or an idle machine."
        )
    else:
        show(
            f"{needed} trials of each workload, before and after, detect a change of {change:.1%} in "
            f"{power:.0%} of cases, in {table} with noise of {noise:.1%}."
        )
    minimum = min_trials(1, 1, comparisons)
    smallest = detectable_change(noise, minimum, comparisons, power)
    show(
        f"{minimum} trials detect {smallest:.1%} or more. With fewer, no change is significant at "
        f"{ALPHA:.0%} for the whole table, however large it is."
    )
