"""Docker and Compose, driven through their command-line programs."""

import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from typing import IO

from harness.child_process import ENGLISH, finished
from harness.model.errors import BadInput, ClusterliftError
from harness.terminal import say
from harness.words import last_line

NO_OUTPUT = "no message"
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
_DENIED = re.compile(r"permission denied", re.IGNORECASE)
_NO_ENGINE = re.compile(
    r"cannot connect|failed to connect|error during connect|daemon (is )?running", re.IGNORECASE
)


def docker(*arguments: str) -> str:
    """Run a docker command and return its standard output.

    Raises BadInput if there is no docker or this user may not use it, and ClusterliftError with the
    last line of its standard error if the command fails.
    """
    done = finished([docker_program(), *arguments])
    if done.returncode:
        raise _error(arguments[0], done.stderr)
    return done.stdout


def last_message(container: str) -> str:
    """Return the last line that a container printed to either stream. Raises errors like `docker`."""
    done = finished([docker_program(), "logs", "--tail", "20", container])
    if done.returncode:
        raise _error("logs", done.stderr)
    return last_line(f"{done.stdout}\n{done.stderr}", NO_OUTPUT)


def run_showing_output(
    command: Sequence[str],
    environment: Mapping[str, str],
    stdin: IO[str],
) -> subprocess.CompletedProcess[str]:
    """Run a program to its end and show each line of its output on standard error as it comes.

    The result's `stderr` is all that the program printed, to either stream.
    """
    lines = []
    with subprocess.Popen(
        command,
        env={**environment, **ENGLISH},
        stdin=stdin,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    ) as process:
        assert process.stdout is not None  # noqa: S101  it is a pipe
        try:
            for line in process.stdout:
                lines.append(line)
                if text := _COLOUR.sub("", line).rstrip():
                    say(text)
        except BaseException:
            process.kill()  # or leaving the block would wait for it
            raise
    return subprocess.CompletedProcess(command, process.returncode, "", "".join(lines))


def docker_program() -> str:
    """Return the path of the docker client. Raises BadInput if there is none."""
    if found := shutil.which("docker"):
        return found
    raise BadInput("the lab needs Docker, and no 'docker' is on the PATH: install Docker")


def compose_program() -> list[str]:
    """Return `docker compose` if the client has it, else `docker-compose`.

    Raises BadInput if neither is installed or no engine answers.
    """
    docker("version")  # a missing engine is the error to report first
    if finished([docker_program(), "compose", "version"]).returncode == 0:
        return [docker_program(), "compose"]
    if found := shutil.which("docker-compose"):
        return [found]
    raise BadInput(
        "the lab needs Docker Compose: install the plugin 'docker compose', or 'docker-compose'"
    )


def _error(subcommand: str, stderr: str) -> ClusterliftError:
    if _DENIED.search(stderr) and "docker" in stderr.lower():
        return BadInput(
            "this user may not open Docker's socket: join the group 'docker', or use sudo"
        )
    if _NO_ENGINE.search(stderr):
        return BadInput(
            "no Docker engine answers: start it (systemctl start docker), or set DOCKER_HOST"
        )
    return ClusterliftError(f"docker {subcommand} failed: {last_line(stderr, NO_OUTPUT)}")
