"""Docker and Compose, driven through their command-line programs."""

import re
import shutil

from harness.base.child_process import finished
from harness.base.errors import BadInput, ClusterliftError
from harness.base.failure_reason import failure_reason

NO_OUTPUT = "no message"
_DENIED = re.compile(r"permission denied", re.IGNORECASE)
_NO_ENGINE = re.compile(
    r"cannot connect|failed to connect|error during connect|daemon (is )?running", re.IGNORECASE
)


def docker(*arguments: str) -> str:
    """Run a docker command and return its standard output.

    Raise BadInput if there is no docker or this user may not use it, and ClusterliftError with the
    reason in its standard error if the command fails.
    """
    done = finished([docker_program(), *arguments])
    if done.returncode:
        raise _error(arguments[0], done.stderr)
    return done.stdout


def last_message(container: str) -> str:
    """Return which of the last lines of a container says why it ended. Raises errors like `docker`."""
    done = finished([docker_program(), "logs", "--tail", "20", container])
    if done.returncode:
        raise _error("logs", done.stderr)
    return failure_reason(done.stderr, done.stdout) or NO_OUTPUT


def docker_program() -> str:
    """Return the path of the docker client. Raise BadInput if there is none."""
    found = shutil.which("docker")
    if found is None:
        raise BadInput("the lab needs Docker, and no 'docker' is on the PATH: install Docker")
    return found


def compose_program() -> list[str]:
    """Return `docker compose` if the client has it, else `docker-compose`.

    Raise BadInput if neither is installed or no engine answers.
    """
    docker("version")  # a missing engine is the error to report first
    if finished([docker_program(), "compose", "version"]).returncode == 0:
        return [docker_program(), "compose"]
    found = shutil.which("docker-compose")
    if found is None:
        raise BadInput(
            "the lab needs Docker Compose: install the plugin 'docker compose', or 'docker-compose'"
        )
    return [found]


def _error(subcommand: str, stderr: str) -> ClusterliftError:
    if _DENIED.search(stderr) and "docker" in stderr.lower():
        return BadInput(
            "this user may not open Docker's socket: join the group 'docker', or use sudo"
        )
    if _NO_ENGINE.search(stderr):
        return BadInput(
            "no Docker engine answers: start it (systemctl start docker), or set DOCKER_HOST"
        )
    return ClusterliftError(f"docker {subcommand} failed: {failure_reason(stderr) or NO_OUTPUT}")
