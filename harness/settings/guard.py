"""A guard on a host: it puts the settings back when we are gone, however that happened.

The guard is a shell on the host, which starts before anything is set. We write a line to it every few
seconds. It puts everything back as soon as we ask for it, as our end of the connection is closed (this
process ended or was killed), or as no line has come for LEASE_S seconds (the connection is lost, perhaps
because of what was set). It needs no network for that. The regular end takes the same way, so that the way
is always a tested one.
"""

from __future__ import annotations

import subprocess
import tempfile
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from typing import IO, Self, cast

from harness.model.errors import BadInput
from harness.probes.transports.host import Host, HostError
from harness.terminal import last_line

LEASE_S = 20
"""A host that has not heard of us for so long puts everything back."""
RENEWAL_S = 4.0
LOCKS = "/run/lock"
"""The directory of a host in which a guard locks a file, so that there is one guard at most."""
PAUSES = "0 1 2 4 8"
"""Seconds before each attempt to put everything back."""
ANSWER_S = 30.0
PUT_BACK_S = 120.0
"""A network card that negotiates anew, several times perhaps, takes a minute."""

_ARMED, _BUSY, _DONE = "clusterlift: armed", "clusterlift: busy", "clusterlift: put back"
# A signal must not end it: sshd sends one when the connection ends. A POSIX `read` waits for ever, so a
# shell of its own reads the line, which `timeout` kills: it ignores all other signals, too. Two network
# namespaces of one machine have their own settings, so each has a lock.
_SCRIPT = f"""
trap '' HUP INT TERM PIPE
PATH=$PATH:/usr/sbin:/sbin
for program in timeout flock; do
  command -v "$program" >/dev/null || {{ echo "$program is not installed" >&2; exit 1; }}
done
namespace=$(readlink /proc/self/ns/net | tr -dc 0-9)
exec 9>"$3/clusterlift-$namespace" || exit 1
flock -n 9 || {{ echo "{_BUSY}"; exit 1; }}
echo "{_ARMED}"
while
  line=$(timeout -s KILL "$1" sh -c 'IFS= read -r line && echo "$line"' 9>&-) && [ "$line" = stay ]
do :; done
for pause in $4; do
  sleep "$pause"
  problem=$(sh -c "$2" 2>&1 >/dev/null 9>&-) && problem= && break
done
echo "{_DONE}"
[ -z "$problem" ] || {{ printf '%s\\n' "$problem" >&2; exit 1; }}
"""


class Guard:
    """The guard of one host, which runs `script` with `sh` to put its settings back."""

    def __init__(self, host: Host, script: str) -> None:
        self.host = host
        self._lines: list[str] = []
        self._has_ended = False
        self._changed = threading.Condition()
        self._error_file = tempfile.TemporaryFile()  # noqa: SIM115  closed in `close`
        command = host.argv("sh", "-c", _SCRIPT, "guard", str(LEASE_S), script, LOCKS, PAUSES)
        try:
            self._process = subprocess.Popen(  # noqa: S603  an argument vector, no shell of ours
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._error_file,
                start_new_session=True,  # so that a terminal's Ctrl-C does not reach it
            )
        except FileNotFoundError as error:
            self._error_file.close()
            raise BadInput(
                f"{host}: cannot be reached: no '{command[0]}' is on the PATH"
            ) from error
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def await_armed(self) -> None:
        """Wait until the guard watches. Raise HostError if it cannot, or if the host has one already."""
        self._await(_ARMED, ANSWER_S)

    def renew(self) -> None:
        """Let the guard wait for another LEASE_S seconds."""
        self._write("stay\n")

    def has_ended(self) -> bool:
        """Whether the guard has gone, and with it what was set."""
        with self._changed:
            return self._has_ended

    def start_putting_back(self) -> None:
        """Make the guard put everything back; do not wait for it."""
        self._write("put back\n")

    def await_put_back(self) -> None:
        """Wait until the guard has put everything back. Raise HostError if it could not, or has gone."""
        self._await(_DONE, PUT_BACK_S)
        if self._process.wait(ANSWER_S):
            raise self._error()

    def close(self) -> None:
        """Close our end of the connection, which makes a guard that is still there put everything back."""
        with suppress(OSError):
            self._stdin.close()
        try:
            self._process.wait(PUT_BACK_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._reader.join(ANSWER_S)
        self._error_file.close()

    def _read(self) -> None:
        for line in cast("IO[bytes]", self._process.stdout):
            with self._changed:
                self._lines.append(line.decode(errors="replace").strip())
                self._changed.notify_all()
        with self._changed:
            self._has_ended = True
            self._changed.notify_all()

    def _await(self, line: str, timeout_s: float) -> None:
        with self._changed:
            self._changed.wait_for(lambda: line in self._lines or self._has_ended, timeout_s)
            if line in self._lines:
                return
            if not self._has_ended:
                raise HostError(f"{self.host}: no answer within {timeout_s:.0f} s")
        raise self._error()

    def _error(self) -> HostError:
        if _BUSY in self._lines:
            return HostError(
                f"{self.host}: another experiment has set something there; wait until it has ended"
            )
        code = self._process.wait()
        self._error_file.seek(0)
        printed = self._error_file.read().decode(errors="replace")
        return HostError(f"{self.host}: {last_line(printed, f'its guard ended with code {code}')}")

    def _write(self, line: str) -> None:
        with suppress(OSError):  # it has gone: whoever waits for it finds out
            self._stdin.write(line.encode())
            self._stdin.flush()

    @property
    def _stdin(self) -> IO[bytes]:
        return cast("IO[bytes]", self._process.stdin)


class Guards:
    """A context in which every host has a guard. All are armed when it is entered.

    Raise HostError if one cannot be. When the context is left, whatever is still set is put back.
    """

    def __init__(self, scripts: Mapping[Host, str]) -> None:
        self._scripts = scripts
        self._guards: list[Guard] = []
        self._end = threading.Event()
        self._renewal = threading.Thread(target=self._renew, daemon=True)

    def __enter__(self) -> Self:
        try:
            self._guards += (Guard(host, script) for host, script in self._scripts.items())
            for guard in self._guards:
                guard.await_armed()
        except BaseException:
            self._close()
            raise
        self._renewal.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._end.set()
        self._renewal.join()
        self._close()

    def ended(self) -> list[Host]:
        """Return the hosts whose guards have gone."""
        return [guard.host for guard in self._guards if guard.has_ended()]

    def put_back(self) -> dict[Host, HostError]:
        """Put everything back on all hosts at the same time, and return what failed."""
        for guard in self._guards:
            guard.start_putting_back()
        failed = {}
        for guard in self._guards:
            try:
                guard.await_put_back()
            except HostError as error:
                failed[guard.host] = error
        return failed

    def _renew(self) -> None:
        deadline = time.monotonic()
        while not self._end.wait(max(0.0, deadline - time.monotonic())):
            for guard in self._guards:
                guard.renew()
            deadline = time.monotonic() + RENEWAL_S

    def _close(self) -> None:
        for guard in self._guards:
            guard.start_putting_back()
        for guard in self._guards:
            guard.close()
