"""Runs a program of MPI on several hosts by Open MPI, whose launcher uses our transports.

`mpirun` runs on the first host. Instead of a remote shell it gets a program that prints the command by
which it would start its daemon on another host; we start exactly that there, by the transport of this host.
So hosts need no ssh to each other, and nothing of ours.

No process ever stays on a host: each command runs under a guard, which ends with its remote process, that is
with our connection or with its lease. The guard ends all processes that descend from its command, because
they have its mark in their environment, and removes the directory in which they ran.
"""

import re
import secrets
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from harness.base.errors import ToolError
from harness.base.failure_reason import failure_reason
from harness.base.words import join_names, shorten
from harness.hosts.remote_process import (
    CompletedCommand,
    RemoteProcess,
    RemoteProcesses,
    answers_of_all,
)
from harness.hosts.transports.host import Host, HostError
from harness.node import iproute2

MPI_EXECUTABLES = ("mpirun", "orted")

TCP = "tcp"
RDMA = "rdma"

_LAUNCH = "clusterlift-launch"
_OUTPUT = "clusterlift: output"
_POLL_S = 0.1
_GRACE_S = 5.0
"""How long mpirun may take to notice that a daemon ended."""
_MAX_REASON = 300
_LOST = "lost communication with a remote daemon"

# The mark must not be in the guard's own environment, or it would end itself.
_GUARD = """
mark=$0 output=$1 directory=/tmp/clusterlift-$0; shift
marked() { grep -Fls "CLUSTERLIFT_JOB=$mark" /proc/[0-9]*/environ 2>/dev/null | cut -d/ -f3; }
end() {
  trap '' TERM INT HUP
  for signal in TERM KILL; do
    for _ in 1 2 3 4 5 6 7 8 9 10; do
      pids=$(marked); [ "$pids" ] || break 2
      kill -$signal $pids 2>/dev/null; sleep 0.1
    done
  done
  rm -rf "$directory" "/dev/shm/clusterlift-$mark"
}
trap 'end; exit 143' TERM INT HUP
trap : PIPE  # a shell may say that its command was ended, where nobody reads it any more
mkdir -m 700 "$directory" && cd "$directory" || exit 1
while [ "$1" != -- ]; do printf %s "$2" >"$1"; shift 2; done; shift
env CLUSTERLIFT_JOB="$mark" TMPDIR="$directory" "$@" & wait $!; code=$?
if [ $code -eq 0 ] && [ "$output" ]; then printf '\\nclusterlift: output\\n'; cat "$output" || code=1; fi
end; exit $code
"""

# Each host's guard has a directory of its own; mpirun would look for that of the first host on all of them.
# So has the memory that processes of a host share: a killed process leaves its file, and network namespaces
# of one machine would take each other's.
_IN_OWN_DIRECTORY = """
cd "$TMPDIR" && mkdir -p "./$0" || exit 1
shared=/dev/shm/${PWD##*/}
mkdir -p "$shared" 2>/dev/null && export OMPI_MCA_btl_vader_backing_directory="$shared"
exec "$@"
"""

_SETTINGS = {
    "plm_rsh_agent": f"echo {_LAUNCH}",
    "plm_rsh_no_tree_spawn": "1",
    "routed": "direct",
    # Processes that wait must not keep others from a processor that they share.
    "mpi_yield_when_idle": "1",
}
"""Parameters of Open MPI (`ompi_info --all` describes them)."""

_AS_ROOT = ("OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1")
_OF_EVERY_PROCESS = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
"""A process for each processor, and no threads beside it."""


@dataclass(frozen=True)
class Placement:
    """The hosts of a program, and how many processes run on each, with rank 0 on the first."""

    hosts: tuple[Host, ...]
    per_host: int = 1

    @property
    def processes(self) -> int:
        """The number of all processes."""
        return len(self.hosts) * self.per_host

    def __str__(self) -> str:
        return ", ".join(map(str, self.hosts))


@dataclass(frozen=True)
class MpiJob:
    """A program of MPI, and where it runs.

    - `command`: the program and its arguments, the same for every process.
    - `placement`: its hosts have IP addresses.
    - `files`: the text of files in the directory of rank 0, by their names, written before the start.
    - `output_file`: the file in this directory that is the result; None if it is the standard output.
    - `directory`: the name of one that every process finds in its own directory.
    - `network`: TCP, or RDMA, by UCX (https://openucx.readthedocs.io).
    """

    command: tuple[str, ...]
    placement: Placement
    files: Mapping[str, str] = field(default_factory=dict)
    output_file: str | None = None
    directory: str = "."
    network: str = TCP


def run_mpi(job: MpiJob, timeout_s: float) -> str:
    """Run a job to its end, and return its output.

    Raise HostError if a host does not answer or goes away, or if the job takes longer than `timeout_s`, and
    ToolError, in one line, if the program fails.
    """
    number = secrets.token_hex(6)
    with RemoteProcesses() as remotes:
        command = guarded(f"{number}.0.", _mpirun(job), job.files, job.output_file)
        hosts = job.placement.hosts
        first = remotes.add(hosts[0], command)
        first.await_ready()
        first.start()
        started_s = time.monotonic()
        daemons = []
        for index, host in enumerate(hosts[1:], 1):
            start = first.await_line(f"{_LAUNCH} {host.address} ")
            shell = ("sh", "-c", start.partition(f"{host.address} ")[2])
            daemons.append(remotes.add(host, guarded(f"{number}.{index}.", shell)))
        for daemon in daemons:
            daemon.await_ready()
        for daemon in daemons:
            daemon.start()
        _await_end(job, first, daemons, started_s + timeout_s, timeout_s)
        completed = first.finish()
    return output_of(job, completed)


def _mpirun(job: MpiJob) -> list[str]:
    hosts = job.placement.hosts
    per_host = job.placement.per_host
    settings = dict(_SETTINGS)
    environment = dict(_OF_EVERY_PROCESS)
    # Messages between hosts take the network under test and no other.
    if job.network == RDMA:
        settings["pml"] = "ucx"
        environment["UCX_TLS"] = "rc,sm,self"
    else:
        settings["pml"] = "ob1"  # else a card that can do more than TCP would
        settings["btl"] = "tcp,self,vader" if per_host > 1 else "tcp,self"
    if len(hosts) > 1:
        included = ",".join(networks(hosts))
        settings["btl_tcp_if_include"] = included
        settings["oob_tcp_if_include"] = included
    slots = ",".join(f"{host.address}:{per_host}" for host in hosts)
    words = ["env", *_AS_ROOT, "mpirun"]
    for key, value in settings.items():
        words += ["--mca", key, value]
    for key, value in environment.items():
        words += ["-x", f"{key}={value}"]
    words += ["--leave-session-attached", "--bind-to", "none", "--map-by", "slot", "--host", slots]
    words += ["-np", str(job.placement.processes), "--wdir", "/"]
    words += ["sh", "-c", _IN_OWN_DIRECTORY, job.directory, *job.command]
    return words


def guarded(
    mark: str,
    command: Sequence[str],
    files: Mapping[str, str] | None = None,
    output_file: str | None = None,
) -> list[str]:
    """Return a command under a guard, which ends all that it started, and removes its directory."""
    words = ["sh", "-c", _GUARD, mark, output_file or ""]
    for name, text in (files or {}).items():
        words += [name, text]
    return [*words, "--", *command]


def networks(hosts: Sequence[Host]) -> list[str]:
    """Return the networks that the hosts' addresses are in, such as `10.0.0.0/24`, each once.

    Raise HostError if a host does not answer, or has no or several addresses in its network.
    """
    networks = []
    answers = answers_of_all(hosts, iproute2.ALL_ADDRESSES, iproute2.read_addresses)
    for host, answer in answers.items():
        addresses = {str(address.ip): address for address in answer}
        if host.address not in addresses:
            raise HostError(f"{host}: no interface has the IPv4 address {host.address}")
        network = addresses.pop(host.address).network
        # Open MPI chooses interfaces by their network.
        others = [name for name, address in addresses.items() if address.ip in network]
        if others:
            raise HostError(
                f"{host}: {join_names(others)} is in the network {network}, too, and messages would take "
                "both; give the host a single address in it"
            )
        networks.append(str(network))
    return list(dict.fromkeys(networks))


def _await_end(
    job: MpiJob,
    first: RemoteProcess,
    daemons: Sequence[RemoteProcess],
    deadline_s: float,
    timeout_s: float,
) -> None:
    """Wait until mpirun ends. Raise HostError if a daemon ends first, or if it takes too long."""
    lost: RemoteProcess | None = None
    lost_s = 0.0
    while not first.has_ended:
        now_s = time.monotonic()
        if now_s > deadline_s:
            raise HostError(
                f"{job.command[0]} did not end within {timeout_s:g} s on {job.placement}; it was stopped"
            )
        if lost is None:
            lost = next((daemon for daemon in daemons if daemon.has_ended), None)
            lost_s = now_s
        elif now_s > lost_s + _GRACE_S:
            raise HostError(f"{lost.host}: it went away, or Open MPI's daemon ended there")
        time.sleep(_POLL_S)


def output_of(job: MpiJob, completed: CompletedCommand) -> str:
    """Return the job's output. Raise ToolError if it failed, and HostError if a host was lost."""
    printed = [line for line in completed.output.splitlines() if not line.startswith(_LAUNCH)]
    if completed.code:
        words = " ".join([*completed.errors.splitlines(), *printed])
        for host in job.placement.hosts:
            if re.search(rf"{_LOST}.*on node {re.escape(host.address)}\b", words):
                raise HostError(f"{host}: Open MPI lost its daemon there")
        reason = _reason(job, completed.errors, "\n".join(printed))
        name = job.command[0].rpartition("/")[2]
        raise ToolError(f"{name} on {job.placement}: {reason or f'exit code {completed.code}'}")
    if job.output_file is not None:
        if _OUTPUT not in printed:
            raise ToolError(f"{job.command[0]} on {job.placement}: it left no {job.output_file}")
        printed = printed[printed.index(_OUTPUT) + 1 :]
    return "\n".join(printed)


def _reason(job: MpiJob, errors: str, printed: str) -> str:
    """Return why a job failed, as its program, its loader or its launcher says."""
    text = failure_reason(errors, printed)
    for host in job.placement.hosts:
        text = re.sub(rf"\b{re.escape(host.address)}\b", str(host), text)
    return shorten(text, _MAX_REASON)
