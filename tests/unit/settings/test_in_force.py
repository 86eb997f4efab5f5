"""What is set is verified, and put back whatever happens; the journal knows what may still be set."""

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from harness.hosts.transports.host import Host, HostError, by_local
from harness.model.errors import BadInput
from harness.settings import guard
from harness.settings.in_force import NotPutBack, Settings, in_force, plan, put_back
from harness.settings.journal import SET, AnySetting, Change, Journal, open_journal
from harness.settings.mtu import Mtu
from harness.settings.own_command import OwnCommand
from harness.settings.rate import Rate
from harness.settings.speed import Speed
from harness.settings.sysctl import Sysctl
from tests.waiting import eventually

HOST = by_local("here")
ELSEWHERE = Host("gone", "", ("sh", "-c", "exit 255"))


class Switches:
    """Files that are there if something is applied."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.journal = Journal(directory / "settings.journal")

    def setting(
        self, name: str, apply: str = "touch FILE", revert: str = "rm -f FILE"
    ) -> OwnCommand:
        file = f"'{self.directory / name}'"
        commands = (apply, revert, "test -e FILE")
        return OwnCommand(*(each.replace("FILE", file) for each in commands))

    def on(self, *settings: AnySetting) -> Settings:
        return {HOST: settings}

    @property
    def applied(self) -> Sequence[str]:
        return sorted(path.name for path in self.directory.glob("switch-*"))


@pytest.fixture
def switches(tmp_path: Path) -> Switches:
    return Switches(tmp_path)


class TestInForce:
    def test_everything_is_set_in_the_block_and_put_back_after_it(self, switches: Switches) -> None:
        wanted = switches.on(switches.setting("switch-a"), switches.setting("switch-b"))
        with in_force(wanted, switches.journal) as settings:
            assert switches.applied == ["switch-a", "switch-b"]
            assert [change.before for change in settings.changes] == ["not applied"] * 2
            assert settings.lost() is None
            assert len(switches.journal.outstanding()) == 2
        assert switches.applied == []
        assert switches.journal.outstanding() == []

    def test_what_is_so_already_is_neither_set_nor_put_back(self, switches: Switches) -> None:
        (switches.directory / "switch-a").touch()
        wanted = switches.on(switches.setting("switch-a"), switches.setting("switch-b"))
        with in_force(wanted, switches.journal) as settings:
            assert len(settings.changes) == 1
        assert switches.applied == ["switch-a"]

    @pytest.mark.parametrize("error", [ZeroDivisionError, KeyboardInterrupt])
    def test_an_error_in_the_block_changes_nothing_about_that(
        self, switches: Switches, error: type[BaseException]
    ) -> None:
        wanted = switches.on(switches.setting("switch-a"))
        with pytest.raises(error), in_force(wanted, switches.journal):
            raise error
        assert switches.applied == []

    def test_if_something_cannot_be_set_nothing_is(self, switches: Switches) -> None:
        fails = switches.setting("switch-b", apply="echo 'no such port' >&2; exit 7")
        wanted = switches.on(switches.setting("switch-a"), fails)
        with (
            pytest.raises(HostError, match=r"here: sh -c .*: no such port"),
            in_force(wanted, switches.journal),
        ):
            pytest.fail("the block is not entered")
        assert switches.applied == []
        assert switches.journal.outstanding() == []

    def test_a_command_that_lies_is_found_out(self, switches: Switches) -> None:
        wanted = switches.on(switches.setting("switch-a", apply="true"))
        with (
            pytest.raises(HostError, match="is not applied after it was set to applied"),
            in_force(wanted, switches.journal),
        ):
            pytest.fail("the block is not entered")

    def test_what_somebody_else_changes_meanwhile_is_lost(self, switches: Switches) -> None:
        wanted = switches.on(switches.setting("switch-a"))
        with in_force(wanted, switches.journal) as settings:
            (switches.directory / "switch-a").unlink()
            assert "is not applied, not applied" in (settings.lost() or "")

    def test_what_cannot_be_put_back_is_an_error_and_stays_in_the_journal(
        self, switches: Switches, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(guard, "PAUSES", "0")
        stays = switches.setting("switch-a", revert="echo 'it is stuck' >&2; false")
        with (
            pytest.raises(NotPutBack, match="not put back: here: it is stuck"),
            in_force(switches.on(stays), switches.journal),
        ):
            pass
        assert [change.setting for change in switches.journal.outstanding()] == [stays]

    def test_a_revert_that_lies_is_found_out(self, switches: Switches) -> None:
        stays = switches.setting("switch-a", revert="true")
        with (
            pytest.raises(NotPutBack, match="is applied, and was not applied before"),
            in_force(switches.on(stays), switches.journal),
        ):
            pass
        assert switches.journal.outstanding()

    def test_a_host_that_does_not_answer_is_named(self, switches: Switches) -> None:
        with pytest.raises(HostError, match=r"^gone: "):
            plan({ELSEWHERE: [switches.setting("switch-a")]})

    def test_without_settings_nothing_happens(self, switches: Switches) -> None:
        with in_force({}, switches.journal) as settings:
            assert settings.changes == ()
            assert settings.lost() is None


PROGRAM = """
import sys
from pathlib import Path
from harness.hosts.transports.host import by_local
from harness.settings import guard
from harness.settings.in_force import in_force
from harness.settings.journal import Journal
from harness.settings.own_command import OwnCommand
directory, guard.LOCKS = sys.argv[1:]
file = f"'{directory}/switch-a'"
setting = OwnCommand(f"touch {file}", f"rm -f {file}", f"test -e {file}")
with in_force({by_local("here"): [setting]}, Journal(Path(directory) / "settings.journal")):
    print("set", flush=True)
    sys.stdin.read()
"""


class TestPutBack:
    def test_after_kill_9_the_host_has_put_it_back_and_the_journal_learns_it(
        self, switches: Switches, locks: Path
    ) -> None:
        command = [sys.executable, "-c", PROGRAM, str(switches.directory), str(locks)]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
            assert process.stdout is not None
            assert process.stdout.readline() == b"set\n"
            process.kill()
        eventually(lambda: not switches.applied, "it is still set")
        assert len(switches.journal.outstanding()) == 1
        assert put_back(switches.journal) == []
        assert switches.journal.outstanding() == []

    def test_what_no_guard_has_put_back_is_put_back(self, switches: Switches) -> None:
        setting = switches.setting("switch-a")
        change = Change(HOST, setting, "not applied")
        switches.journal.record(SET, [change])
        (switches.directory / "switch-a").touch()
        assert put_back(switches.journal) == [change]
        assert switches.applied == []
        assert put_back(switches.journal) == []

    def test_what_was_set_last_is_put_back_first(self, switches: Switches) -> None:
        log = switches.directory / "log"
        settings = [
            switches.setting(name, revert=f"rm -f FILE; echo {name} >>'{log}'")
            for name in ("switch-a", "switch-b")
        ]
        switches.journal.record(SET, [Change(HOST, each, "not applied") for each in settings])
        for name in ("switch-a", "switch-b"):
            (switches.directory / name).touch()
        put_back(switches.journal)
        assert log.read_text().split() == ["switch-b", "switch-a"]

    def test_a_host_that_does_not_answer_does_not_keep_the_others_waiting(
        self, switches: Switches
    ) -> None:
        here, gone = switches.setting("switch-a"), switches.setting("switch-b")
        changes = [Change(ELSEWHERE, gone, "not applied"), Change(HOST, here, "not applied")]
        switches.journal.record(SET, changes)
        (switches.directory / "switch-a").touch()
        with pytest.raises(NotPutBack, match="not put back: gone: "):
            put_back(switches.journal)
        assert switches.applied == []
        assert switches.journal.outstanding() == [changes[0]]


class TestJournal:
    @pytest.mark.parametrize(
        "setting",
        [
            Rate("eth0", None, 1500),
            Mtu("eth0", 9000),
            Sysctl("net.core.rmem_max", "1"),
            Speed("eth0", 1000),
            OwnCommand("a", "r", "c"),
        ],
    )
    def test_every_setting_is_read_as_it_was_written(
        self, switches: Switches, setting: AnySetting
    ) -> None:
        change = Change(Host("a", "10.0.0.1", ("ssh", "a"), through_shell=True), setting, "x")
        switches.journal.record(SET, [change])
        assert switches.journal.outstanding() == [change]

    def test_of_what_was_set_twice_the_first_value_is_put_back(self, switches: Switches) -> None:
        setting = switches.setting("switch-a")
        for before in ("first", "second"):
            switches.journal.record(SET, [Change(HOST, setting, before)])
        assert [change.before for change in switches.journal.outstanding()] == ["first"]

    def test_a_last_line_that_was_cut_off_does_not_count(self, switches: Switches) -> None:
        file = switches.directory / "settings.journal"
        switches.journal.record(SET, [Change(HOST, Mtu("eth0", 9000), "1500")])
        with file.open("a") as stream:
            stream.write('{"at": "2026')
        assert len(switches.journal.outstanding()) == 1
        with open_journal(file) as journal:
            journal.record(SET, [Change(HOST, Mtu("eth1", 9000), "1500")])
            assert len(journal.outstanding()) == 2

    @pytest.mark.parametrize("line", ["x", "{}", '{"at": 1}'])
    def test_a_line_that_cannot_be_read_is_named(self, switches: Switches, line: str) -> None:
        (switches.directory / "settings.journal").write_text(f"{line}\n")
        with pytest.raises(BadInput, match=r"settings\.journal, line 1: "):
            switches.journal.outstanding()

    def test_two_commands_do_not_share_it(self, tmp_path: Path) -> None:
        file = tmp_path / "new/settings.journal"
        with (
            open_journal(file),
            pytest.raises(BadInput, match="another command runs this experiment"),
            open_journal(file),
        ):
            pass
