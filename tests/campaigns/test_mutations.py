"""Every field of every file that users have may have any value: one clear line, or a right result.

The fields and their types are derived from the schemas; all mutations of `mutations.MUTATIONS`, and numbers
just outside of each range, are applied to each field.
"""

import hashlib
import json
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, replace
from functools import reduce
from operator import getitem
from pathlib import Path
from typing import Any

import pytest

from datagen.manifest import Manifest
from datagen.write_lock import Owner
from harness.analysis.compare.comparison import compare
from harness.analysis.observed.configuration import find_configuration
from harness.commands import minicluster
from harness.experiments.experiment_file import ExperimentFile, read_experiment
from harness.experiments.runs import planned_runs
from harness.hosts.transports.host import by_netns
from harness.minicluster import cluster
from harness.model.errors import BadInput
from harness.model.prediction import Prediction
from harness.model.probe import EVENT_KINDS, ProbeRun
from harness.model.run import Run, RunEnd, Trial
from harness.records.predictions import frozen_predictions
from harness.records.reader import load_probes
from harness.records.shapes import CheckedRun
from harness.settings import journal
from harness.settings.in_force import NotPutBack, put_back
from harness.settings.kinds import mtu
from harness.terminal import MAX_ERROR
from harness.words import shorten, visible
from tests.campaigns.consumers import (
    prediction_outputs,
    probe_outputs,
    problem_of,
    quick_pages,
    run_outputs,
)
from tests.campaigns.documents import (
    EXPERIMENT,
    IN_NAMESPACES,
    OF_A_PROGRAM,
    ON_HOSTS,
    Lines,
    complete_run,
    manifest_document,
    probe_lines,
    program_run,
    run_lines,
)
from tests.campaigns.mutations import (
    ABSENT,
    LEVELS,
    NEVER,
    Field,
    Mutation,
    absent_fields,
    fields_of,
)
from tests.unit.builders import GOLDEN, STARTED_AT
from tests.unit.fake_file_system import FakeFileSystem

__all__ = ["quick_pages"]

LONGEST_MESSAGE = 1000
TYPES: dict[str, Any] = {
    "run": Run,
    "trial": Trial,
    "end": RunEnd,
    "probes": ProbeRun,
    **EVENT_KINDS,
}
pytestmark = pytest.mark.usefixtures("quick_pages")

Outputs = Callable[[Path], Iterator[str]]


class Campaign:
    """Applies mutations, and collects what goes wrong."""

    def __init__(self, file: Path, outputs: Outputs) -> None:
        self.file = file
        self.outputs = outputs
        self.applied = self.refused = 0
        self.problems: list[str] = []

    def run(self, mutations: Iterator[tuple[Mutation, str]]) -> None:
        """Write each mutated text to the file, and look at what comes of it."""
        for mutation, text in mutations:
            self.file.unlink(missing_ok=True)  # to write over a file is to wait for the disk
            self.file.write_text(text, encoding="utf-8")
            self.applied += 1
            if problem := self._problem(mutation):
                self.problems.append(f"{mutation}: {problem}")

    def _problem(self, mutation: Mutation) -> str | None:
        try:
            problems = list(filter(None, map(problem_of, self.outputs(self.file))))
        except BadInput as error:
            self.refused += 1
            return self._problem_of_message(str(error))
        except Exception as error:  # noqa: BLE001  a traceback is what the campaign looks for
            return f"{type(error).__name__}: {str(error)[:150]!r}"
        if mutation.must_be_refused:
            return "accepted"
        return problems[0] if problems else None

    def _problem_of_message(self, message: str) -> str | None:
        if self.file.name not in message:
            return f"the message does not name the file: {message[:150]}"
        if len(visible(message)) > LONGEST_MESSAGE:
            return f"a message of {len(message):,} characters: {message[:150]!r}"
        return None


@pytest.fixture
def report(
    record_property: Callable[[str, object], None], capsys: pytest.CaptureFixture[str]
) -> Callable[[Campaign, str], None]:
    """Return a function that prints the numbers of a campaign, and fails if there are problems."""

    def finish(campaign: Campaign, name: str) -> None:
        record_property("mutations", campaign.applied)
        with capsys.disabled():
            counts = f"{campaign.applied:,} mutations, {campaign.refused:,} refused"
            sys.stdout.write(f"\n{name}: {counts} ")
        found = campaign.problems
        assert not found, f"{len(found)} problems:\n" + "\n".join(found)

    return finish


Report = Callable[[Campaign, str], None]


def line_fields(lines: Lines, kind: str) -> list[tuple[int, Field]]:
    """Return the number of a line of this kind, and a field of it, for each field of the kind.

    Lines of a kind that have the same keys differ in nothing that matters here.
    """
    found: list[tuple[int, Field]] = []
    seen: set[str] = set()
    of_kind = [(number, line) for number, line in enumerate(lines) if line["kind"] == kind]
    annotations = [TYPES[kind]]
    values = [dict(line) for _, line in of_kind]
    assert absent_fields(TYPES[kind], values) == []
    if kind in {"run", "probes"}:
        annotations.append(CheckedRun)
        heads = [asdict(run("1g")) for run in (complete_run, program_run)]
        assert absent_fields(CheckedRun, heads) == []
    for number, line in of_kind:
        for field in fields_of(annotations, line):
            is_known = line[field.path[0]] is not None
            if field.name not in seen and (is_known or len(of_kind) == 1):
                seen.add(field.name)
                found.append((number, field))
    return found


def mutated_lines(
    lines: Lines, kind: str, named: frozenset[str] = frozenset()
) -> Iterator[tuple[Mutation, str]]:
    """Yield every mutation of the lines of a kind, or only of fields with a key of these names."""
    texts = [json.dumps(line, ensure_ascii=False) for line in lines]
    for number, field in line_fields(lines, kind):
        if named and named.isdisjoint(field.path):
            continue
        for mutation in field.mutations():
            mutated = mutation.applied(lines[number])
            yield mutation, "\n".join([*texts[:number], mutated, *texts[number + 1 :], ""])


@pytest.mark.parametrize(
    ("kind", "run"),
    [("run", complete_run), ("run", program_run), ("trial", complete_run), ("end", complete_run)],
)
def test_results_files(
    tmp_path: Path, kind: str, run: Callable[[str], Run], report: Report
) -> None:
    run_lines(tmp_path, "1g", 1.0, run)
    other = find_configuration("1g", tmp_path)
    lines = run_lines(tmp_path / "others", "2.5g", 0.5, run)
    own = frozenset() if run is complete_run else {*OF_A_PROGRAM, "shared_processors"}

    def outputs(file: Path) -> Iterator[str]:
        return run_outputs(find_configuration(str(file), tmp_path), other)

    campaign = Campaign(tmp_path / "mutated.jsonl", outputs)
    campaign.run(mutated_lines(lines, kind, frozenset(own)))
    report(campaign, f"{kind} line")


@pytest.mark.parametrize("kind", ["probes", *EVENT_KINDS])
def test_files_of_probes(tmp_path: Path, kind: str, report: Report) -> None:
    columns = []
    for name, factor in (("1g", 1.0), ("2.5g", 0.5)):
        run_lines(tmp_path, name, factor)
        columns.append(find_configuration(name, tmp_path))
    comparison = compare(columns)
    lines = probe_lines(tmp_path, "2.5g")
    file = tmp_path / "mutated.jsonl"
    file.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
    before = load_probes(file)
    campaign = Campaign(file, lambda file: probe_outputs(load_probes(file), before, comparison))
    campaign.run(mutated_lines(lines, kind))
    report(campaign, f"{kind} line of probes")


def manifest_fields(document: Mapping[str, Any]) -> Iterator[Field]:
    """Yield each field of a manifest. A value has the kind that it has here; a layout may be null."""
    kinds = {str: "text", int: "whole", dict: "object"}
    for field in fields_of([Any], document):
        value = reduce(getitem, field.path, document)
        *table, _ = field.path
        is_entry = table in (["files"], ["totals", "rows_per_prefix2"])
        if not is_entry or field.path[-1] in {"part-0.csv", "00"}:
            allowed = {kinds[type(value)], *(["null"] if table == ["layout"] else [])}
            yield replace(field, kinds=frozenset(allowed), required=not is_entry)


def test_manifests(tmp_path: Path, report: Report) -> None:
    document = manifest_document()
    assert Manifest.from_json(json.dumps(document)).digest == document["digest"]

    def outputs(file: Path) -> Iterator[str]:
        try:
            read = Manifest.from_json(file.read_text(encoding="utf-8"))
        except ValueError as error:  # whoever reads the file adds its name
            raise BadInput(f"{file}: {error}") from error
        yield read.to_json()

    campaign = Campaign(tmp_path / "_dataset.json", outputs)
    campaign.run(
        (mutation, mutation.applied(document))
        for field in manifest_fields(document)
        for mutation in field.mutations()
    )
    report(campaign, "manifest")


def toml(document: Mapping[str, Any]) -> str:
    """Return a TOML file; all its tables are inline."""
    return "".join(f"{key} = {_toml_value(value)}\n" for key, value in document.items())


def _toml_value(value: Any) -> str:
    match value:
        case dict():
            pairs = (f"{json.dumps(key)} = {_toml_value(each)}" for key, each in value.items())
            return f"{{{', '.join(pairs)}}}"
        case list():
            return f"[{', '.join(map(_toml_value, value))}]"
        case _:
            return json.dumps(value, ensure_ascii=False)


TOML_TEXTS = {
    "null": '"null"',  # TOML has no null
    "a fraction beyond the largest": "1e400",
    "not a number": "nan",
    "infinity": "inf",
    "negative infinity": "-inf",
    "half of a surrogate pair": r'"\ud800"',
    "control characters": r'"\u0000\u001b[31m\r\n\t\u009b\u202e"',
    "an array with null": '["null"]',
    "an object with a number": "{x = 1}",
    "an object with null": '{x = "null"}',
    "a key that is half of a surrogate pair": r'{"\ud800" = "x"}',
    "a key of control characters": r'{"\u0000\u001b[31m\n" = "x"}',
    "deep objects": "{x=" * LEVELS + "1" + "}" * LEVELS,
}
"""The mutations that TOML writes in another way than JSON."""
MORE_TOML = {
    "a hexadecimal number of 5,000 digits": (NEVER, "0x" + "F" * 5000),
    "a date": (NEVER, "1979-05-27"),
    "a time": (NEVER, "07:32:00"),
    "a date and a time": (NEVER, "1979-05-27T07:32:00Z"),
}


def mutated_toml(schema: type, *documents: Mapping[str, Any]) -> Iterator[tuple[Mutation, str]]:
    """Yield every mutation of TOML files, which together have every key, and the file."""
    assert absent_fields(schema, documents) == []
    for document in documents:
        yield from _mutated_toml(document, schema)


def _mutated_toml(document: Mapping[str, Any], schema: type) -> Iterator[tuple[Mutation, str]]:
    for field in fields_of([schema], document):
        more = [
            Mutation(field, name, text, kind == NEVER) for name, (kind, text) in MORE_TOML.items()
        ]
        for mutation in (*field.mutations(), *more):
            is_text_instead = mutation.name == "null" and "text" in field.kinds
            text = TOML_TEXTS.get(mutation.name, mutation.text)
            changed = Mutation(
                field, mutation.name, text, mutation.must_be_refused and not is_text_instead
            )
            yield changed, changed.applied(document, toml)


def test_experiment_files(tmp_path: Path, report: Report) -> None:
    def outputs(file: Path) -> Iterator[str]:
        experiment = read_experiment(file)
        yield f"{experiment.site}, {experiment.data_bytes} bytes"
        yield "; ".join(map(str, planned_runs(experiment)))

    campaign = Campaign(tmp_path / "experiment.toml", outputs)
    campaign.run(mutated_toml(ExperimentFile, EXPERIMENT, ON_HOSTS, IN_NAMESPACES))
    report(campaign, "experiment file")


def test_journals(tmp_path: Path, report: Report) -> None:
    """A journal of settings: what it says is never set, but names of hosts and settings are shown."""
    change = {"host": "n1", "setting": "MTU of eth0", "value": "9000", "before": "1500"}
    document = {"at": STARTED_AT, "state": "set", "change": change}
    assert absent_fields(journal._Line, [document]) == []
    host = by_netns("n2")

    def outputs(file: Path) -> Iterator[str]:
        try:
            put_back(journal.Journal(file), [host], lambda device, size: [mtu(device, size)])
        except NotPutBack as error:
            yield visible(shorten(str(error), MAX_ERROR))  # as say_error prints it

    campaign = Campaign(tmp_path / "settings.journal", outputs)
    campaign.run(
        (mutation, f"{mutation.applied(document)}\n")
        for field in fields_of([journal._Line], document)
        for mutation in field.mutations()
    )
    report(campaign, "journal")


def test_state_files_of_clusters(
    tmp_path: Path, report: Report, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    daemon = {
        "name": "namenode",
        "pid": 2**30,
        "create_time": 1.5e9,
        "log": "/nowhere/namenode.log",
    }
    document = {"scheme": "hdfs", "name": "x", "ports": [9820], "servers": 1, "daemons": [daemon]}
    assert absent_fields(cluster.Cluster, [document]) == []
    directory = cluster.root() / "hdfs-x"
    directory.mkdir(parents=True)

    def outputs(_: Path) -> Iterator[str]:
        found = cluster.find("hdfs", "x")
        yield from map(visible, minicluster._status(FakeFileSystem(), found))
        assert found.dead() == list(found.daemons)

    campaign = Campaign(directory / cluster.STATE_FILE, outputs)
    campaign.run(
        (mutation, mutation.applied(document))
        for field in fields_of([cluster.Cluster], document)
        for mutation in field.mutations()
    )
    report(campaign, "state file of a cluster")


def test_locks_of_datasets(tmp_path: Path, report: Report) -> None:
    document = asdict(Owner())

    def outputs(file: Path) -> Iterator[str]:
        owner = Owner.parse(file.read_text(encoding="utf-8"))
        if owner is None:
            raise BadInput(f"{file}: names no process")
        yield visible(f"{owner}: {owner.has_ended() is not False}")

    campaign = Campaign(tmp_path / "lock", outputs)
    campaign.run(
        (mutation, mutation.applied(document))
        for field in fields_of([Owner], document)
        for mutation in field.mutations()
        if mutation.name != ABSENT  # what is left out is this process's own
    )
    report(campaign, "lock of a dataset")


def test_predictions(tmp_path: Path, report: Report) -> None:
    columns = []
    for name, factor in (("1g", 1.0), ("2.5g", 0.5)):
        run_lines(tmp_path, name, factor)
        columns.append(find_configuration(name, tmp_path))
    [golden] = (GOLDEN / "predictions").iterdir()
    document = json.loads(golden.read_text(encoding="utf-8"))
    document["times"] = document["times"][:2]
    for time, name in zip(document["times"], columns[0].workloads, strict=False):
        time["workload"] = name
    ledger = tmp_path / "1g" / "predictions"
    ledger.mkdir()

    def outputs(file: Path) -> Iterator[str]:
        data = file.read_bytes()
        named = ledger / f"{hashlib.sha256(data).hexdigest()[:16]}.json"
        named.write_bytes(data)
        try:
            [frozen] = frozen_predictions(tmp_path / "1g")
            yield from prediction_outputs(frozen, *columns)
        except BadInput as error:
            raise BadInput(str(error).replace(str(named), str(file))) from error
        finally:
            named.unlink()

    campaign = Campaign(tmp_path / "prediction.json", outputs)
    campaign.run(
        (mutation, mutation.applied(document))
        for field in fields_of([Prediction], document)
        for mutation in field.mutations()
    )
    report(campaign, "prediction")
