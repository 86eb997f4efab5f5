"""A plan of runs and trials, for the terminal."""

from statistics import median

from harness.analysis.compare.plan import Plan
from harness.present.text import fill, simple_table
from harness.statistics.mixed_model import PRIOR_RUN_SD
from harness.statistics.power import MAX_RUNS
from harness.terminal import count_of, percent, shorten, visible

_NAME_WIDTH = 40


def render(plan: Plan) -> str:
    """Return the runs that each workload needs, and a sentence on all of them."""
    rows = [
        (
            shorten(visible(each.workload), _NAME_WIDTH),
            f"{each.noise:.1%}",
            f"{each.between:.1%}",
            str(each.trials),
            f"> {MAX_RUNS}" if each.runs is None else str(each.runs),
        )
        for each in plan.workloads
    ]
    table = simple_table(("workload", "noise", "between", "trials", "runs"), rows)
    return f"{table}\n\n{fill(' '.join(_sentences(plan)))}"


def _sentences(plan: Plan) -> list[str]:
    of_what = "applications" if plan.in_turns else "runs"
    where = (
        "applications, in each of which the configurations take turns,"
        if plan.in_turns
        else "runs on either side"
    )
    of_table = f"in a table of {count_of(plan.comparisons, 'comparison')}"
    # A control is there to be compared, not to change.
    needing = [each for each in plan.workloads if not each.is_control] or list(plan.workloads)
    which = "workload" if needing == list(plan.workloads) else "workload but the controls"
    if any(each.runs is None for each in needing):
        found = (
            f"More than {MAX_RUNS} {of_what} would be needed to detect a change of {percent(plan.change, 1)} "
            f"of every {which}, {of_table}. Reduce the noise: use longer trials or an idle machine."
        )
    else:
        most = max(each.runs or 0 for each in needing)
        found = (
            f"{most} {where} detect a change of {percent(plan.change, 1)} of any {which} in "
            f"{percent(plan.power)} of cases, {of_table}."
        )
    efficient = [each.efficient_trials for each in needing if each.efficient_trials]
    costs = (
        f"Given how long these runs and their rounds took, about {round(median(efficient))} trials a run "
        "make the best use of the time."
        if efficient
        else ""
    )
    assumed = (
        f"A single run does not show how much runs differ: {percent(PRIOR_RUN_SD)} is assumed."
        if plan.is_assumed
        else ""
    )
    return [text for text in (found, costs, assumed) if text]
