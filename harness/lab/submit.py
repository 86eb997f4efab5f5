"""Runs an entry script of the checkout under spark-submit on the lab's master."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress

from harness.lab.cluster import Lab, Node
from harness.lab.engine import docker_program
from harness.model.errors import ClusterliftError
from harness.runtime.interrupt import interruptible

CHECKOUT = "/opt/clusterlift"
# The command lives as long as somebody holds the other end of its input: it is interrupted when that
# is closed, also by the death of whoever submitted it. The shell's id is the command's group's.
LEASHED = """
exec 3<&0 </dev/null
{ cat <&3; kill -s INT -- "-$$"; } >/dev/null 2>&1 &
exec "$@" 3<&-
"""


def spark_submit(
    lab: Lab, script: str, arguments: Sequence[str], properties: Sequence[str] = ()
) -> int:
    """Run it as the user who calls, whose the results then are; return its exit code.

    Ctrl-C and SIGTERM reach the script, which ends in its own time; so does it if this process is
    killed.
    """
    user, group = os.getuid(), os.getgid()
    _introduce(lab.master, user)
    command = [
        *(docker_program(), "exec", "--interactive", "--user", f"{user}:{group}"),
        *("--workdir", CHECKOUT, "--env", "HOME=/tmp", "--env", "SPARK_LOCAL_DIRS=/tmp"),
        *(lab.master.container, "sh", "-c", LEASHED, "submit"),
        *("spark-submit", *(f"--conf={pair}" for pair in properties)),
        *(f"{CHECKOUT}/{script}", *arguments),
    ]
    # In a session of its own, because the client would end at Ctrl-C and leave the script behind.
    with subprocess.Popen(command, stdin=subprocess.PIPE, start_new_session=True) as process:
        try:
            with interruptible():
                return process.wait()
        except KeyboardInterrupt:
            process.communicate()  # closes its input
            return process.returncode


def with_facts(arguments: Sequence[str], facts: Mapping[str, str]) -> list[str]:
    """A benchmark's arguments with the lab's facts; what the user says of the same goes before."""
    said = {argument.removeprefix("--fact=").partition("=")[0] for argument in arguments}
    ours = [f"--fact={key}={value}" for key, value in facts.items() if key not in said]
    return [*arguments, *ours]


def _introduce(master: Node, user: int) -> None:
    """Hadoop wants a name for everybody's number."""
    with suppress(ClusterliftError):
        master.execute("getent", "passwd", str(user))
        return
    master.execute("useradd", "--no-create-home", "--uid", str(user), f"caller-{user}")
