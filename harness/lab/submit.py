"""Run an entry script of the checkout under spark-submit on the lab's master.

While programs start, the workers may use all processors of the machine: with half a core a JVM takes
many seconds to start, which no measurement needs. A benchmark waits before its first trial until the
workers' CPU limit is set and verified.
"""

import os
import re
import secrets
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress

from harness.child_process import END_WITH_INPUT
from harness.lab.cluster import Lab, Node
from harness.lab.compose import CPU_PERIOD_US, cpu_quota_us, shape_of
from harness.lab.engine import docker, docker_program
from harness.lab.links import read_links
from harness.local_spark import BENCHMARK
from harness.minicluster.guard import guarded
from harness.model.errors import BadInput, ClusterliftError
from harness.model.link import Link, rate_text
from harness.model.run import EMULATED
from harness.runtime.interrupt import ignored_signals, interruptible
from harness.runtime.trials import HOLD_FILE, hold_message
from harness.terminal import Relay

CHECKOUT = "/opt/clusterlift"
CHUNK_BYTES = 2**16
_NAME = "NAME"
LIMITATIONS = "; shared cores and disk, no CPU saved by jumbo frames"


def spark_submit(
    lab: Lab,
    script: str,
    arguments: Sequence[str],
    properties: Sequence[str] = (),
    on_turn: Callable[[str], None] = lambda _: None,
) -> int:
    """Run a script as the calling user, who then owns its results, and return its exit code.

    `on_turn` is called with the name of a configuration before its trials, which wait until it returns.
    Ctrl-C and SIGTERM reach the script, which then ends by itself; so does the death of this process.
    Raises ClusterliftError if the CPU limit cannot be set before the first trial; the script is
    interrupted then, before it has recorded anything.
    """
    user, group = os.getuid(), os.getgid()
    _create_user(lab.master, user)
    hold_file = f"/tmp/clusterlift-hold-{secrets.token_hex(8)}"  # noqa: S108  in the container
    command = [
        *(docker_program(), "exec", "--interactive", "--user", f"{user}:{group}"),
        *("--workdir", CHECKOUT, "--env", "HOME=/tmp", "--env", "SPARK_LOCAL_DIRS=/tmp"),
        *("--env", f"{HOLD_FILE}={hold_file}"),
        *(lab.master.container, "sh", "-c", END_WITH_INPUT, "submit"),
        *("spark-submit", *(f"--conf={pair}" for pair in properties)),
        *(f"{CHECKOUT}/{script}", *arguments),
    ]
    was_held = False

    def release(configuration: str) -> None:
        nonlocal was_held
        was_held = True
        on_turn(configuration)
        set_cpu_limit(lab, lab.cpus)
        # A script that ended meanwhile has removed it.
        lab.master.execute("rm", "-f", hold_file)

    message = re.escape(hold_message(hold_file, _NAME)).replace(_NAME, "(.*?)")
    with cpu_limit_lifted(lab):
        code = _run(command, re.compile(message.encode()), release)
    if script == BENCHMARK and code == 0 and not was_held:
        raise ClusterliftError(
            f"{script} did not wait for the CPU limit before its first trial: its trials ran with all "
            "processors of the machine, so discard them"
        )
    return code


def facts(lab: Lab, links: Sequence[Link] = ()) -> dict[str, str]:
    """Return what a run in the lab records about it: that it is emulated, and how.

    `links` are those that its nodes will have; by default, those that they have now.
    """
    links = links or read_links(lab.linked)
    is_shaped = any(link.rate_bit_s for link in links)
    found = {
        EMULATED: f"{len(lab.workers)} nodes on one host, "
        + ("links shaped by tc" if is_shaped else "links not shaped")
        + LIMITATIONS,
        "link": _common_value([link.rate for link in links]),
        "mtu": _common_value([str(link.mtu) for link in links]),
        "cpus": f"{lab.cpus:g}",
        "cpu_period": f"{CPU_PERIOD_US / 1000:g} ms",
    }
    if uplink := shape_of(lab).uplink_bit_s:
        found["uplink"] = rate_text(uplink)
    return found


def with_facts(arguments: Sequence[str], facts: Mapping[str, str]) -> list[str]:
    """Append facts about the lab to a benchmark's arguments, except those that the user states."""
    pairs = [argument.removeprefix("--fact=").partition("=") for argument in arguments]
    stated = {key.strip() for key, equals, _ in pairs if equals}
    added = [f"--fact={key}={value}" for key, value in facts.items() if key not in stated]
    return [*arguments, *added]


@contextmanager
def cpu_limit_lifted(lab: Lab) -> Iterator[None]:
    """While entered, let each worker use all processors of the machine; then set the lab's limit.

    It is set, too, if this process is killed.
    """
    processors = float(docker("info", "--format", "{{.NCPU}}"))
    with guarded(docker_program(), *_update_command(lab, lab.cpus)):
        set_cpu_limit(lab, max(processors, lab.cpus))
        try:
            yield
        finally:
            set_cpu_limit(lab, lab.cpus)


def set_cpu_limit(lab: Lab, cpus: float) -> None:
    """Limit each worker to `cpus` processors and read the limits back.

    Raises ClusterliftError if a limit cannot be set, or is not what was set.
    """
    if not _other_limits(lab, cpus):
        return
    try:
        docker(*_update_command(lab, cpus))
    except BadInput:
        raise
    except ClusterliftError as error:
        raise ClusterliftError(
            f"cannot limit the workers to {cpus:g} processors: {error}"
        ) from error
    if others := _other_limits(lab, cpus):
        found = ", ".join(f"{name} {limit}" for name, limit in others.items())
        raise ClusterliftError(
            f"the workers should be limited to {cpus:g} processors, {cpu_quota_us(cpus)} of "
            f"{CPU_PERIOD_US} us, but Docker reports: {found} (0 is no limit)"
        )


def _update_command(lab: Lab, cpus: float) -> list[str]:
    """Return the arguments with which Docker limits the workers."""
    return [
        *("update", "--cpu-period", str(CPU_PERIOD_US), "--cpu-quota", str(cpu_quota_us(cpus))),
        *(node.container for node in lab.workers),
    ]


def _run(
    command: Sequence[str], message: re.Pattern[bytes], on_message: Callable[[str], None]
) -> int:
    """Run a command, show its output, and call a function with each message in the output.

    A message is a line; the function gets the part of it that the pattern's group matches.
    """
    with (
        interruptible(once=True),
        # In a session of its own: at Ctrl-C the docker client would end and leave the script running.
        subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            bufsize=0,
            start_new_session=True,
        ) as process,
    ):
        assert process.stdin is not None  # noqa: S101  both are pipes
        assert process.stdout is not None  # noqa: S101
        output, relay = process.stdout.fileno(), Relay()
        try:
            _show_output(output, relay, message, on_message)
            return process.wait()
        except BaseException as error:
            with ignored_signals():
                process.stdin.close()  # interrupts the script, which then ends by itself
                _show_output(output, relay)
                code = process.wait()
            if isinstance(error, KeyboardInterrupt):
                return code
            raise


def _show_output(
    pipe: int,
    relay: Relay,
    message: re.Pattern[bytes] | None = None,
    on_message: Callable[[str], None] = lambda _: None,
) -> None:
    """Copy a pipe to standard output until it is closed; call the function at each message."""
    line = b""
    while chunk := os.read(pipe, CHUNK_BYTES):
        relay.copy(chunk)
        if message is None:
            continue
        *lines, line = (line + chunk).split(b"\n")
        line = line[-CHUNK_BYTES:]
        for each in lines:
            if match := message.search(each):
                on_message(match[1].decode(errors="replace"))
    relay.end()


def _create_user(master: Node, user: int) -> None:
    """Give this user id a name on the master, because Hadoop refuses an id without a name."""
    with suppress(ClusterliftError):
        master.execute("getent", "passwd", str(user))
        return
    master.execute("useradd", "--no-create-home", "--uid", str(user), f"caller-{user}")


def _other_limits(lab: Lab, cpus: float) -> dict[str, str]:
    """Return the limits, by the worker's name, that are not `cpus` in the lab's period."""
    containers = [node.container for node in lab.workers]
    if not containers:
        return {}
    format_ = "{{.HostConfig.CpuQuota}} of {{.HostConfig.CpuPeriod}} us"
    limits = docker("inspect", "--format", format_, *containers).splitlines()
    expected = f"{cpu_quota_us(cpus)} of {CPU_PERIOD_US} us"
    return {
        node.name: limit
        for node, limit in zip(lab.workers, limits, strict=True)
        if limit != expected
    }


def _common_value(values: Sequence[str]) -> str:
    return values[0] if len(set(values)) == 1 else "mixed: " + " ".join(values)
