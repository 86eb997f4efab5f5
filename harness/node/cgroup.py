"""The control group of this process: limits, use, and when a limit stopped it; versions 1 and 2.

A container sees its own group, at the root of what is mounted there, and no limits of groups above it.
Cpusets of both versions, and taskset, show in what the kernel allows the process itself.

program.sh gives this file to the Python of a node, where it prints the limits. So it imports nothing of ours,
and keeps to the language of Python 3.6.
"""

import re
from pathlib import Path
from typing import Dict, Iterator, Optional, Set, Tuple

_MICROSECONDS = 1e-6
_NANOSECONDS = 1e-9
_NO_LIMIT = 2**62
"""Bytes. Version 1 writes more than this, rounded down to a page, where there is no limit."""
_QUOTA_COUNTERS = {
    "nr_periods": ("quota_periods", 1),
    "nr_throttled": ("quota_throttles", 1),
    "throttled_usec": ("throttled_s", _MICROSECONDS),
    "throttled_time": ("throttled_s", _NANOSECONDS),
}
"""The counters of cpu.stat about a quota, with our names and the unit."""
_MEMORY_LIMITS = ("memory.max", "memory.high", "memory.limit_in_bytes")

# Names may have characters at which splitlines() would end a line.
_GROUP = re.compile(r"\d+:[^:]*:")
_MOUNT = re.compile(r"([^ ]+ ){6}(.* )?- [^ ]+ [^ ]* ")


def cpu_quota(root: Path = Path("/")) -> Optional[float]:
    """Return how many processors the group may use, by the tightest quota; None without any."""
    return min(_quotas(root).values(), default=None)


def cpu_allowed(root: Path = Path("/")) -> Optional[int]:
    """Return on how many processors this process may run; None if on all of them."""
    online = _numbers_in(read_text(root / "sys/devices/system/cpu/online"))
    status = read_text(root / "proc/self/status")
    listed = re.search(r"^Cpus_allowed_list:\s*(\S+)", status, re.MULTILINE)
    if listed is None:
        return None
    allowed = _numbers_in(listed[1]) & online
    if 0 < len(allowed) < len(online):
        return len(allowed)
    return None


def throttling(root: Path = Path("/")) -> Dict[str, float]:
    """Return how often, and for how long, the tightest quota has stopped the group; nothing without a quota.

    - `quota_periods`: in which a process wanted to run; `quota_throttles`: how many of them used it up.
    - `throttled_s`: the time until the next period, added up over the processors.
    """
    quotas = _quotas(root)
    if not quotas:
        return {}
    tightest = min(quotas, key=quotas.__getitem__)
    found: Dict[str, float] = {}
    for key, value in _numbers(tightest / "cpu.stat").items():
        if key in _QUOTA_COUNTERS:
            name, unit = _QUOTA_COUNTERS[key]
            found[name] = value * unit
    return found


def memory_limit(root: Path = Path("/")) -> Optional[int]:
    """Return the bytes that the group may use, by the tightest limit; None without any."""
    limits = []
    for group in _groups("memory", root):
        for name in _MEMORY_LIMITS:
            text = read_text(group / name)
            if text.isdecimal() and int(text) < _NO_LIMIT:
                limits.append(int(text))
    return min(limits, default=None)


def cpu_used_s(root: Path = Path("/")) -> Optional[float]:
    """Return the processor time of all processes that are, or were, in the group; None if unknown."""
    group = next(_groups("cpuacct", root), None)
    if group is None:
        return None
    text = read_text(group / "cpuacct.usage")
    if text.isdecimal():
        return int(text) * _NANOSECONDS
    used = _numbers(group / "cpu.stat").get("usage_usec")
    if used is None:
        return None
    return used * _MICROSECONDS


def io_group(process: int, root: Path = Path("/")) -> Optional[Path]:
    """Return the directory of the group that limits the disk use of a process here; None if unknown."""
    return next(_groups("blkio", root, str(process)), None)


def _quotas(root: Path) -> Dict[Path, float]:
    """Return the quotas, in processors, of the group and of the groups above it that have one."""
    found = {}
    for group in _groups("cpu", root):
        quota = _quota(group)
        if quota:
            found[group] = quota
    return found


def _quota(group: Path) -> Optional[float]:
    """Return the group's own quota in processors; None if it has none."""
    quota, _, period = read_text(group / "cpu.max").partition(" ")
    if not period:
        quota = read_text(group / "cpu.cfs_quota_us")
        period = read_text(group / "cpu.cfs_period_us")
    if quota.isdecimal() and period.isdecimal():
        return int(quota) / int(period)
    return None


def _numbers_in(text: str) -> Set[int]:
    """Return the numbers in a list of the kernel's such as `0-3,8`."""
    found: Set[int] = set()
    for part in text.split(","):
        first, _, last = part.partition("-")
        if first:
            found.update(range(int(first), int(last or first) + 1))
    return found


def _numbers(file: Path) -> Dict[str, int]:
    found = {}
    for line in read_text(file).splitlines():
        name, _, value = line.partition(" ")
        if value.isdecimal():
            found[name] = int(value)
    return found


def _groups(controller: str, root: Path, process: str = "self") -> Iterator[Path]:
    """Yield the directories of the group and of the visible groups above it, from the bottom up."""
    for line in read_text(root / "proc" / process / "cgroup").split("\n"):
        if not _GROUP.match(line):
            continue
        _, controllers, path = line.split(":", 2)
        is_old = controller in controllers.split(",")
        # Version 2 has one line without controllers; beside version 1 it may have none at all.
        if not is_old and controllers:
            continue
        mounted = _mounted("cgroup" if is_old else "cgroup2", controller, root)
        if mounted is None:
            continue
        directory, mounted_path = mounted
        group = directory / _below(mounted_path, path)
        yield group
        while group != directory:
            group = group.parent
            yield group
        if is_old:
            return


def _below(mounted_path: str, path: str) -> str:
    """Return the path of a group relative to the mounted one; empty if it is that one, or outside of it."""
    if mounted_path == "/":
        below = path.lstrip("/")
        if below.startswith(".."):
            return ""
        return below
    if path.startswith(mounted_path):
        return path[len(mounted_path) :].lstrip("/")
    return ""


def _mounted(kind: str, controller: str, root: Path) -> Optional[Tuple[Path, str]]:
    """Return where the groups of a controller are mounted, and the path of the group that is."""
    for line in read_text(root / "proc/self/mountinfo").split("\n"):
        if not _MOUNT.match(line):
            continue
        front, _, back = line.partition(" - ")
        _, _, _, mounted_path, point = front.split(" ")[:5]
        type_, _, options = back.split(" ", 2)
        if type_ == kind and (kind == "cgroup2" or controller in options.split(",")):
            return root / point.lstrip("/"), mounted_path
    return None


def read_text(file: Path) -> str:
    """Return the content of a file; nothing if it cannot be read, or if its feature is off."""
    try:
        return file.read_text(errors="replace").strip()
    except OSError:
        return ""


if __name__ == "__main__":
    for read in (cpu_quota, cpu_allowed, memory_limit):
        print(f"/{read.__name__}:{read() or ''}")  # noqa: T201  this is its answer
