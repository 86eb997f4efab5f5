"""A driver's end of the staging directory: delivers what it prints and records, and ends with its lease.

Everything is delivered between trials. While one runs, only the lease is looked at: a question to the file
system every few seconds.
"""

import os
import signal
import threading
import time
import traceback
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from py4j.protocol import Py4JError

from harness.model.run import Phase, Trial
from harness.records.directories import SUFFIX
from harness.runtime.cluster_mode import LEASE_S, STAGING
from harness.runtime.interrupt import deferred_signals
from harness.runtime.rounds import Observer
from harness.terminal import copy_output_to
from jobs.staging import CONSOLE, EXIT_CODE, Hadoop, Staging

CHECK_S = 5.0
_LAST_ATTEMPTS_S = (0, 1, 2, 4)


@contextmanager
def outbox() -> "Iterator[Outbox | None]":
    """Provide a driver on the cluster with its outbox, and deliver its exit code at the end.

    A driver that runs where its results are needs none: then this provides None.
    """
    uri = os.environ.get(STAGING)
    if not uri:
        yield None
        return
    made = Outbox(Staging(Hadoop(), uri), Path("results"))
    copy_output_to(made.copy)
    made.watch_lease()
    code = 1
    try:
        yield made
    except SystemExit as exit_:
        code = exit_.code if isinstance(exit_.code, int) else int(exit_.code is not None)
        raise
    except Exception:
        made.copy(traceback.format_exc())  # Python prints it on the node alone
        raise
    finally:
        made.close(code)


class Outbox(Observer):
    """Delivers text, and the results file that this process writes below `results`.

    Once its lease is watched, the main thread is interrupted as by SIGTERM if the lease is gone, or was not
    renewed for `lease_s` seconds.
    """

    def __init__(
        self,
        staging: Staging,
        results: Path,
        *,
        lease_s: float = LEASE_S,
        check_s: float = CHECK_S,
    ) -> None:
        self.results = results
        self._staging = staging
        self._lease_s, self._check_s = lease_s, check_s
        self._text: deque[str] = deque()
        self._pending: deque[tuple[int, str, bytes]] = deque()
        self._number = 0
        self._recorded = 0
        self._lock = threading.Lock()
        self._in_trial, self._closed = threading.Event(), threading.Event()
        self._nobody_waits = False

    def copy(self, text: str) -> None:
        """Deliver this text with what is delivered next."""
        self._text.append(text)

    def starting(self, workload: str, phase: Phase, round_: int) -> None:
        self._in_trial.set()

    def finished(self, trial: Trial) -> None:
        self._in_trial.clear()
        self.deliver()

    def deliver(self) -> bool:
        """Deliver what is new, and return whether all of it arrived; the rest waits for the next time."""
        with self._lock, suppress(Py4JError, OSError):
            with deferred_signals():
                self._gather()
            while self._pending:
                self._staging.put(*self._pending[0])
                self._pending.popleft()
        return not self._pending

    def close(self, code: int) -> None:
        """Deliver the rest and the exit code; if nobody waits for it, remove the directory instead."""
        self._closed.set()
        with self._lock:
            self._gather()
            self._append(EXIT_CODE, str(code).encode())
        for pause_s in _LAST_ATTEMPTS_S:
            time.sleep(pause_s)
            if self._nobody_waits or self.deliver():
                break
        if self._nobody_waits:
            with suppress(Py4JError, OSError):
                self._staging.remove()

    def watch_lease(self) -> None:
        """Start to watch the lease, and to deliver before the first trial, too."""
        threading.Thread(target=self._watch, daemon=True).start()

    def _watch(self) -> None:
        lease, unchanged_s = "", 0.0
        while not self._closed.wait(self._check_s):
            found = self._found_lease(lease)
            if found is None:
                break
            # The pauses alone count: while the file system is stuck, nobody can renew anything.
            unchanged_s = unchanged_s + self._check_s if found == lease else 0.0
            lease = found
            if unchanged_s > self._lease_s:
                self._nobody_waits = True
                break
            if not self._in_trial.is_set():
                self.deliver()
        if not self._closed.is_set():
            _interrupt_main_thread()

    def _found_lease(self, before: str) -> str | None:
        """Return the lease's name; the one before if the file system does not answer, as it may later."""
        try:
            return self._staging.lease()
        except (Py4JError, OSError):
            return before

    def _gather(self) -> None:
        text = "".join(self._text.popleft() for _ in range(len(self._text)))
        if text:
            self._append(CONSOLE, text.encode(errors="backslashreplace"))
        file = next(self.results.glob(f"*/[!.]*{SUFFIX}"), None)
        if file is not None:
            with file.open("rb") as lines:
                lines.seek(self._recorded)
                recorded = lines.read()
            if recorded := recorded[: recorded.rfind(b"\n") + 1]:  # whole lines
                self._append(file.name, recorded)
                self._recorded += len(recorded)

    def _append(self, name: str, content: bytes) -> None:
        self._number += 1
        self._pending.append((self._number, name, content))


def _interrupt_main_thread() -> None:
    if (identity := threading.main_thread().ident) is not None:
        signal.pthread_kill(identity, signal.SIGTERM)
