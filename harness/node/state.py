"""The state of a node at this moment, before a trial, while nothing of ours runs."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from harness.base.words import shorten
from harness.model.interference import NodeInterference
from harness.node.counters import parse_counters
from harness.node.interference import interference
from harness.node.machine import MachineFacts, machine_command, read_machine, unread_facts
from harness.node.processes import Process, read_process
from harness.node.program import lines_by_path, parts_of

WINDOW_S = 0.5
"""As in program.sh: long enough to count a hundred ticks of two processors."""
_KIB = 1024
_MAX_VERSION = 40
_FREE = re.compile(r" (-?[0-9]+) +(?:[0-9]+%|-) ")
"""In a line of `df -P`, where names may have blanks."""


@dataclass(frozen=True)
class NodeState:
    """A node, and what it did in WINDOW_S.

    - `counted`: what may disturb a trial; `shares`: the processes of each name, as shares of all
      processors.
    - `load`: how many processes wanted a processor or a disk in the last minute, on average.
    - `scratch` is where Spark writes if no option names another directory.
    - `unread`: which facts are unknown, and why; None if all were looked for.
    - `python` is the version of the Python that Spark's tasks would have, and `java` that of the Java in
      JAVA_HOME or on the PATH; empty if it is not known.
    """

    host: str
    facts: MachineFacts
    counted: NodeInterference
    shares: Mapping[str, float]
    load: float | None
    memory_bytes: int
    swap_bytes: int
    swap_used_bytes: int
    scratch: str
    scratch_free_bytes: int | None
    unread: str | None = None
    python: str = ""
    java: str = ""


def state_command(python: str = "python3", tasks_python: str = "python3") -> list[str]:
    """Return the command that prints a node's facts and state for `read_state`.

    `python` is the node's Python that finds out the facts. `tasks_python` is the one that Spark would start
    for its tasks.
    """
    return [*machine_command("state", python), tasks_python]


def read_state(host: str, text: str) -> NodeState:
    """Return the state in the output of `state_command`. Raise ValueError or LookupError if there is none."""
    parts = parts_of(text)
    lines = lines_by_path(parts[""])
    facts = read_machine(parts[""])
    before = _Moment(host, parts["before"], facts)
    after = _Moment(host, parts["after"], facts)
    found = interference({host: before.reading}, {host: after.reading})
    if found is None:
        raise ValueError("the clock stood still")
    counted = found[0]
    memory = _memory(lines["/proc/meminfo"])
    swap_bytes = memory.get("SwapTotal", 0)
    load = lines.get("/proc/loadavg", [""])[0].split()
    free = _FREE.search(lines.get("/df", [""])[0])
    return NodeState(
        host,
        facts,
        counted,
        _shares(before.processes, after.processes, counted.duration_s * counted.processors),
        float(load[0]) if load else None,
        memory["MemTotal"],
        swap_bytes,
        swap_bytes - memory.get("SwapFree", swap_bytes),
        lines["/scratch"][0],
        int(free[1]) * _KIB if free else None,
        unread_facts(parts[""]),
        _version(lines, "/tasks_python"),
        _version(lines, "/java"),
    )


def _version(lines: Mapping[str, Sequence[str]], path: str) -> str:
    return shorten(lines.get(path, [""])[0], _MAX_VERSION)


class _Moment:
    """One of the two moments: the counters of the node until then, and its processes."""

    def __init__(self, host: str, text: str, facts: MachineFacts) -> None:
        self.processes = _processes(lines_by_path(text)["processes"])
        kernel = [each for each in self.processes.values() if each.is_kernel]
        counted = parse_counters(host, text)
        processors = counted.counters["processors"]
        further = {
            "quota_processors": min(float(facts.get("cpu_limit", processors)), processors),
            "own": {each.key: (each.own_s, 0.0, "") for each in kernel},
        }
        self.reading = replace(counted, counters={**counted.counters, **further})


def _memory(lines: Sequence[str]) -> dict[str, int]:
    """Return the bytes in the lines of /proc/meminfo, by their names."""
    found = {}
    for line in lines:
        name, _, size = line.partition(":")
        found[name] = int(size.split()[0]) * _KIB
    return found


def _processes(lines: Sequence[str]) -> dict[str, Process]:
    found = {}
    for line in lines:
        with suppress(ValueError, IndexError):  # the rest of a name that has a line feed
            process = read_process(line)
            found[process.key] = process
    return found


def _shares(
    before: Mapping[str, Process], after: Mapping[str, Process], whole_s: float
) -> dict[str, float]:
    """Return the shares of the processors that processes used, by name, the largest first.

    The threads of the kernel do not count.
    """
    used: dict[str, float] = {}
    for key, process in after.items():
        if not process.is_kernel:
            used[process.name] = used.get(process.name, 0.0) + process.own_s
            if key in before:
                used[process.name] -= before[key].own_s
    return {name: used[name] / whole_s for name in sorted(used, key=used.__getitem__, reverse=True)}
