"""The control group of this process: its limits, what it used, and when a limit stopped it; versions 1 and 2.

A container sees its own group, at the root of what is mounted there. Limits of groups above that it
cannot see. Cpusets of both versions, and taskset, show in what the kernel allows the process itself. This
file is also a program: sent to a node as text (`python -c`), it prints the limits.
"""

import re
from collections.abc import Iterator
from pathlib import Path

_MICROSECONDS = 1e-6
_NANOSECONDS = 1e-9
_NO_LIMIT = 2**62
"""Bytes. Version 1 writes more than this, rounded down to a page, where there is no limit."""


def cpu_quota(root: Path = Path("/")) -> float | None:
    """Return how many processors the group may use, by the tightest quota; None without any."""
    return min(_quotas(root).values(), default=None)


def cpu_allowed(root: Path = Path("/")) -> int | None:
    """Return on how many processors this process may run; None if on all of them."""
    online = _numbers_in(read_text(root / "sys/devices/system/cpu/online"))
    status = read_text(root / "proc/self/status")
    listed = re.search(r"^Cpus_allowed_list:\s*(\S+)", status, re.MULTILINE)
    allowed = _numbers_in(listed[1]) & online if listed else set()
    return len(allowed) if 0 < len(allowed) < len(online) else None


def throttling(root: Path = Path("/")) -> dict[str, float]:
    """Return how often, and for how long, the tightest quota has stopped the group; nothing without a quota.

    - `quota_periods`: in which a process wanted to run; `quota_throttles`: how many of them used it up.
    - `throttled_s`: the time until the next period, added up over the processors.
    """
    quotas = _quotas(root)
    if not quotas:
        return {}
    counted = _numbers(min(quotas, key=quotas.__getitem__) / "cpu.stat")
    found: dict[str, float] = {
        name: counted[key]
        for name, key in (("quota_periods", "nr_periods"), ("quota_throttles", "nr_throttled"))
        if key in counted
    }
    for key, unit in (("throttled_usec", _MICROSECONDS), ("throttled_time", _NANOSECONDS)):
        if key in counted:
            found["throttled_s"] = counted[key] * unit
    return found


def memory_limit(root: Path = Path("/")) -> int | None:
    """Return the bytes that the group may use, by the tightest limit; None without any."""
    texts = (
        read_text(group / name)
        for group in _groups("memory", root)
        for name in ("memory.max", "memory.high", "memory.limit_in_bytes")
    )
    return min(
        (int(text) for text in texts if text.isdecimal() and int(text) < _NO_LIMIT), default=None
    )


def cpu_used_s(root: Path = Path("/")) -> float | None:
    """Return the processor time of all processes that are, or were, in the group; None if unknown."""
    for group in _groups("cpuacct", root):
        if (text := read_text(group / "cpuacct.usage")).isdecimal():
            return int(text) * _NANOSECONDS
        used = _numbers(group / "cpu.stat").get("usage_usec")
        return None if used is None else used * _MICROSECONDS
    return None


def io_group(process: int, root: Path = Path("/")) -> Path | None:
    """Return the directory of the group that limits the disk use of a process here; None if unknown."""
    return next(_groups("blkio", root, str(process)), None)


def _quotas(root: Path) -> dict[Path, float]:
    """Return the quotas, in processors, of the group and of the groups above it that have one."""
    return {group: quota for group in _groups("cpu", root) if (quota := _quota(group))}


def _numbers_in(text: str) -> set[int]:
    """Return the numbers in a list of the kernel's such as `0-3,8`."""
    ends = [part.partition("-") for part in text.split(",") if part]
    return {
        number for first, _, last in ends for number in range(int(first), int(last or first) + 1)
    }


def _numbers(file: Path) -> dict[str, int]:
    pairs = map(str.split, read_text(file).splitlines())
    return {name: int(value) for name, value in pairs if value.isdecimal()}


def _groups(controller: str, root: Path, process: str = "self") -> Iterator[Path]:
    """Yield the directories of the group and of the visible groups above it, from the bottom up."""
    for line in read_text(root / "proc" / process / "cgroup").splitlines():
        _, controllers, path = line.split(":", 2)
        is_old = controller in controllers.split(",")
        # Version 2 has one line without controllers; beside version 1 it may have none at all.
        if is_old or not controllers:
            mounted = _mounted("cgroup" if is_old else "cgroup2", controller, root)
            if mounted is None:
                continue
            directory, mounted_path = mounted
            group = directory / _below(mounted_path, path)
            while True:
                yield group
                if group == directory:
                    break
                group = group.parent
            if is_old:
                return


def _below(mounted_path: str, path: str) -> str:
    """Return the path of the group below the one that is mounted; `` if it is that, or outside."""
    if mounted_path == "/":
        below = path.lstrip("/")
        return "" if below.startswith("..") else below
    return path[len(mounted_path) :].lstrip("/") if path.startswith(mounted_path) else ""


def _mounted(kind: str, controller: str, root: Path) -> tuple[Path, str] | None:
    """Return where the groups of a controller are mounted, and the path of the group that is."""
    for line in read_text(root / "proc/self/mountinfo").splitlines():
        front, _, back = line.partition(" - ")
        fields, (type_, _, options) = front.split(), back.split(" ", 2)
        if type_ == kind and (kind == "cgroup2" or controller in options.split(",")):
            return root / fields[4].lstrip("/"), fields[3]
    return None


def _quota(group: Path) -> float | None:
    """Return the group's own quota in processors; None if it has none."""
    new = read_text(group / "cpu.max").split()
    old = [read_text(group / f"cpu.cfs_{name}_us") for name in ("quota", "period")]
    quota, period = new if len(new) == len(old) else old
    return int(quota) / int(period) if quota.isdecimal() and period.isdecimal() else None


def read_text(file: Path) -> str:
    """Return the content of a file; nothing if it cannot be read, or is of a feature that is off."""
    try:
        return file.read_text().strip()
    except OSError:
        return ""


if __name__ == "__main__":
    for read in (cpu_quota, cpu_allowed, memory_limit):
        print(f"/{read.__name__}:{read() or ''}")  # noqa: T201  this is its answer
