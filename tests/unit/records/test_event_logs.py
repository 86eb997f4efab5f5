"""Event logs are found, put in order, decompressed and compared like results files."""

import bz2
import errno
import gzip
import io
import json
import lzma
import os
import re
import struct
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile

import pyarrow as pa
import pytest

from harness.base.errors import BadInput
from harness.commands.cli import main
from harness.eventlog.application import Application
from harness.records import log_lines
from harness.records.event_logs import read_logs
from harness.records.log_choice import Choice
from harness.records.log_lines import lines_of
from harness.records.log_parts import logs_of
from harness.records.places import local
from harness.records.places.file import LogFile, OpenFile, Unreadable
from tests.refusal import refusal
from tests.unit.announced_secrets import ANNOUNCED
from tests.unit.eventlog.event_log_lines import application_ended, application_started, execution

DAY_MS = 86_400_000


def a_log(
    id_: str = "app-1",
    *,
    wall_ms: int = 2_000,
    day: int = 0,
    attempt: str | None = None,
    **about: Any,
) -> list[bytes]:
    """The lines of an application that executes a query three times; `about` is of `execution`."""
    start_ms = day * DAY_MS
    each = [
        execution(n, start_ms + 9_000 * n, start_ms + 9_000 * n + wall_ms, "load", **about)
        for n in range(3)
    ]
    return [
        *application_started(at_ms=start_ms, id_=id_, attempt=attempt),
        *(line for lines in each for line in lines),
        application_ended(start_ms + 60_000),
    ]


def file_at(path: Path) -> LogFile:
    [file] = local.listed(path).files
    return file


def logs_in(path: Path) -> tuple[list[list[str]], dict[str, str]]:
    """The paths of the files of each log, and what is left out."""
    listing = local.listed(path)
    logs = [[file.path for file in log] for log in logs_of(listing)]
    return logs, listing.left_out


def write(path: Path, lines: Sequence[bytes], pack: Callable[[bytes], bytes] = bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(pack(b"".join(lines)))
    return path


def zstd(content: bytes) -> bytes:
    return bytes(pa.Codec("zstd").compress(content, asbytes=True))


def blocks_of(content: bytes) -> list[bytes]:
    return [content[start : start + 1_000] for start in range(0, len(content), 1_000)]


def lz4(content: bytes) -> bytes:
    """As lz4-java writes it: blocks, some not compressed, and an empty one at the end."""
    codec, packed = pa.Codec("lz4_raw"), []
    for number, block in enumerate(blocks_of(content)):
        token, stored = (
            (0x15, block) if number % 3 == 0 else (0x25, codec.compress(block).to_pybytes())
        )
        packed.append(
            struct.pack("<8sBiii", b"LZ4Block", token, len(stored), len(block), 0) + stored
        )
    return b"".join([*packed, struct.pack("<8sBiii", b"LZ4Block", 0x15, 0, 0, 0)])


def lz4_frame(content: bytes) -> bytes:
    return bytes(pa.Codec("lz4").compress(content, asbytes=True))


def snappy(content: bytes) -> bytes:
    """As snappy-java writes it: a header, and blocks with their sizes; the header again in the middle."""
    header = b"\x82SNAPPY\0" + struct.pack(">ii", 1, 1)
    blocks = [pa.Codec("snappy").compress(block).to_pybytes() for block in blocks_of(content)]
    sized = [struct.pack(">i", len(block)) + block for block in blocks]
    return b"".join([header, *sized[:1], header, *sized[1:]])


class TestFiles:
    @pytest.mark.parametrize(
        "pack",
        [bytes, zstd, lz4, lz4_frame, snappy, gzip.compress, bz2.compress, lzma.compress],
    )
    def test_a_log_is_read_whatever_it_is_compressed_with(
        self, tmp_path: Path, pack: Callable[[bytes], bytes]
    ) -> None:
        assert list(lines_of(file_at(write(tmp_path / "app-1", a_log(), pack)))) == a_log()

    @pytest.mark.parametrize("pack", [bytes, zstd, lz4, lzma.compress])
    def test_of_a_file_that_is_cut_off_what_is_before_is_read(
        self, tmp_path: Path, pack: Callable[[bytes], bytes]
    ) -> None:
        path = write(tmp_path / "app-1.inprogress", a_log() * 40, pack)
        path.write_bytes(path.read_bytes()[:-9])
        *whole, _ = lines_of(file_at(path))
        assert whole == (a_log() * 40)[: len(whole)]

    def test_what_cannot_be_decompressed_is_said(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        with pytest.raises(ValueError, match=r"lzf, which cannot be read; .*codec=zstd"):
            list(lines_of(file_at(write(tmp_path / "app-1.lzf", [b"ZV\x01\x00\x00"]))))
        monkeypatch.setitem(sys.modules, "pyarrow", None)
        with pytest.raises(ValueError, match=r"to read it, .* with its extra \[logs\]"):
            list(lines_of(file_at(write(tmp_path / "app-1.zstd", a_log(), zstd))))

    def test_a_line_has_a_bound(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(log_lines, "MAX_LINE", 10_000)
        with pytest.raises(ValueError, match="a line has more than 10,000 bytes"):
            list(lines_of(file_at(write(tmp_path / "app-1.zstd", [b"x" * 10**6], zstd))))

    @pytest.mark.parametrize("line", [b"x" * 10**6 + b"\n", b"\n"], ids=["long", "short"])
    def test_a_file_that_unpacks_to_more_than_logs_do_is_refused(
        self, tmp_path: Path, line: bytes
    ) -> None:
        bomb = write(tmp_path / "app-1.zstd", [line * (10**8 // len(line))], zstd)
        read = 0
        with pytest.raises(ValueError, match="unpacks to more than 1,000 times its size"):  # noqa: PT012
            for each in lines_of(file_at(bomb)):
                read += len(each)
        assert read < 2**20 + 1_000 * bomb.stat().st_size

    def test_a_directory_has_logs_of_one_file_or_of_parts(self, tmp_path: Path) -> None:
        write(tmp_path / ".app-1.crc", [b"x"])
        write(tmp_path / "app-1", a_log())
        rolled = tmp_path / "eventlog_v2_app-2"
        parts = [f"events_{number}_app-2" for number in range(1, 11)]
        for name in ("appstatus_app-2", *reversed(parts)):
            write(rolled / name, [])
        (tmp_path / "empty").mkdir()
        below = [f"eventlog_v2_app-2/{name}" for name in parts]
        assert logs_in(tmp_path)[0] == [["app-1"], below]
        assert logs_in(rolled)[0] == [parts]

    def test_a_compacted_part_stands_for_those_before(self, tmp_path: Path) -> None:
        for name in ("events_1_a.zstd", "events_2_a.zstd", "events_2_a.zstd.compact", "events_3_a"):
            write(tmp_path / name, [])
        assert logs_in(tmp_path)[0] == [["events_2_a.zstd.compact", "events_3_a"]]

    def test_a_log_without_one_of_its_parts_is_left_out(self, tmp_path: Path) -> None:
        for name in ("events_1_a", "events_3_a", "events_1_b", "events_2_c", "events_3_c"):
            write(tmp_path / name, [])
        logs, left_out = logs_in(tmp_path)
        assert logs == [["events_1_b"]]
        assert left_out == {
            "events_1_a": "part 2 of the log is missing",
            "events_2_c": "part 1 of the log is missing",
        }

    def test_databricks_writes_parts_in_the_order_of_their_dates_at_any_depth(
        self, tmp_path: Path
    ) -> None:
        below = "0501-cluster/eventlog/0501-cluster_10_0_0_1/4386880391486"
        names = ["eventlog", "eventlog-2024-05-01--11-00.gz", "eventlog-2024-05-01--10-00.gz"]
        for name in names:
            write(tmp_path / below / name, [])
        write(tmp_path / "0501-cluster" / "driver" / "stdout", [])
        assert logs_in(tmp_path)[0] == [
            ["0501-cluster/driver/stdout"],
            [f"{below}/{name}" for name in (names[2], names[1], names[0])],
        ]

    def test_links_lead_to_logs_alone(self, tmp_path: Path) -> None:
        logs = tmp_path / "logs"
        rolled = write(tmp_path / "elsewhere" / "events_1_a", [])
        write(logs / "app-1", [])
        for name, target in (("rolled", rolled.parent), ("gone", "nowhere"), ("round", ".")):
            (logs / name).symlink_to(target)
        found, left_out = logs_in(logs)
        assert found == [["app-1"], ["rolled/events_1_a"]]
        assert left_out == {
            "gone": "a link to nothing",
            "round": "a link to a directory that is no log",
        }


NO_LOGS = [
    (b"PK\x03\x04", r"an archive \(only \.zip is read, by its name\): unpack it"),
    (b"7z\xbc\xaf\x27\x1c", "an archive "),
    (b"# hunter2\n", "no event log of Spark"),
    (b"hunter2", "no event log of Spark"),
    (b'{"password": "hunter2"}\n', "no event log of Spark"),
    (b"".join([*a_log()[:-1], b"{}\n", b"\n"]), r"line 30: Spark 4\.0\.1: not a complete line"),
    (
        b"".join(a_log()[:-1]).replace(b"4.0.1", b"1.6.3") + b"{}\n\n",
        "of Spark 1.6.3; logs of Spark 2 and newer are read",
    ),
    (b"", "empty, or cut off at its start"),
    (zstd(b"x")[:6], "empty, or cut off at its start"),
    (b"".join(a_log()[5:]), "no application starts in it"),
]


def applications(path: Path) -> list[Application]:
    return [each.application for each in read_logs(str(path)).applications]


def ids(path: Path) -> list[str]:
    return [each.id for each in applications(path)]


class TestApplications:
    def test_they_are_in_the_order_of_their_starts(self, tmp_path: Path) -> None:
        write(tmp_path / "a", a_log("app-2", day=2))
        log = a_log("app-1", day=1)
        write(tmp_path / "eventlog_v2_app-1" / "events_1_app-1", log[:7])
        write(tmp_path / "eventlog_v2_app-1" / "events_2_app-1", log[7:])
        assert ids(tmp_path) == ["app-1", "app-2"]
        assert all(each.has_ended for each in applications(tmp_path))

    def test_one_whose_log_is_cut_off_has_what_ended_before(self, tmp_path: Path) -> None:
        path = write(tmp_path / "app-1.inprogress", a_log())
        path.write_bytes(path.read_bytes()[:-200])
        (application,) = applications(path)
        assert not application.has_ended
        assert application.executions == 2

    def test_a_last_line_without_a_line_feed_is_read(self, tmp_path: Path) -> None:
        *lines, last = a_log()
        (application,) = applications(write(tmp_path / "app-1", [*lines, last.rstrip()]))
        assert application.has_ended

    def test_blanks_between_keys_and_values_change_nothing(self, tmp_path: Path) -> None:
        lines = [json.dumps(json.loads(line)).encode() + b"\r\n" for line in a_log()]
        (application,) = applications(write(tmp_path / "app-1", lines))
        assert application.executions == 4

    def test_a_file_may_have_several_one_after_the_other(self, tmp_path: Path) -> None:
        unended = a_log("app-1")[:-1]
        path = write(tmp_path / "all", [*unended, *a_log("app-2", day=1), *a_log("app-3", day=2)])
        assert ids(path) == ["app-1", "app-2", "app-3"]
        assert [each.executions for each in applications(path)] == [3, 4, 4]

    def test_the_last_attempt_that_ended_counts(self, tmp_path: Path) -> None:
        for attempt, is_whole in (("1", True), ("2", True), ("10", False)):
            log = a_log(attempt=attempt, day=int(attempt))
            write(tmp_path / f"app-1_{attempt}", log if is_whole else log[:-1])
        (application,) = applications(tmp_path)
        assert application.attempt == "2"
        (note,) = read_logs(str(tmp_path)).notes
        assert note == "several logs or attempts of one application count once: app-1 (attempt 2)"

    def test_a_log_of_which_there_is_an_older_copy_counts_once(self, tmp_path: Path) -> None:
        write(tmp_path / "app-1", a_log())
        write(tmp_path / "app-1.inprogress", a_log()[:-5])
        (one,) = read_logs(str(tmp_path)).applications
        assert one.source.path == "app-1"

    @pytest.mark.parametrize(("content", "reason"), NO_LOGS, ids=[reason for _, reason in NO_LOGS])
    def test_what_is_no_log_is_named_and_the_rest_is_read(
        self, tmp_path: Path, content: bytes, reason: str
    ) -> None:
        bad = write(tmp_path / "bad", [content])
        with pytest.raises(BadInput, match=f"bad: {reason}"):
            read_logs(str(bad))
        write(tmp_path / "good", a_log())
        assert ids(tmp_path) == ["app-1"]
        (note,) = read_logs(str(tmp_path)).notes
        assert re.fullmatch(rf"left out \({reason}.*\): bad", note), note
        assert "hunter2" not in note

    def test_what_is_no_file_or_cannot_be_read_is_named_too(self, tmp_path: Path) -> None:
        write(tmp_path / "good", a_log())
        os.mkfifo(tmp_path / "pipe")
        (tmp_path / "gone").symlink_to("nowhere")
        assert read_logs(str(tmp_path)).notes == (
            "left out (a link to nothing): gone",
            "left out (it is not a regular file): pipe",
        )


@pytest.fixture
def compared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Three applications before, three ten days later that are faster and read more."""
    monkeypatch.chdir(tmp_path)
    for side, wall_ms, input_bytes, day in (
        ("before", 8_000, 10**9, 0),
        ("after", 4_000, 14 * 10**8, 10),
    ):
        for number in range(3):
            log = a_log(
                f"{side}-{number}", wall_ms=wall_ms + 10 * number, input_bytes=input_bytes, day=day
            )
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
            "input of load: 1.4 GB here, 1 GB in before",
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
        assert "none has no event logs" in refused


def two_sides(
    tmp_path: Path, before: Sequence[str], after: Sequence[str], described_as: str = ""
) -> list[str]:
    """Two runs on each side, whose names begin with what is given; return the arguments of commands."""
    for side, (directory, names) in enumerate((("before", before), ("after", after))):
        for number, name in enumerate(names):
            start_ms = (10 * side + number) * DAY_MS
            lines = [
                *application_started(name, start_ms, f"{directory}-{number}"),
                *execution(0, start_ms, start_ms + 5_000 + number, described_as.format(name)),
                *execution(1, start_ms, start_ms + 6_000 + number, "save"),
                application_ended(start_ms + 60_000),
            ]
            write(tmp_path / directory / f"{number}", lines)
    return ["--event-logs", str(tmp_path / "before"), str(tmp_path / "after")]


DATED = (["etl 2024-05-01", "etl 2024-05-02"], ["etl 2024-06-01", "etl 2024-06-02"])


class TestNames:
    def test_what_differs_each_time_is_left_out_and_said(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        sides = two_sides(tmp_path, *DATED, "load {}")
        assert main(["compare", *sides]) == 0
        table = capsys.readouterr().out
        for name in ("etl <date>", "load etl <date>", "save"):
            assert re.search(rf"^{name} .* 2|^{name} .*%", table, re.MULTILINE), table
        assert "missing" not in table
        assert "matched without dates: etl <date>" in " ".join(table.split())

    def test_what_one_side_alone_has_is_listed_and_no_limit_is_kept(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        sides = two_sides(tmp_path, ["etl", "etl"], ["etl", "etl"], "q{}")
        for number in range(2):
            path = tmp_path / "after" / f"{number}"
            path.write_bytes(path.read_bytes().replace(b"qetl", b"r%d" % number))
        assert main(["compare", *sides, "--fail-if-slower", "50%"]) == 3
        table = " ".join(capsys.readouterr().out.split())
        assert "missing" not in table
        assert "on this side alone, and so not compared: qetl" in table
        assert "on this side alone, and so not compared: r0, r1" in table
        assert "not known whether slower by more than 50 %: qetl (not matched)" in table
        assert (
            "etl did other work: before alone executed qetl; after alone executed r0, r1" in table
        )

    def test_a_failure_on_one_side_alone_stays_in_the_table(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        sides = two_sides(tmp_path, ["etl", "etl"], ["etl", "etl"], "q{}")
        failed = execution(2, 100, 200, "broken", error="[NO_TABLE]")
        for number in range(2):
            path = tmp_path / "after" / f"{number}"
            lines = path.read_bytes().splitlines(keepends=True)
            path.write_bytes(b"".join([*lines[:-1], *failed, lines[-1]]))
        assert main(["compare", *sides]) == 0
        table = capsys.readouterr().out
        assert re.search(r"^broken +missing +failed", table, re.MULTILINE)
        assert "etl did other work: in after alone failed broken" in table


def test_no_output_has_a_secret_of_a_description(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for side in ("before", "after"):
        for number in range(2):
            executions = [
                line
                for n, text in enumerate(ANNOUNCED)
                for line in execution(n, 9_000 * n, 9_000 * n + 5_000 + number, f"{n}: {text}")
            ]
            lines = [*application_started("etl", number, f"{side}-{number}"), *executions]
            write(tmp_path / side / f"{number}", [*lines, application_ended(10**7)])
    sides = ["--event-logs", "before", "after"]
    for command in (["compare"], ["compare", "--format", "json"], ["explain", "--details"]):
        assert main([*command, *sides]) == 0
    assert main(["report", *sides]) == 0
    shown = capsys.readouterr().out + Path("report.html").read_text()
    assert "***" in shown
    assert "hunter2" not in shown


@pytest.fixture
def nightly(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A directory with a log of each of ten days, the last five are faster; and one of something else."""
    monkeypatch.chdir(tmp_path)
    for day in range(10):
        wall_ms = 8_000 - 2_000 * (day // 5) + 10 * day
        lines = a_log(f"app-{day}", wall_ms=wall_ms, day=day)
        name = f"nightly-1970-01-{1 + day:02}".encode()
        write(
            tmp_path / "logs" / f"{day}", [line.replace(b'"etl"', b'"%s"' % name) for line in lines]
        )
    write(tmp_path / "logs" / "other", a_log("app-other", wall_ms=90_000, day=7))


@pytest.mark.usefixtures("nightly")
class TestChoice:
    def test_one_directory_is_divided_at_a_day(self, capsys: pytest.CaptureFixture[str]) -> None:
        sides = ["--event-logs", "logs", "--before", "1970-01-06", "--app", "nightly-*"]
        assert main(["compare", *sides]) == 0
        table = capsys.readouterr().out
        assert re.search(r"before 1970-01-06\S* +after 1970-01-06", table)
        assert re.search(r"^nightly-<date> ", table, re.MULTILINE)
        assert "-24." in table
        assert len(re.findall("5 in 5(?!:)", table)) == 4  # cells, without the caption
        text = " ".join(table.split())
        assert "named nightly-* and started at 1970-01-06 or later; not chosen: 6 app" in text

    def test_explain_and_report_divide_too(self, capsys: pytest.CaptureFixture[str]) -> None:
        sides = ["--event-logs", "logs", "--after", "1970-01-06T00:00Z", "--app", "nightly-*"]
        assert main(["explain", *sides]) == 0
        assert main(["report", *sides]) == 0
        command = (
            "compare logs --event-logs &#39;--app=nightly-*&#39; --after=1970-01-06T00:00:00+00:00"
        )
        assert command in Path("report.html").read_text()

    @pytest.mark.parametrize(
        ("choice", "ids_"),
        [
            (Choice(("nightly-*-02",)), ["app-1"]),
            (Choice(("app-3", "app-4")), ["app-3", "app-4"]),
            (Choice(since_ms=8 * DAY_MS), ["app-8", "app-9"]),
            (Choice(until_ms=DAY_MS), ["app-0"]),
            (Choice(("etl",), since_ms=7 * DAY_MS, until_ms=8 * DAY_MS), ["app-other"]),
        ],
    )
    def test_applications_are_chosen_by_name_id_and_time(
        self, choice: Choice, ids_: list[str]
    ) -> None:
        logs = read_logs("logs", choice)
        assert [each.application.id for each in logs.applications] == ids_

    def test_a_name_with_brackets_chooses_the_application_of_this_name(self) -> None:
        log = [line.replace(b'"etl"', b'"[prod] etl"') for line in a_log("app-1")]
        write(Path("one"), log)
        [one] = read_logs("one", Choice(("[prod] etl",))).applications
        assert one.application.name == "[prod] etl"

    def test_one_that_ran_beyond_the_day_of_the_change_is_named(self) -> None:
        write(Path("one"), a_log("app-1"))
        within = read_logs("one", Choice(until_ms=60_000))
        assert within.notes == ()
        beyond = read_logs("one", Choice(until_ms=50_000))
        assert beyond.notes == (
            "started before 1970-01-01 and ended later, and count with all that they did: app-1 (one)",
        )

    def test_of_a_file_of_several_those_that_are_chosen_count(self) -> None:
        everything = [Path(f"logs/{day}").read_bytes() for day in range(3)]
        write(Path("all"), everything)
        assert len(read_logs("all", Choice(until_ms=2 * DAY_MS)).applications) == 2

    def test_where_nothing_is_chosen_it_is_said_what_there_is(self) -> None:
        refused = refusal(
            "compare", "--event-logs", "logs", "--app", "day*", "--before", "1970-01-05"
        )
        assert (
            "logs: 11 applications, and none is named day* and started before 1970-01-05" in refused
        )
        assert (
            "they started from 1970-01-01 to 1970-01-10, and are called etl, nightly-19" in refused
        )

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            (["logs", "logs", "--event-logs", "--before", "1970-01-05"], "of one place; name one"),
            (["logs", "--event-logs", "--before=1970-01-05", "--after=1970-01-04"], "later than"),
            (["logs", "--app", "a"], "--app=a is about event logs: add --event-logs"),
            (["logs", "--event-logs", "--since", "monday"], "'monday' is not a day or a time"),
            (["logs", "--event-logs", "--match", "v["], "'v[' is no regular expression"),
            (["logs", "--event-logs", "--match", "x*"], "'x*' finds nothing, too"),
        ],
    )
    def test_options_that_say_nothing_are_refused(self, arguments: list[str], message: str) -> None:
        assert message in refusal("compare", *arguments)


def test_a_user_may_say_what_differs_in_names(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sides = two_sides(tmp_path, ["etl one", "etl two"], ["etl three", "etl four"], "load {}")
    assert refusal("compare", *sides).endswith("or say by --match what differs in their names")
    assert main(["compare", *sides, "--match", "one|two|three|four"]) == 0
    table = " ".join(capsys.readouterr().out.split())
    assert "without what --match finds: etl <*> (4 names)" in table
    assert "load etl <*> 5.00 s" in table


def test_a_clock_that_is_ahead_is_said(tmp_path: Path) -> None:
    log = write(tmp_path / "app-1", a_log(day=40_000))
    [note] = read_logs(str(log)).notes
    assert note == "started in the future, by the clocks of their drivers: app-1 (app-1)"


class TestArchives:
    def test_what_a_history_server_lets_users_download_is_read(self, tmp_path: Path) -> None:
        log = a_log("app-2", day=1)
        with ZipFile(tmp_path / "eventLogs-app-2.zip", "w", ZIP_DEFLATED) as archive:
            archive.writestr("eventlog_v2_app-2/events_1_app-2.zstd", zstd(b"".join(log[:9])))
            archive.writestr("eventlog_v2_app-2/events_2_app-2", b"".join(log[9:]))
            archive.writestr("eventlog_v2_app-2/appstatus_app-2", b"")
        write(tmp_path / "app-1", a_log("app-1"))
        assert ids(tmp_path) == ["app-1", "app-2"]
        assert ids(tmp_path / "eventLogs-app-2.zip") == ["app-2"]
        assert all(each.has_ended for each in applications(tmp_path))

    def test_a_damaged_one_is_named(self, tmp_path: Path) -> None:
        write(tmp_path / "good", a_log())
        write(tmp_path / "logs.tar.gz", [b"..."])
        write(tmp_path / "cut.zip", [b"PK\x03\x04..."])
        with ZipFile(tmp_path / "bad.zip", "w") as archive:
            archive.writestr("app-2", b"".join(a_log("app-2")))
        bad = bytearray((tmp_path / "bad.zip").read_bytes())
        bad[2_000] ^= 1
        (tmp_path / "bad.zip").write_bytes(bad)
        assert ids(tmp_path) == ["app-1"]
        assert sorted(read_logs(str(tmp_path)).notes) == [
            "left out (a damaged archive: Bad CRC-32 for file 'app-2'): bad.zip/app-2",
            "left out (a damaged archive: File is not a zip file): cut.zip",
            "left out (an archive of tar: unpack it, or make a .zip of the logs): logs.tar.gz",
        ]

    def test_one_that_unpacks_to_more_than_logs_do_is_refused(self, tmp_path: Path) -> None:
        with ZipFile(tmp_path / "bomb.zip", "w", ZIP_DEFLATED) as archive:
            archive.writestr("app-1", zstd(b"x" * 10**8) + b"\n")
        with pytest.raises(BadInput, match="unpacks to more than 1,000 times its size"):
            read_logs(str(tmp_path / "bomb.zip"))


def test_a_log_whose_application_ends_meanwhile_is_read(tmp_path: Path) -> None:
    path = write(tmp_path / "app-1.inprogress", a_log())
    [file] = local.listed(tmp_path).files
    path.rename(tmp_path / "app-1")
    assert list(lines_of(file)) == a_log()


def test_a_disk_that_fails_is_a_reason_and_no_end_of_the_log() -> None:
    """To a decompressor, an error of reading would mean that the file is cut off there."""

    class Failing(io.BytesIO):
        def read(self, size: int | None = -1) -> bytes:
            if self.tell() > 100:
                raise OSError(errno.EIO, "Input/output error")
            return super().read(100)

    @contextmanager
    def opened(_: str) -> Iterator[OpenFile]:
        yield OpenFile(Failing(zstd(b"".join(a_log()))), 1_000)

    with pytest.raises(Unreadable, match="Input/output error"):
        list(lines_of(LogFile("app-1", opened)))
