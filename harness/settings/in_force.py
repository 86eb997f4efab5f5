"""Set something on hosts for the length of a `with` block, look whether it is so, and put it back."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from harness.hosts.remote_process import CompletedCommand, error_line, parse_completed, run_all
from harness.hosts.transports.host import Host, HostError
from harness.model.errors import ClusterliftError
from harness.settings.guard import Guards
from harness.settings.journal import PUT_BACK, SET, AnySetting, Change, Journal
from harness.settings.setting import ShellCommand, failed_command, script

SET_S = 90.0
_UNSUPPORTED = ("unknown", "not supported", "no such file", "failed to load", "not found")
_AS_ROOT = "PATH=$PATH:/usr/sbin:/sbin\n"

Settings = Mapping[Host, Sequence[AnySetting]]
"""What is to be set on each host, in order."""


class NotPutBack(ClusterliftError):
    """Something may still be set. The message names the host and what it is."""


@dataclass(frozen=True)
class InForce:
    """What is set while a block runs."""

    changes: tuple[Change, ...]
    _guards: Guards

    def lost(self) -> str | None:
        """Return in one line what is no longer set, or on which host nobody knows; None if all is."""
        if gone := self._guards.ended():
            return f"{gone[0]}: its guard has ended, and put everything back"
        for change, value in zip(self.changes, _read_all(self.changes), strict=True):
            if isinstance(value, HostError):
                return str(value)
            if value != change.setting.value:
                return f"{change} is {value}, not {change.setting.value}"
        return None


def plan(settings: Settings) -> list[Change]:
    """Return what would be changed: every setting whose value is another now.

    Raise HostError if a host does not answer, or has something that could not be put back.
    """
    wanted = [Change(host, each, "") for host, found in settings.items() for each in found]
    changes = []
    for change, value in zip(wanted, _read_all(wanted), strict=True):
        if isinstance(value, HostError):
            raise value
        if value != change.setting.value:
            changes.append(Change(change.host, change.setting, value))
    return changes


@contextmanager
def in_force(settings: Settings, journal: Journal) -> Iterator[InForce]:
    """Set everything on its host, verify that it is set, and put it back when the block is left.

    Each host puts it back by itself if this process ends before. Raise HostError, with nothing set, if
    something cannot be set; NotPutBack at the end if something could not be put back.
    """
    changes = plan(settings)
    scripts = {host: _script_to_put_back(own) for host, own in _by_host(changes).items()}
    with Guards(scripts) as guards:
        journal.record(SET, changes)
        try:
            _set_all(changes)
            yield InForce(tuple(changes), guards)
        finally:
            left = guards.put_back()
            # A guard may have gone where its host has not.
            failed = _put_back([change for change in changes if change.host in left])
            _record_put_back(journal, changes, failed)


def put_back(journal: Journal) -> list[Change]:
    """Put back what the journal says is still set, and return it.

    What somebody has changed since is left alone. Raise NotPutBack if something cannot be put back.
    """
    outstanding = journal.outstanding()
    ours, failed = [], {}
    for change, value in zip(outstanding, _read_all(outstanding), strict=True):
        if isinstance(value, HostError):
            failed[change.host] = value
        elif value == change.setting.value:
            ours.append(change)
        else:
            journal.record(PUT_BACK, [change])
    failed |= _put_back(ours[::-1])
    _record_put_back(journal, ours, failed)
    return ours


def _put_back(changes: Sequence[Change]) -> dict[Host, HostError]:
    """Put these back, from the last to the first, and return on which hosts that failed."""
    by_host = _by_host(changes)
    scripts = [(host, _shell(_script_to_put_back(own))) for host, own in by_host.items()]
    failed = {}
    for host, completed in zip(by_host, run_all(scripts, SET_S), strict=True):
        if isinstance(completed, HostError):
            failed[host] = completed
        elif completed.code:
            failed[host] = HostError(f"{host}: {error_line(completed.errors)}")
    return failed


def _record_put_back(
    journal: Journal, changes: Sequence[Change], failed: Mapping[Host, HostError]
) -> None:
    """Record the changes whose former value is seen to be back. Raise NotPutBack if one is not."""
    tried = [change for change in changes if change.host not in failed]
    seen, problems = [], list(map(str, failed.values()))
    for change, value in zip(tried, _read_all(tried), strict=True):
        if value == change.before:
            seen.append(change)
        elif isinstance(value, HostError):
            problems.append(str(value))
        else:
            problems.append(f"{change} is {value}, and was {change.before} before")
    journal.record(PUT_BACK, seen)
    if problems:
        raise NotPutBack(f"not put back: {'; '.join(problems)}")


def _by_host(changes: Sequence[Change]) -> dict[Host, list[Change]]:
    found: dict[Host, list[Change]] = {}
    for change in changes:
        found.setdefault(change.host, []).append(change)
    return found


def _read_all(changes: Sequence[Change]) -> list[str | HostError]:
    """Return the current value of each setting, or why it is unknown."""
    completed = run_all([(c.host, _shell(c.setting.reading().line)) for c in changes])
    return [
        parse_completed(change, done, change.setting.read)
        for change, done in zip(changes, completed, strict=True)
    ]


def _set_all(changes: Sequence[Change]) -> None:
    """Set everything, on all hosts at the same time, and verify it. Raise HostError for the first failure."""
    by_host = _by_host(changes)
    commands = {
        host: [line for c in own for line in c.setting.commands_to_set(c.before)]
        for host, own in by_host.items()
    }
    done = run_all([(host, _shell(script(lines))) for host, lines in commands.items()], SET_S)
    for (host, lines), completed in zip(commands.items(), done, strict=True):
        if isinstance(completed, HostError):
            raise completed
        if completed.code:
            raise _error(host, lines, completed)
    for change, value in zip(changes, _read_all(changes), strict=True):
        if isinstance(value, HostError):
            raise value
        if value != change.setting.value:
            raise HostError(f"{change} is {value} after it was set to {change.setting.value}")


def _error(host: Host, commands: Sequence[ShellCommand], completed: CompletedCommand) -> HostError:
    command = failed_command(commands, completed.code)
    line = error_line(completed.errors) or f"exit code {completed.code}"
    if command is None:
        return HostError(f"{host}: {line}")
    if command.modules and any(sign in line.lower() for sign in _UNSUPPORTED):
        return HostError(
            f"{host}: this kernel cannot shape links without {command.modules}: load it there "
            f"(modprobe), or use a kernel that has it ({line})"
        )
    return HostError(f"{host}: {command.line}: {line}")


def _script_to_put_back(changes: Sequence[Change]) -> str:
    """Return a script that puts a host's settings back, the last first; it tries each, whatever fails."""
    parts = [
        f"(\n{script(change.setting.commands_to_put_back(change.before))}\n) || failed=1"
        for change in reversed(changes)
    ]
    return _AS_ROOT + "\n".join(["failed=", *parts, '[ -z "$failed" ]'])


def _shell(text: str) -> list[str]:
    return ["sh", "-c", _AS_ROOT + text]
