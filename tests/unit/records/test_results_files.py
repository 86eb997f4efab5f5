"""Results files of runs: what is written is read, complete or cut off; anything else is one clear error."""

import errno
import io
import json
import os
import shutil
import signal
import tempfile
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import harness
from harness.base.errors import BadInput, ClusterliftError
from harness.model.interference import NodeInterference
from harness.model.run import (
    MAX_WALL_S,
    MIN_WALL_S,
    Ending,
    Phase,
    RecordedRun,
    Run,
    Status,
    Trial,
    new_run_id,
)
from harness.model.task_metrics import MAX_QUANTITY, DiskBytes
from harness.records.directories import configuration_directory
from harness.records.lookup import find_runs, probes_beside
from harness.records.node_names import node_names, run_with_names, with_names
from harness.records.reader import load, load_probes
from harness.records.writer import Recording
from tests.tracked import name_in_repository, tracked
from tests.unit.builders import (
    DELETED,
    STARTED_AT,
    a_run,
    change_line,
    failed,
    first_version,
    ok,
    write_lines,
)

ROOT = Path(harness.__file__).parents[1]


def record(
    results: Path, run: Run, trials: Sequence[Trial] = (), ending: Ending | None = None
) -> Path:
    with Recording(results, run) as recording:
        for trial in trials:
            recording.trial(trial)
        if ending:
            recording.end(ending)
    return recording.path


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63) | st.text()
    | st.floats(allow_nan=False, allow_infinity=False),
    lambda values: st.lists(values, max_size=3) | st.dictionaries(st.text(), values, max_size=3),
    max_leaves=8,
)  # fmt: skip
FACTS = st.dictionaries(st.text().map("unknown {}".format), JSON, max_size=3)
"""By names that no other part of the project relies on."""
TEXTS = st.dictionaries(st.text(), st.text(), max_size=3)
NAMES = st.text(min_size=1, max_size=20)
TIMESTAMPS = st.datetimes().map(lambda time: f"{time.isoformat(timespec='milliseconds')}Z")
RUNS = st.builds(
    Run,
    id=st.text("0123456789abcdefTZ-", min_size=1, max_size=40),
    configuration=NAMES,
    started_at=TIMESTAMPS,
    workloads=st.lists(NAMES, max_size=3).map(tuple),
    written_by=st.text(),
    parameters=FACTS,
    facts=TEXTS,
    environment=FACTS,
    dataset=st.none() | FACTS.map(lambda facts: facts | {"uri": "hdfs://n1/d", "layout": {}}),
    omitted=TEXTS,
)
ROUNDS = st.integers(1, 2**63 - 1)
COUNTS = st.integers(0, int(MAX_QUANTITY))
TIMES_S = st.floats(MIN_WALL_S, MAX_WALL_S)
TRIALS = st.one_of(
    st.builds(
        Trial, NAMES, st.sampled_from(Phase), ROUNDS, st.just(Status.OK), TIMESTAMPS,
        wall_s=TIMES_S, job_group=st.none() | st.text(),
        disk=st.none() | st.builds(DiskBytes, COUNTS, COUNTS),
    ),
    st.builds(
        Trial, NAMES, st.sampled_from(Phase), ROUNDS, st.just(Status.FAILED), TIMESTAMPS,
        error=st.text(), job_group=st.none() | st.text(),
    ),
)  # fmt: skip


def identity(trial: Trial) -> tuple[str, str, int]:
    return trial.workload, trial.phase, trial.round


class TestRoundTrip:
    @given(
        RUNS, st.lists(TRIALS, max_size=5, unique_by=identity), st.none() | st.sampled_from(Ending)
    )
    def test_a_recorded_run_is_loaded_unchanged(
        self, run: Run, trials: list[Trial], ending: Ending | None
    ) -> None:
        with tempfile.TemporaryDirectory() as results:
            path = record(Path(results), run, trials, ending)
            assert load(path) == RecordedRun(run, tuple(trials), ending, str(path))

    @given(RUNS, st.lists(TRIALS, max_size=4, unique_by=identity), st.data())
    def test_a_file_cut_off_anywhere_has_its_first_trials(
        self, run: Run, trials: list[Trial], data: st.DataObject
    ) -> None:
        with tempfile.TemporaryDirectory() as results:
            path = record(Path(results), run, trials, Ending.COMPLETED)
            whole = path.read_bytes()
            length = data.draw(st.integers(0, len(whole)))
            path.write_bytes(whole[:length])
            if length <= whole.index(b"\n"):
                with pytest.raises(
                    BadInput, match=":1: not a results file: it has no complete line"
                ):
                    load(path)
                return
            kept = load(path)
            assert kept.run == run
            assert kept.trials == tuple(trials[: len(kept.trials)])
            assert (kept.ending is Ending.COMPLETED) == (length == len(whole))
            assert bool(kept.warnings) == (not whole[:length].endswith(b"\n"))

    def test_the_end_keeps_why_the_run_stopped_and_the_errors_of_links(
        self, tmp_path: Path
    ) -> None:
        link_errors = {"n1 eth0": {"errors": 2, "drops": 0}}
        with Recording(tmp_path, a_run()) as recording:
            recording.end(Ending.COMPLETED, "after 9 rounds", link_errors)
        loaded = load(recording.path)
        assert (loaded.ending, loaded.stopped) == (Ending.COMPLETED, "after 9 rounds")
        assert loaded.link_errors == link_errors


class TestWarmUp:
    """With `warmup: auto`, a file has measured trials alone, and the reader finds the warm-up."""

    def recorded(self, tmp_path: Path, warmup: object, times_s: Sequence[float]) -> RecordedRun:
        run = a_run(parameters={"warmup": warmup, "trials": 6})
        with Recording(tmp_path, run) as recording:
            for round_, time_s in enumerate(times_s, 1):
                recording.trial(ok("group-by", time_s, round_))
        return load(recording.path)  # killed: without an end

    @pytest.mark.parametrize(
        ("times_s", "warm_up"),
        [([40, 30, 10, 10.1, 9.9, 10, 10.1, 9.9, 10.1], 2), ([40, 30, 20], 1)],
        ids=["until it is steady", "of a run that was cut off, the first round"],
    )
    def test_trials_before_the_steady_ones_are_warm_up(
        self, tmp_path: Path, times_s: Sequence[float], warm_up: int
    ) -> None:
        trials = self.recorded(tmp_path, "auto", times_s).trials
        assert [trial.phase is Phase.WARM_UP for trial in trials].index(False) == warm_up
        assert [trial.round for trial in trials] == list(range(1, len(times_s) + 1))

    @pytest.mark.parametrize("warmup", [0, 1, None, "other"])
    def test_a_fixed_warm_up_stays_as_it_was_recorded(self, tmp_path: Path, warmup: object) -> None:
        run = self.recorded(tmp_path, warmup, [100 * 0.9**number for number in range(24)])
        assert {trial.phase for trial in run.trials} == {Phase.MEASURED}


class TestSchema:
    @pytest.mark.parametrize("version", [4, 0, 1.0, True, "1", None, DELETED])
    def test_another_version_is_refused(self, tmp_path: Path, version: object) -> None:
        path = change_line(record(tmp_path, a_run()), 1, {"schema_version": version})
        with pytest.raises(
            BadInput, match=r":1: schema version .* is not 1 to 3; use the clusterl"
        ):
            load(path)

    def test_what_disturbed_a_trial_is_judged_anew_from_what_its_nodes_counted(
        self, tmp_path: Path
    ) -> None:
        quiet = NodeInterference("n1", duration_s=10, processors=2, busy_s=9, stolen_s=0)
        stolen = replace(quiet, stolen_s=1.0)
        retired = "n1: stopped by its CPU quota more often (60 %, usually 5 %)"
        recorded = [
            ok("pi", 1.5, 1, interference=(quiet,), disturbed=retired),
            ok("pi", 1.5, 2, interference=(stolen,)),
        ]
        loaded = load(record(tmp_path, a_run(), recorded)).trials
        assert [trial.interference for trial in loaded] == [(quiet,), (stolen,)]
        assert [trial.disturbed for trial in loaded] == [
            None,
            "n1: the hypervisor took processor time (10 %, limit 5 %)",
        ]

    @pytest.mark.parametrize("path", tracked("results/*.jsonl")[::12], ids=name_in_repository)
    def test_every_committed_file_keeps_all_that_it_says(self, path: Path) -> None:
        first, *lines = path.read_bytes().splitlines()
        head = json.loads(first)
        run = a_run(environment=head.get("environment") or {}, dataset=head.get("dataset"))
        rest = with_names([json.loads(line) for line in lines], node_names(run.environment))
        if path.parent.name == "probes":
            probed = load_probes(path)
            assert_has(asdict(probed.run), head)
            assert len(probed.events) == len(rest) - 1
            for event, line in zip(probed.events, rest, strict=False):
                assert_has(asdict(event), line)
        else:
            loaded = load(path)
            named = run_with_names(run)
            head |= {"environment": named.environment, "dataset": named.dataset}
            assert_has(asdict(loaded.run), head)
            for trial, line in zip(loaded.trials, rest[:-1], strict=True):
                assert_has(asdict(replace(trial, disturbed=None)), line)
            assert loaded.ending == rest[-1]["ending"]
            assert loaded.link_errors == rest[-1].get("link_errors")


NOT_LOADED = {"kind", "schema_version", "sha256"}
FORMER = (
    ("profile", "cut_samples"),
    *(("timeline", name) for name in ("busy_percent", "read_bytes", "written_bytes")),
)
"""What only earlier versions recorded."""


def assert_has(loaded: dict[str, Any], line: dict[str, Any]) -> None:
    """Compare what was loaded with a line; fields that the line does not have are empty."""
    stored = json.loads(json.dumps(loaded))
    known = {key: value for key, value in line.items() if key not in NOT_LOADED}
    for own, node in zip(
        stored.get("interference") or (), known.get("interference") or (), strict=True
    ):
        assert_has(own, node)
    known["interference"] = stored.get("interference")
    for part, name in FORMER:
        (known.get(part) or {}).pop(name, None)
    for part in ("link", "tasks", "timeline"):
        if known.get(part):
            known[part] = stored[part] | known[part]
    assert {key: stored.get(key) for key in known} == known
    once = {"executions": 1}  # what a trial is unless its line says otherwise
    assert not any(
        stored[key] != once.get(key) and stored[key] for key in stored.keys() - known.keys()
    )


class TestChecksums:
    """A file of five lines; the third is a trial, and the last one is the end."""

    TRIALS = (ok("pi", 1.5), ok("pi", 1.6, 2), ok("pi", 1.7, 3))
    DAMAGED = "the file was damaged or edited; restore it, or move it elsewhere"
    WRONG = f"the checksum does not match the file up to here: {DAMAGED}"
    MISSING = f"the line lacks its checksum: {DAMAGED}"

    def lines(self, results: Path) -> tuple[Path, list[bytes]]:
        path = record(results, a_run(), self.TRIALS, Ending.COMPLETED)
        return path, path.read_bytes().splitlines(keepends=True)

    def refused(self, path: Path, lines: Iterable[bytes]) -> str:
        path.write_bytes(b"".join(lines))
        with pytest.raises(BadInput) as caught:
            load(path)
        return str(caught.value).removeprefix(str(path))

    @pytest.mark.parametrize("ending", [Ending.COMPLETED, None], ids=["ended", "killed"])
    def test_no_flipped_bit_goes_unnoticed(self, tmp_path: Path, ending: Ending | None) -> None:
        """Every seventh bit of the file: it is refused, or the last line loses its newline."""
        path = record(tmp_path, a_run(), [ok("pi", 1.5)], ending)
        whole = path.read_bytes()
        for position in range(0, 8 * len(whole), 7):
            damaged = bytearray(whole)
            damaged[position // 8] ^= 1 << position % 8
            path.write_bytes(damaged)
            try:
                warnings = load(path).warnings
            except BadInput as error:
                assert str(error).startswith(f"{path}:")  # noqa: PT017  most flips raise it
                continue
            assert position // 8 == len(whole) - 1
            number = whole.count(b"\n")
            assert warnings == (f"{path}:{number}: the last line is cut off and was skipped",)

    def test_a_flipped_bit_of_an_incomplete_last_line_changes_nothing_or_is_refused(
        self, tmp_path: Path
    ) -> None:
        path = record(tmp_path, a_run(), [ok("pi", 1.5), ok("pi", 1.6, 2)])
        cut = path.read_bytes()[:-40]
        kept = cut.rindex(b"\n") + 1
        for position in range(8 * kept, 8 * len(cut), 7):
            damaged = bytearray(cut)
            damaged[position // 8] ^= 1 << position % 8
            path.write_bytes(damaged)
            with suppress(BadInput):
                assert load(path).trials == (ok("pi", 1.5),)

    def test_a_file_cut_at_any_line_has_its_first_lines(self, tmp_path: Path) -> None:
        path, lines = self.lines(tmp_path)
        for number in range(1, len(lines) + 1):
            path.write_bytes(b"".join(lines[:number]))
            loaded = load(path)
            assert loaded.trials == self.TRIALS[: number - 1]
            assert loaded.warnings == ()

    @pytest.mark.parametrize(
        ("order", "line"),
        [
            ((0, 1, 3, 4), 3),
            ((0, 1, 3, 2, 4), 3),
            ((0, 1, 2, 3, 3, 4), 5),
            ((0, 2, 3), 2),
            ((0, 1, 3), 3),
            ((0, 2, 1), 2),
            ((0, 4), 2),
        ],
    )
    def test_missing_moved_and_repeated_lines_are_noticed(
        self, tmp_path: Path, order: Sequence[int], line: int
    ) -> None:
        path, lines = self.lines(tmp_path)
        assert self.refused(path, [lines[n] for n in order]) == f":{line}: {self.WRONG}"

    def test_times_of_a_killed_run_cannot_be_halved(self, tmp_path: Path) -> None:
        path, lines = self.lines(tmp_path)
        halved = [line.replace(b'"wall_s": 1.', b'"wall_s": 0.') for line in lines[:-1]]
        assert self.refused(path, halved) == f":2: {self.WRONG}"

    def test_lines_of_another_run_cannot_follow(self, tmp_path: Path) -> None:
        path, lines = self.lines(tmp_path)
        other = record(tmp_path, a_run(run_id="other"), [ok("pi", 0.5)]).read_bytes()
        [_, trial] = other.splitlines(keepends=True)
        assert self.refused(path, [*lines[:2], trial]) == f":3: {self.WRONG}"

    def test_a_file_without_checksums_is_not_taken_for_one_of_the_first_version(
        self, tmp_path: Path
    ) -> None:
        path, lines = self.lines(tmp_path)
        bare = [line[: line.index(b', "sha256"')] + b"}\n" for line in lines[:-1]]
        assert self.refused(path, bare) == f":1: {self.MISSING}"
        assert self.refused(path, [lines[0], *bare[1:]]) == f":2: {self.MISSING}"

    def test_a_file_whose_version_was_edited_is_refused(self, tmp_path: Path) -> None:
        path, lines = self.lines(tmp_path)
        first = lines[0].replace(b'"schema_version": 3', b'"schema_version": 1')
        assert self.refused(path, [first, *lines[1:-1]]) == f":1: {self.WRONG}"


class TestFirstVersion:
    """Files in which the end of the run alone has a checksum."""

    def lines(self) -> list[bytes]:
        run = (
            b'{"kind": "run", "schema_version": 1, "id": "a", "configuration": "1g", "started_at": '
            b'"2026-11-21T13:42:13.000Z", "workloads": ["pi"], "written_by": "clusterlift 0.3.0"}'
        )
        trial = (
            b'{"kind": "trial", "workload": "pi", "phase": "measured", "round": %d, "status": "ok", '
            b'"started_at": "2026-11-21T13:42:13.000Z", "wall_s": 1.5}'
        )
        return [run, trial % 1, trial % 2, b'{"kind": "end", "ending": "completed"}']

    @pytest.mark.parametrize(("count", "ending"), [(4, Ending.COMPLETED), (3, None)])
    def test_are_read_whole_and_without_an_end(
        self, tmp_path: Path, count: int, ending: Ending | None
    ) -> None:
        path = tmp_path / "a.jsonl"
        path.write_bytes(first_version(self.lines()[:count]))
        loaded = load(path)
        assert loaded.trials == (ok("pi", 1.5), ok("pi", 1.5, 2))
        assert loaded.ending is ending

    def test_a_changed_line_is_noticed_at_the_end(self, tmp_path: Path) -> None:
        path = tmp_path / "a.jsonl"
        path.write_bytes(first_version(self.lines()).replace(b"1.5", b"1.4", 1))
        with pytest.raises(BadInput, match=":4: the checksum does not match the file up to here"):
            load(path)


class TestCredentials:
    def test_are_never_written(self, tmp_path: Path) -> None:
        run = a_run(
            facts={"db_password": "hunter2", "note": "jdbc:x://u:hunter2@h"},
            dataset={"uri": "s3a://k:hunter2@bucket/d", "layout": {}},
            omitted={"w": "token=hunter2 is wrong"},
        )
        trials = [failed("pi", "IOException: hdfs://u:hunter2@h:9000 refuses password=hunter2")]
        path = record(tmp_path, run, trials)
        assert b"hunter2" not in path.read_bytes()
        loaded = load(path)
        assert loaded.run.dataset == {"uri": "s3a://***@bucket/d", "layout": {}}
        assert loaded.trials[0].error == "IOException: hdfs://***@h:9000 refuses password=***"


class TestUniqueness:
    @pytest.mark.parametrize("copy", [shutil.copy, os.symlink, os.link])
    def test_a_run_counts_once(self, tmp_path: Path, copy: Callable[[Path, Path], object]) -> None:
        path = record(tmp_path, a_run("1g", "a"), [ok("pi", 1.5)])
        again = path.with_name("b.jsonl")
        copy(path, again)
        with pytest.raises(BadInput) as caught:
            find_runs("1g", tmp_path)
        assert str(caught.value).startswith(f"{path} and {again} have the same run a; ")


class TestMalformed:
    @pytest.mark.parametrize(
        ("line", "reason"),
        [
            ("{", "not a results file: Input data was truncated"),
            ("", "not a results file: Input data was truncated"),
            ('{"kind": "probe-of-later"}', "unknown kind of line: 'probe-of-later'"),
            ('{"kind": "trial"}', "malformed trial line: Object missing required field"),
            ('{"kind": "end", "ending": "bored"}', "Invalid enum value 'bored'"),
            ('{"kind": "trial", "round": 1e999}', "Number out of range - at `$.round`"),
            ('{"kind": "trial", "round": NaN}', "malformed trial line: JSON is malformed"),
            (f'{{"kind": "trial", "round": 1{"0" * 400}}}', "Expected `int` <= 92233720368547758"),
            (f'{{"kind": "trial", "round": 1{"0" * 5000}}}', "Integer value out of range"),
            ("[" * 100_000, "not a results file"),
        ],
    )
    def test_a_line_is_refused_by_file_and_number(
        self, tmp_path: Path, line: str, reason: str
    ) -> None:
        path = record(tmp_path, a_run(), [ok("pi", 1.5), ok("pi", 1.6, 2)])
        first, second, _ = path.read_text().splitlines()
        write_lines(path, [first, second, line])
        with pytest.raises(BadInput) as caught:
            load(path)
        assert str(caught.value).startswith(f"{path}:3: ")
        assert reason in str(caught.value)

    @pytest.mark.parametrize(
        ("change", "reason"),
        [
            ({"wall_s": None}, "a trial has a time if, and only if, it is ok"),
            ({"wall_s": 1e10}, "Expected `float` <= 1000000000.0 - at `$.wall_s`"),
            ({"phase": "cool-down"}, "Invalid enum value 'cool-down' - at `$.phase`"),
            ({"round": 0}, "Expected `int` >= 1 - at `$.round`"),
            ({"workload": DELETED}, "Object missing required field `workload`"),
            ({"started_at": "x"}, "Invalid isoformat string: 'x'"),
        ],
    )
    def test_a_trial_that_cannot_be_is_refused(
        self, tmp_path: Path, change: dict[str, Any], reason: str
    ) -> None:
        path = change_line(record(tmp_path, a_run(), [ok("pi", 1.5)]), 2, change)
        with pytest.raises(BadInput) as caught:
            load(path)
        assert str(caught.value) == f"{path}:2: malformed trial line: {reason}"

    @pytest.mark.parametrize(
        ("change", "where"),
        [
            ({"workloads": [""]}, "workloads[0]"),
            ({"facts": {"link": 1}}, "facts[...]"),
            ({"environment": None}, "environment"),
            (
                {"environment.nodes": {"n1": {"eth0": {"mtu_bytes": "1500"}}}},
                "environment.nodes[...][...].mtu_bytes",
            ),
            ({"dataset.layout": {"observed": 3}}, "dataset.layout.observed"),
            ({"dataset.placement": {"n1": -1}}, "dataset.placement[...]"),
        ],
    )
    def test_a_run_whose_values_have_another_type_is_refused(
        self, tmp_path: Path, change: dict[str, Any], where: str
    ) -> None:
        run = a_run(dataset={"uri": "hdfs://n1/d", "layout": {}})
        path = change_line(record(tmp_path, run), 1, change)
        with pytest.raises(BadInput) as caught:
            load(path)
        assert str(caught.value).startswith(f"{path}:1: malformed run line: ")
        assert str(caught.value).endswith(f" - at `$.{where}`")

    def test_keys_that_are_not_known_are_ignored(self, tmp_path: Path) -> None:
        path = record(tmp_path, a_run(), [ok("pi", 1.5)])
        before = load(path)
        assert load(change_line(path, 2, {"heat_j": 5})) == before

    def test_nothing_follows_the_end(self, tmp_path: Path) -> None:
        path = record(tmp_path, a_run(), [ok("pi", 1.5)], Ending.COMPLETED)
        lines = path.read_text().splitlines()
        write_lines(path, [*lines, lines[1]])
        with pytest.raises(BadInput, match=":4: lines follow after the end of the run: the file"):
            load(path)

    @pytest.mark.parametrize("content", [b"", b"{}", b"test,seconds\n", b"\xff\xfe\n", b"{}\n"])
    def test_a_file_of_something_else_is_refused(self, tmp_path: Path, content: bytes) -> None:
        path = tmp_path / "file.jsonl"
        path.write_bytes(content)
        with pytest.raises(BadInput, match=r"file\.jsonl:1: not a results file"):
            load(path)

    def test_a_missing_file_is_refused(self, tmp_path: Path) -> None:
        with pytest.raises(BadInput, match=r"cannot read .*absent.jsonl: No such file"):
            load(tmp_path / "absent.jsonl")


class TestLookup:
    def test_runs_are_sorted_by_their_start(self, tmp_path: Path) -> None:
        later = replace(a_run("1g", "a"), started_at="2026-11-22T00:00:00.000Z")
        earlier = replace(a_run("1g", "b"), started_at=STARTED_AT)
        for run in (later, earlier):
            record(tmp_path, run)
        assert [recorded.run.id for recorded in find_runs("1g", tmp_path)] == ["b", "a"]

    def test_hidden_files_are_no_results(self, tmp_path: Path) -> None:
        path = record(tmp_path, a_run("1g"))
        path.with_name("._copied.jsonl").write_bytes(b"\0\1")
        assert len(find_runs("1g", tmp_path)) == 1

    def test_a_file_that_is_called_like_a_configuration_does_not_hide_it(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.chdir(tmp_path)
        record(tmp_path / "results", a_run("1g"))
        Path("1g").write_text("notes")
        assert find_runs("1g", Path("results"))[-1].run.configuration == "1g"

    @pytest.mark.parametrize("directory", ["1g", "1g/probes"])
    def test_a_pipe_among_results_is_refused_and_never_waited_for(
        self, tmp_path: Path, directory: str
    ) -> None:
        path = record(tmp_path, a_run("1g"))
        (tmp_path / directory).mkdir(exist_ok=True)
        os.mkfifo(tmp_path / directory / "x.jsonl")
        with pytest.raises(BadInput, match=r"cannot read .*x\.jsonl: it is not a regular file"):
            probes_beside([load(path), *find_runs("1g", tmp_path)])


class TestDirectories:
    @given(st.text(min_size=1, max_size=30))
    def test_no_name_leads_out_of_the_results(self, name: str) -> None:
        assert (
            configuration_directory(Path("results"), name).resolve().parent
            == Path("results").resolve()
        )

    @given(st.text(min_size=1, max_size=30), st.text(min_size=1, max_size=30))
    def test_no_two_configurations_share_a_directory(self, name: str, other: str) -> None:
        directories = {configuration_directory(Path(), each) for each in (name, other)}
        assert len(directories) == len({name, other})

    def test_simultaneous_runs_write_separate_files(self, tmp_path: Path) -> None:
        def recording(number: int) -> Path:
            run = a_run("1g", new_run_id(), parameters={"number": number})
            return record(tmp_path, run, [ok("pi", number)], Ending.COMPLETED)

        with ThreadPoolExecutor(8) as pool:
            paths = list(pool.map(recording, range(1, 33)))
        assert len(set(paths)) == 32
        assert [load(path).trials[0].wall_s for path in paths] == list(range(1, 33))

    def test_an_existing_file_is_never_overwritten(self, tmp_path: Path) -> None:
        path = record(tmp_path, a_run(run_id="same"), [ok("pi", 1.5)])
        before = path.read_bytes()
        with pytest.raises(BadInput, match=r"same\.jsonl belongs to another run"):
            record(tmp_path, a_run(run_id="same"))
        assert path.read_bytes() == before
        assert list(path.parent.iterdir()) == [path]

    def test_a_directory_that_cannot_be_written_is_refused(self, tmp_path: Path) -> None:
        (tmp_path / "file").write_text("")
        with pytest.raises(BadInput, match=r"--results: cannot write to .*file"):
            Recording(tmp_path / "file" / "results", a_run())

    def test_a_configuration_with_too_long_a_name_is_what_an_error_names(
        self, tmp_path: Path
    ) -> None:
        with pytest.raises(BadInput, match=r"--results or --configuration: .* is too long a name"):
            Recording(tmp_path, a_run("x" * 300))

    @pytest.mark.parametrize(
        "fields", [{"configuration": "a\udcff"}, {"facts": {"switch": "a\udcff"}}]
    )
    def test_bytes_of_arguments_that_are_not_utf_8_become_question_marks(
        self, tmp_path: Path, fields: dict[str, Any]
    ) -> None:
        path = record(tmp_path, a_run(**fields))
        assert b"a?" in path.read_bytes()
        load(path)


class FullAfter(io.FileIO):
    """A file on a disk that takes a few more bytes of a line, and after the error takes all."""

    room: int | None = None

    def write(self, data: Any) -> int:
        if self.room is None:
            return super().write(data)
        if not self.room:
            self.room = None
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        written = super().write(data[: self.room])
        self.room -= written
        return written


@pytest.mark.parametrize("room", [0, 1, 50])
def test_a_full_disk_ends_the_recording_and_keeps_the_earlier_lines(
    tmp_path: Path, room: int
) -> None:
    with Recording(tmp_path, a_run()) as recording:
        recording.trial(ok("pi", 1.5))
        assert recording._file is not None
        recording._file.close()
        recording._file = FullAfter(recording.path, "ab")
        recording._file.room = room
        with pytest.raises(
            ClusterliftError,
            match=r"cannot continue writing .*: No space left .*; earlier lines are kept",
        ):
            recording.trial(ok("pi", 1.5, 2))
        recording.end(Ending.INTERRUPTED)
    loaded = load(recording.path)
    assert (loaded.trials, loaded.ending) == ((ok("pi", 1.5),), Ending.INTERRUPTED)


def test_a_signal_between_a_line_and_its_checksum_waits(tmp_path: Path) -> None:
    class Interrupted(io.FileIO):
        def write(self, data: Any) -> int:
            written = super().write(data)
            signal.raise_signal(signal.SIGINT)
            return written

    with Recording(tmp_path, a_run()) as recording:
        assert recording._file is not None
        recording._file.close()
        recording._file = Interrupted(recording.path, "ab")
        with pytest.raises(KeyboardInterrupt):
            recording.trial(ok("pi", 1.5))
        with suppress(KeyboardInterrupt):
            recording.end(Ending.INTERRUPTED)
    assert load(recording.path).ending is Ending.INTERRUPTED


def test_a_recording_whose_file_was_deleted_ends(tmp_path: Path) -> None:
    with Recording(tmp_path, a_run()) as recording:
        recording.trial(ok("pi", 1.5))
        recording.path.unlink()
        with pytest.raises(
            ClusterliftError, match=r"cannot continue writing .*\.jsonl: it was deleted, with all"
        ):
            recording.trial(ok("pi", 1.5, 2))
