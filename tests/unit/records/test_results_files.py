"""Results files: what is written can be read, whole or cut off; anything else is one clear error."""

from __future__ import annotations

import contextlib
import json
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.model.errors import BadInput, ClusterliftError
from harness.model.run import Ending, Phase, RecordedRun, Run, Status, Trial, new_run_id
from harness.records.directories import configuration_directory
from harness.records.reader import load
from harness.records.writer import SCHEMA_VERSION, Recording
from tests.unit.builders import GOLDEN, a_run, failed, ok


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
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda values: st.lists(values, max_size=3) | st.dictionaries(st.text(), values, max_size=3),
    max_leaves=8,
)  # fmt: skip
FACTS = st.dictionaries(st.text(), JSON, max_size=3)
TEXTS = st.dictionaries(st.text(), st.text(), max_size=3)
RUNS = st.builds(
    Run,
    id=st.text("0123456789abcdefTZ-", min_size=1, max_size=40),
    configuration=st.text(min_size=1, max_size=20),
    started_at=st.text(),
    workloads=st.lists(st.text(), max_size=3).map(tuple),
    written_by=st.text(),
    parameters=FACTS,
    facts=TEXTS,
    environment=FACTS,
    dataset=st.none() | FACTS,
    omitted=TEXTS,
)
TIMES_S = st.floats(min_value=0, allow_nan=False, allow_infinity=False)
TRIALS = st.one_of(
    st.builds(
        Trial, st.text(), st.sampled_from(Phase), st.integers(), st.just(Status.OK), st.text(),
        wall_s=TIMES_S, job_group=st.none() | st.text(),
    ),
    st.builds(
        Trial, st.text(), st.sampled_from(Phase), st.integers(), st.just(Status.FAILED), st.text(),
        error=st.text(), job_group=st.none() | st.text(),
    ),
)  # fmt: skip


class TestRoundTrip:
    @given(RUNS, st.lists(TRIALS, max_size=5), st.none() | st.sampled_from(Ending))
    def test_what_was_recorded_is_loaded(
        self, run: Run, trials: list[Trial], ending: Ending | None
    ) -> None:
        with tempfile.TemporaryDirectory() as results:
            path = record(Path(results), run, trials, ending)
            assert load(path) == RecordedRun(run, tuple(trials), ending, str(path))

    @given(RUNS, st.lists(TRIALS, max_size=4), st.data())
    def test_any_prefix_holds_a_prefix_of_the_trials(
        self, run: Run, trials: list[Trial], data: st.DataObject
    ) -> None:
        with tempfile.TemporaryDirectory() as results:
            path = record(Path(results), run, trials, Ending.COMPLETED)
            whole = path.read_bytes()
            length = data.draw(st.integers(0, len(whole)))
            path.write_bytes(whole[:length])
            if length <= whole.index(b"\n"):
                with pytest.raises(BadInput):
                    load(path)
                return
            kept = load(path)
            assert kept.run == run
            assert kept.trials == tuple(trials[: len(kept.trials)])
            assert (kept.ending is Ending.COMPLETED) == (length == len(whole))
            assert bool(kept.warnings) == (not whole[:length].endswith(b"\n"))

    def test_why_there_were_no_more_rounds_is_kept_with_the_ending(self, tmp_path: Path) -> None:
        with Recording(tmp_path, a_run()) as recording:
            recording.end(Ending.COMPLETED, "after 9 rounds, every median is known to ±2%")
        loaded = load(recording.path)
        assert loaded.ending is Ending.COMPLETED
        assert loaded.stopped == "after 9 rounds, every median is known to ±2%"

    def test_each_line_is_in_the_file_as_soon_as_it_is_told(self, tmp_path: Path) -> None:
        with Recording(tmp_path, a_run()) as recording:
            assert load(recording.path).trials == ()
            recording.trial(ok("pi", 1.5))
            assert load(recording.path).trials == (ok("pi", 1.5),)

    def test_the_warning_of_a_cut_off_line_names_file_and_line(self, tmp_path: Path) -> None:
        path = record(tmp_path, a_run(), [ok("pi", 1.5)])
        path.write_text(path.read_text() + '{"kind": "tri')
        assert load(path).warnings == (f"{path}:3: the last line is cut off and was skipped",)


class TestSchema:
    @pytest.mark.parametrize("version", range(1, SCHEMA_VERSION + 1))
    def test_every_version_stays_readable(self, version: int) -> None:
        path = GOLDEN / f"schema-{version}.jsonl"
        kept = load(path)
        assert kept.run.configuration == "1g-rs"
        assert kept.run.facts == {"switch": "unmanaged"}
        assert kept.run.dataset == {"recipe": {"seed": 1}, "rows": 1000, "layout": "rs:6+3:64k"}
        assert kept.run.omitted == {"calc-pi-arrow-udf": "pyarrow is not installed"}
        assert [(t.workload, t.phase, t.round, t.wall_s, t.error) for t in kept.trials] == [
            ("group-by", Phase.WARM_UP, 1, 29.0, None),
            ("group-by", Phase.MEASURED, 1, 10.5, None),
            ("sha-512", Phase.MEASURED, 1, None, "WrongAnswer: 3 is not 4"),
        ]
        assert kept.ending is Ending.COMPLETED

    def test_an_unknown_version_says_which_are_known(self, tmp_path: Path) -> None:
        path = record(tmp_path, a_run())
        path.write_text(path.read_text().replace('"schema_version": 1', '"schema_version": 99'))
        with pytest.raises(BadInput, match=r":1: .*schema version 99 is not known here \(known: 1"):
            load(path)


class TestMalformed:
    @pytest.mark.parametrize(
        ("line", "reason"),
        [
            ("{", "not a results file"),
            ("[]", "an object is expected"),
            ("", "not a results file"),
            ('{"kind": "probe-of-later"}', "unknown kind of line: 'probe-of-later'"),
            ('{"kind": "trial"}', "'workload' is missing"),
            ('{"kind": "end", "ending": "bored"}', "'bored' is not a valid Ending"),
        ],
    )
    def test_a_line_in_the_middle_is_named(self, tmp_path: Path, line: str, reason: str) -> None:
        path = record(tmp_path, a_run(), [ok("pi", 1.5), ok("pi", 1.6)])
        first, second, third = path.read_text().splitlines()
        path.write_text(f"{first}\n{second}\n{line}\n{third}\n")
        with pytest.raises(BadInput) as caught:
            load(path)
        assert str(caught.value).startswith(f"{path}:3: ")
        assert reason in str(caught.value)

    @pytest.mark.parametrize(
        "change",
        [
            {"wall_s": None},
            {"wall_s": -1},
            {"wall_s": float("nan")},
            {"wall_s": "fast"},
            {"status": "failed"},
            {"phase": "cool-down"},
            {"round": "one"},
        ],
    )
    def test_a_trial_that_cannot_be_is_an_error(
        self, tmp_path: Path, change: dict[str, object]
    ) -> None:
        path = record(tmp_path, a_run(), [ok("pi", 1.5)])
        first, trial = path.read_text().splitlines()
        path.write_text(f"{first}\n{json.dumps(json.loads(trial) | change)}\n")
        with pytest.raises(BadInput, match=":2: malformed trial line"):
            load(path)

    @pytest.mark.parametrize(
        "line", ['{"kind": "trial", "round": 1e999}', "[" * 100_000], ids=["infinite", "deep"]
    )
    def test_numbers_and_nesting_beyond_bounds(self, tmp_path: Path, line: str) -> None:
        path = record(tmp_path, a_run(), [ok("pi", 1.5)])
        if line.startswith("{"):
            trial = json.loads(path.read_text().splitlines()[1])
            line = json.dumps(trial | {"round": 0}).replace('"round": 0', '"round": 1e999')
        path.write_text(f"{path.read_text()}{line}\n")
        with pytest.raises(BadInput, match=":3: "):
            load(path)

    @pytest.mark.parametrize(
        "change", [{"facts": [1]}, {"omitted": None}, {"workloads": "abc"}, {"dataset": 1}]
    )
    def test_a_run_that_cannot_be_is_an_error(
        self, tmp_path: Path, change: dict[str, object]
    ) -> None:
        path = record(tmp_path, a_run())
        path.write_text(json.dumps(json.loads(path.read_text()) | change) + "\n")
        with pytest.raises(BadInput, match=":1: malformed run line"):
            load(path)

    def test_nothing_follows_the_end(self, tmp_path: Path) -> None:
        path = record(tmp_path, a_run(), [ok("pi", 1.5)], Ending.COMPLETED)
        lines = path.read_text().splitlines()
        path.write_text("\n".join([*lines, lines[1], ""]))
        with pytest.raises(BadInput, match=":4: a line after the end of the run"):
            load(path)

    @pytest.mark.parametrize("content", [b"", b"{}", b"test,seconds\n", b"\xff\xfe\n", b"{}\n"])
    def test_what_is_not_a_results_file(self, tmp_path: Path, content: bytes) -> None:
        path = tmp_path / "file.jsonl"
        path.write_bytes(content)
        with pytest.raises(BadInput, match=r"file\.jsonl:1: .*not a results file"):
            load(path)

    def test_a_file_that_is_not_there(self, tmp_path: Path) -> None:
        with pytest.raises(BadInput, match=r"cannot read .*absent"):
            load(tmp_path / "absent.jsonl")


class TestWhere:
    def test_a_directory_for_each_configuration(self, tmp_path: Path) -> None:
        path = record(tmp_path, a_run("2.5g, RS 6+3", "r1"))
        assert path == tmp_path / "2.5g, RS 6+3" / "r1.jsonl"

    @given(st.text(min_size=1, max_size=30))
    def test_no_name_leads_out_of_the_results(self, name: str) -> None:
        assert (
            configuration_directory(Path("results"), name).resolve().parent
            == Path("results").resolve()
        )

    @given(st.text(min_size=1, max_size=30), st.text(min_size=1, max_size=30))
    def test_no_two_configurations_share_one(self, one: str, other: str) -> None:
        directories = {configuration_directory(Path(), name) for name in (one, other)}
        assert len(directories) == len({one, other})

    def test_runs_at_once_write_files_of_their_own(self, tmp_path: Path) -> None:
        def recording(number: int) -> Path:
            run = a_run("1g", new_run_id(), parameters={"number": number})
            return record(tmp_path, run, [ok("pi", number)], Ending.COMPLETED)

        with ThreadPoolExecutor(8) as pool:
            paths = list(pool.map(recording, range(32)))
        assert len(set(paths)) == 32
        assert [load(path).trials[0].wall_s for path in paths] == list(range(32))

    def test_a_name_that_is_taken_is_refused_and_kept(self, tmp_path: Path) -> None:
        path = record(tmp_path, a_run(run_id="same"), [ok("pi", 1.5)])
        before = path.read_bytes()
        with pytest.raises(BadInput):
            record(tmp_path, a_run(run_id="same"))
        assert path.read_bytes() == before

    def test_a_directory_that_cannot_be_written(self, tmp_path: Path) -> None:
        (tmp_path / "file").write_text("")
        with pytest.raises(BadInput, match=r"--results: cannot write to .*file"):
            Recording(tmp_path / "file" / "results", a_run())

    def test_a_refusal_leaves_nothing_behind(self, tmp_path: Path) -> None:
        path = record(tmp_path, a_run(run_id="same"))
        with pytest.raises(BadInput):
            record(tmp_path, a_run(run_id="same"))
        assert list(path.parent.iterdir()) == [path]

    @pytest.mark.parametrize("fields", [{"configuration": "\udcff"}, {"facts": {"a": "\udcff"}}])
    def test_arguments_that_are_no_text_can_be_recorded_or_are_refused(
        self, tmp_path: Path, fields: dict[str, Any]
    ) -> None:
        with contextlib.suppress(BadInput):
            record(tmp_path, a_run(**fields))

    def test_only_the_results_file_is_left_behind(self, tmp_path: Path) -> None:
        path = record(tmp_path, a_run(), [failed("pi")], Ending.COMPLETED)
        assert list(path.parent.iterdir()) == [path]


class TestADiskThatIsFull:
    def test_ends_the_recording_and_keeps_what_came_before(self) -> None:
        """/dev/full takes no byte, as a full disk does."""
        recording = Recording.__new__(Recording)
        recording.path = Path("/dev/full")
        with (
            Path("/dev/full").open("wb", buffering=0) as recording._file,
            pytest.raises(ClusterliftError, match="cannot go on writing /dev/full: No space left"),
        ):
            recording.trial(ok("pi", 1.5))
