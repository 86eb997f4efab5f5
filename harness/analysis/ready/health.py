"""What is wrong with nodes before the first trial: what it is, why it matters, and what mends it.

A fault changes or scatters times, or ends trials. A note does so on some machines, or may be wanted.
"""

from collections.abc import Iterable, Iterator, Sequence

from harness.analysis.observed.machines import unlike
from harness.base.words import join_names, names_by_text, percent, significant
from harness.model.finding import Finding
from harness.model.interference import (
    DISKS,
    DISTURBANCES,
    FAULTS,
    IO_WAIT,
    MEMORY_WAIT,
    OTHERS,
    STEAL,
    SWAPPED,
    disturbances_without_work,
)
from harness.node.iproute2 import count
from harness.node.state import NodeState

MIN_SCRATCH_BYTES = 5e9
"""Shuffles of some ten million rows, and what Spark spills, take as much."""
MAX_SWAPPINESS = 10
MIN_SHARE = 0.01
"""Processes that take less are not named."""
MAX_NAMED = 4
MAX_SWAP_USED = 0.01
"""Part of the memory. Pages that were swapped out long ago, and are not needed, take less."""
MAX_LOAD = 0.25
"""Part of the processors. The first trials, too, allow other processes this much."""

_TOP = "ps -eo pcpu,pid,args --sort=-pcpu | head"
_MEMORY = "stop what needs the memory: ps -eo rss,pid,args --sort=-rss | head"
_DISKS = "trials wait for the same disks; wait, or stop what uses them: iotop -o"
_REMEDIES = {
    STEAL: "it lengthens trials, and not all alike; choose another hour or host; vmstat 1 shows it as st",
    OTHERS: f"trials wait for them; stop them: {_TOP}",
    MEMORY_WAIT: f"trials wait, too; {_MEMORY}",
    SWAPPED: f"trials wait for its disk; {_MEMORY}",
    FAULTS: f"memory is short, or programs start; wait, or {_MEMORY}",
    IO_WAIT: _DISKS,
    DISKS: _DISKS,
}
"""Why each disturbance matters, and what ends it."""

_LOOKED_AT = _REMEDIES.keys() - {DISKS}
"""Disturbances that are looked for before trials begin."""

_TURBO = "turbo on: the clock depends on heat and on how many processors work"
_CPU = "/sys/devices/system/cpu"
_FACTS = {
    ("boost", "on"): f"{_TURBO}; echo 0 > {_CPU}/cpufreq/boost",
    ("turbo", "on"): f"{_TURBO}; echo 1 > {_CPU}/intel_pstate/no_turbo",
    ("huge_pages", "always"): (
        "huge pages always: the kernel moves memory to make them, in the middle of a trial; "
        "echo madvise > /sys/kernel/mm/transparent_hugepage/enabled"
    ),
    ("local_dirs_used", "90 % or more"): (
        "the file system of Spark's local directories is 90 % full or more: shuffles are written to what is "
        "left, in pieces; free some, or name another directory: --conf spark.local.dir=DIRECTORY"
    ),
    ("clock_synchronised", "no"): (
        "its clock is not synchronised: what nodes did at the same time seems to be at different times; "
        "timedatectl set-ntp true"
    ),
}
"""Facts that are worth a note, with their values."""


def health(states: Sequence[NodeState]) -> list[Finding]:
    """Return what is wrong with these nodes, one line each."""
    facts = {state.host: state.facts for state in states}
    apart = (
        Finding("", f"{line}: the slower ones hold up every stage; set them alike", is_fault=False)
        for line in unlike(facts)
    )
    return [*(found for state in states for found in _of_node(state)), *apart]


def _of_node(state: NodeState) -> Iterator[Finding]:
    for name, amount in disturbances_without_work(state.counted):
        who = _named(state) if name == OTHERS else ""
        yield Finding(state.host, f"{name} ({amount}{who}): {_REMEDIES[name]}")
    governor = state.facts.get("governor", "performance")
    if governor != "performance":
        yield Finding(
            state.host,
            f"governor {governor}: the clock follows the load, so that trials that wait compute more slowly; "
            "cpupower frequency-set -g performance",
        )
    if state.facts.get("raid_state") == "degraded":
        yield Finding(
            state.host,
            "a RAID array lacks a disk: trials wait while it computes what is missing, and rebuilds; "
            "cat /proc/mdstat",
        )
    free = state.scratch_free_bytes
    if free is not None and free < MIN_SCRATCH_BYTES:
        yield Finding(
            state.host,
            f"{state.scratch} has {free / 1e9:.1f} GB left: shuffles that do not fit fail; free it, or name "
            "another directory: --conf spark.local.dir=DIRECTORY",
        )
    for text in _notes(state):
        yield Finding(state.host, text, is_fault=False)


def _named(state: NodeState) -> str:
    """Return the names of the processes that take most: `; java 31 %, chrome 5 %`."""
    taking = [(name, share) for name, share in state.shares.items() if share >= MIN_SHARE]
    listed = ", ".join(f"{name} {percent(share)}" for name, share in taking[:MAX_NAMED])
    return listed and f"; {listed}"


def unknown_of(states: Sequence[NodeState]) -> list[str]:
    """Return a line for nodes that do not show all that is looked for: of that, nothing is known."""
    texts = {state.host: ", ".join(_unknown(state)) for state in states}
    return [
        f"unknown, because {join_names(hosts)} did not show it: {text}"
        for text, hosts in names_by_text(texts).items()
        if text
    ]


def _unknown(state: NodeState) -> Iterator[str]:
    for kind in DISTURBANCES:
        part, _ = kind.parts(state.counted)
        if part is None and kind.name in _LOOKED_AT:
            yield f"whether {kind.name}"
    if state.scratch_free_bytes is None:
        yield f"how much space {state.scratch} has"


def _notes(state: NodeState) -> Iterable[str]:
    if state.unread:
        yield f"{state.unread}; install a newer one there"
    processors, quota = state.counted.processors, state.counted.quota_processors
    if quota is not None and quota < processors:
        yield (
            f"CPU limit {significant(quota, 3)} of {processors} processors: a quota, a cpuset or taskset "
            "leaves no more; unless you want this, systemctl set-property UNIT CPUQuota= AllowedCPUs=, "
            "docker update --cpus 0 --cpuset-cpus '' CONTAINER, or start without taskset"
        )
    for (key, value), text in _FACTS.items():
        if state.facts.get(key) == value:
            yield text
    used = state.swap_used_bytes
    if used > MAX_SWAP_USED * state.memory_bytes:
        yield (
            f"{used / 1e9:.1f} GB of memory are swapped out: trials wait until they are back; "
            "swapoff -a && swapon -a"
        )
    swappiness = count(state.facts.get("vm.swappiness")) or 0
    if state.swap_bytes and swappiness > MAX_SWAPPINESS:
        yield (
            f"vm.swappiness {swappiness}: the kernel swaps heaps out to keep files in memory; "
            "sysctl -w vm.swappiness=1"
        )
    if state.load is not None and state.load > MAX_LOAD * processors:
        yield (
            f"load {state.load:g} on {processors} processors in the last minute: what ran then may come "
            f"again; wait, and look: {_TOP}"
        )
