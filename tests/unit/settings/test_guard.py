"""A guard puts everything back: when it is asked, when we end in any way, and when it hears nothing."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from harness.hosts.transports.host import HostError, by_local
from harness.settings import guard
from harness.settings.guard import Guard, Guards
from tests.waiting import eventually

HOST = by_local("here")


@pytest.fixture
def done(tmp_path: Path) -> Path:
    """A file that exists as soon as something was put back."""
    return tmp_path / "put back"


def putting_back(done: Path) -> str:
    return f"touch '{done}'"


def test_it_puts_back_when_it_is_asked(done: Path) -> None:
    with Guards({HOST: putting_back(done)}) as guards:
        assert not done.exists()
        assert guards.put_back() == {}
        assert done.exists()


def test_it_puts_back_when_the_block_ends_by_an_error(done: Path) -> None:
    with pytest.raises(ZeroDivisionError), Guards({HOST: putting_back(done)}):
        raise ZeroDivisionError
    assert done.exists()


PROGRAM = """
import sys
from harness.hosts.transports.host import by_local
from harness.settings import guard
guard.LOCKS = sys.argv[2]
with guard.Guards({by_local("here"): sys.argv[1]}):
    print("armed", flush=True)
    sys.stdin.read()
"""


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGHUP])
def test_it_puts_back_when_we_are_killed(done: Path, locks: Path, number: int) -> None:
    command = [sys.executable, "-c", PROGRAM, putting_back(done), str(locks)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"armed\n"
        os.killpg(process.pid, number)
        process.wait()
    eventually(done.exists, "nothing was put back")


def test_it_puts_back_when_it_hears_nothing(done: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guard, "LEASE_S", 1)
    silent = Guard(HOST, putting_back(done))
    silent.await_armed()
    eventually(done.exists, "it waits for ever")
    eventually(silent.has_ended)
    silent.close()


def test_it_waits_as_long_as_it_hears_something(
    done: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(guard, "LEASE_S", 1)
    monkeypatch.setattr(guard, "RENEWAL_S", 0.1)
    renewals = 0
    renew = Guard.renew

    def counted(self: Guard) -> None:
        nonlocal renewals
        renewals += 1
        renew(self)

    monkeypatch.setattr(Guard, "renew", counted)
    with Guards({HOST: putting_back(done)}) as guards:
        eventually(lambda: renewals > 20)  # which takes longer than the lease
        assert guards.ended() == []
        assert not done.exists()
    assert done.exists()


def test_signals_do_not_end_it(done: Path) -> None:
    with Guards({HOST: putting_back(done)}) as guards:
        [armed] = guards._guards
        for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
            os.kill(armed._process.pid, number)
        assert guards.put_back() == {}
    assert done.exists()


def test_a_host_has_one_guard_at_most(done: Path) -> None:
    with (
        Guards({HOST: putting_back(done)}),
        pytest.raises(HostError, match="here: another experiment has set something there"),
        Guards({HOST: "true"}),
    ):
        pass
    assert done.exists()
    with Guards({HOST: "true"}):  # the lock has gone with the guard
        pass


def test_a_host_where_it_cannot_be_put_back_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guard, "PAUSES", "0 0")
    with Guards({HOST: "echo 'no such device' >&2; false"}) as guards:
        assert {host.name: str(error) for host, error in guards.put_back().items()} == {
            "here": "here: no such device"
        }


def test_it_tries_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guard, "PAUSES", "0 0 0")
    tried = tmp_path / "tried"
    with Guards({HOST: f"echo x >>'{tried}'; [ $(wc -l <'{tried}') = 3 ]"}) as guards:
        assert guards.put_back() == {}
    assert tried.read_text() == "x\n" * 3


def test_a_host_without_a_program_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for program in ("sh", "readlink", "tr"):
        (tmp_path / program).symlink_to(f"/usr/bin/{program}")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(HostError, match="here: timeout is not installed"), Guards({HOST: "true"}):
        pass
