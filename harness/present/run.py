"""One run for the terminal: what it was, each trial, and the summary last."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from tabulate import tabulate

from harness.analysis.attribution import attribute
from harness.analysis.comparison import overview
from harness.analysis.configuration import ConfigurationRuns
from harness.model.run import RecordedRun, Trial
from harness.present import quantities, text
from harness.present.attribution_tables import shares_table
from harness.terminal import visible

_INDENT = "  "
_ERROR_WIDTH = 50


def render(recorded: RecordedRun) -> str:
    """Everything that the file holds, ending with the summary, its footnotes and the path."""
    run = recorded.run
    sections = (
        _section(f"run {run.id}", _identity(recorded)),
        _section("parameters", run.parameters),
        _section("facts", run.facts),
        _section("environment", run.environment),
        _section("dataset", run.dataset),
        _trials(recorded.trials),
        *_spent(recorded),
        text.render(overview(ConfigurationRuns(run.configuration, (recorded,)))),
        f"{visible(recorded.source)}\n",
    )
    return "\n".join(sections)


def _spent(recorded: RecordedRun) -> Iterator[str]:
    """Where the time went, if that is known."""
    workloads = dict.fromkeys(trial.workload for trial in recorded.trials)
    told = {name: attribute([recorded], name) for name in workloads}
    known = {name: attribution for name, attribution in told.items() if attribution}
    if known:
        yield f"where the time went\n{shares_table(known)}\n"


def _identity(recorded: RecordedRun) -> Mapping[str, Any]:
    return {
        "configuration": recorded.run.configuration,
        "started at": recorded.run.started_at,
        "ending": recorded.ending or "none: killed, or still running",
        **({"stopped": recorded.stopped} if recorded.stopped else {}),
        "written by": recorded.run.written_by,
    }


def _section(title: str, facts: Mapping[str, Any] | None) -> str:
    lines = list(_tree(facts, _INDENT)) if facts else [f"{_INDENT}none"]
    return "\n".join([visible(title), *lines, ""])


def _tree(facts: Mapping[str, Any], indent: str) -> Iterator[str]:
    """A line a fact, what is nested indented below its name."""
    names = [visible(str(name)) for name in facts]
    width = max(map(len, names), default=0)
    for name, value in zip(names, facts.values(), strict=True):
        match value:
            case Mapping() if value:
                yield f"{indent}{name}"
                yield from _tree(value, indent + _INDENT)
            case [Mapping(), *_]:
                yield f"{indent}{name}"
                numbered = {str(number): item for number, item in enumerate(value, 1)}
                yield from _tree(numbered, indent + _INDENT)
            case _:
                yield f"{indent}{name:{width}}  {_scalar(value)}"


def _scalar(value: Any) -> str:
    match value:
        case None:
            return "unknown"
        case bool():
            return "yes" if value else "no"
        case list() | tuple():
            return ", ".join(map(_scalar, value)) or "none"
        case Mapping():
            return "none"
        case _:
            return visible(str(value))


def _remarks(trial: Trial) -> Iterator[str]:
    """What went wrong, what was odd, and what is not known of it."""
    if remark := trial.error or trial.note:
        yield remark
    if trial.tasks and trial.tasks.incomplete:
        yield f"its event log is not whole ({trial.tasks.incomplete})"


def _trials(trials: tuple[Trial, ...]) -> str:
    if not trials:
        return "trials\n  none\n"
    rows = [
        (
            visible(trial.workload),
            trial.phase,
            trial.round,
            trial.status if trial.wall_s is None else quantities.time(trial.wall_s),
            visible("; ".join(_remarks(trial))),
        )
        for trial in trials
    ]
    table = tabulate(
        rows,
        headers=["workload", "phase", "round", "time", "error or note"],
        tablefmt="simple",
        disable_numparse=True,
        colalign=["left", "left", "right", "right", "left"],
        maxcolwidths=[None, None, None, None, _ERROR_WIDTH],
    )
    return f"trials\n{table}\n"
