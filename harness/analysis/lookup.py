"""From what a user names - a results file, a directory, a configuration - to the runs it holds."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from harness.analysis.column import Column
from harness.errors import BadInput
from harness.model import RecordedRun, Run
from harness.record.store import SUFFIX, configuration_directory, load

WORK: Mapping[str, Callable[[Run], object]] = {
    "sink": lambda run: run.parameters.get("sink"),
    "repartition": lambda run: run.parameters.get("repartition"),
    "pi_samples": lambda run: run.parameters.get("pi_samples"),
    "dataset digest": lambda run: (run.dataset or {}).get("digest"),
}
"""What makes a workload's trials the same work; trials of different work are no one sample."""


def find_column(name: str, results: Path) -> Column:
    """The runs that `name` stands for, pooled.

    It is a results file, a directory of one configuration's, or a configuration under `results`.
    Raises BadInput where it is none of these, and where a directory mixes configurations or runs
    that did not do the same work.
    """
    runs = find_runs(name, results)
    configurations = list(dict.fromkeys(recorded.run.configuration for recorded in runs))
    if len(configurations) > 1:
        raise BadInput(
            f"{name} mixes runs of several configurations ({', '.join(configurations)}); "
            "give a directory of one, or a results file"
        )
    for what, read in WORK.items():
        values = list(dict.fromkeys(str(read(recorded.run)) for recorded in runs))
        if len(values) > 1:
            raise BadInput(
                f"{name} mixes runs that differ in {what} ({', '.join(values)}): their trials cannot "
                "be pooled; give results files, one run a column"
            )
    return Column(configurations[0], runs)


def find_runs(name: str, results: Path) -> tuple[RecordedRun, ...]:
    """All that `name` stands for, whatever they are, in the order of their start; one or more."""
    return tuple(sorted(map(load, _files(name, results)), key=_start))


def find_run(name: str, results: Path) -> RecordedRun:
    """The newest run that `name` stands for, by its start. Raises BadInput like `find_column`."""
    return max(map(load, _files(name, results)), key=_start)


def _start(recorded: RecordedRun) -> tuple[str, str]:
    return recorded.run.started_at, recorded.run.id


def _files(name: str, results: Path) -> list[Path]:
    """At least one results file."""
    path = Path(name)
    try:
        if path.is_file():
            return [path]
        directories = [
            directory
            for directory in (path, configuration_directory(results, name))
            if directory.is_dir()
        ]
        found = next(filter(None, map(_results_files, directories)), None)
        if found is None:
            raise BadInput(_not_found(name, directories, results))
    except (OSError, ValueError) as error:  # too long, not readable, not encodable
        raise BadInput(f"cannot read {name!r}: {error}") from error
    return found


def _results_files(directory: Path) -> list[Path]:
    """Without `._name.jsonl`, which some systems lay beside a file that they copy."""
    return sorted(
        file
        for file in directory.iterdir()
        if file.suffix == SUFFIX and not file.name.startswith(".")
    )


def _not_found(name: str, directories: Sequence[Path], results: Path) -> str:
    if directories:
        return (
            f"the directory {directories[0]} holds no results files (*{SUFFIX}); "
            "give the directory of one configuration, such as results/1g-rs"
        )
    known = _configurations(results)
    return (
        f"{name!r} is neither a results file, nor a directory of them, nor a configuration under "
        f"{results} (there: {', '.join(known) or 'none'})"
    )


def _configurations(results: Path) -> list[str]:
    if not results.is_dir():
        return []
    return sorted(
        directory.name
        for directory in results.iterdir()
        if directory.is_dir() and _results_files(directory)
    )
