"""A world of simulated hosts in which the real code of `harness.settings` runs, and everything may happen.

The code meets the world where it talks to a guard, reads a value or writes to the journal. Each of these is a
step, before which one event may happen. A history is a list of events, each at the number of its step. After
a history its world settles: connections come back, guards without us end, and so does the other experiment.
"""

import errno
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from zlib import crc32

import pytest

from harness.base.errors import ClusterliftError
from harness.hosts.remote_process import CompletedCommand, Script
from harness.hosts.transports.host import Host, HostError
from harness.settings import guard, in_force, journal
from harness.settings.in_force import InForce
from harness.settings.journal import open_journal
from harness.settings.setting import Setting, ShellCommand
from tests.simulated_hosts import NoThread

BEFORE, WANTED, OTHERS, USERS = "before", "wanted", "others", "users"
EVERYWHERE = ("interrupted", "killed", "disk full", "clock set back")
FLAGS = {
    "connection frozen": ("is_frozen", True),
    "connection thawed": ("is_frozen", False),
    "putting back fails": ("is_stuck", True),
    "setting fails": ("fails", True),
    "setting is slow": ("is_slow", True),
}
"""What lasts, as an attribute of a host and its value."""
ON_A_HOST = (*FLAGS, "host rebooted", "guard killed", "other experiment", "user's own change")
OTHER_ENDS_AFTER = 5
"""Steps of ours during which another experiment has something set."""
PATIENCE, SLOW = 4, 8
"""Steps until we give up waiting, and those that something slow takes until it sets anything."""
NOTHING = ("", "")

Event = tuple[str, str]
"""What happens, and to which host: empty if it happens to us."""
History = tuple[tuple[int, Event], ...]


class Killed(BaseException):
    """We are gone: from now on, nothing that the code does has any effect."""


class Vacuous(BaseException):
    """An event that changes nothing; a history with it is one with fewer events."""


@dataclass
class SimulatedHost:
    """A machine: its values, the guard that has its lock, and what is about to be set there."""

    name: str
    values: dict[str, str]
    at_boot: dict[str, str]
    holder: "SimulatedGuard | str | None" = None
    is_frozen: bool = False
    is_stuck: bool = False
    is_slow: bool = False
    fails: bool = False
    pending: list[tuple[str, str]] = field(default_factory=list)
    other_before: dict[str, str] = field(default_factory=dict)
    other_ends: int = 0


@dataclass
class World:
    """What the code under test meets, and what a guard does that has no fault."""

    hosts: dict[str, SimulatedHost]
    history: dict[int, Event]
    ends_sessions: bool = True
    locks: bool = True
    number: int = 0
    is_alive: bool = True
    is_full: bool = False
    in_event: bool = False
    user_changed: bool = False
    seconds: int = 10**6

    def step(self) -> None:
        """Let happen what happens now, then go on with what is being set on hosts."""
        if not self.is_alive:
            raise Killed
        if self.in_event:
            return
        self.number += 1
        event = self.history.get(self.number)
        for host in self.hosts.values():
            if host.holder == "other" and host.other_ends <= self.number:
                self._end_other(host)
        if event:
            self.in_event = True
            try:
                self._happens(*event)
            finally:
                self.in_event = False
        for host in self.hosts.values():
            if host.pending:
                host.values.update([host.pending.pop(0)])

    def settle(self) -> None:
        """Let everything end that ends by itself, and mend disks and connections."""
        self.is_alive = self.in_event = True
        self.is_full = False
        for host in self.hosts.values():
            host.is_frozen = host.is_stuck = host.is_slow = host.fails = False
            if isinstance(host.holder, SimulatedGuard):
                host.holder.expire()
            if host.holder == "other":
                self._end_other(host)
            host.values.update(host.pending)
            host.pending.clear()
        self.in_event = False
        self.history = {}

    def _state(self) -> object:
        """Return all that an event may change."""
        hosts = [
            (
                *(dict(host.values), list(host.pending), host.holder),
                *(host.is_frozen, host.is_stuck, host.is_slow, host.fails),
            )
            for host in self.hosts.values()
        ]
        return hosts, self.is_full, self.seconds

    def _end_other(self, host: SimulatedHost) -> None:
        host.values.update(host.other_before)
        host.holder = None

    def _happens(self, what: str, name: str) -> None:
        before = self._state()
        if name:
            self._happens_to(self.hosts[name], what)
        elif what == "disk full":
            self.is_full = True
        elif what == "clock set back":
            self.seconds -= 10**5
        elif what == "killed":
            self._kill()
        else:
            raise KeyboardInterrupt
        if before == self._state():
            raise Vacuous

    def _kill(self) -> None:
        for host in self.hosts.values():
            if isinstance(host.holder, SimulatedGuard):
                host.holder.expire()
        self.is_alive = False
        raise Killed

    def _happens_to(self, host: SimulatedHost, what: str) -> None:
        own = host.holder if isinstance(host.holder, SimulatedGuard) else None
        if what in FLAGS:
            name, value = FLAGS[what]
            setattr(host, name, value)
        elif what == "user's own change":
            host.values["a"] = USERS
            self.user_changed = True
        elif what == "guard killed" and own:
            own.end()
        elif what == "host rebooted":
            host.pending.clear()
            host.values.update(host.at_boot)
            host.holder = None
            if own:
                own.end()
        elif what == "other experiment" and (host.holder is None or not self.locks):
            host.holder, host.other_before = "other", dict(host.values)
            host.other_ends = self.number + OTHER_ENDS_AFTER
            host.values.update(dict.fromkeys(host.values, OTHERS))


class SimulatedGuard:
    """A guard, in place of the real one, with what happens on its host."""

    world: World

    def __init__(self, host: Host) -> None:
        if not self.world.is_alive:
            raise Killed
        self.host = host
        self._there = self.world.hosts[host.name]
        self._revert: list[tuple[str, str]] = []
        self._code: int | None = None
        self._is_busy = self._there.holder is not None and self.world.locks
        self._is_there = not self._is_busy and not self._there.is_frozen
        if self._is_there:
            self._there.holder = self

    def await_armed(self, timeout_s: float = 0) -> None:
        del timeout_s
        self.world.step()
        if self._is_busy:
            raise HostError(f"{self.host}: another experiment")
        self._check()

    def renew(self) -> None:
        pass

    @property
    def is_over(self) -> bool:
        return not self._is_there or self._code is not None

    def prepare(self, script: str) -> None:
        self.world.step()
        if self._hears():
            self._revert = writes(script)

    def start_setting(self, script: str) -> None:
        self.world.step()
        if self._hears():
            pauses = [NOTHING] * (SLOW if self._there.is_slow else 0)
            self._there.pending = [*pauses, *writes(script)]

    def await_set(self, timeout_s: float) -> tuple[int, str]:
        del timeout_s
        self.world.step()
        self._check()
        if self._there.fails:
            self._there.pending.clear()
            return 10, "it fails"
        for _ in range(PATIENCE):
            if not self._there.pending:
                return 0, ""
            self.world.step()
            self._check()
        raise HostError(f"{self.host}: no answer within 90 s")

    def start_putting_back(self) -> None:
        self.world.step()
        if self._hears():
            self._put_back()

    def await_put_back(self, timeout_s: float = 0) -> None:
        del timeout_s
        self.world.step()
        self._check(may_be_done=True)
        if self._code != 0:
            raise HostError(f"{self.host}: it is stuck")

    def close_stdin(self) -> None:
        pass

    def close(self, timeout_s: float = 0) -> None:
        del timeout_s
        self.world.step()
        self.expire()

    def expire(self) -> None:
        """Hear nothing any more."""
        if self._is_there:
            self._put_back()
            self.end()

    def end(self) -> None:
        """End, however that happens; what it runs ends with it, and its lock is free."""
        self._is_there = False
        if self._there.holder is self:
            self._there.holder = None
        if self.world.ends_sessions:
            self._there.pending.clear()

    def _put_back(self) -> None:
        if self._code is not None:
            return
        if self.world.ends_sessions:
            self._there.pending.clear()
        for knob, value in self._revert:
            if self.world.is_alive:
                self.world.step()
            if not self._there.is_stuck and self._is_there:
                self._there.values[knob] = value
        self._code = int(self._there.is_stuck)

    def _hears(self) -> bool:
        """Whether a line of ours reaches it; if the connection stays frozen it hears nothing."""
        if self._there.is_frozen:
            self.expire()
        return self._is_there and self._code is None

    def _check(self, *, may_be_done: bool = False) -> None:
        """Raise HostError if no answer comes."""
        if self._there.is_frozen:
            self.expire()
            raise HostError(f"{self.host}: no answer within 30 s")
        if not self._is_there or (self._code is not None and not may_be_done):
            raise HostError(f"{self.host}: its guard has ended")


def writes(script: str) -> list[tuple[str, str]]:
    """Return what a script sets, in order."""
    return re.findall(r"^write (\w+) (\w+)", script, re.MULTILINE)


def knob(name: str) -> Setting:
    """Return a setting that only simulated hosts have."""
    return Setting(
        name=name,
        value=WANTED,
        values=r"\w+",
        reading=f"read {name}",
        read=lambda completed: completed.output,
        commands=lambda value, _: (ShellCommand(f"write {name} {value}"),),
    )


class Simulation:
    """Runs histories with hosts on which these knobs are as they were `before`."""

    def __init__(
        self,
        directory: Path,
        monkeypatch: pytest.MonkeyPatch,
        before: dict[str, dict[str, str]],
        *,
        ends_sessions: bool = True,
        locks: bool = True,
    ) -> None:
        self._before = before
        self._file = directory / "settings.journal"
        self._flags = (ends_sessions, locks)
        self.settings = {Host(name, ""): list(map(knob, knobs)) for name, knobs in before.items()}
        self.histories = 0
        self._write = os.write
        monkeypatch.setattr(guard, "Guard", SimulatedGuard)
        monkeypatch.setattr("harness.hosts.lease.threading.Thread", NoThread)
        monkeypatch.setattr(in_force, "run_all", self._run_all)
        monkeypatch.setattr(journal, "timestamp", lambda: str(self.world.seconds))
        monkeypatch.setattr(os, "write", self._write_to_journal)
        monkeypatch.setattr(os, "fsync", lambda _: None)

    def run(self, history: History) -> tuple[int, list[str]] | None:
        """Return how many steps a history has, and what is wrong after it; None if an event was vacuous."""
        hosts = {
            name: SimulatedHost(name, dict(knobs), dict(knobs))
            for name, knobs in self._before.items()
        }
        self._file.unlink(missing_ok=True)
        self.world = World(hosts, dict(history), *self._flags)
        SimulatedGuard.world = self.world
        problems: list[str] = []
        try:
            with (
                open_journal(self._file) as opened,
                in_force.in_force(self.settings, opened) as force,
            ):
                self.world.step()
                problems += self._lost(force)
        except (ClusterliftError, KeyboardInterrupt, Killed):
            pass
        except Vacuous:
            return None
        steps = self.world.number
        if history and history[-1][0] > steps:
            return None
        self.histories += 1
        self.world.settle()
        problems += self._wrong()
        return steps, problems

    def _lost(self, force: InForce) -> Iterator[str]:
        """Yield a line for what is lost without a report."""
        if force.lost() is None:
            for host in self.world.hosts.values():
                if {host.values[name] for name in self._before[host.name]} != {WANTED}:
                    yield f"lost without a word: {host.values}"

    def _wrong(self) -> Iterator[str]:
        """Yield what has another value than before, unless the journal names it and it can be put back."""
        if changed := list(self._changed()):
            names = {(entry.host, entry.setting) for entry in self._outstanding()}
            for host, name, value in changed:
                if (host, name) not in names:
                    yield f"not in the journal: {host} {name} {value}"
        try:
            with open_journal(self._file) as opened:
                in_force.put_back(opened, self.settings, self._known)
        except ClusterliftError as error:
            yield f"cannot be put back: {error}"
        yield from (f"left: {host} {name} {value}" for host, name, value in self._changed())
        yield from (f"left in the journal: {entry}" for entry in self._outstanding())

    def _outstanding(self) -> Sequence[journal.JournalEntry]:
        with open_journal(self._file) as opened:
            return opened.outstanding()

    def _changed(self) -> Iterator[tuple[str, str, str]]:
        for host in self.world.hosts.values():
            for name in self._before[host.name]:
                value = host.values[name]
                is_users = value == USERS and self.world.user_changed
                if value != self._before[host.name][name] and not is_users:
                    yield host.name, name, value

    def _known(self, device: str, mtu: int) -> Iterable[Setting]:
        del device, mtu
        return map(knob, ("a", "b"))

    def _run_all(
        self, commands: Iterable[tuple[Host, Script]]
    ) -> list[CompletedCommand | HostError]:
        self.world.step()
        return [self._read(self.world.hosts[host.name], script) for host, script in commands]

    def _read(self, host: SimulatedHost, script: Script) -> CompletedCommand | HostError:
        if host.is_frozen:
            return HostError(f"{host.name}: no answer within 30 s")
        return CompletedCommand(0, host.values[script.removeprefix("read ")], "")

    def _write_to_journal(self, descriptor: int, data: bytes) -> int:
        half = len(data) // 2
        try:
            self.world.step()
        except Killed:
            if self.world.in_event:
                self._write(descriptor, data[:half])
            raise
        if self.world.is_full:
            if half:
                return self._write(descriptor, data[:half])
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return self._write(descriptor, data)


def events_on(*hosts: str) -> list[Event]:
    return [(what, "") for what in EVERYWHERE] + [
        (what, host) for host in hosts for what in ON_A_HOST
    ]


def explore(
    simulation: Simulation, events: Sequence[Event], depth: int, share: int, history: History = ()
) -> Iterator[tuple[History, list[str]]]:
    """Yield each history of up to `depth` events that does something, with what is wrong after it.

    Of those with a second event, only one in `share` is tried, always the same ones.
    """
    ran = simulation.run(history)
    if ran is None:
        return
    steps, problems = ran
    yield history, problems
    if depth:
        first = history[-1][0] if history else 0
        for number in range(first + 1, steps + 1):
            for event in events:
                longer = (*history, (number, event))
                if not history or crc32(repr(longer).encode()) % share == 0:
                    yield from explore(simulation, events, depth - 1, share, longer)
