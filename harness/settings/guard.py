"""A guard on a host sets what we ask for, and puts it back when we are gone, however that happened.

The guard is a shell on the host, which holds a lock while it lives, so that a host has one at most. We write
a line to it every few seconds. It puts everything back as soon as we ask for it, as our end of the connection
is closed (this process ended or was killed), or as no line has come for LEASE_S seconds (the connection is
lost, perhaps because of what was set). It needs no network for that. The regular end takes the same way, so
that the way is always a tested one.

The guard itself runs what sets something, in a session of its own, and ends that session before it puts
anything back: whatever the connection does, nothing is set afterwards. Its script is guard.sh.
"""

import re
import time
from collections.abc import Callable, Iterable, Mapping
from importlib.resources import files

from harness.base.failure_reason import failure_reason
from harness.hosts.host_process import ANSWER_S, HostProcess, as_line
from harness.hosts.lease import HEAR, Renewal
from harness.hosts.parallelism import allow_commands
from harness.hosts.remote_process import END_S
from harness.hosts.transports.host import Host, HostError

LEASE_S = 20
"""A host puts everything back when it has not heard of us for this long."""
LOCKS = "/run/clusterlift"
"""The directory of a host, for root alone, in which a guard locks a file."""
PAUSES = "0 1 2 4 8"
"""Seconds before each attempt to put everything back."""
ATTEMPT_S = 60
"""An attempt that takes longer is ended."""
PUT_BACK_S = 120.0
"""A network card that negotiates anew, several times perhaps, takes a minute."""

_ARMED = "clusterlift: armed"
_BUSY = "clusterlift: busy"
_SET = "clusterlift: set "
_PUT_BACK = "clusterlift: put back "
"""The beginnings of the guard's answers. The last two have an exit code, and errors stand before them."""
_CODE = re.compile("[0-9]{1,3}")
_SCRIPT = HEAR + (files(__package__) / "guard.sh").read_text()


class Guard(HostProcess):
    """The guard of one host."""

    def __init__(self, host: Host) -> None:
        arguments = (str(LEASE_S), LOCKS, PAUSES, str(ATTEMPT_S))
        super().__init__(host, _SCRIPT, *arguments)

    def await_armed(self, timeout_s: float = ANSWER_S) -> None:
        """Wait until the guard watches. Raise HostError if it cannot, or if the host has one already."""
        self._await(lambda: _ARMED in self._lines, timeout_s)

    @property
    def is_over(self) -> bool:
        """Whether the guard has put everything back, or has gone."""
        with self._changed:
            return self._has_ended or self._is_there(_PUT_BACK)

    def prepare(self, script: str) -> None:
        """Tell the guard how to put everything back, and return at once."""
        self._write(f"revert {as_line(script)} end")

    def start_setting(self, script: str) -> None:
        """Make the guard run a script, whose effects it will put back, and return at once."""
        self._write(f"set {as_line(script)} end")

    def await_set(self, timeout_s: float) -> tuple[int, str]:
        """Return the exit code of the script, and the errors that it printed.

        Raise HostError if it takes too long, or if the guard puts everything back before.
        """
        self._await(lambda: self._is_there(_SET) or self._is_there(_PUT_BACK), timeout_s)
        if not self._is_there(_SET):
            raise self._host_error("its guard has put everything back")
        return self._answer(_SET)

    def start_putting_back(self) -> None:
        """Make the guard put everything back, and return at once."""
        self._write("put back")

    def await_put_back(self, timeout_s: float = PUT_BACK_S) -> None:
        """Wait until the guard has put everything back. Raise HostError if it could not, or has gone."""
        self._await(lambda: self._is_there(_PUT_BACK), timeout_s)
        code, problem = self._answer(_PUT_BACK)
        if code:
            raise self._host_error(failure_reason(problem))

    def _is_there(self, answer: str) -> bool:
        return self._place(answer) is not None

    def _place(self, answer: str) -> int | None:
        for number, line in enumerate(self._lines):
            if line.startswith(answer):
                return number
        return None

    def _answer(self, answer: str) -> tuple[int, str]:
        """Return the code of an answer that has come, and the lines between it and the one before."""
        with self._changed:
            lines = self._lines[: self._place(answer)]
            code = self._lines[len(lines)][len(answer) :]
        before = [n for n, line in enumerate(lines) if line.startswith((_ARMED, _SET))]
        if not before or not _CODE.fullmatch(code):
            raise self._host_error("the answer of its guard cannot be read")
        return int(code), "\n".join(lines[before[-1] + 1 :])

    def _early_end(self) -> str:
        if _BUSY in self._lines:
            return "another experiment has set something there; wait until it has ended"
        return super()._early_end()


class Guards:
    """A context in which every host has a guard, so that no other experiment sets anything there.

    `unarmed` are the hosts where that failed, and why. When the context is left, whatever is still set is put
    back.
    """

    def __init__(self, hosts: Iterable[Host]) -> None:
        self.unarmed: dict[Host, HostError] = {}
        self._hosts = list(hosts)
        self._guards: dict[Host, Guard] = {}
        self._renewal = Renewal(self._guards.values, LEASE_S)

    def __enter__(self) -> "Guards":
        allow_commands(2 * len(self._hosts))  # another one, if a guard has gone
        # A host that does not answer is waited for longer than the guards of the others would wait for us.
        self._renewal.__enter__()
        try:
            for host in self._hosts:
                self._guards[host] = Guard(host)
            self.unarmed = self._on_all(Guard.await_armed, ANSWER_S)
            self._close(self.unarmed, END_S)
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._renewal.__exit__()
        self._close(self._hosts)

    def over(self) -> list[Host]:
        """Return the hosts whose guards have put everything back, or have gone."""
        return [host for host, guard in self._guards.items() if guard.is_over]

    def prepare(self, scripts: Mapping[Host, str]) -> None:
        """Tell the guards how to put everything back."""
        for host, script in scripts.items():
            self._guards[host].prepare(script)

    def set(
        self, scripts: Mapping[Host, str], timeout_s: float
    ) -> dict[Host, tuple[int, str] | HostError]:
        """Run a script on each host at the same time, and return its exit code and errors."""
        deadline = time.monotonic() + timeout_s
        for host, script in scripts.items():
            self._guards[host].start_setting(script)
        ended: dict[Host, tuple[int, str] | HostError] = {}
        for host in scripts:
            try:
                ended[host] = self._guards[host].await_set(max(0.0, deadline - time.monotonic()))
            except HostError as error:
                ended[host] = error
        return ended

    def put_back(self) -> dict[Host, HostError]:
        """Put everything back on all hosts at the same time, and return what failed."""
        for guard in self._guards.values():
            guard.start_putting_back()
        return self._on_all(Guard.await_put_back, PUT_BACK_S)

    def _on_all(
        self, wait: Callable[[Guard, float], None], timeout_s: float
    ) -> dict[Host, HostError]:
        """Wait for all guards, `timeout_s` in all, and return the hosts where that failed."""
        failed = {}
        until_s = time.monotonic() + timeout_s
        for host, guard in self._guards.items():
            try:
                wait(guard, max(0.0, until_s - time.monotonic()))
            except HostError as error:
                failed[host] = error
        return failed

    def _close(self, hosts: Iterable[Host], timeout_s: float = PUT_BACK_S) -> None:
        """End the guards of hosts. All of them together have `timeout_s` to end."""
        ending = [self._guards.pop(host) for host in hosts if host in self._guards]
        for guard in ending:
            guard.start_putting_back()
            guard.close_stdin()
        until_s = time.monotonic() + timeout_s
        for guard in ending:
            guard.close(max(0.0, until_s - time.monotonic()))
