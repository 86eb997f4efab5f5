"""What a reader of a configuration's numbers must know of the runs behind them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from harness.model.run import Ending, Phase, RecordedRun, Status

_UNFINISHED = {
    None: "has no ending (killed, or still running)",
    Ending.INTERRUPTED: "was interrupted",
    Ending.SPARK_LOST: "lost its Spark application",
}


def caveats(runs: Sequence[RecordedRun]) -> tuple[str, ...]:
    """One line for each kind of oddity in the runs of one configuration."""
    return (
        *_unfinished(runs),
        *_damaged(runs),
        *_failed_warm_ups(runs),
        *_noted(runs),
        *_drifted(runs),
        *_on_other_links(runs),
        *_erring_links(runs),
        *_emulated(runs),
    )


def _unfinished(runs: Sequence[RecordedRun]) -> Iterator[str]:
    for ending, what in _UNFINISHED.items():
        ids = [recorded.run.id for recorded in runs if recorded.ending is ending]
        if ids:
            yield "; ".join(f"run {id_} {what}" for id_ in ids) + ": it may lack trials"


def _damaged(runs: Sequence[RecordedRun]) -> Iterator[str]:
    warnings = [warning for recorded in runs for warning in recorded.warnings]
    if warnings:
        yield "; ".join(warnings)


def _failed_warm_ups(runs: Sequence[RecordedRun]) -> Iterator[str]:
    failed = [
        trial.workload
        for recorded in runs
        for trial in recorded.trials
        if trial.phase is Phase.WARM_UP and trial.status is Status.FAILED
    ]
    if failed:
        yield f"warm-up trials failed ({len(failed)}): {', '.join(dict.fromkeys(failed))}"


def _noted(runs: Sequence[RecordedRun]) -> Iterator[str]:
    noted = [
        f"{trial.workload} {trial.round} ({trial.note})"
        for recorded in runs
        for trial in recorded.trials
        if trial.phase is Phase.MEASURED and trial.note
    ]
    if noted:
        yield f"trials that something befell ({len(noted)}): {', '.join(noted)}"


def _drifted(runs: Sequence[RecordedRun]) -> Iterator[str]:
    layouts = [(recorded.run.dataset or {}).get("layout", {}) for recorded in runs]
    drifts = [layout["drift"] for layout in layouts if layout.get("drift")]
    if drifts:
        yield f"the data did not lie as its manifest says: {'; '.join(dict.fromkeys(drifts))}"


def _on_other_links(runs: Sequence[RecordedRun]) -> Iterator[str]:
    lines = [
        line for recorded in runs for line in recorded.run.parameters.get("unexpected_links") or ()
    ]
    if lines:
        yield f"the links were not what --expect-link says: {'; '.join(dict.fromkeys(lines))}"


def _erring_links(runs: Sequence[RecordedRun]) -> Iterator[str]:
    erring: Counter[str] = Counter()
    for recorded in runs:
        for link, link_errors in (recorded.link_errors or {}).items():
            erring[link] += link_errors.get("errors", 0)
    told = [f"{link} ({packets:,} packets)" for link, packets in sorted(erring.items()) if packets]
    if told:
        yield f"links counted errors while it ran: {', '.join(told)}; see to cable, card and port"


def _emulated(runs: Sequence[RecordedRun]) -> Iterator[str]:
    declared = [
        str(recorded.run.facts["emulated"]) for recorded in runs if "emulated" in recorded.run.facts
    ]
    if declared:
        yield f"emulated: {'; '.join(dict.fromkeys(declared))}"
