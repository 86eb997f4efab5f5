"""What is set is verified, and put back whatever happens; the journal knows what may still be set."""

import errno
import os
from collections.abc import Sequence
from pathlib import Path

import pytest

from harness.base.errors import BadInput
from harness.hosts.remote_process import CompletedCommand, Script
from harness.hosts.transports.host import Host, HostError, by_local
from harness.settings import guard
from harness.settings.guard import Guard
from harness.settings.in_force import NotPutBack, Settings, in_force, plan, put_back, set_for_good
from harness.settings.journal import SET, Journal, JournalEntry, open_journal
from harness.settings.rate import rate
from harness.settings.setting import Setting, SettingChange, ShellCommand
from harness.settings.simple import mtu, own_command, sysctl
from tests.waiting import eventually

HOST = by_local("here")
ELSEWHERE = Host("gone", "", ("sh", "-c", "exit 255"))


class Switches:
    """Files that are there if something is applied."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.file = directory / "settings.journal"
        self.journal = Journal(self.file)

    def setting(self, name: str, apply: str = "touch FILE", revert: str = "rm -f FILE") -> Setting:
        file = f"'{self.directory / name}'"
        apply, revert = apply.replace("FILE", file), revert.replace("FILE", file)
        return own_command(apply, revert, f"test -e {file}", name)

    def put_back(self, *settings: Setting) -> list[SettingChange]:
        """Put back what the journal says, in an experiment that has these settings."""

        def known(device: str, mtu_bytes: int) -> list[Setting]:
            return [*settings, mtu(device, mtu_bytes), rate(device, 10**8, mtu_bytes)]

        return put_back(self.journal, [HOST, ELSEWHERE], known)

    def on(self, *settings: Setting) -> Settings:
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

    def test_what_is_set_for_good_stays_and_is_refused_during_an_experiment(
        self, switches: Switches
    ) -> None:
        wanted = switches.on(switches.setting("switch-a"))
        with (
            in_force({HOST: ()}, switches.journal),
            pytest.raises(HostError, match="another experiment has set something there"),
        ):
            set_for_good(wanted)
        set_for_good(wanted)
        assert switches.applied == ["switch-a"]
        assert switches.journal.outstanding() == []

    @pytest.mark.parametrize(
        ("apply", "reason"),
        [
            ("echo 'no such port' >&2; exit 7", "here: command switch-b: no such port"),
            ("true", "here: command switch-b is not applied after it was set to applied"),
        ],
        ids=["fails", "lies"],
    )
    def test_if_something_cannot_be_set_nothing_is(
        self, switches: Switches, apply: str, reason: str
    ) -> None:
        wanted = switches.on(switches.setting("switch-a"), switches.setting("switch-b", apply))
        with pytest.raises(HostError, match=reason), in_force(wanted, switches.journal):
            pytest.fail("the block is not entered")
        assert switches.applied == []
        assert switches.journal.outstanding() == []

    @pytest.mark.parametrize("was_so_before", [False, True])
    def test_what_somebody_else_changes_meanwhile_is_lost(
        self, switches: Switches, *, was_so_before: bool
    ) -> None:
        if was_so_before:
            (switches.directory / "switch-a").touch()
        with in_force(switches.on(switches.setting("switch-a")), switches.journal) as settings:
            assert settings.lost() is None
            (switches.directory / "switch-a").unlink()
            assert "command switch-a is not applied, not applied" in (settings.lost() or "")

    def test_few_connections_to_a_host_begin_together(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        begun: list[int] = []

        def run_all(commands: Sequence[tuple[Host, Script]]) -> list[CompletedCommand]:
            begun.append(len(commands))
            return [CompletedCommand(0, "2", "") for _ in commands]

        monkeypatch.setattr("harness.settings.in_force.run_all", run_all)
        many = [sysctl(f"net.ipv4.x{number:02}", "1") for number in range(20)]
        assert [change.setting for change in plan({HOST: many})] == many
        assert begun == [8, 8, 4]

    @pytest.mark.parametrize(
        ("revert", "reason"),
        [
            ("echo 'it is stuck' >&2; false", "not put back: here: it is stuck"),
            ("true", "is applied, and was not applied before"),
        ],
        ids=["fails", "lies"],
    )
    def test_what_cannot_be_put_back_is_an_error_and_stays_in_the_journal(
        self, switches: Switches, monkeypatch: pytest.MonkeyPatch, revert: str, reason: str
    ) -> None:
        monkeypatch.setattr(guard, "PAUSES", "0")
        stays = switches.setting("switch-a", revert=revert)
        with (
            pytest.raises(NotPutBack, match=reason),
            in_force(switches.on(stays), switches.journal),
        ):
            pass
        assert [str(entry) for entry in switches.journal.outstanding()] == [
            "here: command switch-a"
        ]

    def test_a_host_that_does_not_answer_is_named(self, switches: Switches) -> None:
        with pytest.raises(HostError, match=r"^gone: "):
            plan({ELSEWHERE: [switches.setting("switch-a")]})

    def test_the_former_values_are_read_when_nobody_else_sets_anything_any_more(
        self, switches: Switches, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Another experiment ends its turn until the guard is armed."""
        (switches.directory / "switch-a").touch()
        await_armed = Guard.await_armed

        def armed_late(self: Guard, timeout_s: float) -> None:
            (switches.directory / "switch-a").unlink()
            await_armed(self, timeout_s)

        monkeypatch.setattr(Guard, "await_armed", armed_late)
        wanted = switches.on(switches.setting("switch-a"))
        with in_force(wanted, switches.journal) as settings:
            assert [change.before for change in settings.changes] == ["not applied"]
        assert switches.applied == []

    @pytest.mark.parametrize("name", ["switch-a", None])
    def test_where_nothing_is_to_be_changed_nobody_else_changes_anything_either(
        self, switches: Switches, name: str | None
    ) -> None:
        (switches.directory / "switch-a").touch()
        wanted = switches.on(*([switches.setting(name)] if name else []))
        with (
            in_force(wanted, switches.journal),
            pytest.raises(HostError, match="here: another experiment has set something there"),
            in_force(wanted, Journal(switches.directory / "other.journal")),
        ):
            pytest.fail("the block is not entered")

    def test_what_is_lost_is_told_as_it_is_when_a_guard_has_gone(self, switches: Switches) -> None:
        with in_force(switches.on(switches.setting("switch-a")), switches.journal) as settings:
            [armed] = settings._guards._guards.values()
            armed._process.kill()
            eventually(lambda: armed.is_over)
            assert settings.lost() == "here: its guard has ended"
            (switches.directory / "switch-a").unlink()
            assert (settings.lost() or "").endswith("not applied: its guard has ended")
            (switches.directory / "switch-a").touch()
        assert switches.applied == []  # by another guard
        assert switches.journal.outstanding() == []

    def test_what_is_set_in_part_is_put_back_although_its_check_sees_nothing(
        self, switches: Switches
    ) -> None:
        setting = switches.setting("switch-a", revert=f"rm -f '{switches.directory}/switch-b'")
        switches.journal.record(SET, [SettingChange(HOST, setting, "not applied")])
        (switches.directory / "switch-b").touch()
        assert switches.put_back(setting) == []
        assert switches.applied == []
        assert switches.journal.outstanding() == []


def rounded(file: Path, value: str) -> Setting:
    """Return a setting whose value the host rounds."""

    def read(completed: CompletedCommand) -> str:
        found = completed.output.strip()
        if found == str(int(float(value))):
            return value
        return found

    return Setting(
        name="rounded",
        value=value,
        values=r"[0-9.]+",
        reading=f"cat '{file}'",
        read=read,
        commands=lambda wanted, _: (ShellCommand(f"echo {wanted} >'{file}'"),),
    )


class TestPutBack:
    def test_what_was_set_last_is_put_back_first(self, switches: Switches) -> None:
        log = switches.directory / "log"
        settings = [
            switches.setting(name, revert=f"rm -f FILE; echo {name} >>'{log}'")
            for name in ("switch-a", "switch-b")
        ]
        switches.journal.record(
            SET, [SettingChange(HOST, each, "not applied") for each in settings]
        )
        for name in ("switch-a", "switch-b"):
            (switches.directory / name).touch()
        switches.put_back(*settings)
        assert log.read_text().split() == ["switch-b", "switch-a"]

    def test_a_value_is_read_as_the_configuration_reads_it_that_set_it(
        self, switches: Switches
    ) -> None:
        """The kernel may round a value, and only its own configuration knows it again."""
        file = switches.directory / "value"
        file.write_text("12")
        set_there = rounded(file, "12.3")
        switches.journal.record(SET, [SettingChange(HOST, set_there, "5")])
        assert len(switches.put_back(rounded(file, "7.1"), set_there)) == 1
        assert file.read_text() == "5\n"

    def test_a_host_that_does_not_answer_does_not_keep_the_others_waiting(
        self, switches: Switches
    ) -> None:
        here, gone = switches.setting("switch-a"), switches.setting("switch-b")
        changes = [
            SettingChange(ELSEWHERE, gone, "not applied"),
            SettingChange(HOST, here, "not applied"),
        ]
        switches.journal.record(SET, changes)
        (switches.directory / "switch-a").touch()
        with pytest.raises(NotPutBack, match="not put back: gone: "):
            switches.put_back(here, gone)
        assert switches.applied == []
        assert [entry.host for entry in switches.journal.outstanding()] == ["gone"]

    def test_it_waits_for_no_other_experiment_on_the_host(self, switches: Switches) -> None:
        setting = switches.setting("switch-a")
        switches.journal.record(SET, [SettingChange(HOST, setting, "not applied")])
        with (
            in_force(switches.on(setting), Journal(switches.directory / "other.journal")),
            pytest.raises(NotPutBack, match="here: another experiment has set something there"),
        ):
            switches.put_back(setting)
        assert len(switches.journal.outstanding()) == 1


class TestJournalOfAStranger:
    """Results are passed on; what is in their journals chooses no program, host or command."""

    @pytest.mark.parametrize(
        "entry",
        [
            JournalEntry("elsewhere", "command switch-a", "applied", "not applied"),
            JournalEntry("here", "command other", "applied", "not applied"),
            JournalEntry("here", "kernel.core_pattern", "core", "|/bin/sh"),
            JournalEntry("here", "command switch-a", "applied", "$(touch switch-x)"),
            JournalEntry("here", "command switch-a", "; touch switch-x", "not applied"),
            JournalEntry("here", "MTU of eth0", "9000", "1500; touch switch-x"),
            JournalEntry("here", "MTU of e;>x;#", "9000", "1500"),
            JournalEntry("here", "rate of eth0 at MTU 1500", "100mbit", "0.1kbit"),
        ],
        ids=str,
    )
    def test_what_is_not_in_the_experiment_s_file_is_refused(
        self, switches: Switches, entry: JournalEntry
    ) -> None:
        switches.journal.record(SET, [entry])
        (switches.directory / "switch-a").touch()
        with pytest.raises(NotPutBack, match="is not in the experiment's file"):
            switches.put_back(switches.setting("switch-a"))
        assert switches.applied == ["switch-a"]

    def test_what_is_in_it_is_put_back_nevertheless(self, switches: Switches) -> None:
        switches.journal.record(
            SET,
            [
                SettingChange(HOST, switches.setting("switch-a"), "not applied"),
                JournalEntry("here", "command other", "applied", "not applied"),
            ],
        )
        (switches.directory / "switch-a").touch()
        with pytest.raises(NotPutBack, match="here: command other, which was 'not applied'"):
            switches.put_back(switches.setting("switch-a"))
        assert switches.applied == []

    @pytest.mark.parametrize("mode", [0o666, 0o660])
    def test_a_journal_that_others_may_write_to_is_refused(
        self, switches: Switches, mode: int
    ) -> None:
        switches.file.touch()
        switches.file.chmod(mode)
        with pytest.raises(BadInput, match=r"others may write to it, .*; check .* chmod go-w"):
            switches.journal.outstanding()

    def test_a_link_is_refused(self, switches: Switches) -> None:
        switches.file.symlink_to(switches.directory / "elsewhere")
        for use in (
            switches.journal.outstanding,
            lambda: switches.journal.record(SET, [JournalEntry("a", "s", "v", "b")]),
        ):
            with pytest.raises(BadInput, match="Too many levels of symbolic links"):
                use()

    @pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
    def test_another_user_s_is_refused(self, switches: Switches) -> None:
        switches.file.touch()
        os.chown(switches.file, 65534, 65534)
        with pytest.raises(BadInput, match="it is not a file of yours alone"):
            switches.journal.outstanding()


CHANGE = SettingChange(HOST, mtu("eth0", 9000), "1500")
OTHER = SettingChange(HOST, mtu("eth1", 9000), "1500")


class TestJournal:
    def test_it_names_host_setting_and_values_and_nothing_else(self, switches: Switches) -> None:
        secret = own_command("curl -u admin:hunter2 x", "r", "c")
        reached = Host("a", "10.0.0.1", ("ssh", "a"), through_shell=True)
        switches.journal.record(SET, [SettingChange(reached, secret, "not applied")])
        [entry] = switches.journal.outstanding()
        assert entry == JournalEntry("a", secret.name, "applied", "not applied")
        assert "hunter2" not in switches.file.read_text()
        assert switches.file.stat().st_mode & 0o777 == 0o600

    def test_of_what_was_set_twice_the_first_value_is_put_back(self, switches: Switches) -> None:
        for value, before in (("2", "1"), ("3", "2")):
            switches.journal.record(SET, [JournalEntry("here", "MTU of eth0", value, before)])
        assert switches.journal.outstanding() == [JournalEntry("here", "MTU of eth0", "3", "1")]

    def test_a_last_line_that_was_cut_off_does_not_count(self, switches: Switches) -> None:
        switches.journal.record(SET, [CHANGE])
        with switches.file.open("a") as stream:
            stream.write('{"at": "2026')
        assert len(switches.journal.outstanding()) == 1
        with open_journal(switches.file) as journal:
            journal.record(SET, [OTHER])
            assert len(journal.outstanding()) == 2

    @pytest.mark.parametrize(
        "line", [b"x", b"{}", b'{"at": 1}', b"[" * 10**5, b'{"at": "\xff"}', b'{"\xff": 1}']
    )
    def test_a_line_that_cannot_be_read_is_named(self, switches: Switches, line: bytes) -> None:
        switches.file.write_bytes(line + b"\n")
        with pytest.raises(BadInput, match=r"settings\.journal, line 1: ") as failure:
            switches.journal.outstanding()
        assert len(str(failure.value).splitlines()) == 1

    def test_two_commands_do_not_share_it(self, tmp_path: Path) -> None:
        file = tmp_path / "new/settings.journal"
        with (
            open_journal(file),
            pytest.raises(BadInput, match="another command runs this experiment"),
            open_journal(file),
        ):
            pass


def test_what_is_not_put_back_is_told_although_the_disk_is_full(
    switches: Switches, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What else a full disk may do is among the histories."""

    def full(*_: object) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(guard, "PAUSES", "0")
    stays = switches.setting("switch-b", revert="echo 'it is stuck' >&2; false")
    wanted = {by_local("there"): [stays]}
    with (
        pytest.raises(NotPutBack, match="there: it is stuck"),
        in_force(wanted, switches.journal),
    ):
        monkeypatch.setattr(os, "write", full)
