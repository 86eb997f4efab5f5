"""A guard on a host: it puts the settings back when we are gone, however that happened.

The guard is a shell on the host, which starts before anything is set. We write a line to it every few
seconds. It puts everything back as soon as we ask for it, as our end of the connection is closed (this
process ended or was killed), or as no line has come for LEASE_S seconds (the connection is lost, perhaps
because of what was set). It needs no network for that. The regular end takes the same way, so that the way
is always a tested one.
"""

import threading
import time
from collections.abc import Mapping
from typing import Self

from harness.hosts.host_process import ANSWER_S, HostProcess
from harness.hosts.transports.host import Host, HostError
from harness.terminal import last_line

LEASE_S = 20
"""A host that has not heard of us for so long puts everything back."""
RENEWAL_S = 4.0
LOCKS = "/run/lock"
"""The directory of a host in which a guard locks a file, so that there is one guard at most."""
PAUSES = "0 1 2 4 8"
"""Seconds before each attempt to put everything back."""
MAX_BYTES = 2**16
"""What a guard may print: it says four things, and why something could not be put back."""
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


class Guard(HostProcess):
    """The guard of one host, which runs `script` with `sh` to put its settings back."""

    def __init__(self, host: Host, script: str) -> None:
        arguments = ("guard", str(LEASE_S), script, LOCKS, PAUSES)
        super().__init__(host, _SCRIPT, *arguments, max_bytes=MAX_BYTES)

    def await_armed(self) -> None:
        """Wait until the guard watches. Raise HostError if it cannot, or if the host has one already."""
        self._await(lambda: _ARMED in self._lines, ANSWER_S)

    def renew(self) -> None:
        """Let the guard wait for another LEASE_S seconds."""
        self._write("stay")

    def has_ended(self) -> bool:
        """Whether the guard has gone, and with it what was set."""
        with self._changed:
            return self._ended_s is not None

    def start_putting_back(self) -> None:
        """Make the guard put everything back; do not wait for it."""
        self._write("put back")

    def await_put_back(self) -> None:
        """Wait until the guard has put everything back. Raise HostError if it could not, or has gone."""
        self._await(lambda: _DONE in self._lines, PUT_BACK_S)
        if self._process.wait(ANSWER_S):
            raise self._early_end()

    def close(self) -> None:
        """Close our end of the connection, which makes a guard that is still there put everything back."""
        self._close(PUT_BACK_S)

    def _early_end(self) -> HostError:
        if _BUSY in self._lines:
            return self._host_error(
                "another experiment has set something there; wait until it has ended"
            )
        code = self._process.wait()
        return self._host_error(last_line(self._errors, f"its guard ended with code {code}"))


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
