"""What a node does at this moment, from its kernel's files: before a trial, while nothing of ours runs."""

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from harness.model.interference import NodeInterference
from harness.node.counters import kernel_counters
from harness.node.interference import interference
from harness.node.machine import (
    PROGRAM,
    SCRIPT,
    MachineFacts,
    lines_by_path,
    read_machine,
    unread_facts,
)
from harness.node.processes import Process, read_process
from harness.node.snapshot import NodeReading

WINDOW_S = 0.5
"""Long enough to count a hundred ticks of two processors."""
_KIB = 1024
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


# Processes are read outside the window. What is missing prints nothing.
_SCRIPT = f"""exec 2>/dev/null
export SPARK_LOCAL_DIRS="${{SPARK_LOCAL_DIRS:-${{LOCAL_DIRS:-/tmp}}}}"
({SCRIPT})
processes() {{ cat /proc/[0-9]*/stat | sed -nE "s|^([0-9]+ \\(.*\\) ([^ ]+ ){{20}}).*|$1/processes:\\1|p"; }}
counted() {{
  grep -sE '^(cpu |some |pgmajfault |pswp|[0-9.]+ [0-9.]+$)' /dev/null /proc/stat /proc/vmstat \\
    /proc/pressure/memory /proc/pressure/io /proc/uptime | sed "s|^|$1|"
}}
grep -s . /dev/null /proc/loadavg
scratch=${{SPARK_LOCAL_DIRS%%,*}}
echo "/scratch:$scratch"
df -Pk "$scratch" | sed -n '2s|^|/df:|p'
processes before; counted before; sleep {WINDOW_S}; counted after; processes after
exit 0
"""


def state_command(python: str = "python3") -> list[str]:
    """Return the command that prints a node's facts and state for `read_state`; `python` is one there."""
    return ["sh", "-c", _SCRIPT, python, PROGRAM]


def read_state(host: str, text: str) -> NodeState:
    """Return the state in the output of `state_command`. Raise ValueError or LookupError if there is none."""
    lines = lines_by_path(text)
    facts = read_machine(text)
    processors = int(lines["/getconf"][0])
    processes = {moment: _processes(lines[f"{moment}/processes"]) for moment in ("before", "after")}

    def counters(moment: str) -> NodeReading:
        found = processes[moment]
        known: dict[str, Any] = {
            "clock_s": float(lines[f"{moment}/proc/uptime"][0].split()[0]),
            "processors": processors,
            "quota_processors": min(float(facts.get("cpu_limit", processors)), processors),
            "own": {key: (each.own_s, 0.0, "") for key, each in found.items() if each.is_kernel},
        }
        counted = kernel_counters(lambda path: "\n".join(lines.get(f"{moment}/{path}", ())))
        return NodeReading(host, host, known | counted)

    [counted] = interference({host: counters("before")}, {host: counters("after")}) or ()
    sizes = (line.split(":") for line in lines["/proc/meminfo"])
    memory = {name: int(size.split()[0]) * _KIB for name, size in sizes}
    free = _FREE.search(lines.get("/df", [""])[0])
    load = lines.get("/proc/loadavg", [""])[0].split()[:1]
    swap_bytes = memory.get("SwapTotal", 0)
    return NodeState(
        host,
        facts,
        counted,
        _shares(processes["before"], processes["after"], counted.duration_s * processors),
        float(load[0]) if load else None,
        memory["MemTotal"],
        swap_bytes,
        swap_bytes - memory.get("SwapFree", swap_bytes),
        lines["/scratch"][0],
        int(free[1]) * _KIB if free else None,
        unread_facts(text),
    )


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
    """Return what processes of each name used between two moments, the most first; not the kernel's."""
    used: dict[str, float] = {}
    for key, process in after.items():
        if not process.is_kernel:
            earlier_s = before[key].own_s if key in before else 0.0
            used[process.name] = used.get(process.name, 0.0) + process.own_s - earlier_s
    return {name: used[name] / whole_s for name in sorted(used, key=used.__getitem__, reverse=True)}
