"""Two runs of one configuration at once: the second is refused, and says who has the first."""

import errno
import fcntl
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from harness.base.errors import BadInput
from harness.records.run_lock import RUN, SERIES, configuration_lock

HOLD = """
import sys, time
from pathlib import Path
from harness.records.run_lock import RUN, configuration_lock
sys.argv[0] = "benchmark.py"
with configuration_lock(Path(sys.argv[1]), "1g", RUN):
    print("locked", flush=True)
    time.sleep(600)
"""


def test_a_second_run_is_refused_and_names_the_first(tmp_path: Path) -> None:
    with (
        configuration_lock(tmp_path, "1g", RUN),
        pytest.raises(
            BadInput, match=rf"^--configuration 1g: process {os.getpid()} on .*wait until"
        ),
        configuration_lock(tmp_path, "1g", RUN),
    ):
        pass


@pytest.mark.parametrize(("configuration", "what"), [("2.5g", RUN), ("1g", SERIES)])
def test_other_configurations_and_the_runs_of_a_series_are_not_refused(
    tmp_path: Path, configuration: str, what: str
) -> None:
    with configuration_lock(tmp_path, "1g", RUN), configuration_lock(tmp_path, configuration, what):
        pass


def test_what_a_killed_run_leaves_behind_locks_nothing(tmp_path: Path) -> None:
    command = [sys.executable, "-c", HOLD, str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "locked\n"
        with (
            pytest.raises(BadInput, match=rf"process {holder.pid} on .*\(benchmark\.py, since "),
            configuration_lock(tmp_path, "1g", RUN),
        ):
            pass
        holder.send_signal(signal.SIGKILL)
    assert (tmp_path / "1g" / ".run.lock").exists()
    with configuration_lock(tmp_path, "1g", RUN):
        pass
    assert not (tmp_path / "1g" / ".run.lock").exists()


def test_a_lock_whose_file_was_removed_before_it_was_had_is_taken_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "1g" / ".run.lock"
    really_lock = fcntl.flock
    locked: list[int] = []

    def lock_after_the_other_has_ended(descriptor: int, operation: int) -> None:
        if not locked:
            path.unlink()
        locked.append(descriptor)
        really_lock(descriptor, operation)

    monkeypatch.setattr(fcntl, "flock", lock_after_the_other_has_ended)
    with configuration_lock(tmp_path, "1g", RUN):
        assert len(locked) == 2
        with pytest.raises(BadInput), configuration_lock(tmp_path, "1g", RUN):
            pass


@pytest.mark.parametrize("number", [errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOSYS, errno.EBADF])
def test_where_files_cannot_be_locked_the_run_goes_on_and_says_so(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    number: int,
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(fcntl, "flock", refuse)
    with configuration_lock(tmp_path, "1g", RUN):
        pass
    said = capsys.readouterr().err
    assert "whether another run of 1g is under way is unknown" in said
    assert os.strerror(number) in said


def test_a_link_in_its_place_is_not_followed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    precious = tmp_path / "precious"
    precious.write_text("precious")
    (tmp_path / "1g").mkdir()
    (tmp_path / "1g" / ".run.lock").symlink_to(precious)
    with configuration_lock(tmp_path, "1g", RUN):
        pass
    assert precious.read_text() == "precious"
    assert "Too many levels of symbolic links" in capsys.readouterr().err


def test_an_error_of_the_run_is_not_taken_for_one_of_the_lock(tmp_path: Path) -> None:
    with (
        pytest.raises(OSError, match="No space left"),
        configuration_lock(tmp_path, "1g", RUN),
    ):
        raise OSError(errno.ENOSPC, "No space left on device")


def test_control_characters_of_a_name_in_the_file_are_not_printed(tmp_path: Path) -> None:
    with configuration_lock(tmp_path, "1g", RUN):
        (tmp_path / "1g" / ".run.lock").write_text("\x1b[2J" + "x" * 10_000)
        with pytest.raises(BadInput) as raised, configuration_lock(tmp_path, "1g", RUN):
            pass
    assert str(raised.value).isprintable()
    assert len(str(raised.value)) < 700


def test_a_run_that_records_nothing_leaves_no_directory(tmp_path: Path) -> None:
    results = tmp_path / "deep" / "results"
    with configuration_lock(results, "1g", RUN):
        (results / "1g" / "run.jsonl").touch()
    assert (results / "1g" / "run.jsonl").exists()
    with configuration_lock(results, "2.5g", RUN):
        pass
    assert list(results.iterdir()) == [results / "1g"]
    with configuration_lock(tmp_path / "other" / "results", "1g", RUN):
        pass
    assert not (tmp_path / "other").exists()
