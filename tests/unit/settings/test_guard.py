"""A guard puts everything back: when it is asked, when we end in any way, and when it hears nothing."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from harness.hosts.transports.host import Host, HostError, by_local
from harness.settings import guard
from harness.settings.guard import Guard, Guards
from tests.unit.builders import known
from tests.waiting import eventually

HOST = by_local("here")


@pytest.fixture
def done(tmp_path: Path) -> Path:
    """A file that exists as soon as something was put back."""
    return tmp_path / "put back"


def putting_back(done: Path) -> str:
    return f"touch '{done}'"


@pytest.fixture
def held(tmp_path: Path) -> Path:
    """A file that what a script starts has open as descriptor 5."""
    return tmp_path / "held"


def holders(file: Path) -> list[Path]:
    """Return the processes that have a file open as descriptor 5."""
    found = []
    for descriptor in Path("/proc").glob("[0-9]*/fd/5"):
        with suppress(OSError):
            found += [descriptor] if descriptor.readlink() == file else []
    return found


@contextmanager
def guarded(script: str) -> Iterator[Guards]:
    """A guard of this machine that puts back what the script says."""
    with Guards([HOST]) as guards:
        for error in guards.unarmed.values():
            raise error
        guards.prepare({HOST: script})
        yield guards


def process_of(guards: Guards) -> int:
    [armed] = guards._guards.values()
    return armed._process.pid


def test_it_puts_back_when_it_is_asked(done: Path) -> None:
    with guarded(putting_back(done)) as guards:
        assert not done.exists()
        assert guards.put_back() == {}
        assert done.exists()
        assert guards.over() == [HOST]


def test_it_puts_back_when_the_block_ends_by_an_error(done: Path) -> None:
    with pytest.raises(ZeroDivisionError), guarded(putting_back(done)):
        raise ZeroDivisionError
    assert done.exists()


PROGRAM = """
import sys
from harness.hosts.transports.host import by_local
from harness.settings import guard
guard.LOCKS = sys.argv[2]
here = by_local("here")
with guard.Guards([here]) as guards:
    guards.prepare({here: sys.argv[1]})
    print("armed", flush=True)
    guards.set({here: sys.argv[3]}, 60)
    sys.stdin.read()
"""


@contextmanager
def another_process(done: Path, locks: Path, setting: str) -> Iterator[int]:
    """A process that has armed a guard, which sets something now."""
    command = [sys.executable, "-c", PROGRAM, putting_back(done), str(locks), setting]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True
    ) as process:
        assert known(process.stdout).readline() == b"armed\n"
        yield process.pid


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGHUP])
def test_it_puts_back_when_we_are_killed(done: Path, locks: Path, number: int) -> None:
    with another_process(done, locks, "true") as process:
        os.killpg(process, number)
    eventually(done.exists, "nothing was put back")


def test_it_puts_back_when_it_hears_nothing(done: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guard, "LEASE_S", 1)
    silent = Guard(HOST)
    silent.await_armed()
    silent.prepare(putting_back(done))
    eventually(done.exists, "it waits for ever")
    eventually(lambda: silent.is_over)
    silent.close(60)


def test_it_waits_as_long_as_it_hears_something(
    done: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(guard, "LEASE_S", 1)
    renewals = 0
    renew = Guard.renew

    def counted(self: Guard) -> None:
        nonlocal renewals
        renewals += 1
        renew(self)

    monkeypatch.setattr(Guard, "renew", counted)
    with guarded(putting_back(done)) as guards:
        eventually(lambda: renewals > 20)  # which takes longer than the lease
        assert guards.over() == []
        assert not done.exists()
    assert done.exists()


def test_it_waits_while_another_host_does_not_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, seconds in (("LEASE_S", 1), ("ANSWER_S", 3), ("END_S", 0)):
        monkeypatch.setattr(guard, name, seconds)
    hanging = Host("hanging", "", ("sh", "-c", "exec sleep 600"))
    with Guards([HOST, hanging]) as guards:
        assert list(guards.unarmed) == [hanging]
        assert guards.over() == []


def test_signals_do_not_end_it(done: Path) -> None:
    with guarded(putting_back(done)) as guards:
        for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
            os.kill(process_of(guards), number)
        assert guards.put_back() == {}
    assert done.exists()


def test_a_host_has_one_guard_at_most(done: Path) -> None:
    with (
        guarded(putting_back(done)),
        pytest.raises(HostError, match="here: another experiment has set something there"),
        guarded("true"),
    ):
        pass
    assert done.exists()
    with guarded("true"):  # the lock has gone with the guard
        pass


def test_a_host_where_it_cannot_be_put_back_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guard, "PAUSES", "0 0")
    with guarded("echo 'no such device' >&2; false") as guards:
        assert {host.name: str(error) for host, error in guards.put_back().items()} == {
            "here": "here: no such device"
        }


def test_it_tries_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guard, "PAUSES", "0 0 0")
    tried = tmp_path / "tried"
    with guarded(f"echo x >>'{tried}'; [ $(wc -l <'{tried}') = 3 ]") as guards:
        assert guards.put_back() == {}
    assert tried.read_text() == "x\n" * 3


def test_an_attempt_that_hangs_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guard, "PAUSES", "0 0")
    monkeypatch.setattr(guard, "ATTEMPT_S", 1)
    tried = tmp_path / "tried"
    with guarded(f"[ -e '{tried}' ] || {{ touch '{tried}'; sleep 600; }}") as guards:
        assert guards.put_back() == {}


def test_a_host_without_a_program_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for program in ("sh", "readlink", "tr", "setsid", "pkill", "flock"):
        (tmp_path / program).symlink_to(f"/usr/bin/{program}")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(HostError, match="here: timeout is not installed"), guarded("true"):
        pass


class TestWhatIsSet:
    """A script runs in a session of its own, which has ended before anything is put back."""

    @pytest.mark.parametrize(
        ("script", "code", "errors"),
        [
            ("echo set", 0, ""),
            ("echo 'no such port' >&2; exit 7", 7, "no such port"),
            ("printf '%s\n' 'a\\nb' >&2; false", 1, "a\\nb"),
            ("if", 2, "Syntax error"),
        ],
    )
    def test_its_code_and_errors_are_told(self, script: str, code: int, errors: str) -> None:
        with guarded("true") as guards:
            answer = guards.set({HOST: script}, 60)[HOST]
        assert isinstance(answer, tuple)
        assert answer[0] == code
        assert errors in answer[1]

    def test_what_was_not_prepared_is_not_put_back(self) -> None:
        with Guards([HOST]) as guards:
            assert guards.put_back() == {}

    @pytest.mark.parametrize(
        "script",
        [
            "sh -c 'sleep 60; :'; :",
            "trap '' TERM HUP INT; sh -c 'sleep 60; :'; :",
            "(sleep 60; :) & ",
            "timeout 50 sh -c 'sleep 60; :'; :",
            "(trap '' TERM HUP; sleep 60; :) >/dev/null 2>&1 & wait",
        ],
        ids=["a child", "one that ignores signals", "in the background", "own group", "both"],
    )
    def test_nothing_of_a_slow_script_is_left_when_everything_is_put_back(
        self, held: Path, script: str
    ) -> None:
        found = held.with_name("found")
        with guarded(f"readlink /proc/[0-9]*/fd/5 | grep -F '{held}' >'{found}'; :") as guards:
            guards.set({HOST: f"exec 5>'{held}'; {script}"}, 0.5)
            assert holders(held)
            assert guards.put_back() == {}
            assert not holders(held)
        assert not found.read_text()  # not even when it began

    def test_a_service_that_it_started_stays_and_its_session_is_forgotten(
        self, held: Path, locks: Path
    ) -> None:
        """The number of the session may once be that of another one."""
        service = f"setsid sh -c 'exec 5>{held}; exec sleep 60' >/dev/null 2>&1 &"
        with guarded("true") as guards:
            guards.set({HOST: service}, 60)
            eventually(lambda: holders(held))
            assert guards.put_back() == {}
        [kept] = holders(held)
        [session] = locks.glob("*.set")
        assert not session.read_text()
        os.kill(int(kept.parts[2]), signal.SIGKILL)

    def test_nor_after_kill_9(self, held: Path, done: Path, locks: Path) -> None:
        slow = f"exec 5>'{held}'; sh -c 'sleep 60; :'; :"
        with another_process(done, locks, slow) as process:
            eventually(lambda: holders(held))
            os.kill(process, signal.SIGKILL)
        eventually(done.exists, "nothing was put back")
        assert not holders(held)

    def test_nor_after_its_guard_was_killed(self, held: Path) -> None:
        with guarded("true") as guards:
            [armed] = guards._guards.values()
            armed.start_setting(f"exec 5>'{held}'; sh -c 'sleep 60; :'; :")
            eventually(lambda: holders(held))
            os.kill(process_of(guards), signal.SIGKILL)
            eventually(lambda: not holders(held))

    def test_it_is_ended_when_the_guard_hears_nothing_meanwhile(
        self, held: Path, done: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(guard, "LEASE_S", 1)
        silent = Guard(HOST)
        silent.await_armed()
        silent.prepare(putting_back(done))
        silent.start_setting(f"exec 5>'{held}'; sleep 60; :")
        with pytest.raises(HostError, match="here: its guard has put everything back"):
            silent.await_set(60)
        assert done.exists()
        assert not holders(held)
        silent.close(60)

    def test_scripts_are_not_among_the_words_of_any_process(self, tmp_path: Path) -> None:
        words = f"ps -ewwo args >'{tmp_path}/FILE'; : hunter2"
        with guarded(words.replace("FILE", "back")) as guards:
            guards.set({HOST: words.replace("FILE", "set")}, 60)
            guards.put_back()
        for name in ("set", "back"):
            assert "clusterlift: begun" in (tmp_path / name).read_text()
            assert "hunter2" not in (tmp_path / name).read_text()

    def test_signals_have_their_usual_effect_on_what_it_starts(self, tmp_path: Path) -> None:
        alive = tmp_path / "alive"
        with guarded("true") as guards:
            guards.set({HOST: f"sh -c 'kill -s TERM $$; touch {alive}'"}, 60)
        assert not alive.exists()


class TestLocks:
    @pytest.fixture
    def lock(self, locks: Path) -> Path:
        return locks / str(Path("/proc/self/ns/net").readlink()).strip("net:[]")

    def test_a_link_where_the_lock_should_be_is_not_emptied(
        self, tmp_path: Path, lock: Path
    ) -> None:
        precious = tmp_path / "precious"
        precious.write_text("thesis")
        lock.symlink_to(precious)
        with guarded("true"):
            pass
        assert precious.read_text() == "thesis"

    @pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
    def test_a_directory_of_somebody_else_is_refused(self, locks: Path) -> None:
        os.chown(locks, 65534, 65534)
        with pytest.raises(HostError, match="is not a directory of root's own"), guarded("true"):
            pass
