"""The processes of a Spark application on a node: what they, and all that they started, used."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Dict, Tuple

from harness.node.namespaces import is_contained, process_namespace
from harness.node.processor_ticks import TICKS_PER_S

_KERNEL_THREAD = 0x00200000

ProcessorTimes = Dict[str, Tuple[float, float, str]]
"""The seconds of each process, the seconds of ended children that it waited for, and its parent.

A process is named by its number and the tick in which it started, because numbers are used again.
"""
WHOLE_GROUP = "control group"
_KERNEL = "kernel"


@dataclass(frozen=True)
class RunningApplication:
    """A Spark application: its id, and the process of its driver in a namespace of processes."""

    id: str
    driver: int
    driver_namespace: str


def application_usage(
    application: RunningApplication, root: Path = Path("/")
) -> tuple[ProcessorTimes, tuple[int, int] | None]:
    """Return processor times, and bytes read and written, of the application and the kernel's threads.

    In a container, that is everything that runs there. The bytes are None where they cannot be read. Times
    of ended processes count if another process waited for them.
    """
    processes = _processes(root)
    members = set(processes)
    if not is_contained(root):
        members = _application(processes, application, root)
    kernel_s = sum(process.own_s for process in processes.values() if process.is_kernel)
    times: ProcessorTimes = {_KERNEL: (kernel_s, 0.0, "")}
    for pid in members:
        process = processes[pid]
        if not process.is_kernel:
            parent = processes.get(process.parent)
            times[process.key] = (process.own_s, process.waited_s, parent.key if parent else "")
    return times, _transferred_by_all(members, root)


def processor_time_between(before: ProcessorTimes, after: ProcessorTimes) -> float:
    """Return the seconds that these processes used between two readings, as far as they are known.

    The time of an ended process is lost, unless its parent waited for it. Then it is part of the parent's
    time, together with the part from before the first reading. Spark's daemon of Python workers does not wait
    for its workers. So a difference of sums would subtract what ended workers had used until the first
    reading.
    """
    ended: dict[str, float] = {}
    for key, (own_s, waited_s, parent) in before.items():
        if key not in after:
            ended[parent] = ended.get(parent, 0.0) + own_s + waited_s
    used_s = 0.0
    for key, (own_s, waited_s, _) in after.items():
        own_before_s, waited_before_s, _ = before.get(key, (0.0, 0.0, ""))
        used_s += max(0.0, own_s - own_before_s)
        used_s += max(0.0, waited_s - waited_before_s - ended.get(key, 0.0))
    return used_s


def jvm_of(process: int, root: Path = Path("/")) -> int | None:
    """Return the nearest ancestor that is a Java virtual machine; None if there is none."""
    processes = _processes(root)
    found = processes.get(process)
    while found and found.name != "java":
        found = processes.get(found.parent)
    if found:
        return found.pid
    return None


@dataclass(frozen=True)
class Process:
    """A process, or a thread of the kernel: the seconds that it used, and its children that it waited for.

    `key` names it among all that the machine has run since it booted.
    """

    pid: int
    name: str
    parent: int
    is_kernel: bool
    key: str
    own_s: float
    waited_s: float


def read_process(text: str) -> Process:
    """Return what a line of /proc/PID/stat says. Raise ValueError or IndexError if it is no such line."""
    head, _, tail = text.rpartition(")")
    pid, _, name = head.partition("(")
    fields = tail.split()
    return Process(
        int(pid),
        name,
        parent=int(fields[1]),
        is_kernel=bool(int(fields[6]) & _KERNEL_THREAD),
        key=f"{int(pid)} {fields[19]}",
        own_s=(int(fields[11]) + int(fields[12])) / TICKS_PER_S,
        waited_s=(int(fields[13]) + int(fields[14])) / TICKS_PER_S,
    )


def own_identity(root: Path = Path("/")) -> str:
    """Return what identifies this process on all machines; empty where there is no /proc."""
    try:
        own = read_process((root / "proc/self/stat").read_text(errors="replace"))
        return f"{process_namespace(root)} {own.key}"
    except OSError:
        return ""


def has_ended(identity: str, root: Path = Path("/")) -> bool | None:
    """Return whether the process with this identity has ended; None if that cannot be known from here.

    It is not known of another machine or container, nor of this machine before it booted again.
    """
    rest, _, started = identity.rpartition(" ")
    namespace, _, pid = rest.rpartition(" ")
    is_here = own_identity(root).startswith(f"{namespace} ")
    if not namespace or not pid.isdecimal() or not is_here:
        return None
    try:
        text = (root / f"proc/{pid}/stat").read_text(errors="replace")
    except OSError:
        return True
    is_zombie = text.rpartition(")")[2].split()[0] in {"Z", "X"}
    return is_zombie or read_process(text).key != f"{pid} {started}"


def _processes(root: Path) -> dict[int, Process]:
    """Return all processes by their numbers."""
    found = {}
    for file in (root / "proc").glob("[0-9]*/stat"):
        try:
            process = read_process(file.read_text(errors="replace"))
        except OSError:  # it has ended meanwhile
            continue
        found[process.pid] = process
    return found


def _application(
    processes: Mapping[int, Process], application: RunningApplication, root: Path
) -> set[int]:
    """Return the driver and the executors of the application, and all that descend from them."""
    members = {
        process.pid for process in processes.values() if _is_executor(process, application.id, root)
    }
    if process_namespace(root) == application.driver_namespace:
        members.add(application.driver)
        driver = processes.get(application.driver)
        # Under spark-submit, the driver's JVM is the parent of its Python process.
        if driver and driver.parent in processes and processes[driver.parent].name == "java":
            members.add(driver.parent)
    children: dict[int, list[int]] = {}
    for process in processes.values():
        children.setdefault(process.parent, []).append(process.pid)
    unseen = list(members)
    while unseen:
        new = set(children.get(unseen.pop(), ())) - members
        members |= new
        unseen += new
    return members & set(processes)


def _is_executor(process: Process, application: str, root: Path) -> bool:
    """Whether this is a JVM of the application: an executor, or what YARN starts to ask for executors.

    An executor has the application's id as an argument. Every container of YARN has it in paths.
    """
    if process.name != "java":
        return False
    try:
        command = (root / f"proc/{process.pid}/cmdline").read_bytes()
    except OSError:
        return False
    id_ = application.encode()
    return id_ in command.split(b"\0") or b"/%b/" % id_ in command


def _transferred_by_all(processes: Iterable[int], root: Path) -> tuple[int, int] | None:
    """Return what these processes read and wrote; None if that is not known of one."""
    read = 0
    written = 0
    for process in processes:
        transferred = _transferred(process, root)
        if transferred is None:
            return None
        read += transferred[0]
        written += transferred[1]
    return read, written


def _transferred(process: int, root: Path) -> tuple[int, int] | None:
    """Return what a process read from storage, and is to write to it; None if that is not known."""
    try:
        lines = (root / f"proc/{process}/io").read_text().splitlines()
    except (FileNotFoundError, ProcessLookupError):  # it has ended meanwhile
        return 0, 0
    except OSError:
        return None
    values = dict(line.split(": ") for line in lines)
    return int(values["read_bytes"]), int(values["write_bytes"])
