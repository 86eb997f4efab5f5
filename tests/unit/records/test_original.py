"""Results of the original pyspark-benchmark are read as a run; so is its published table."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from harness.model.errors import BadInput
from harness.model.run import Phase, Run, Status, Trial
from harness.records.original import read_original
from harness.records.reader import load
from tests.unit.builders import STARTED_AT

PUBLISHED = Path(__file__).parents[3] / "results" / "published-2020"


def read(path: Path) -> tuple[Run, tuple[Trial, ...]]:
    return read_original(path, "r1", "1g-rs", STARTED_AT, {"switch": "unmanaged"})


def write(directory: Path, *lines: str, name: str = "original.csv") -> Path:
    path = directory / name
    path.write_text("".join(f"{line}\n" for line in lines))
    return path


class TestReading:
    def test_a_line_is_a_measured_trial(self, tmp_path: Path) -> None:
        _, trials = read(write(tmp_path, "test,seconds", "group-by,547.5", "anything else,1e-3"))
        assert trials == (
            Trial("group-by", Phase.MEASURED, 1, Status.OK, STARTED_AT, wall_s=547.5),
            Trial("anything else", Phase.MEASURED, 1, Status.OK, STARTED_AT, wall_s=0.001),
        )

    def test_each_further_line_of_a_test_is_its_next_round(self, tmp_path: Path) -> None:
        _, trials = read(write(tmp_path, "test,seconds", "a,1", "b,2", "a,3"))
        assert [(t.workload, t.round) for t in trials] == [("a", 1), ("b", 1), ("a", 2)]

    def test_the_run_records_its_origin(self, tmp_path: Path) -> None:
        run, _ = read(write(tmp_path, "test,seconds", "a,1", "b,2"))
        assert (run.configuration, run.workloads) == ("1g-rs", ("a", "b"))
        assert run.facts == {"switch": "unmanaged"}
        assert run.parameters["sink"] == "rdd-count"
        assert run.parameters["imported_from"] == "original.csv"
        assert "imported from pyspark-benchmark" in run.written_by

    def test_a_directory_of_part_files_of_spark_is_read(self, tmp_path: Path) -> None:
        write(tmp_path, name="_SUCCESS")
        write(tmp_path, "not for reading", name=".part-00000.csv.crc")
        write(tmp_path, name="part-00000-of-an-empty-partition.csv")
        write(tmp_path, "test,seconds", "a,1", name="part-00001.csv")
        write(tmp_path, "test,seconds", "b,2", name="part-00002.csv")
        _, trials = read(tmp_path)
        assert [(t.workload, t.wall_s) for t in trials] == [("a", 1.0), ("b", 2.0)]

    def test_quotes_and_line_ends_of_windows_are_read(self, tmp_path: Path) -> None:
        path = tmp_path / "original.csv"
        path.write_bytes(b'\xef\xbb\xbftest,seconds\r\n"group-by",10.8\r\n')
        assert [(t.workload, t.wall_s) for t in read(path)[1]] == [("group-by", 10.8)]


class TestBadInput:
    @pytest.mark.parametrize(
        ("lines", "message"),
        [
            ((), r"original\.csv:1: the header is not test,seconds"),
            (("group-by,1",), r":1: the header is not test,seconds"),
            (("test,milliseconds", "a,1"), r":1: the header is not test,seconds"),
            (("test,seconds",), r"original\.csv has no trial"),
            (("test,seconds", "a,1", "b,fast"), r":3: 'fast' is not a number of seconds"),
            (("test,seconds", "a,-1"), r":2: '-1' is not a time"),
            (("test,seconds", "a,1_0"), r":2: '1_0' is not a number of seconds"),
            (("test,seconds", "a\0b,1"), r":2: the test's name 'a\\x00b' has characters that"),
            (("test,seconds", "a\x1b[1m,1"), r":2: the test's name .* are not printable"),
            (
                ("test,seconds", "a,0"),
                r":2: '0' is not a time; 1e-09 to 1e\+09 seconds are expected",
            ),
            (("test,seconds", "a,nan"), r":2: 'nan' is not a time"),
            (("test,seconds", "a,inf"), r":2: 'inf' is not a time"),
            (("test,seconds", "a,"), r":2: '' is not a number of seconds"),
            (("test,seconds", ",1"), r":2: a test's name and its seconds are expected"),
            (("test,seconds", "a,1,2"), r":2: a test's name and its seconds are expected"),
            (("test,seconds", "", "a,1"), r":2: a test's name and its seconds are expected"),
        ],
    )
    def test_a_malformed_line_is_named_by_file_and_number(
        self, tmp_path: Path, lines: tuple[str, ...], message: str
    ) -> None:
        with pytest.raises(BadInput, match=message):
            read(write(tmp_path, *lines))

    def test_a_missing_file_is_refused(self, tmp_path: Path) -> None:
        with pytest.raises(BadInput, match=r"cannot read .*absent"):
            read(tmp_path / "absent.csv")

    def test_a_binary_file_is_refused(self, tmp_path: Path) -> None:
        (tmp_path / "binary.csv").write_bytes(b"test,seconds\n\xff,1\n")
        with pytest.raises(BadInput, match=r"binary\.csv: not a CSV file in UTF-8"):
            read(tmp_path / "binary.csv")

    def test_a_pipe_is_refused_without_reading_it(self, tmp_path: Path) -> None:
        os.mkfifo(tmp_path / "part-0.csv")
        for path in (tmp_path, tmp_path / "part-0.csv"):
            with pytest.raises(BadInput, match=r"part-0\.csv: it is not a regular file"):
                read(path)

    def test_a_directory_without_part_files_is_refused(self, tmp_path: Path) -> None:
        with pytest.raises(BadInput, match=r"has no part-\*\.csv"):
            read(tmp_path)


@pytest.mark.parametrize("configuration", ["1g-rs", "2.5g-rs", "2.5g-2x"])
def test_importing_the_published_numbers_again_gives_the_same_trials(configuration: str) -> None:
    [kept] = [load(path) for path in (PUBLISHED / configuration).glob("*.jsonl")]
    run, trials = read_original(
        PUBLISHED / f"{configuration}.csv",
        kept.run.id,
        configuration,
        kept.run.started_at,
        dict(kept.run.facts),
    )
    assert trials == kept.trials
    assert run.parameters == kept.run.parameters
    assert run.workloads == kept.run.workloads
