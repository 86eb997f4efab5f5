"""The processes of a Spark application on a node: what they, and those that they started, used."""

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

FIRST_PID_NAMESPACE = "pid:[4026531836]"
"""The namespace in which a machine boots; the kernel fixes its number (PROC_PID_INIT_INO)."""

_KERNEL_THREAD = 0x00200000
_TICKS_PER_S = os.sysconf("SC_CLK_TCK")
_TRANSFERS = ("read_bytes", "write_bytes")


@dataclass(frozen=True)
class Application:
    """A Spark application: its id, and the process of its driver in a namespace of processes."""

    id: str
    driver: int
    driver_namespace: str


def process_namespace(root: Path = Path("/")) -> str:
    """Return the machine's boot and the inode of the namespace in which process numbers count."""
    boot = (root / "proc/sys/kernel/random/boot_id").read_text().strip()
    return f"{boot} {(root / 'proc/self/ns/pid').readlink()}"


def is_contained(root: Path = Path("/")) -> bool:
    """Whether this process sees the processes of its container alone."""
    return str((root / "proc/self/ns/pid").readlink()) != FIRST_PID_NAMESPACE


def application_usage(application: Application, root: Path = Path("/")) -> tuple[float, int | None]:
    """Return processor time and bytes of storage that the application and the kernel's threads used.

    In a container, that is everything that runs there. Time is in seconds; the bytes are None where
    they cannot be read. Those of processes that have ended count if another one waited for them.
    """
    processes = {process.pid: process for process in _processes(root)}
    everything = is_contained(root)
    members = set(processes) if everything else _application(processes, application, root)
    cpu_s = sum(p.cpu_s for p in processes.values() if p.pid in members or p.is_kernel)
    transfers = [_transferred(pid, root) for pid in members]
    known = [count for count in transfers if count is not None]
    return cpu_s, sum(known) if len(known) == len(transfers) else None


def jvm_of(process: int, root: Path = Path("/")) -> int | None:
    """Return the nearest ancestor that is a Java virtual machine; None if there is none."""
    processes = {each.pid: each for each in _processes(root)}
    while (found := processes.get(process)) and found.name != "java":
        process = found.parent
    return found.pid if found else None


@dataclass(frozen=True)
class _Process:
    pid: int
    name: str
    parent: int
    is_kernel: bool
    cpu_s: float


def _processes(root: Path) -> Iterator[_Process]:
    for directory in (root / "proc").iterdir():
        if not directory.name.isdecimal():
            continue
        try:
            text = (directory / "stat").read_text(errors="replace")
        except OSError:  # it has ended meanwhile
            continue
        head, _, tail = text.rpartition(")")
        fields = tail.split()
        yield _Process(
            pid=int(directory.name),
            name=head.partition("(")[2],
            parent=int(fields[1]),
            is_kernel=bool(int(fields[6]) & _KERNEL_THREAD),
            cpu_s=sum(map(int, fields[11:15])) / _TICKS_PER_S,  # with the children it waited for
        )


def _application(
    processes: Mapping[int, _Process], application: Application, root: Path
) -> set[int]:
    """Return the driver and the executors of the application, and all that descend from them."""
    members = {p.pid for p in processes.values() if _is_executor(p, application.id, root)}
    if process_namespace(root) == application.driver_namespace:
        driver = processes.get(application.driver)
        parent = processes.get(driver.parent) if driver else None
        # Under spark-submit, the driver's JVM is the parent of its Python process.
        members.add(parent.pid if parent and parent.name == "java" else application.driver)
    children: dict[int, list[int]] = {}
    for process in processes.values():
        children.setdefault(process.parent, []).append(process.pid)
    unseen = list(members)
    while unseen:
        new = set(children.get(unseen.pop(), ())) - members
        members |= new
        unseen += new
    return members & set(processes)


def _is_executor(process: _Process, application: str, root: Path) -> bool:
    """Whether this is a JVM of the application: an executor, or what YARN starts to ask for executors.

    An executor has the application's id as an argument; every container of YARN has it in paths.
    """
    if process.name != "java":
        return False
    try:
        command = (root / f"proc/{process.pid}/cmdline").read_bytes()
    except OSError:
        return False
    id_ = application.encode()
    return id_ in command.split(b"\0") or b"/%b/" % id_ in command


def _transferred(process: int, root: Path) -> int | None:
    """Return what a process read from storage and is to write to it; None if it may not be read."""
    try:
        lines = (root / f"proc/{process}/io").read_text().splitlines()
    except (FileNotFoundError, ProcessLookupError):  # it has ended meanwhile
        return 0
    except OSError:
        return None
    values = dict(line.split(": ") for line in lines)
    return sum(int(values[name]) for name in _TRANSFERS)
