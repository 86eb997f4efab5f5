"""Which runs do the same work, so that their trials can be pooled."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from harness.base.errors import BadInput
from harness.model.run import PROGRAM, QUERIES, Facts, RecordedRun, Run
from harness.work.options import SAME_WORK, WorkOptions
from harness.work.queries import text_digests

DIGEST = "dataset digest"
"""What the digest of the rows is called."""


def work_of(run: Run) -> dict[str, Any]:
    """Return what the trials of a run do, by name. A run that reads no data says nothing about data."""
    parameters = run.parameters
    if parameters.get(PROGRAM):
        return {"problem": parameters.get("problem")}
    work = {each.name: each.value_in(parameters) for each in SAME_WORK}
    if run.dataset is not None:
        work.update(work_on(run.dataset))
    work.update(_texts(parameters.get(QUERIES) or {}))
    return work


def work_of_options(options: WorkOptions) -> dict[str, Any]:
    """Return what trials with these options will do, by name."""
    work = {each.name: getattr(options, each.name) for each in SAME_WORK}
    return {**work, **_texts(text_digests(options.queries))}


def work_on(dataset: Facts) -> dict[str, Any]:
    """Return what a manifest says of the rows that trials read, by name."""
    return {
        DIGEST: dataset.get("digest"),
        "format of the dataset": dataset.get("format"),
    }


def _texts(digests: Mapping[str, str]) -> dict[str, str]:
    return {f"the text of {name}": digest for name, digest in digests.items()}


def require_same_work(name: str, runs: Sequence[Run]) -> None:
    """Raise BadInput unless the trials of these runs, all of Spark or of one program, can be pooled."""
    found: dict[str, list[str]] = {}
    for run in runs:
        for what, value in work_of(run).items():
            values = found.setdefault(what, [])
            text = _text(value)
            if text not in values:
                values.append(text)
    for what, values in found.items():
        if len(values) > 1:
            raise BadInput(
                f"{name} mixes runs that differ in {what} ({', '.join(values)}): their trials cannot be "
                "pooled; name the results files instead, so that each run is a column"
            )


def require_work_of_runs(
    configuration: str, wanted: Mapping[str, Any], runs: Iterable[RecordedRun]
) -> None:
    """Raise BadInput if a run of the configuration did other work than new runs would do.

    `wanted` is the work of the new runs, by name. A value that is unknown on either side is not compared.
    """
    for recorded in runs:
        done = work_of(recorded.run)
        # A directory may have been renamed.
        done["configuration"] = recorded.run.configuration
        done["rows"] = (recorded.run.dataset or {}).get("rows")
        for what, value in wanted.items():
            earlier = done.get(what)
            if earlier is not None and value is not None and earlier != value:
                raise BadInput(
                    f"--configuration {configuration}: {recorded.source} has {what} {_text(earlier)}, and "
                    f"new runs would have {_text(value)}, which no column of a table can show together; "
                    "choose another name"
                )


def _text(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {each}" for name, each in value.items())
    return str(value)
