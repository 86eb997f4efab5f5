"""One run: what it recorded, each trial, and the summary."""

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from harness.analysis.compare.comparison import overview
from harness.analysis.explain.attribution import attribute
from harness.analysis.explain.profile import profiled_time
from harness.analysis.observed.configuration import ConfigurationRuns
from harness.analysis.observed.environment import file_system_properties, relevant_spark_conf
from harness.analysis.observed.overlaps import overlaps_with
from harness.base.words import join_names, quantity_text, visible
from harness.model.run import RecordedRun, Run, Trial
from harness.present import quantities
from harness.present.attribution_tables import fractions_table
from harness.present.blocks import Block, Facts, Heading, Lines, Table
from harness.present.comparison_table import comparison_table
from harness.present.profile_table import profile_tables

_REMARK_WIDTH = 50


def run_page(recorded: RecordedRun, others: Sequence[RecordedRun] = ()) -> Iterator[Block]:
    """Yield what the file records, then the summary, its footnotes and the file's path.

    A footnote names the other runs that ran at the same time.
    """
    run = recorded.run
    facts = {
        f"run {run.id}": _identity(recorded),
        "parameters": run.parameters,
        "facts": run.facts,
        "environment": _environment(run),
        "dataset": run.dataset or {},
    }
    for title, values in facts.items():
        yield Heading(title)
        yield Facts(values)
    yield Heading("trials")
    yield _trials(recorded.trials)
    attributions = {}
    profiles = {}
    for name in recorded.by_workload:
        attribution = attribute([recorded], name)
        if attribution:
            attributions[name] = attribution
        profiles[name] = [profiled_time([recorded], name)]
    if attributions:
        yield Heading("where the time went")
        yield fractions_table(attributions)
    yield from profile_tables(profiles)
    notes = tuple(overlaps_with([recorded], others))
    yield comparison_table(overview(ConfigurationRuns(run.configuration, (recorded,), notes)))
    yield Lines([recorded.source])


def _identity(recorded: RecordedRun) -> Mapping[str, Any]:
    run = recorded.run
    identity = {
        "configuration": run.configuration,
        "started at": run.started_at,
        "ending": recorded.ending or "none: killed, or still running",
    }
    if recorded.stopped:
        identity["stopped"] = recorded.stopped
    identity["written by"] = run.written_by
    return identity


def _environment(run: Run) -> Mapping[str, Any]:
    """Return the facts of nodes, alike ones together, and what of Spark's properties may explain times."""
    environment = dict(run.environment)
    machines = environment.get("machines")
    if machines:
        environment["machines"] = {
            join_names(each["hosts"]): each["facts"] for each in machines["groups"]
        }
    conf = environment.get("spark_conf")
    if conf:
        environment["spark_conf"] = relevant_spark_conf(conf, file_system_properties(run))
    return environment


def _trials(trials: Sequence[Trial]) -> Block:
    if not trials:
        return Facts({})
    rows = []
    for trial in trials:
        remarks = visible("; ".join(_remarks(trial)))
        wrapped = textwrap.fill(remarks, _REMARK_WIDTH)
        rows.append([trial.workload, trial.phase, str(trial.round), _achieved(trial), wrapped])
    headings = ("workload", "phase", "round", "result", "error or note")
    return Table(headings, rows, align="<<>><")


def _achieved(trial: Trial) -> str:
    """Return the time, or the performance of a workload that counts its work."""
    if trial.unit_s is None:
        return trial.status
    if trial.work is None:
        return quantities.time_text(trial.unit_s)
    return quantity_text(1 / trial.unit_s, f"{trial.work.unit}/s")


def _planning(trial: Trial) -> Iterator[str]:
    """Yield what a user's stopwatch has besides the time, and what part of the time was no execution."""
    found = trial.planning
    if found is None or found.parsing_s is None or found.analysis_s is None:
        return
    before_s = found.parsing_s + found.analysis_s
    words = f"parsed and analysed in {before_s:.2f} s before"
    if found.planning_s is not None:
        words += f", planned in {found.planning_s:.2f} s of the time"
    yield words


def _remarks(trial: Trial) -> Iterator[str]:
    remark = trial.error or trial.note
    if remark:
        yield remark
    if trial.executions > 1:
        yield f"mean of {trial.executions} executions"
    yield from _planning(trial)
    if trial.work:
        for name, value in trial.work.figures.items():
            yield f"{name} {value:,.10g}"
    if trial.disturbed:
        yield f"disturbed, does not count: {trial.disturbed}"
    if trial.tasks and trial.tasks.incomplete:
        yield f"the event log is incomplete ({trial.tasks.incomplete})"
