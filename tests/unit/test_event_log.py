"""Event logs that clusters keep: found by their application, in order, whole or cut off."""

from __future__ import annotations

import struct
import tempfile
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.analysis.attribution.event_log import (
    event_log_files,
    lines,
    metrics_by_group,
    with_event_logs,
)
from harness.analysis.column import Column
from harness.errors import BadInput
from harness.model import Trial
from harness.record.task_fold import TaskMetrics
from tests.unit.builders import a_run, failed, ok, recorded
from tests.unit.event_log_lines import (
    executor_added,
    job_ended,
    job_started,
    stage_ended,
    stage_started,
    task_ended,
    task_started,
)
from tests.unit.metrics_builders import task_metrics

APPLICATION = "app-20261121134213-0007"


def a_job(job: int, group: str, tasks: int, at_ms: int = 1_000) -> list[bytes]:
    """A job of one stage, of the same number, whose tasks last 100 ms."""
    return [
        job_started(job, at_ms, [job], group),
        stage_started(job),
        *(task_started(job) for _ in range(tasks)),
        *(task_ended(job, at_ms, at_ms + 100) for _ in range(tasks)),
        stage_ended(job),
        job_ended(job, at_ms + 100),
    ]


LOG = [
    executor_added("1", 2),
    *a_job(0, "clusterlift: network interfaces", 1),
    *a_job(1, "pi measured 1", 3, at_ms=2_000),
    *a_job(2, "pi measured 1", 2, at_ms=2_200),
    *a_job(3, "clusterlift: network interfaces", 1),
    *a_job(4, "pi measured 2", 4, at_ms=3_000),
]


class TestByGroup:
    def test_each_trial_has_the_tasks_of_its_jobs_and_no_others(self) -> None:
        found = metrics_by_group(LOG, ["pi measured 1", "pi measured 2", "pi measured 3"])
        assert {group: metrics.tasks for group, metrics in found.items()} == {
            "pi measured 1": 5,
            "pi measured 2": 4,
        }

    def test_slots_are_known_from_the_start_of_the_log(self) -> None:
        found = metrics_by_group([*LOG, executor_added("2", 50, 9_000)], ["pi measured 1"])
        assert found["pi measured 1"].slots == 2

    def test_a_log_that_is_cut_off_tells_it_of_the_trial_that_ran(self) -> None:
        found = metrics_by_group(LOG[:-4], ["pi measured 1", "pi measured 2"])
        assert found["pi measured 1"].incomplete is None
        assert (
            found["pi measured 2"].incomplete == "jobs without an end: 1; tasks without an end: 2"
        )

    def test_a_line_that_cannot_be_read_may_be_of_any_trial(self) -> None:
        found = metrics_by_group([*LOG, b'{"Event":"SparkLis'], ["pi measured 1", "pi measured 2"])
        assert {metrics.incomplete for metrics in found.values()} == {
            "lines that cannot be read: 1"
        }

    def test_jobs_may_run_at_the_same_time(self) -> None:
        one, other = a_job(1, "a", 2), a_job(2, "b", 3)
        woven = [line for pair in zip(one, other, strict=False) for line in pair]
        woven += other[len(one) :]
        found = metrics_by_group(woven, ["a", "b"])
        assert (found["a"].tasks, found["b"].tasks) == (2, 3)


def lz4(content: bytes, block: int = 300) -> bytes:
    """As lz4-java frames it: every third block is stored as it is, the last one is empty."""
    framed = b""
    for number, at in enumerate(range(0, len(content), block)):
        piece = content[at : at + block]
        stored = number % 3 == 2
        held = piece if stored else pa.Codec("lz4_raw").compress(piece, asbytes=True)
        framed += struct.pack(
            "<8sBiii", b"LZ4Block", 0x15 if stored else 0x25, len(held), len(piece), 0
        )
        framed += held
    return framed + struct.pack("<8sBiii", b"LZ4Block", 0x15, 0, 0, 0)


def snappy(content: bytes, block: int = 300) -> bytes:
    """As snappy-java frames it."""
    framed = b"\x82SNAPPY\x00" + struct.pack(">ii", 1, 1)
    for at in range(0, len(content), block):
        held = pa.Codec("snappy").compress(content[at : at + block], asbytes=True)
        framed += struct.pack(">i", len(held)) + held
    return framed


def zstd(content: bytes, block: int = 300) -> bytes:
    """A frame a block, as Spark ends one whenever a job does."""
    pieces = (content[at : at + block] for at in range(0, len(content), block))
    return b"".join(pa.Codec("zstd").compress(piece, asbytes=True) for piece in pieces)


CODECS: dict[str, Callable[[bytes], bytes]] = {
    "": lambda content: content,
    ".zstd": zstd,
    ".lz4": lz4,
    ".snappy": snappy,
}
every_codec = pytest.mark.parametrize("ending", CODECS, ids=[name or "plain" for name in CODECS])


class TestCompressed:
    @every_codec
    def test_what_was_written_is_read(self, tmp_path: Path, ending: str) -> None:
        file = tmp_path / f"{APPLICATION}{ending}"
        file.write_bytes(CODECS[ending](b"".join(LOG)))
        assert list(lines([file])) == LOG

    @every_codec
    @given(share=st.floats(0, 1), unfinished=st.booleans())
    def test_of_a_file_that_is_cut_off_the_beginning_is_read(
        self, ending: str, share: float, *, unfinished: bool
    ) -> None:
        written = CODECS[ending](b"".join(LOG))
        with tempfile.TemporaryDirectory() as directory:
            file = Path(directory) / f"{APPLICATION}{ending}{'.inprogress' if unfinished else ''}"
            file.write_bytes(written[: int(share * len(written))])
            read = list(lines([file]))
        assert b"".join(LOG).startswith(b"".join(read))
        assert share < 1 or read == LOG

    @every_codec
    @given(st.lists(st.tuples(st.floats(0, 1), st.binary(min_size=1, max_size=9)), max_size=4))
    def test_of_a_garbled_file_what_can_be_is_read(
        self, ending: str, damages: list[tuple[float, bytes]]
    ) -> None:
        written = CODECS[ending](b"".join(LOG))
        for share, noise in damages:
            at = int(share * len(written))
            written = written[:at] + noise + written[at + len(noise) :]
        with tempfile.TemporaryDirectory() as directory:
            file = Path(directory) / f"{APPLICATION}{ending}"
            file.write_bytes(written)
            found = metrics_by_group(lines([file]), ["pi measured 1"])
        assert all(isinstance(metrics, TaskMetrics) for metrics in found.values())

    def test_a_codec_that_cannot_be_read_is_named(self, tmp_path: Path) -> None:
        file = tmp_path / f"{APPLICATION}.lzf"
        file.write_bytes(b"ZV")
        with pytest.raises(BadInput, match=r"\.lzf: event logs compressed by lzf cannot be read"):
            list(lines([file]))


class TestFiles:
    @pytest.mark.parametrize(
        "name",
        [
            APPLICATION,
            f"{APPLICATION}.inprogress",
            f"{APPLICATION}.zstd",
            f"{APPLICATION}.lz4.inprogress",
            f"{APPLICATION}_1.zstd",
        ],
    )
    def test_a_single_one_is_found_by_its_application(self, tmp_path: Path, name: str) -> None:
        (tmp_path / name).touch()
        (tmp_path / f"{APPLICATION}8").touch()
        (tmp_path / "local-1795291974897").touch()
        assert event_log_files(tmp_path, APPLICATION) == [tmp_path / name]

    def test_rolled_ones_come_in_the_order_of_their_numbers(self, tmp_path: Path) -> None:
        rolled = tmp_path / f"eventlog_v2_{APPLICATION}"
        rolled.mkdir()
        for number in (2, 10, 1):
            (rolled / f"events_{number}_{APPLICATION}.zstd").touch()
        for other in (f"appstatus_{APPLICATION}", f".events_1_{APPLICATION}.zstd.crc"):
            (rolled / other).touch()
        names = [file.name for file in event_log_files(tmp_path, APPLICATION)]
        assert names == [f"events_{number}_{APPLICATION}.zstd" for number in (1, 2, 10)]

    def test_what_was_compacted_stands_for_all_before_it(self, tmp_path: Path) -> None:
        rolled = tmp_path / f"eventlog_v2_{APPLICATION}_2"
        rolled.mkdir()
        for name in ("events_1_", "events_2_", "events_3_", "events_4_"):
            (rolled / f"{name}{APPLICATION}").touch()
        (rolled / f"events_2_{APPLICATION}.compact").touch()
        names = [file.name for file in event_log_files(tmp_path, APPLICATION)]
        assert names == [
            f"events_2_{APPLICATION}.compact",
            f"events_3_{APPLICATION}",
            f"events_4_{APPLICATION}",
        ]

    def test_of_several_attempts_it_is_the_last(self, tmp_path: Path) -> None:
        for attempt in (1, 9, 10):
            (tmp_path / f"{APPLICATION}_{attempt}").touch()
        assert event_log_files(tmp_path, APPLICATION) == [tmp_path / f"{APPLICATION}_10"]

    def test_the_parts_are_one_log(self, tmp_path: Path) -> None:
        whole, half = b"".join(LOG), len(LOG) // 2
        parts = b"".join(LOG[:half]), b"".join(LOG[half:])
        files = [tmp_path / "events_1_a.lz4", tmp_path / "events_2_a.zstd"]
        files[0].write_bytes(lz4(parts[0]))
        files[1].write_bytes(zstd(parts[1]))
        assert b"".join(lines(files)) == whole


def of_run(*trials: Trial, application: str | None = APPLICATION) -> Column:
    run = a_run(environment={"application": application})
    return Column("1g", (recorded(run, trials),))


class TestRuns:
    @pytest.fixture
    def logs(self, tmp_path: Path) -> Path:
        (tmp_path / f"{APPLICATION}.lz4").write_bytes(lz4(b"".join(LOG)))
        return tmp_path

    def test_trials_that_have_no_metrics_get_them(self, logs: Path) -> None:
        column = of_run(ok("pi", 1.0, job_group="pi measured 1"), failed("pi", round_=2))
        [run] = with_event_logs(column, logs).runs
        assert run.trials[0].tasks is not None
        assert run.trials[0].tasks.tasks == 5
        assert run.trials[1].tasks is None

    def test_those_that_have_them_keep_them(self, logs: Path) -> None:
        own = task_metrics(tasks=77)
        column = of_run(
            ok("pi", 1.0, job_group="pi measured 1", tasks=own),
            ok("pi", 1.0, 2, job_group="pi measured 2"),
        )
        [run] = with_event_logs(column, logs).runs
        assert [trial.tasks.tasks for trial in run.trials if trial.tasks] == [77, 4]

    def test_no_log_is_asked_for_where_none_is_needed(self, tmp_path: Path) -> None:
        column = of_run(ok("pi", 1.0, job_group="pi measured 1", tasks=task_metrics()))
        assert with_event_logs(column, tmp_path / "absent") == column

    def test_a_trial_that_is_not_in_the_log_stays_unknown(self, logs: Path) -> None:
        [run] = with_event_logs(of_run(ok("sha", 1.0, job_group="sha measured 1")), logs).runs
        assert run.trials[0].tasks is None

    def test_a_log_that_is_not_there_is_named(self, logs: Path) -> None:
        column = of_run(ok("pi", 1.0, job_group="pi measured 1"), application="app-9")
        with pytest.raises(
            BadInput, match="holds no event log of application app-9, run run-of-1g"
        ):
            with_event_logs(column, logs)
        with pytest.raises(BadInput, match=r"--event-logs: cannot read .*absent"):
            with_event_logs(column, logs / "absent")
