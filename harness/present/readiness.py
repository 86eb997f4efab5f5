"""The checklist of a baseline, for the terminal."""

import textwrap
from collections.abc import Mapping

from tabulate import tabulate

from harness.analysis.ready.readiness import Check, DetectableChange, Readiness
from harness.base.words import given_percent, percent, shorten, visible
from harness.present import quantities
from harness.present.text import fill, simple_table
from harness.statistics.power import MAX_RUNS, POWER

_SDS = "SD: the standard deviation of the trials of a run, and of the medians of these runs."
_NAME_WIDTH = 36
_MESSAGE_WIDTH = 72


def render(readiness: Readiness) -> str:
    """Return the checks, the smallest detectable changes and the verdict; ends with a newline."""
    sections = (
        shorten(visible(readiness.baseline.name), _NAME_WIDTH),
        _checks(readiness.checks),
        *([_detectable(readiness)] if readiness.detectable else []),
        _verdict(readiness),
    )
    return "\n\n".join(sections) + "\n"


def _checks(checks: Mapping[str, Check]) -> str:
    def wrapped(message: str) -> str:
        return textwrap.fill(visible(message), _MESSAGE_WIDTH, break_on_hyphens=False)

    rows = [(check, found.status, wrapped(found.message)) for check, found in checks.items()]
    return tabulate(rows, tablefmt="plain", disable_numparse=True)


def _detectable(readiness: Readiness) -> str:
    introduction = fill(
        f"The smallest changes that a comparison detects in {percent(POWER)} of cases, if as many runs "
        "follow after the upgrade, as quiet as these, and how many runs on either side detect a change of "
        f"{given_percent(readiness.change)}:"
    )
    rows = [
        (
            shorten(visible(found.workload), _NAME_WIDTH),
            str(found.runs),
            *(
                "unknown" if sd is None else quantities.share(sd, 1)
                for sd in (found.noise, found.run_sd)
            ),
            *_faster_and_slower(found),
            _runs_needed(found),
        )
        for found in readiness.detectable
    ]
    table = simple_table(
        ("workload", "runs", "SD of trials", "SD of runs", "faster by", "slower by", "runs needed"),
        rows,
    )
    return f"{introduction}\n\n{table}\n\n{fill(_SDS)}"


def _runs_needed(found: DetectableChange) -> str:
    if found.run_sd is None:
        return "unknown"
    return f"> {MAX_RUNS}" if found.runs_needed is None else str(found.runs_needed)


def _faster_and_slower(found: DetectableChange) -> tuple[str, str]:
    """Return the change to a shorter and to a longer time; half the time is as far as double."""
    change = found.min_change
    if change is None:
        return ("none",) * 2
    if change >= 1:
        return (quantities.TOO_FEW_RUNS,) * 2
    return quantities.change(-change / (1 + change)), quantities.change(change)


def _verdict(readiness: Readiness) -> str:
    if not readiness.missing:
        return "READY: the upgrade may begin"
    return f"NOT READY: {', '.join(readiness.missing)}"
