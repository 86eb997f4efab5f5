"""Runs an entry script of the checkout under spark-submit on the lab's master, and declares the lab."""

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress

from harness.base.child_process import END_WITH_INPUT, run_to_its_end
from harness.base.errors import ClusterliftError
from harness.lab.cluster import Lab, Node
from harness.lab.compose import CPU_PERIOD_US
from harness.lab.engine import docker_program
from harness.lab.links import read_links
from harness.model.link import Link
from harness.model.run import EMULATED
from harness.submit.usual_lines import left_out

CHECKOUT = "/opt/clusterlift"
LIMITATIONS = "; shared cores and disk, no CPU saved by jumbo frames"


def spark_submit(
    lab: Lab,
    script: str,
    arguments: Sequence[str],
    properties: Sequence[str] = (),
    environment: Mapping[str, str] | None = None,
    meanwhile: Callable[[], None] = lambda: None,
    *,
    shows_usual_lines: bool = False,
) -> int:
    """Run a script as the calling user, who then owns its results, and return its exit code.

    `environment` is added to the environment of the lab. `meanwhile` is called several times a second. The
    lines that every start of Spark prints are shown if `shows_usual_lines`. Ctrl-C, SIGTERM and the death of
    this process reach the script, which then ends by itself. Raise KeyboardInterrupt then.
    """
    user = os.getuid()
    _create_user(lab.master, user)
    command = [docker_program(), "exec", "--interactive", "--user", f"{user}:{os.getgid()}"]
    command += ["--workdir", CHECKOUT, "--env", "HOME=/tmp", "--env", "SPARK_LOCAL_DIRS=/tmp"]
    command += [f"--env={name}={value}" for name, value in (environment or {}).items()]
    # At Ctrl-C the docker client would end and leave the script running; the end of its input interrupts it.
    command += [lab.master.container, "sh", "-c", END_WITH_INPUT, "submit", "spark-submit"]
    command += [f"--conf={pair}" for pair in properties]
    command += [f"{CHECKOUT}/{script}", *arguments]
    return run_to_its_end(
        command,
        os.environ,
        meanwhile,
        ends_with_input=True,
        is_left_out=left_out(shows_usual_lines=shows_usual_lines),
    )


def _create_user(master: Node, user: int) -> None:
    """Give this user id a name on the master, because Hadoop refuses an id without a name."""
    with suppress(ClusterliftError):
        master.execute("getent", "passwd", str(user))
        return
    master.execute("useradd", "--no-create-home", "--uid", str(user), f"caller-{user}")


def facts(lab: Lab, links: Sequence[Link] = (), disks: str = "") -> dict[str, str]:
    """Return what a run in the lab records about it: that it is emulated, and how.

    `links` are the links that its nodes will have, by default their links of now. `disks` says how disks are
    limited.
    """
    links = links or read_links(lab.hosts)
    how = [f"{len(lab.workers)} nodes on one host"]
    is_shaped = any(link.rate_bit_s for link in links)
    how.append("links shaped by tc" if is_shaped else "links not shaped")
    if disks:
        how.append(disks)
    return {
        EMULATED: ", ".join(how) + LIMITATIONS,
        "link": _common_value([link.rate for link in links]),
        "mtu": _common_value([str(link.mtu) for link in links]),
        "cpus": f"{lab.cpus:g}",
        "cpu_period": f"{CPU_PERIOD_US / 1000:g} ms",
    }


def _common_value(values: Sequence[str]) -> str:
    if len(set(values)) == 1:
        return values[0]
    return f"mixed: {' '.join(values)}"
