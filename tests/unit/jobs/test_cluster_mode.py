"""What a driver on a node delivers arrives once and in order, and neither end outlives the other."""

import os
import re
import resource
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from py4j.protocol import Py4JError

from harness.model.errors import ClusterliftError
from harness.model.run import Ending, Phase, new_run_id
from harness.records.reader import load
from harness.records.writer import Recording
from harness.runtime.cluster_mode import NO_APPLICATION, ready_line, staging_in
from harness.runtime.interrupt import interruptible
from harness.terminal import show
from jobs import collect
from jobs.collect import Application, Collector
from jobs.outbox import Outbox
from jobs.staging import CONSOLE, EXIT_CODE, Staging
from tests.unit.builders import a_run, ok
from tests.waiting import eventually

RUN, OTHER_RUN = "20261121T134213Z-0a1b2c.jsonl", "20261121T134213Z-3d4e5f.jsonl"


class FakeStaging:
    """A staging directory in memory. If it is `down`, the file system does not answer."""

    uri = "hdfs://h/staging"

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {"lease.0": b""}
        self.down = False
        self.reply_is_lost = False

    def put(self, number: int, name: str, content: bytes) -> None:
        self._answer()
        self.files[f"{number:06}.{name}"] = content
        if self.reply_is_lost:
            raise Py4JError("connection reset")

    def take(self, part: str) -> bytes:
        return self.files[part]

    def parts(self) -> list[str]:
        self._answer()
        return sorted(name for name in self.files if not name.startswith("lease."))

    def lease(self) -> str | None:
        self._answer()
        return next((name for name in self.files if name.startswith("lease.")), None)

    def renew(self) -> None:
        if lease := self.lease():
            self.files[f"{lease}0"] = self.files.pop(lease)

    def release(self) -> None:
        self.files.pop(self.lease() or "", None)

    def delete(self, name: str) -> None:
        del self.files[name]

    def remove(self) -> None:
        self.files.clear()

    def _answer(self) -> None:
        if self.down:
            raise Py4JError("no answer")


class FakeApplication:
    """An application that YARN reports in these states, one after the other; the last one stays."""

    def __init__(self, *states: str) -> None:
        self._states = list(states)
        self.was_killed = False

    def report(self) -> Any:
        if not self._states:
            return None
        state = self._states.pop(0) if len(self._states) > 1 else self._states[0]
        text = SimpleNamespace(toString=lambda: state)
        id_ = SimpleNamespace(toString=lambda: "application_1_0001")
        return SimpleNamespace(
            getYarnApplicationState=lambda: text,
            getApplicationId=lambda: id_,
            getDiagnostics=lambda: "AM exited\nError: no python3\n",
        )

    def kill(self) -> None:
        self.was_killed = True
        self._states = ["KILLED"]


@pytest.fixture
def staging() -> FakeStaging:
    return FakeStaging()


@pytest.fixture
def outbox(staging: FakeStaging, tmp_path: Path) -> Outbox:
    return Outbox(cast(Staging, staging), tmp_path / "node", lease_s=0.3, check_s=0.02)


@pytest.fixture
def collector(staging: FakeStaging, tmp_path: Path) -> Collector:
    (tmp_path / "here").mkdir()
    return Collector(cast(Staging, staging), tmp_path / "here")


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("RENEW_S", "POLL_S"):
        monkeypatch.setattr(collect, name, 0.02)
    monkeypatch.setattr(collect, "GRACE_S", 0.2)
    monkeypatch.setattr("jobs.outbox._LAST_ATTEMPTS_S", (0, 0))


class TestDeliveries:
    def test_results_arrive_as_they_were_recorded(
        self, outbox: Outbox, collector: Collector, tmp_path: Path
    ) -> None:
        with Recording(outbox.results, a_run("1g", RUN.removesuffix(".jsonl"))) as recording:
            for number in range(1, 4):
                outbox.starting("w", Phase.MEASURED, number)
                trial = ok("w", 1.0, number)
                recording.trial(trial)
                outbox.finished(trial)
                collector.fetch()
                assert len(load(tmp_path / "here" / RUN).trials) == number
            recording.end(Ending.COMPLETED)
        outbox.close(0)
        collector.fetch()
        assert (tmp_path / "here" / RUN).read_bytes() == recording.path.read_bytes()
        assert collector.exit_code == 0

    def test_a_line_that_is_being_written_waits_for_its_end(
        self, outbox: Outbox, staging: FakeStaging
    ) -> None:
        with Recording(outbox.results, a_run("1g", RUN.removesuffix(".jsonl"))) as recording:
            whole = recording.path.read_bytes()
            with recording.path.open("ab") as file:
                file.write(b"half of a li")
            outbox.deliver()
        assert staging.files[f"000001.{RUN}"] == whole

    def test_text_arrives_in_order(
        self, outbox: Outbox, collector: Collector, capsys: pytest.CaptureFixture[str]
    ) -> None:
        outbox.copy("one\ntw")
        outbox.deliver()
        outbox.copy("o ±\n")
        outbox.close(2)
        collector.fetch()
        assert capsys.readouterr().out == "one\ntwo ±\n"
        assert collector.exit_code == 2

    def test_nothing_is_delivered_if_nothing_is_new(
        self, outbox: Outbox, staging: FakeStaging
    ) -> None:
        assert outbox.deliver()
        assert list(staging.files) == ["lease.0"]

    def test_what_did_not_arrive_is_delivered_the_next_time(
        self, outbox: Outbox, collector: Collector, staging: FakeStaging
    ) -> None:
        staging.down = True
        outbox.copy("text\n")
        assert not outbox.deliver()
        staging.down = False
        outbox.close(1)
        assert staging.parts() == [f"000001.{CONSOLE}", f"000002.{EXIT_CODE}"]

    def test_what_is_delivered_twice_counts_once(
        self,
        outbox: Outbox,
        collector: Collector,
        staging: FakeStaging,
        capsys: pytest.CaptureFixture[str],
    ) -> None:
        staging.reply_is_lost = True
        outbox.copy("once\n")
        assert not outbox.deliver()
        collector.fetch()
        staging.reply_is_lost = False
        assert outbox.deliver()
        collector.fetch()
        assert capsys.readouterr().out == "once\n"
        assert staging.parts() == []

    def test_a_file_appears_with_its_first_line(
        self, collector: Collector, staging: FakeStaging, tmp_path: Path
    ) -> None:
        here = tmp_path / "here"
        (here / f".{RUN}.temporary").write_text("half of a li")  # by a killed collector
        for number, line in enumerate((b"first\n", b"second\n"), 1):
            staging.put(number, RUN, line)
            collector.fetch()
        assert [file.name for file in here.iterdir()] == [RUN]
        assert (here / RUN).read_text() == "first\nsecond\n"

    def test_a_part_that_the_disk_took_half_of_is_written_once(
        self, collector: Collector, staging: FakeStaging, tmp_path: Path
    ) -> None:
        here = tmp_path / "here"
        staging.put(1, RUN, b"first\n")
        with file_size_limit(3), pytest.raises(OSError, match="too large"):
            collector.fetch()
        assert list(here.iterdir()) == []
        collector.fetch()
        staging.put(2, RUN, b"second\n")
        with file_size_limit(10), pytest.raises(OSError, match="too large"):
            collector.fetch()
        assert (here / RUN).read_text() == "first\n"
        collector.fetch()
        assert (here / RUN).read_text() == "first\nsecond\n"


@contextmanager
def file_size_limit(length: int) -> Iterator[None]:
    """Have the system write no file beyond this length, as on a disk that is full there."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (length, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.parametrize("uri", ["hdfs://h:9820/user/u/s-1", "abfs://c@account.net/ü %40/s-1"])
def test_the_submitter_learns_the_staging_directory_whatever_its_uri_looks_like(
    uri: str, capsys: pytest.CaptureFixture[str]
) -> None:
    show(ready_line(uri))
    assert staging_in(capsys.readouterr().out.rstrip("\n")) == uri
    assert staging_in("24/01/01 WARN") is None


class TestForeignDeliveries:
    """Whoever can write to the staging directory cannot choose what is written here."""

    @pytest.mark.parametrize(
        ("name", "content", "reason"),
        [
            ("README.md", b"x\n", "a file 'README.md', which is no name of a run's results"),
            ("older.jsonl", b"x\n", "a file 'older.jsonl', which is no name"),
            (RUN, b"half of a li", f"a part of {RUN} that does not end with a line"),
            (RUN, b"", f"a part of {RUN} that does not end with a line"),
            (EXIT_CODE, b"abc", "an exit code 'abc'"),
            (EXIT_CODE, b"9" * 5000, "an exit code '999"),
            (EXIT_CODE, b"256", "an exit code '256'"),
        ],
    )
    def test_a_part_of_another_kind_is_refused(
        self, name: str, content: bytes, reason: str, collector: Collector, staging: FakeStaging
    ) -> None:
        staging.put(1, name, content)
        with pytest.raises(ClusterliftError, match=f"^hdfs://h/staging has {re.escape(reason)}"):
            collector.fetch()
        assert collector.exit_code is None

    def test_the_file_is_named_like_every_run(
        self, collector: Collector, staging: FakeStaging
    ) -> None:
        staging.put(1, f"{new_run_id()}.jsonl", b"first\n")
        collector.fetch()

    def test_a_run_has_one_file(
        self, collector: Collector, staging: FakeStaging, tmp_path: Path
    ) -> None:
        staging.put(1, RUN, b"first\n")
        staging.put(2, OTHER_RUN, b"first\n")
        with pytest.raises(ClusterliftError, match=f"has a file '{OTHER_RUN}' beside {RUN}"):
            collector.fetch()
        assert [file.name for file in (tmp_path / "here").iterdir()] == [RUN]

    @pytest.mark.parametrize("is_link", [False, True])
    def test_a_file_that_was_there_before_stays_as_it_is(
        self, *, is_link: bool, collector: Collector, staging: FakeStaging, tmp_path: Path
    ) -> None:
        precious, file = tmp_path / "precious", tmp_path / "here" / RUN
        precious.write_text("earlier\n")
        file.symlink_to(precious) if is_link else precious.rename(file)
        staging.put(1, RUN, b"x\n")
        with pytest.raises(ClusterliftError, match="exists already"):
            collector.fetch()
        assert file.read_text() == "earlier\n"

    @pytest.mark.parametrize("before_the_first_part", [False, True])
    def test_no_link_is_followed(
        self,
        *,
        before_the_first_part: bool,
        collector: Collector,
        staging: FakeStaging,
        tmp_path: Path,
    ) -> None:
        precious, file = tmp_path / "precious", tmp_path / "here" / RUN
        precious.write_text("precious\n")
        if before_the_first_part:
            file.with_name(f".{RUN}.temporary").symlink_to(precious)
            staging.put(1, RUN, b"x\n")
            collector.fetch()
        else:
            staging.put(1, RUN, b"x\n")
            collector.fetch()
            file.unlink()
            file.symlink_to(precious)
            staging.put(2, RUN, b"y\n")
            with pytest.raises(OSError, match="symbolic links"):
                collector.fetch()
        assert precious.read_text() == "precious\n"


class TestLease:
    def wait_for_interrupt(self, outbox: Outbox) -> None:
        with interruptible():
            outbox.watch_lease()
            with pytest.raises(KeyboardInterrupt):
                threading.Event().wait(30)

    def test_a_driver_whose_lease_is_deleted_is_interrupted(
        self, outbox: Outbox, staging: FakeStaging
    ) -> None:
        staging.release()
        self.wait_for_interrupt(outbox)
        outbox.close(130)
        assert staging.parts() == [f"000001.{EXIT_CODE}"]

    def test_one_whose_lease_is_not_renewed_is_interrupted_and_removes_the_directory(
        self, outbox: Outbox, staging: FakeStaging
    ) -> None:
        self.wait_for_interrupt(outbox)
        outbox.close(130)
        assert staging.files == {}

    def test_one_whose_file_system_does_not_answer_for_so_long_is_interrupted(
        self, outbox: Outbox, staging: FakeStaging
    ) -> None:
        staging.down = True
        self.wait_for_interrupt(outbox)

    def test_one_whose_lease_is_renewed_goes_on(self, outbox: Outbox, staging: FakeStaging) -> None:
        with interruptible():
            outbox.watch_lease()
            for _ in range(40):  # longer than the lease
                staging.renew()
                threading.Event().wait(0.02)
            outbox.close(0)

    def test_before_the_first_trial_text_is_delivered_meanwhile(
        self, outbox: Outbox, staging: FakeStaging
    ) -> None:
        with interruptible():
            outbox.copy("waiting for yarn\n")
            outbox.watch_lease()
            eventually(staging.parts)
            outbox.close(0)

    def test_during_a_trial_nothing_is_delivered(
        self, outbox: Outbox, staging: FakeStaging
    ) -> None:
        with interruptible():
            outbox.starting("w", Phase.MEASURED, 1)
            outbox.copy("text\n")
            outbox.watch_lease()
            for _ in range(5):
                staging.renew()
                threading.Event().wait(0.02)
            assert staging.parts() == []
            outbox.close(0)


class TestEnd:
    @contextmanager
    def control(self, tmp_path: Path) -> Iterator[tuple[int, int]]:
        """Provide the collector's end of the pipe, and the submitter's."""
        os.mkfifo(tmp_path / "control")
        submitter = os.open(tmp_path / "control", os.O_RDWR)
        own = os.open(tmp_path / "control", os.O_RDONLY | os.O_NONBLOCK)
        yield own, submitter
        os.close(own)

    def end(self, collector: Collector, application: FakeApplication, tmp_path: Path) -> int:
        """Run a collector whose submitter is gone already."""
        with self.control(tmp_path) as (own, submitter):
            os.close(submitter)
            return collector.run(own, cast(Application, application))

    def test_it_fetches_until_the_submitter_closes_the_pipe(
        self, collector: Collector, outbox: Outbox, staging: FakeStaging, tmp_path: Path
    ) -> None:
        with self.control(tmp_path) as (own, submitter):

            def drive() -> None:
                outbox.copy("x\n")
                outbox.close(1)
                eventually(lambda: collector.exit_code == 1)
                os.close(submitter)

            thread = threading.Thread(target=drive)
            thread.start()
            assert collector.run(own, cast(Application, FakeApplication("FINISHED"))) == 1
            thread.join()
        assert staging.files == {}

    def test_a_submitter_that_died_before_it_opened_the_pipe_is_noticed(
        self, collector: Collector, tmp_path: Path
    ) -> None:
        assert self.end(collector, FakeApplication(), tmp_path) == NO_APPLICATION

    def test_an_application_that_runs_may_end_in_order(
        self, collector: Collector, outbox: Outbox, tmp_path: Path
    ) -> None:
        application = FakeApplication("RUNNING", "RUNNING", "FINISHED")
        outbox.close(130)
        assert self.end(collector, application, tmp_path) == 130
        assert not application.was_killed

    @pytest.mark.parametrize("state", ["ACCEPTED", "RUNNING"])
    def test_one_that_waits_or_does_not_end_is_killed(
        self, state: str, collector: Collector, staging: FakeStaging, tmp_path: Path
    ) -> None:
        application = FakeApplication(state)
        assert self.end(collector, application, tmp_path) == 130
        assert application.was_killed
        assert staging.lease() is None

    def test_a_driver_that_died_is_reported_with_yarn_s_reason(
        self, collector: Collector, tmp_path: Path
    ) -> None:
        with pytest.raises(
            ClusterliftError,
            match=r"^the driver of application_1_0001 ended early: Error: no python3; `yarn logs",
        ):
            self.end(collector, FakeApplication("FAILED"), tmp_path)

    def test_if_results_cannot_be_written_the_application_is_ended(
        self, collector: Collector, outbox: Outbox, tmp_path: Path
    ) -> None:
        with Recording(outbox.results, a_run("1g", RUN.removesuffix(".jsonl"))):
            outbox.deliver()
        (tmp_path / "here").rmdir()
        application = FakeApplication("RUNNING")
        with self.control(tmp_path) as (own, submitter):
            with pytest.raises(OSError, match="No such"):
                collector.run(own, cast(Application, application))
            os.close(submitter)
        assert application.was_killed

    @pytest.mark.parametrize("error", [Py4JError("no answer"), ConnectionRefusedError()])
    def test_if_it_cannot_be_ended_it_is_said_that_it_ends_by_itself(
        self,
        error: Exception,
        collector: Collector,
        tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        def fail() -> None:
            raise error

        application = FakeApplication("RUNNING")
        monkeypatch.setattr(application, "report", fail)
        with pytest.raises(
            ClusterliftError,
            match=r"^cannot end the application: .*; it ends by itself within two minutes",
        ):
            self.end(collector, application, tmp_path)

    def test_if_a_part_is_refused_the_application_is_ended(
        self, collector: Collector, staging: FakeStaging, tmp_path: Path
    ) -> None:
        staging.put(1, "README.md", b"x\n")
        application = FakeApplication("RUNNING")
        with pytest.raises(ClusterliftError, match="README"):
            self.end(collector, application, tmp_path)
        assert application.was_killed
