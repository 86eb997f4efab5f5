"""Findings about nodes before the first trial, with the reason why each matters, and its remedy.

A fault changes or scatters times, or ends trials. A note does so on some machines, or may be intended.
"""

from collections.abc import Iterator, Sequence

from harness.analysis.observed.machines import unlike
from harness.base.checked import count
from harness.base.words import join_names, names_by_text, percent, significant
from harness.model.finding import Finding, about, note, unknown
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
from harness.node.machine import MachineFacts
from harness.node.state import NodeState

MIN_SCRATCH_BYTES = 5e9
"""Shuffles of some ten million rows, and what Spark spills, take this much."""
MAX_SWAPPINESS = 10
MIN_SHARE = 0.01
"""Processes that take less are not named."""
MAX_NAMED = 4
MAX_SWAP_USED = 0.01
"""Part of the memory. Pages that were swapped out long ago, and are not needed, take less."""
MAX_LOAD = 0.25
"""Part of the processors. The first trials allow other processes the same."""

_TOP = "ps -eo pcpu,pid,args --sort=-pcpu | head"
_MEMORY = "stop what needs the memory: ps -eo rss,pid,args --sort=-rss | head"
_DISKS = ("trials wait for the same disks", "wait, or stop what uses them: iotop -o")
_REMEDIES = {
    STEAL: (
        "it lengthens trials, and not all alike",
        "choose another hour or host; vmstat 1 shows it as st",
    ),
    OTHERS: ("trials wait for them", f"stop them: {_TOP}"),
    MEMORY_WAIT: ("trials wait, too", _MEMORY),
    SWAPPED: ("trials wait for its disk", _MEMORY),
    FAULTS: ("memory is short, or programs start", f"wait, or {_MEMORY}"),
    IO_WAIT: _DISKS,
    DISKS: _DISKS,
}
"""Why each disturbance matters, and what ends it."""

_LOOKED_AT = _REMEDIES.keys() - {DISKS}
"""Disturbances that are looked for before trials begin."""

_TURBO = "turbo on: the clock depends on heat and on how many processors work"
_CPU = "/sys/devices/system/cpu"
_FACTS = {
    ("boost", "on"): (_TURBO, f"echo 0 > {_CPU}/cpufreq/boost"),
    ("turbo", "on"): (_TURBO, f"echo 1 > {_CPU}/intel_pstate/no_turbo"),
    ("huge_pages", "always"): (
        "huge pages always: the kernel moves memory to make them, in the middle of a trial",
        "echo madvise > /sys/kernel/mm/transparent_hugepage/enabled",
    ),
    ("local_dirs_used", "90 % or more"): (
        "the file system of Spark's local directories is 90 % full or more: shuffles are written in pieces",
        "free some, or name another directory: --conf spark.local.dir=DIRECTORY",
    ),
    ("clock_synchronised", "no"): (
        "its clock is not synchronised: what nodes did at the same time seems to be at different times",
        "timedatectl set-ntp true",
    ),
}
"""Facts that are worth a note by their values, and what changes them."""


def health(states: Sequence[NodeState]) -> list[Finding]:
    """Return the findings about these nodes, among them facts that they do not show."""
    found: list[Finding] = []
    facts: dict[str, MachineFacts] = {}
    missing: dict[str, str] = {}
    for state in states:
        found += _faults(state)
        found += _notes(state)
        facts[state.host] = state.facts
        missing[state.host] = ", ".join(_not_shown(state))
    for line in unlike(facts):
        found.append(note(f"{line}: the slower ones hold up every stage", "set them alike"))
    for text, hosts in names_by_text(missing).items():
        if text:
            found.append(unknown(f"{join_names(hosts)} did not show {text}"))
    return found


def _faults(state: NodeState) -> Iterator[Finding]:
    subject = about(state.host)
    for name, amount in disturbances_without_work(state.counted):
        who = ""
        if name == OTHERS:
            who = _busiest_names(state)
        reason, remedy = _REMEDIES[name]
        yield Finding(subject, f"{name} ({amount}{who}): {reason}", remedy=remedy)
    governor = state.facts.get("governor", "performance")
    if governor != "performance":
        yield Finding(
            subject,
            f"governor {governor}: the clock follows the load, so that trials that wait compute more slowly",
            remedy="cpupower frequency-set -g performance",
        )
    if state.facts.get("raid_state") == "degraded":
        yield Finding(
            subject,
            "a RAID array lacks a disk: trials wait while it computes the missing data, and rebuilds",
            remedy="cat /proc/mdstat",
        )
    free = state.scratch_free_bytes
    if free is not None and free < MIN_SCRATCH_BYTES:
        yield Finding(
            subject,
            f"{state.scratch} has {free / 1e9:.1f} GB left: shuffles that do not fit fail",
            remedy="free it, or name another directory: --conf spark.local.dir=DIRECTORY",
        )


def _busiest_names(state: NodeState) -> str:
    """Return the names of the processes that take most: `; java 31 %, chrome 5 %`."""
    taking = [
        f"{name} {percent(share)}" for name, share in state.shares.items() if share >= MIN_SHARE
    ]
    if not taking:
        return ""
    return f"; {', '.join(taking[:MAX_NAMED])}"


def _not_shown(state: NodeState) -> Iterator[str]:
    for kind in DISTURBANCES:
        part, _ = kind.parts(state.counted)
        if part is None and kind.name in _LOOKED_AT:
            yield f"whether {kind.name}"
    if state.scratch_free_bytes is None:
        yield f"how much space {state.scratch} has"


def _notes(state: NodeState) -> Iterator[Finding]:
    subject = about(state.host)
    if state.unread:
        yield note(state.unread, "install a newer one there", subject)
    processors = state.counted.processors
    quota = state.counted.quota_processors
    if quota is not None and quota < processors:
        yield note(
            f"CPU limit {significant(quota, 3)} of {processors} processors: a quota, a cpuset or taskset "
            "leaves no more",
            "unless you want this, systemctl set-property UNIT CPUQuota= AllowedCPUs=, "
            "docker update --cpus 0 --cpuset-cpus '' CONTAINER, or start without taskset",
            subject,
        )
    for (key, value), (seen, remedy) in _FACTS.items():
        if state.facts.get(key) == value:
            yield note(seen, remedy, subject)
    used = state.swap_used_bytes
    if used > MAX_SWAP_USED * state.memory_bytes:
        yield note(
            f"{used / 1e9:.1f} GB of memory are swapped out: trials wait until they are back",
            "swapoff -a && swapon -a",
            subject,
        )
    swappiness = count(state.facts.get("vm.swappiness")) or 0
    if state.swap_bytes and swappiness > MAX_SWAPPINESS:
        yield note(
            f"vm.swappiness {swappiness}: the kernel swaps heaps out to keep files in memory",
            "sysctl -w vm.swappiness=1",
            subject,
        )
    if state.load is not None and state.load > MAX_LOAD * processors:
        yield note(
            f"load {state.load:g} on {processors} processors in the last minute: what ran then may come "
            "again",
            f"wait, and look: {_TOP}",
            subject,
        )
