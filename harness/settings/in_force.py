"""Set something on hosts for the length of a `with` block, look whether it is so, and put it back.

docs/security.md has the table of what may happen meanwhile, which tests/unit/settings/test_histories.py goes
through.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from operator import attrgetter

from harness.base.errors import BadInput, ClusterliftError
from harness.base.failure_reason import failure_reason
from harness.base.items import grouped
from harness.hosts.parallelism import MAX_OPENING
from harness.hosts.remote_process import Script, parse_completed, run_all
from harness.hosts.transports.host import Host, HostError
from harness.model.interface import DEVICE_NAME
from harness.model.link import TYPICAL_MTU
from harness.settings.guard import Guards
from harness.settings.journal import PUT_BACK, SET, Journal, JournalEntry
from harness.settings.setting import (
    Setting,
    SettingChange,
    ShellCommand,
    failed_command,
    script,
    script_to_put_back,
    why_it_failed,
)

SET_S = 90.0
_OF_DEVICE = re.compile(rf".* of (?P<device>{DEVICE_NAME})( at MTU (?P<mtu>[0-9]{{1,5}}))?")

Settings = Mapping[Host, Sequence[Setting]]
"""The settings that each host gets, in order."""
KnownSettings = Callable[[str, int], Iterable[Setting]]
"""Returns all that may be put back, if a device of this name, with this MTU, leads to the other hosts."""


class NotPutBack(ClusterliftError):
    """Something may still be set. The message names the host and what it is."""


@dataclass(frozen=True)
class InForce:
    """The settings that are in force while a block runs (`wanted`), and the `changes` that this took."""

    wanted: Settings
    changes: tuple[SettingChange, ...]
    _guards: Guards

    def lost(self) -> str | None:
        """Return in one line what is no longer set, or which host does not answer; None if all is set."""
        gone = self._guards.over()
        for (host, setting), value in _read(self.wanted).items():
            if isinstance(value, HostError):
                return str(value)
            if value != setting.value:
                why = ": its guard has ended" if host in gone else ""
                return f"{host}: {setting.name} is {value}, not {setting.value}{why}"
        if gone:
            return f"{gone[0]}: its guard has ended"
        return None


def plan(settings: Settings) -> list[SettingChange]:
    """Return what would be changed: every setting whose value is another now.

    Raise HostError if a host does not answer, or has something that could not be put back.
    """
    changes = []
    for (host, setting), value in _read(settings).items():
        if isinstance(value, HostError):
            raise value
        if not setting.can_be(value):
            raise HostError(
                f"{host}: {setting.name} is {value!r}, which could not be put back: set it to "
                f"{setting.value} there yourself"
            )
        if value != setting.value:
            changes.append(SettingChange(host, setting, value))
    return changes


@contextmanager
def in_force(settings: Settings, journal: Journal) -> Iterator[InForce]:
    """Set everything on its host, verify that it is set, and put it back when the block is left.

    Each host puts it back by itself if this process ends before. Meanwhile, every host refuses other
    experiments, even if nothing changes there. If something cannot be set, raise HostError with nothing
    set. If something could not be put back at the end, raise NotPutBack.
    """
    with Guards(settings) as guards:
        for error in guards.unarmed.values():
            raise error
        # The guards are armed, so no other experiment changes a value after it is read.
        changes = plan(settings)
        to_put_back = _scripts_to_put_back(changes)
        journal.record(SET, changes)
        try:
            guards.prepare(to_put_back)
            _set_all(changes, guards)
            yield InForce(settings, tuple(changes), guards)
        finally:
            failed = _put_back_again(changes, guards.put_back())
            _record_put_back(journal, changes, failed)


def set_for_good(settings: Settings) -> None:
    """Set everything on its host, verify it, and leave it set. Raise HostError if that fails.

    A host on which an experiment has set something refuses.
    """
    with Guards(settings) as guards:
        for error in guards.unarmed.values():
            raise error
        _set_all(plan(settings), guards)


def put_back(journal: Journal, hosts: Iterable[Host], known: KnownSettings) -> list[SettingChange]:
    """Put back what the journal says is still set, and return it.

    The journal supplies names and values alone. Values that were changed since stay as they are. Raise
    NotPutBack if something cannot be put back, or is not of these hosts, or not of the known settings.
    """
    by_name = {str(host): host for host in hosts}
    problems = []
    outstanding = []
    for entry in journal.outstanding():
        change = _known_change(entry, by_name, known)
        if change is not None:
            outstanding.append(change)
        else:
            problems.append(
                f"{entry}, which was {entry.before!r} before, is not in the experiment's file: use the file "
                "as it was, or put it back yourself and remove its line from the journal"
            )
    with Guards(dict.fromkeys(change.host for change in outstanding)) as guards:
        failed = dict(guards.unarmed)
        reached = [change for change in outstanding if change.host not in failed]
        ours = []
        tried = []
        for change, value in _values(reached):
            if isinstance(value, HostError):
                failed[change.host] = value
            elif value == change.setting.value:
                ours.append(change)
                tried.append(change)
            elif value == change.before and change.setting.has_parts:
                tried.append(change)
            else:
                journal.record(PUT_BACK, [change])
        guards.prepare(_scripts_to_put_back(tried[::-1]))
        failed.update(guards.put_back())
        _record_put_back(journal, tried, failed, problems)
    return ours


def _known_change(
    entry: JournalEntry, hosts: Mapping[str, Host], known: KnownSettings
) -> SettingChange | None:
    """Return what an entry of a journal says, unless its host or setting is unknown, or its value is none."""
    device = ""
    mtu = TYPICAL_MTU
    match = _OF_DEVICE.fullmatch(entry.setting)
    if match:
        device = match["device"]
        mtu = int(match["mtu"] or TYPICAL_MTU)
    # A setting reads its own value best: a rate is rounded, and an MTU that is too small is refused.
    for setting in sorted(known(device, mtu), key=lambda each: each.value != entry.value):
        is_valid = setting.can_be(entry.value) and setting.can_be(entry.before)
        if entry.host in hosts and setting.name == entry.setting and is_valid:
            change = SettingChange(
                hosts[entry.host], replace(setting, value=entry.value), entry.before
            )
            with suppress(BadInput):  # a rate that is out of bounds
                if change.to_put_back:
                    return change
                return None
    return None


def _put_back_again(
    changes: Sequence[SettingChange], failed: Mapping[Host, HostError]
) -> dict[Host, HostError]:
    """Put back what guards that have gone did not, and return on which hosts that failed, too.

    A guard that is still there goes on trying, and lets no other one do it.
    """
    scripts = _scripts_to_put_back([change for change in changes if change.host in failed])
    with Guards(scripts) as guards:
        for host in guards.unarmed:
            del scripts[host]
        guards.prepare(scripts)
        return {host: failed[host] for host in (*guards.unarmed, *guards.put_back())}


def _record_put_back(
    journal: Journal,
    changes: Sequence[SettingChange],
    failed: Mapping[Host, HostError],
    problems: Sequence[str] = (),
) -> None:
    """Record the changes whose former value is seen to be back. Raise NotPutBack if one is not."""
    seen = []
    found = list(problems)
    found += [str(error) for error in failed.values()]
    for change, value in _values([change for change in changes if change.host not in failed]):
        if value == change.before:
            seen.append(change)
        elif isinstance(value, HostError):
            found.append(str(value))
        else:
            found.append(f"{change} is {value}, and was {change.before} before")
    try:
        journal.record(PUT_BACK, seen)
    finally:
        if found:
            raise NotPutBack(f"not put back: {'; '.join(found)}")


def _scripts_to_put_back(changes: Sequence[SettingChange]) -> dict[Host, str]:
    by_host = grouped(changes, attrgetter("host"))
    return {host: script_to_put_back(own) for host, own in by_host.items()}


def _read(settings: Settings) -> dict[tuple[Host, Setting], str | HostError]:
    """Return the current value of each setting, or why it is unknown."""
    values: dict[tuple[Host, Setting], str | HostError] = {}
    for wanted in _in_turns(settings):
        printed = run_all([(host, Script(setting.reading)) for host, setting in wanted])
        for (host, setting), completed in zip(wanted, printed, strict=True):
            subject = f"{host}: {setting.name}"
            values[host, setting] = parse_completed(subject, completed, setting.read)
    return values


def _in_turns(settings: Settings) -> Iterator[list[tuple[Host, Setting]]]:
    """Yield the settings that are read together: at most MAX_OPENING of each host, which take connections."""
    most = max((len(found) for found in settings.values()), default=0)
    for start in range(0, most, MAX_OPENING):
        turn = []
        for host, found in settings.items():
            turn += [(host, setting) for setting in found[start : start + MAX_OPENING]]
        yield turn


def _values(changes: Sequence[SettingChange]) -> list[tuple[SettingChange, str | HostError]]:
    """Return each change with the current value of its setting."""
    settings: dict[Host, list[Setting]] = {}
    for change in changes:
        settings.setdefault(change.host, []).append(change.setting)
    found = _read(settings)
    return [(change, found[change.host, change.setting]) for change in changes]


def _set_all(changes: Sequence[SettingChange], guards: Guards) -> None:
    """Set everything, on all hosts at the same time, and verify it. Raise HostError for the first failure."""
    commands: dict[Host, list[ShellCommand]] = {}
    for change in changes:
        commands.setdefault(change.host, []).extend(change.to_set)
    ended = guards.set({host: script(lines) for host, lines in commands.items()}, SET_S)
    for host, answer in ended.items():
        if isinstance(answer, HostError):
            raise answer
        code, errors = answer
        if code:
            command = failed_command(commands[host], code)
            line = failure_reason(errors) or f"exit code {code}"
            raise HostError(f"{host}: {why_it_failed(command, line) if command else line}")
    for change, value in _values(changes):
        if isinstance(value, HostError):
            raise value
        if value != change.setting.value:
            raise HostError(f"{change} is {value} after it was set to {change.setting.value}")
