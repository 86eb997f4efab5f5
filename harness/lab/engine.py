"""The docker engine of this machine, driven by the programs that a user has."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from harness.model.errors import BadInput, ClusterliftError

_DENIED = re.compile(r"permission denied", re.IGNORECASE)
_NOT_THERE = re.compile(
    r"cannot connect|failed to connect|error during connect|daemon (is )?running", re.IGNORECASE
)


def docker(*arguments: str) -> str:
    """What a docker command prints.

    Raises BadInput if there is no docker or it cannot be used, ClusterliftError with the last line
    that the command complained of if it fails.
    """
    done = run([docker_program(), *arguments])
    if done.returncode:
        raise _complaint(arguments[0], done.stderr)
    return done.stdout


def run(
    command: Sequence[str], environment: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run a program to its end, its output kept."""
    return subprocess.run(
        command,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )


def docker_program() -> str:
    """The client. Raises BadInput if there is none."""
    if found := shutil.which("docker"):
        return found
    raise BadInput("the lab needs Docker, and no 'docker' is on the PATH: install Docker")


def compose_program() -> list[str]:
    """`docker compose` if the client has it, else `docker-compose`. Raises BadInput without both."""
    docker("version")  # without an engine, that is what has to be told
    if run([docker_program(), "compose", "version"]).returncode == 0:
        return [docker_program(), "compose"]
    if found := shutil.which("docker-compose"):
        return [found]
    raise BadInput(
        "the lab needs Docker Compose: install the plugin 'docker compose', or 'docker-compose'"
    )


def free_bytes() -> int | None:
    """Room on the disk that the engine keeps everything on; None if that is not to be seen here."""
    place = Path(docker("info", "--format", "{{.DockerRootDir}}").strip())
    try:
        return shutil.disk_usage(place).free
    except OSError:  # the engine is in a virtual machine, or on another host
        return None


def _complaint(what: str, said: str) -> ClusterliftError:
    if _DENIED.search(said) and "docker" in said.lower():
        return BadInput(
            "Docker's socket may not be opened by this user: join the group 'docker', or use sudo"
        )
    if _NOT_THERE.search(said):
        return BadInput(
            "no Docker engine answers: start it (systemctl start docker), or set DOCKER_HOST"
        )
    return ClusterliftError(f"docker {what} failed: {last_line(said)}")


def last_line(text: str) -> str:
    """The last line that is not empty."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else "it said nothing"
