"""A baseline's checklist for the terminal: at most 100 columns wide."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping

from tabulate import tabulate

from harness.analysis.readiness import Readiness, Sensitivity
from harness.analysis.readiness_checks import Finding
from harness.statistics.power import POWER
from harness.terminal import shorten, visible

_NAME_WIDTH = 40
_SAID_WIDTH = 72


def render(readiness: Readiness) -> str:
    """The checks, what will be found, and the verdict last; ends with a newline."""
    sections = (
        shorten(visible(readiness.baseline.name), _NAME_WIDTH),
        _findings(readiness.findings),
        *([_prospects(readiness.sensitivities)] if readiness.sensitivities else []),
        _verdict(readiness),
    )
    return "\n\n".join(sections) + "\n"


def _findings(findings: Mapping[str, Finding]) -> str:
    return tabulate(
        [(what, found.status, _wrapped(found.message)) for what, found in findings.items()],
        tablefmt="plain",
        disable_numparse=True,
    )


def _wrapped(message: str) -> str:
    return textwrap.fill(visible(message), _SAID_WIDTH, break_on_hyphens=False)


def _prospects(sensitivities: tuple[Sensitivity, ...]) -> str:
    table = tabulate(
        [
            (shorten(visible(one.workload), _NAME_WIDTH), one.n, _noise(one), *_least(one))
            for one in sensitivities
        ],
        headers=["workload", "n", "noise", "faster", "slower"],
        tablefmt="simple",
        disable_numparse=True,
        colalign=["left", *["right"] * 4],
    )
    return (
        f"The smallest changes that will be found in {POWER:.0%} of cases, with as many trials after; "
        f"`clusterlift\nplan` tells how many trials smaller ones take:\n\n{table}"
    )


def _noise(prospect: Sensitivity) -> str:
    return "unknown" if prospect.noise is None else f"{prospect.noise:.1%}"


def _least(prospect: Sensitivity) -> tuple[str, str]:
    """Downwards and upwards: a time that is halved is as far away as one that is doubled."""
    change = prospect.min_change
    if change is None:
        return ("unknown",) * 2 if prospect.noise is None else ("none",) * 2
    return f"{-change / (1 + change):+.1%}", f"{change:+.1%}"


def _verdict(readiness: Readiness) -> str:
    if not readiness.missing:
        return "READY: the upgrade may begin"
    return f"NOT READY: {', '.join(readiness.missing)}"
