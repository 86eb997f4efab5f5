"""How many runs and trials a change needs, for the terminal."""

from collections.abc import Iterator
from statistics import median

from harness.analysis.compare.power import RunsNeeded
from harness.present.quantities import deviation
from harness.present.text import fill, simple_table
from harness.statistics.mixed_model import PRIOR_RUN_SD
from harness.statistics.power import MAX_RUNS
from harness.words import count_of, percent, shorten, visible

_NAME_WIDTH = 40


def render(needed: RunsNeeded) -> str:
    """Return the runs that each workload needs, and a sentence on all of them."""
    rows = [
        (
            shorten(visible(workload.workload), _NAME_WIDTH),
            deviation(workload.noise),
            deviation(workload.between),
            str(workload.trials),
            f"> {MAX_RUNS}" if workload.runs is None else str(workload.runs),
        )
        for workload in needed.workloads
    ]
    table = simple_table(("workload", "noise", "between", "trials", "runs"), rows)
    return f"{table}\n\n{fill(' '.join(_sentences(needed)))}"


def _sentences(needed: RunsNeeded) -> Iterator[str]:
    of_table = f"in a table of {count_of(needed.comparisons, 'comparison')}"
    change = percent(needed.change, 1)
    # A control is there to be compared, not to change.
    changing = [found for found in needed.workloads if not found.is_control]
    which = "workload but the controls" if 0 < len(changing) < len(needed.workloads) else "workload"
    changing = changing or list(needed.workloads)
    numbers = [found.runs for found in changing if found.runs is not None]
    if len(numbers) < len(changing):
        yield (
            f"More than {MAX_RUNS} {'applications' if needed.in_turns else 'runs'} would be needed to detect "
            f"a change of {change} of every {which}, {of_table}. Reduce the noise: use longer trials or an "
            "idle machine."
        )
    else:
        where = (
            "applications, in each of which the configurations take turns,"
            if needed.in_turns
            else "runs on either side"
        )
        yield (
            f"{max(numbers)} {where} detect a change of {change} of any {which} in {percent(needed.power)} "
            f"of cases, {of_table}."
        )
    if efficient := [found.efficient_trials for found in changing if found.efficient_trials]:
        yield (
            f"Given how long these runs and their rounds took, about {round(median(efficient))} trials a run "
            "make the best use of the time."
        )
    if needed.is_assumed:
        yield f"A single run does not show how much runs differ: {percent(PRIOR_RUN_SD)} is assumed."
