"""One run, for the terminal: what it recorded, each trial, and the summary."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tabulate import tabulate

from harness.analysis.compare.comparison import overview
from harness.analysis.explain.attribution import attribute
from harness.analysis.explain.profile import profiled_time
from harness.analysis.observed.configuration import ConfigurationRuns
from harness.analysis.observed.environment import relevant_spark_conf
from harness.analysis.observed.overlaps import overlaps_with
from harness.base.words import join_names, quantity_text, shorten, visible
from harness.model.run import RecordedRun, Trial
from harness.present import quantities, text
from harness.present.attribution_tables import fractions_table
from harness.present.profile_table import profile_section

_INDENT = "  "
_ERROR_WIDTH = 50
_MAX_VALUE = 300
"""Characters of a value that are shown: Java's options can have thousands; the file has all of them."""


def render(recorded: RecordedRun, others: Sequence[RecordedRun] = ()) -> str:
    """Return what the file records, then the summary, its footnotes and the file's path.

    A footnote names those of the other runs that ran at the same time.
    """
    run = recorded.run
    notes = tuple(overlaps_with([recorded], others))
    alone = ConfigurationRuns(run.configuration, (recorded,), notes)
    sections = (
        _section(f"run {run.id}", _identity(recorded)),
        _section("parameters", run.parameters),
        _section("facts", run.facts),
        _section("environment", {**run.environment, **dict(_in_short(run.environment))}),
        _section("dataset", run.dataset),
        _trials(recorded.trials),
        *_attribution(recorded),
        *_profiles(recorded),
        text.render(overview(alone)),
        f"{visible(recorded.source)}\n",
    )
    return "\n".join(sections)


def _identity(recorded: RecordedRun) -> Mapping[str, Any]:
    return {
        "configuration": recorded.run.configuration,
        "started at": recorded.run.started_at,
        "ending": recorded.ending or "none: killed, or still running",
        **({"stopped": recorded.stopped} if recorded.stopped else {}),
        "written by": recorded.run.written_by,
    }


def _in_short(environment: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield the facts of nodes, alike ones together, and what of Spark's properties may explain times."""
    if machines := environment.get("machines"):
        yield "machines", {join_names(each["hosts"]): each["facts"] for each in machines["groups"]}
    if conf := environment.get("spark_conf"):
        yield "spark_conf", relevant_spark_conf(conf)


def _section(title: str, facts: Mapping[str, Any] | None) -> str:
    lines = list(_tree(facts, _INDENT)) if facts else [f"{_INDENT}none"]
    return "\n".join([visible(title), *lines, ""])


def _tree(facts: Mapping[str, Any], indent: str) -> Iterator[str]:
    """Yield a line for each fact; nested facts are indented below their name."""
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
                begin = f"{indent}{name:{width}}  "
                yield text.fill(begin + shorten(_scalar(value), _MAX_VALUE), " " * len(begin))


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


def _trials(trials: Sequence[Trial]) -> str:
    if not trials:
        return "trials\n  none\n"
    rows = [
        (
            visible(trial.workload),
            trial.phase,
            trial.round,
            _achieved(trial),
            visible("; ".join(_remarks(trial))),
        )
        for trial in trials
    ]
    table = tabulate(
        rows,
        headers=["workload", "phase", "round", "result", "error or note"],
        tablefmt="simple",
        disable_numparse=True,
        colalign=["left", "left", "right", "right", "left"],
        maxcolwidths=[None, None, None, None, _ERROR_WIDTH],
    )
    return f"trials\n{table}\n"


def _achieved(trial: Trial) -> str:
    """Return the time, or the performance of a workload that counts its work."""
    if trial.unit_s is None:
        return trial.status
    if trial.work is None:
        return quantities.time_text(trial.unit_s)
    return quantity_text(1 / trial.unit_s, f"{trial.work.unit}/s")


def _remarks(trial: Trial) -> Iterator[str]:
    if remark := trial.error or trial.note:
        yield remark
    if trial.executions > 1:
        yield f"mean of {trial.executions} executions"
    if trial.work:
        yield from (f"{name} {value:,.10g}" for name, value in trial.work.figures.items())
    if trial.disturbed:
        yield f"disturbed, does not count: {trial.disturbed}"
    if trial.tasks and trial.tasks.incomplete:
        yield f"the event log is incomplete ({trial.tasks.incomplete})"


def _profiles(recorded: RecordedRun) -> Iterator[str]:
    sides = {workload: [profiled_time([recorded], workload)] for workload in recorded.by_workload}
    if section := profile_section(sides):
        yield f"{section}\n"


def _attribution(recorded: RecordedRun) -> Iterator[str]:
    by_workload = {
        workload: attribution
        for workload in recorded.by_workload
        if (attribution := attribute([recorded], workload))
    }
    if by_workload:
        yield f"where the time went\n{fractions_table(by_workload)}\n"
