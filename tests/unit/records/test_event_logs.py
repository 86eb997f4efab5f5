"""Event logs are found, put in order, decompressed and compared like results files."""

import gzip
import struct
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pyarrow as pa
import pytest

from harness.cli import main
from harness.model.errors import BadInput
from harness.model.run import Ending
from harness.records import event_logs
from harness.records.event_logs import lines_of, logs_in, read_logs
from tests.refusal import refusal
from tests.unit.eventlog.event_log_lines import application_ended, application_started, execution

DAY_MS = 86_400_000


def a_log(
    id_: str = "app-1", *, wall_ms: int = 2_000, day: int = 0, **about: object
) -> list[bytes]:
    """The lines of an application that executes a query three times; `about` is of `execution`."""
    start_ms = day * DAY_MS
    each = [
        execution(n, start_ms + 9_000 * n, start_ms + 9_000 * n + wall_ms, "load", **about)  # type: ignore[arg-type]
        for n in range(3)
    ]
    return [
        *application_started(at_ms=start_ms, id_=id_),
        *(line for lines in each for line in lines),
        application_ended(start_ms + 60_000),
    ]


def write(path: Path, lines: Sequence[bytes], pack: Callable[[bytes], bytes] = bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(pack(b"".join(lines)))
    return path


def zstd(content: bytes) -> bytes:
    return pa.Codec("zstd").compress(content, asbytes=True)  # type: ignore[no-any-return]


def blocks_of(content: bytes) -> list[bytes]:
    return [content[start : start + 1_000] for start in range(0, len(content), 1_000)]


def lz4(content: bytes) -> bytes:
    """As lz4-java writes it: blocks, of which some are not compressed, and an empty one at the end."""
    codec, packed = pa.Codec("lz4_raw"), []
    for number, block in enumerate(blocks_of(content)):
        token, stored = (
            (0x15, block) if number % 3 == 0 else (0x25, codec.compress(block).to_pybytes())
        )
        packed.append(
            struct.pack("<8sBiii", b"LZ4Block", token, len(stored), len(block), 0) + stored
        )
    return b"".join([*packed, struct.pack("<8sBiii", b"LZ4Block", 0x15, 0, 0, 0)])


class TestFiles:
    @pytest.mark.parametrize("pack", [bytes, zstd, lz4, gzip.compress])
    def test_a_log_is_read_whatever_it_is_compressed_with(
        self, tmp_path: Path, pack: Callable[[bytes], bytes]
    ) -> None:
        assert list(lines_of(write(tmp_path / "app-1", a_log(), pack))) == a_log()

    @pytest.mark.parametrize("pack", [bytes, zstd, lz4])
    def test_of_a_file_that_is_cut_off_what_is_before_is_read(
        self, tmp_path: Path, pack: Callable[[bytes], bytes]
    ) -> None:
        path = write(tmp_path / "app-1.inprogress", a_log() * 40, pack)
        path.write_bytes(path.read_bytes()[:-9])
        *whole, _ = lines_of(path)
        assert whole == (a_log() * 40)[: len(whole)]

    def test_what_cannot_be_decompressed_is_said(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        with pytest.raises(BadInput, match=r"lzf, which cannot be read; .*codec=zstd"):
            list(lines_of(write(tmp_path / "app-1.lzf", [b"ZV\x01\x00\x00"])))
        monkeypatch.setitem(sys.modules, "pyarrow", None)
        with pytest.raises(BadInput, match=r"to read it, pip install pyarrow"):
            list(lines_of(write(tmp_path / "app-1.zstd", a_log(), zstd)))

    def test_a_line_has_a_bound(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(event_logs, "MAX_LINE", 10_000)
        with pytest.raises(BadInput, match="a line has more than 10,000 bytes"):
            list(lines_of(write(tmp_path / "app-1.zstd", [b"x" * 10**6], zstd)))

    def test_a_directory_has_logs_of_one_file_or_of_parts(self, tmp_path: Path) -> None:
        write(tmp_path / ".app-1.crc", [b"x"])
        write(tmp_path / "app-1", a_log())
        rolled = tmp_path / "eventlog_v2_app-2"
        for name in ("appstatus_app-2", "events_10_app-2", "events_9_app-2"):
            write(rolled / name, [])
        (tmp_path / "empty").mkdir()
        parts = [rolled / "events_9_app-2", rolled / "events_10_app-2"]
        assert logs_in(tmp_path) == [[tmp_path / "app-1"], parts]
        assert logs_in(rolled) == [parts]

    def test_a_compacted_part_stands_for_those_before(self, tmp_path: Path) -> None:
        for name in ("events_1_a.zstd", "events_2_a.zstd", "events_2_a.zstd.compact", "events_3_a"):
            write(tmp_path / name, [])
        assert logs_in(tmp_path) == [
            [tmp_path / "events_2_a.zstd.compact", tmp_path / "events_3_a"]
        ]


class TestApplications:
    def test_each_is_a_run_in_the_order_of_their_starts(self, tmp_path: Path) -> None:
        write(tmp_path / "a", a_log("app-2", day=2))
        log = a_log("app-1", day=1)
        write(tmp_path / "eventlog_v2_app-1" / "events_1_app-1", log[:7])
        write(tmp_path / "eventlog_v2_app-1" / "events_2_app-1", log[7:])
        assert [each.run.id for each in read_logs([tmp_path])[0]] == ["app-1", "app-2"]
        assert all(each.ending is Ending.COMPLETED for each in read_logs([tmp_path])[0])

    def test_one_whose_log_is_cut_off_has_what_ended_before(self, tmp_path: Path) -> None:
        path = write(tmp_path / "app-1.inprogress", a_log())
        path.write_bytes(path.read_bytes()[:-200])
        (recorded,) = read_logs([path])[0]
        assert recorded.ending is None
        assert [trial.wall_s for trial in recorded.trials] == [2.0, 2.0]

    @pytest.mark.parametrize(
        ("content", "reason"),
        [
            (b"# Notes\n", "log:1: not a complete line of an event log"),
            (b"".join([*a_log()[:-1], b"{}\n"]), r"log:\d+: Spark 4\.0\.1: not a complete line"),
            (b"", "log is no event log of Spark, or lacks its start"),
            (zstd(b"x")[:6], "log is no event log of Spark, or lacks its start"),
            (b"".join(a_log()[5:]), "log is no event log of Spark, or lacks its start"),
        ],
        ids=["text", "a line of something else", "empty", "damaged", "a later part"],
    )
    def test_what_is_no_log_is_named_with_its_line(
        self, tmp_path: Path, content: bytes, reason: str
    ) -> None:
        with pytest.raises(BadInput, match=reason):
            read_logs([write(tmp_path / "log", [content])])

    def test_names_have_the_application_where_there_are_several(self, tmp_path: Path) -> None:
        one = write(tmp_path / "a", a_log())
        assert read_logs([one])[0][0].run.workloads == ("etl", "load")
        other = write(tmp_path / "b", [*application_started("report"), *a_log()[5:]])
        assert [each[0].run.workloads for each in read_logs([one, other])] == [
            ("etl", "etl: load"),
            ("report", "report: load"),
        ]


@pytest.fixture
def compared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Three applications before, three ten days later that are faster and read more."""
    monkeypatch.chdir(tmp_path)
    for side, about in (
        ("before", {"wall_ms": 8_000, "input_bytes": 10**9}),
        ("after", {"wall_ms": 4_000, "input_bytes": 14 * 10**8, "day": 10}),
    ):
        for number in range(3):
            wall_ms = about["wall_ms"] + 10 * number  # type: ignore[operator]
            log = a_log(f"{side}-{number}", **about | {"wall_ms": wall_ms})  # type: ignore[arg-type]
            write(tmp_path / side / f"{number}.zstd", log, zstd)


@pytest.mark.usefixtures("compared")
class TestCommands:
    def test_compare_has_a_row_for_each_workload_and_says_what_else_differs(
        self, capsys: pytest.CaptureFixture[str]
    ) -> None:
        assert main(["compare", "--event-logs", "before", "after"]) == 0
        table = " ".join(capsys.readouterr().out.split())
        assert "etl" in table
        assert "-49.9%" in table
        for note in (
            "recorded: 1970-01-11 here, 1970-01-01 in before",
            "input of the tasks: 1.4 GB here, 1 GB in before",
            "do not tell links, layouts, other load",
        ):
            assert note in table, note
        assert "dataset" not in table

    def test_strict_refuses_them(self) -> None:
        refused = refusal("compare", "--event-logs", "before", "after", "--strict")
        assert "have confounders: recorded" in refused

    def test_explain_and_report_read_them_too(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert main(["explain", "--event-logs", "before", "after"]) == 0
        assert "\nload" in capsys.readouterr().out
        assert main(["report", "--event-logs", "before", "after"]) == 0
        assert "clusterlift compare before after --event-logs" in Path("report.html").read_text()

    def test_a_copy_is_no_further_run(self) -> None:
        refused = refusal("compare", "--event-logs", "before", "before/0.zstd")
        assert "with run before-0, is given twice" in refused

    def test_an_empty_directory_is_one_line(self) -> None:
        Path("none").mkdir()
        refused = refusal("compare", "--event-logs", "before", "none")
        assert "the directory none has no event logs" in refused
