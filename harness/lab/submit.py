"""Run an entry script of the checkout under spark-submit on the lab's master."""

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

CHECKOUT = "/opt/clusterlift"
LIMITATIONS = "; shared cores and disk, no CPU saved by jumbo frames"


def spark_submit(
    lab: Lab,
    script: str,
    arguments: Sequence[str],
    properties: Sequence[str] = (),
    environment: Mapping[str, str] | None = None,
    meanwhile: Callable[[], None] = lambda: None,
) -> int:
    """Run a script as the calling user, who then owns its results, and return its exit code.

    `environment` is added to that of the lab. `meanwhile` is called several times a second. Ctrl-C, SIGTERM
    and the death of this process reach the script, which then ends by itself. Raise KeyboardInterrupt then.
    """
    user, group = os.getuid(), os.getgid()
    _create_user(lab.master, user)
    command = [
        *(docker_program(), "exec", "--interactive", "--user", f"{user}:{group}"),
        *("--workdir", CHECKOUT, "--env", "HOME=/tmp", "--env", "SPARK_LOCAL_DIRS=/tmp"),
        *(f"--env={name}={value}" for name, value in (environment or {}).items()),
        *(lab.master.container, "sh", "-c", END_WITH_INPUT, "submit"),
        *("spark-submit", *(f"--conf={pair}" for pair in properties)),
        *(f"{CHECKOUT}/{script}", *arguments),
    ]
    # At Ctrl-C the docker client would end and leave the script running; the end of its input interrupts it.
    return run_to_its_end(command, os.environ, meanwhile, ends_with_input=True)


def facts(lab: Lab, links: Sequence[Link] = (), disks: str = "") -> dict[str, str]:
    """Return what a run in the lab records about it: that it is emulated, and how.

    `links` are the links that its nodes will have, by default their links of now; `disks` says how disks are
    limited.
    """
    links = links or read_links(lab.linked)
    is_shaped = any(link.rate_bit_s for link in links)
    return {
        EMULATED: f"{len(lab.workers)} nodes on one host, "
        + ("links shaped by tc" if is_shaped else "links not shaped")
        + (disks and f", {disks}")
        + LIMITATIONS,
        "link": _common_value([link.rate for link in links]),
        "mtu": _common_value([str(link.mtu) for link in links]),
        "cpus": f"{lab.cpus:g}",
        "cpu_period": f"{CPU_PERIOD_US / 1000:g} ms",
    }


def with_facts(arguments: Sequence[str], facts: Mapping[str, str]) -> list[str]:
    """Append facts about the lab to a benchmark's arguments, except facts that the user states."""
    pairs = [argument.removeprefix("--fact=").partition("=") for argument in arguments]
    stated = {key.strip() for key, equals, _ in pairs if equals}
    added = [f"--fact={key}={value}" for key, value in facts.items() if key not in stated]
    return [*arguments, *added]


def _create_user(master: Node, user: int) -> None:
    """Give this user id a name on the master, because Hadoop refuses an id without a name."""
    with suppress(ClusterliftError):
        master.execute("getent", "passwd", str(user))
        return
    master.execute("useradd", "--no-create-home", "--uid", str(user), f"caller-{user}")


def _common_value(values: Sequence[str]) -> str:
    return values[0] if len(set(values)) == 1 else "mixed: " + " ".join(values)
