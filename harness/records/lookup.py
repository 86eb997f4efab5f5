"""From what a user names - a results file, a directory, a configuration - to the runs it holds."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from harness.model.errors import BadInput
from harness.model.probe import RecordedProbes
from harness.model.run import RecordedRun
from harness.records.directories import SUFFIX, configuration_directory
from harness.records.probes import DIRECTORY, find_probed
from harness.records.reader import load


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


# MERGED from harness.analysis.probed: 'What was probed of the network that runs were measured on.'
def probed_beside(runs: Iterable[RecordedRun]) -> list[RecordedProbes]:
    """The probes that lie beside the runs' files, none if there are none.

    Raises BadInput where such a file is not what a probe leaves behind.
    """
    places = dict.fromkeys(Path(recorded.source).parent / DIRECTORY for recorded in runs)
    return [
        probed
        for place in places
        if any(place.glob(f"[!.]*{SUFFIX}"))
        for probed in find_probed(str(place), place)
    ]
