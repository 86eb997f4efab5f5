"""Published results are read as runs: the tables of 2009 and 2020 are among them."""

import os
from pathlib import Path

import pytest

from harness.analysis.compare.comparison import overview
from harness.analysis.observed.configuration import find_configuration
from harness.model.errors import BadInput
from harness.model.run import Phase, Run, Status, Trial
from harness.model.work import Work
from harness.records.published import read_published
from harness.records.reader import load
from tests.unit.builders import STARTED_AT

BEOWULF = Path(__file__).parents[3] / "results" / "beowulf-2009"
PUBLISHED = Path(__file__).parents[3] / "results" / "published-2020"


def read(path: Path) -> tuple[Run, tuple[Trial, ...]]:
    return read_published(path, "r1", "1g-rs", STARTED_AT, {"switch": "unmanaged"})


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


class TestPerformances:
    def test_the_work_is_that_of_one_second_and_the_peak_is_a_declared_one(
        self, tmp_path: Path
    ) -> None:
        lines = ("test,performance,unit,peak", "hpl,21.24e9,flop,35.2e9")
        [trial] = read(write(tmp_path, *lines))[1]
        assert (trial.workload, trial.wall_s) == ("hpl", 1.0)
        assert trial.work == Work(21.24e9, "flop", {"declared": 35.2e9})

    def test_a_run_of_performances_claims_nothing_about_spark(self, tmp_path: Path) -> None:
        run, [trial] = read(write(tmp_path, "test,performance,unit", "hpl,21.24e9,flop"))
        assert "sink" not in run.parameters
        assert trial.work == Work(21.24e9, "flop")

    def test_the_committed_table_of_2009_is_the_source_s(self) -> None:
        for name, gflops, percent in (
            ("1g-n2", 12.22, 69.4),
            ("1g-n4", 21.24, 60.3),
            ("bonded-n2", 12.93, 73.5),
            ("bonded-n4", 24.08, 68.4),
            ("bonded-jumbo-n4", 24.86, 70.6),
            ("bonded-jumbo-n6", 36.13, 68.4),
        ):
            [row] = overview(find_configuration(name, BEOWULF)).rows
            found = row.cells[0].performance
            assert found is not None
            assert found.value == pytest.approx(gflops * 1e9)
            assert round(100 * found.efficiencies["declared"], 1) == percent


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
            (("test,seconds", "a\0b,1"), r":2: the test 'a\\x00b' has characters that"),
            (
                ("test,seconds", "a\x1b[1m,1"),
                r":2: the test .* has characters that are not printable",
            ),
            (
                ("test,seconds", "a,0"),
                r":2: '0' is not a time; 1e-09 to 1e\+09 seconds are expected",
            ),
            (("test,seconds", "a,nan"), r":2: 'nan' is not a time"),
            (("test,seconds", "a,inf"), r":2: 'inf' is not a time"),
            (("test,seconds", "a,"), r":2: test,seconds are expected, not \['a', ''\]"),
            (("test,seconds", ",1"), r":2: test,seconds are expected, not"),
            (("test,seconds", "a,1,2"), r":2: test,seconds are expected, not"),
            (("test,seconds", "", "a,1"), r":2: test,seconds are expected, not"),
            (("test,performance,unit", "a,1"), r":2: test,performance,unit are expected, not"),
            (("test,performance,unit", "a,fast,flop"), r":2: 'fast' is not a number of units"),
            (
                ("test,performance,unit", "a,0,flop"),
                r":2: '0' is not a performance; 1e-18 to 1e\+30",
            ),
            (("test,performance,unit", "a,1,\x1b"), r":2: .* is not a unit; a word such as"),
            (("test,performance,unit,peak", "a,1,flop,nan"), r":2: 'nan' is not a performance"),
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
    run, trials = read_published(
        PUBLISHED / f"{configuration}.csv",
        kept.run.id,
        configuration,
        kept.run.started_at,
        dict(kept.run.facts),
    )
    assert trials == kept.trials
    assert run.parameters == kept.run.parameters
    assert run.workloads == kept.run.workloads
