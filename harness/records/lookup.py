"""From the name that a user gives - a file, a directory or a configuration - to the runs or probes there."""

import gc
import shlex
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from urllib.parse import unquote

from harness.base.errors import BadInput
from harness.base.terminal import say
from harness.model.probe import RecordedProbes
from harness.model.run import RecordedRun
from harness.records.directories import (
    PROBES,
    SUFFIX,
    configuration_directory,
    probes_directory,
    results_files,
)
from harness.records.reader import load, load_probes


def find_runs(name: str, results: Path, *, samples: bool | None = True) -> tuple[RecordedRun, ...]:
    """Return the runs that `name` refers to, one or more, sorted by their start.

    `name` is a results file, a directory with such files, or a configuration under `results`. `samples` is as
    in `load`; None reads them if there is one file alone. Raises BadInput if the name stands for neither of
    these, or if two of the files are of the same run. The runs may be of several configurations.
    """
    directories = (Path(name), configuration_directory(results, name))
    files = _files(name, directories)
    if not files:
        raise BadInput(_not_found(name, directories, results))
    if samples is None:
        samples = len(files) == 1
    loaded: list[RecordedRun] = []
    for file in files:
        loaded.append(load(file, samples=samples))
        gc.freeze()  # or Python would look through it for cycles again and again; it has none
    runs = tuple(sorted(loaded, key=_start))
    check_no_run_twice(runs)
    return runs


def last_run_before(name: str, results: Path) -> RecordedRun | None:
    """Return the last run of another configuration before the newest run of `name`; None if there is none.

    Only runs from the same machine, on a dataset with the same digest, are considered. Files that cannot
    be read are reported, and not considered. Raises BadInput if there is no run of `name`.
    """
    newest = find_runs(name, results, samples=False)[-1]
    last: RecordedRun | None = None
    for recorded in _readable_runs(results):
        is_other = recorded.run.configuration != newest.run.configuration
        is_earlier = _start(recorded) < _start(newest)
        if is_other and is_earlier and _measured_on(recorded) == _measured_on(newest):
            last = recorded if last is None else max(last, recorded, key=_start)
    return last


def runs_in_order(results: Path) -> list[RecordedRun]:
    """Return all runs in a directory of results by their start, without the files that cannot be read."""
    return sorted(_readable_runs(results), key=_start)


def _readable_runs(results: Path) -> Iterator[RecordedRun]:
    for directory in sorted(results.glob("*")):
        for file in results_files(directory):
            try:
                yield load(file, samples=False)
            except BadInput as error:
                say(f"not considered: {error}")


def check_no_run_twice(records: Iterable[RecordedRun | RecordedProbes]) -> None:
    """Raise BadInput if two records have the same id: a copied file is not a new measurement."""
    sources: dict[str, str] = {}
    for record in records:
        id_ = record.run.id
        if id_ in sources:
            if sources[id_] == record.source:
                raise BadInput(f"{record.source}, with run {id_}, is given twice; name it once")
            raise BadInput(
                f"{sources[id_]} and {record.source} have the same run {id_}; name only one of them, or "
                "move one elsewhere"
            )
        sources[id_] = record.source


def find_probes(name: str, results: Path) -> list[RecordedProbes]:
    """Return the probe runs that `name` refers to, one or more, sorted by their start.

    `name` is a file of probes, a directory with such files or of a configuration, or a configuration under
    `results`. Raises BadInput if the name stands for neither of these.
    """
    path = Path(name)
    files = _files(name, (path / PROBES, path, probes_directory(results, name)))
    if not files:
        raise BadInput(
            f"{name!r} has no probes: it is neither a file of probes nor a configuration under "
            f"{results} that was probed; probe it with: "
            f"clusterlift probe all --configuration {shlex.quote(name)}"
        )
    return _probes(files)


def probes_beside(runs: Iterable[RecordedRun]) -> list[RecordedProbes]:
    """Return the probe runs that are stored beside the files of these runs; there may be none.

    Raises BadInput if one of their files is malformed.
    """
    found: list[RecordedProbes] = []
    for directory in dict.fromkeys(Path(recorded.source).parent for recorded in runs):
        found += _probes(results_files(directory / PROBES))
    return found


def recorded_probes(configuration: str, results: Path) -> list[RecordedProbes]:
    """Return the probe runs of a configuration, sorted by their start; there may be none."""
    return _probes(results_files(probes_directory(results, configuration)))


def _probes(files: Iterable[Path]) -> list[RecordedProbes]:
    found = sorted(map(load_probes, files), key=lambda probed: probed.run.started_at)
    check_no_run_twice(found)
    return found


def _measured_on(recorded: RecordedRun) -> tuple[object, object]:
    return recorded.run.environment.get("host"), (recorded.run.dataset or {}).get("digest")


def _start(recorded: RecordedRun) -> tuple[str, str]:
    return recorded.run.started_at, recorded.run.id


def _files(name: str, directories: Sequence[Path]) -> list[Path]:
    """Return the results files of the first directory that has any, or else the file `name`.

    Directories come first, because any file may be called like a configuration.
    """
    try:
        is_file = Path(name).is_file()
    except OSError as error:  # for example a name that is too long
        raise BadInput(f"cannot read {name!r}: {error.strerror}") from error
    for directory in directories:
        files = results_files(directory)
        if files:
            return files
    if is_file:
        return [Path(name)]
    return []


def _not_found(name: str, directories: Sequence[Path], results: Path) -> str:
    for directory in directories:
        if directory.is_dir():
            advice = "give the directory of one configuration, such as results/1g-rs"
            if (directory / PROBES).is_dir():
                advice = (
                    "its network was probed, but no run was recorded; make runs: clusterlift run"
                )
            return f"the directory {directory} has no results files (*{SUFFIX}); {advice}"
    others = [child for child in results.glob("*") if results_files(child)]
    known = sorted(_name_of(child, results) for child in others)
    return (
        f"{name!r} is neither a results file, nor a directory with results files, nor a configuration "
        f"under {results} (there: {', '.join(known) or 'none'})"
    )


def _name_of(directory: Path, results: Path) -> str:
    name = unquote(directory.name)
    if configuration_directory(results, name) == directory:
        return name
    return str(directory)
