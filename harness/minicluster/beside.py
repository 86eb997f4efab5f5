"""A command that runs beside a cluster, from its start to its end."""

import os
import shutil
import signal
import subprocess
from collections.abc import Mapping, Sequence

from harness.base.errors import BadInput, ClusterliftError
from harness.base.interrupt import deferred_signals, signal_handlers
from harness.base.terminal import say
from harness.minicluster.cluster import Cluster
from harness.minicluster.daemon import COMMAND

# If we are killed before the guard can know of it, the directory is gone, and the command never runs.
_WHEN_KNOWN = 'echo $$ >"$0" && exec "$@"'


def check_program(command: Sequence[str]) -> None:
    """Raise BadInput, before anything is started, if there is no such program."""
    if shutil.which(command[0]) is None:
        raise BadInput(f"COMMAND: there is no program {command[0]!r}; name an installed one")


def run_beside(cluster: Cluster, command: Sequence[str], environment: Mapping[str, str]) -> int:
    """Run a command to its end, say which daemons died in the meantime, and return its exit code.

    That is 128 + N if signal N ended it. The command decides what a signal does: it may be an interactive
    shell. Raise ClusterliftError if it cannot be started.
    """
    child: subprocess.Popen[bytes] | None = None

    def ignore(_number: int, _frame: object) -> None:
        pass

    def forward(number: int, _frame: object) -> None:
        if child is not None:
            child.send_signal(number)

    # A terminal sends SIGINT to the command, too. SIGTERM and SIGHUP reach this process alone.
    with signal_handlers({signal.SIGINT: ignore, signal.SIGTERM: forward, signal.SIGHUP: forward}):
        with deferred_signals():  # a signal that arrives before there is a child would be lost
            try:
                child = subprocess.Popen(
                    ["/bin/sh", "-c", _WHEN_KNOWN, str(cluster.directory / COMMAND), *command],
                    env={**os.environ, **environment},
                )
            except OSError as error:
                raise ClusterliftError(f"cannot run {command[0]}: {error.strerror}") from error
        code = child.wait()
        (cluster.directory / COMMAND).unlink(missing_ok=True)
    for daemon in cluster.dead():
        say(f"{daemon.name} died in the meantime: {daemon.closing_message()}; see {daemon.log}")
    if code < 0:
        return 128 - code
    return code
