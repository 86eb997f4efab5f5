"""Published results are read as runs: the table of 2020 is among them."""

from dataclasses import replace
from pathlib import Path

import pytest

from harness.base.errors import BadInput
from harness.commands.cli import main
from harness.model.run import Phase, Run, Status, Trial
from harness.model.work import Work
from harness.records.published import IMPORTED_DIGEST, read_published
from harness.records.reader import load
from tests.unit.builders import STARTED_AT

PUBLISHED = Path(__file__).parents[3] / "results" / "published-2020"


def read(path: Path) -> tuple[Run, tuple[Trial, ...]]:
    run, trials = read_published(path, "1g-rs", {"switch": "unmanaged"})
    return run, tuple(replace(trial, started_at=STARTED_AT) for trial in trials)


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

    def test_quotes_and_line_ends_of_windows_are_read(self, tmp_path: Path) -> None:
        path = tmp_path / "original.csv"
        path.write_bytes(b'\xef\xbb\xbftest,seconds\r\n"group-by",10.8\r\n\r\n')
        assert [(t.workload, t.wall_s) for t in read(path)[1]] == [("group-by", 10.8)]


class TestPerformances:
    def test_the_work_is_that_of_one_second_and_the_peak_is_a_declared_one(
        self, tmp_path: Path
    ) -> None:
        lines = ("test,performance,unit,peak", "hpl,21.24e9,flop,35.2e9")
        [trial] = read(write(tmp_path, *lines))[1]
        assert (trial.workload, trial.wall_s) == ("hpl", 1.0)
        assert trial.work == Work(21.24e9, "flop", {"declared": 35.2e9})

    def test_a_peak_may_be_written_in_several_ways(self, tmp_path: Path) -> None:
        lines = ("test,performance,unit,peak", "hpl,21e9,flop,35.2e9", "hpl,22e9,flop,3.52e10")
        assert len(read(write(tmp_path, *lines))[1]) == 2

    def test_a_run_of_performances_claims_nothing_about_spark(self, tmp_path: Path) -> None:
        run, [trial] = read(write(tmp_path, "test,performance,unit", "hpl,21.24e9,flop"))
        assert "sink" not in run.parameters
        assert trial.work == Work(21.24e9, "flop")


class TestBadInput:
    @pytest.mark.parametrize(
        ("lines", "message"),
        [
            ((), r"original\.csv:1: the header is not test,seconds"),
            (("test,milliseconds", "a,1"), r":1: the header is not test,seconds"),
            (("test,seconds",), r":1: no trial follows; lines of test,seconds are expected"),
            (("test,seconds", "a,1", "b,fast"), r":3: 'fast' is not a number"),
            (("test,seconds", "a,1_0"), r":2: '1_0' is not a number"),
            (("test,seconds", "a,\u0663"), r":2: '\u0663' is not a number"),
            (("test,seconds", "a,inf"), r":2: 'inf' is not a number"),
            (("test,seconds", "a,1e"), r":2: could not convert string to float: '1e'"),
            (("test,performance,unit", "a,1_0,flop"), r":2: '1_0' is not a number"),
            (("test,performance,unit,peak", "a,1,flop,2_0"), r":2: '2_0' is not a number"),
            (("test,seconds", "a,0"), r":2: '0' is not a time; 1e-09 to 1e\+09 seconds"),
            (("test,seconds", "a,nan"), r":2: 'nan' is not a number"),
            (("test,seconds", "a,"), r":2: test,seconds are expected, not \['a', ''\]"),
            (("test,seconds", "a,1,2"), r":2: test,seconds are expected, not"),
            (("test,seconds", "", "a,1"), r":2: test,seconds are expected, not"),
            (("test,performance,unit", "a,0,flop"), r":2: an amount of work is 0.0, not from"),
            (("test,performance,unit", "a,1,\x1b"), r":2: .* is not a unit; a word such as"),
            (("test,performance,unit,peak", "a,1,flop,nan"), r":2: 'nan' is not a number"),
            (
                ("test,performance,unit", "ping,52,usec"),
                r":2: usec is a unit of times, where more is",
            ),
            (("test,performance,unit", "sort,9,Seconds"), r":2: Seconds is a unit of times"),
            (("test,performance,unit", "sort,9,ms"), r":2: ms is a unit of times"),
            (
                ("test,performance,unit", "hpl,5,flop", "b,1,B", "hpl,6,B"),
                r":4: hpl is in B, and in flop on an earlier line; a test has one unit and one peak",
            ),
            (
                ("test,performance,unit", "a,5,flop", "a,6,FLOP"),
                r":3: a is in FLOP, and in flop on",
            ),
            (
                ("test,performance,unit,peak", "a,5,flop,1e10", "a,5,flop,5e10"),
                r":3: a is in flop with a peak of 5e\+10 flop/s, and in flop with a peak of 1e\+10 flop",
            ),
        ],
    )
    def test_a_malformed_line_is_named_by_file_and_number(
        self, tmp_path: Path, lines: tuple[str, ...], message: str
    ) -> None:
        with pytest.raises(BadInput, match=message):
            read_published(write(tmp_path, *lines), "x", {})

    @pytest.mark.parametrize(
        ("content", "line"),
        [
            (b"\xff\x00\x01", 1),
            ("test,seconds\na,1\n".encode("utf-16"), 1),
            # Without their accents, both would be one test.
            ("test,seconds\ncaf\u00e9,1\ncaf\u00e8,2\n".encode("latin-1"), 2),
        ],
    )
    def test_what_is_not_in_utf_8_is_refused(
        self, tmp_path: Path, content: bytes, line: int
    ) -> None:
        (tmp_path / "other.csv").write_bytes(content)
        with pytest.raises(BadInput, match=rf"other\.csv:{line}: it is not text in UTF-8"):
            read(tmp_path / "other.csv")


@pytest.mark.parametrize("configuration", ["1g-rs", "2.5g-rs", "2.5g-2x"])
def test_importing_the_published_numbers_again_gives_the_same_trials(configuration: str) -> None:
    [kept] = [load(path) for path in (PUBLISHED / configuration).glob("*.jsonl")]
    run, trials = read(PUBLISHED / f"{configuration}.csv")
    assert trials == tuple(replace(trial, started_at=STARTED_AT) for trial in kept.trials)
    found = {key: value for key, value in run.parameters.items() if key != IMPORTED_DIGEST}
    assert found == kept.run.parameters
    assert run.workloads == kept.run.workloads


class TestImport:
    """What the command `import` leaves behind."""

    def run(self, file: Path, results: Path, configuration: str = "old") -> int:
        arguments = ["--configuration", configuration, "--fact", "driver=tg3"]
        return main(["import", str(file), *arguments, "--results", str(results)])

    @pytest.mark.parametrize(
        "lines", [("test,seconds", "a,1"), ("test,performance,unit", "a,1,flop")]
    )
    def test_a_file_is_imported_once(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str], lines: tuple[str, ...]
    ) -> None:
        file, results = write(tmp_path, *lines), tmp_path / "results"
        assert self.run(file, results) == 0
        [kept] = results.rglob("*.jsonl")
        assert capsys.readouterr().out == f"{kept}\n"
        assert load(kept).run.facts == {"driver": "tg3"}
        copy = write(tmp_path, *lines, name="copy.csv")
        assert self.run(copy, results) == 2
        assert f"{copy} was imported already, as {kept}; " in capsys.readouterr().err
        assert self.run(copy, results, "other") == 0
        assert self.run(write(tmp_path, *lines, lines[-1], name="more.csv"), results) == 0

    def test_a_bad_file_leaves_nothing_behind(self, tmp_path: Path) -> None:
        file = write(tmp_path, "test,seconds", "a,1", "a,fast")
        assert self.run(file, tmp_path / "results") == 2
        assert not (tmp_path / "results").exists()

    def test_an_import_that_fails_leaves_no_part_of_a_run(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        seen: list[Path] = []

        def interrupt(path: Path) -> None:
            seen.extend(each for each in path.parent.iterdir() if each.suffix == ".jsonl")
            raise KeyboardInterrupt

        monkeypatch.setattr(Path, "rename", lambda self, _: interrupt(self))
        assert self.run(write(tmp_path, "test,seconds", "a,1"), tmp_path / "results") == 130
        assert seen == []
        assert [path for path in (tmp_path / "results").rglob("*") if path.is_file()] == []

    def test_what_a_killed_import_left_behind_is_used_by_the_next(self, tmp_path: Path) -> None:
        directory = tmp_path / "results" / "old"
        directory.mkdir(parents=True)
        (directory / ".unfinished").write_bytes(b"x" * 10_000)
        assert self.run(write(tmp_path, "test,seconds", "a,1"), tmp_path / "results") == 0
        [file] = directory.iterdir()
        assert load(file).trials[0].wall_s == 1
