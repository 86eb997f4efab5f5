"""How much identical runs vary, for the terminal."""

from harness.analysis.compare.identical_runs import IdenticalRuns
from harness.model.limits import MIN_RUNS
from harness.present.quantities import deviation, if_known
from harness.present.text import fill, simple_table
from harness.words import count_of, shorten, visible

_NAME_WIDTH = 40
_TOO_FEW = f"From single runs nothing is claimed: make {2 * MIN_RUNS} identical runs or more."


def render(found: IdenticalRuns) -> str:
    """Return how much each workload varies, and what comparisons of equal runs claim."""
    variations = simple_table(
        ("workload", "SD of trials", "SD of runs", ""),
        [
            (
                shorten(visible(variation.workload), _NAME_WIDTH),
                deviation(variation.trials_sd),
                deviation(variation.runs_sd),
                "control" if variation.is_control else "",
            )
            for variation in found.variations
        ],
    )
    pairs = simple_table(
        (
            *("runs a side", "comparisons", "claim a change", "controls moved"),
            "95 % of changes within",
        ),
        [
            (
                str(split.runs),
                str(split.pairs),
                if_known(split.claims, "{:.1%}".format),
                if_known(split.alarms, "{:.1%}".format),
                if_known(split.most_differ, "{:.1%}".format),
            )
            for split in found.pairs
        ],
    )
    runs = count_of(len(found.configuration.runs), "run")
    introduction = fill(
        f"{visible(found.configuration.name)}, {runs}. Standard deviations of the trials of a run and "
        "of the medians of runs:"
    )
    explanation = fill(
        "The same runs compared with each other, split in all ways. Nothing changed between them, so at "
        "most 5 % should claim that something did:"
    )
    few = "" if found.pairs[-1].claims is not None else f"\n\n{fill(_TOO_FEW)}"
    return f"{introduction}\n\n{variations}\n\n{explanation}\n\n{pairs}{few}"
