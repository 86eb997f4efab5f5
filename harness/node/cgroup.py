"""The control group of this process: its quota of processors, and what it used; versions 1 and 2.

A container sees its own group, at the root of what is mounted there. Limits of groups above that it
cannot see.
"""

from collections.abc import Iterator
from pathlib import Path

_MICROSECONDS = 1e-6
_NANOSECONDS = 1e-9


def cpu_quota(root: Path = Path("/")) -> float | None:
    """Return how many processors the group may use, by the tightest quota; None without any."""
    return min((quota for group in _groups("cpu", root) if (quota := _quota(group))), default=None)


def cpu_used_s(root: Path = Path("/")) -> float | None:
    """Return the processor time of all processes that are, or were, in the group; None if unknown."""
    for group in _groups("cpuacct", root):
        text = _read(group / "cpuacct.usage")
        if text is not None and text.isdecimal():
            return int(text) * _NANOSECONDS
        pairs = dict(map(str.split, (_read(group / "cpu.stat") or "").splitlines()))
        used = pairs.get("usage_usec", "")
        return int(used) * _MICROSECONDS if used.isdecimal() else None
    return None


def _groups(controller: str, root: Path) -> Iterator[Path]:
    """Yield the directory of the group, then those of the groups above that can be seen."""
    for line in (_read(root / "proc/self/cgroup") or "").splitlines():
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
    return path.removeprefix(mounted_path).lstrip("/") if path.startswith(mounted_path) else ""


def _mounted(kind: str, controller: str, root: Path) -> tuple[Path, str] | None:
    """Return where the groups of a controller are mounted, and the path of the group that is."""
    for line in (_read(root / "proc/self/mountinfo") or "").splitlines():
        front, _, back = line.partition(" - ")
        fields, (type_, _, options) = front.split(), back.split(" ", 2)
        if type_ == kind and (kind == "cgroup2" or controller in options.split(",")):
            return root / fields[4].lstrip("/"), fields[3]
    return None


def _quota(group: Path) -> float | None:
    """Return the group's own quota in processors; None if it has none."""
    new = (_read(group / "cpu.max") or "").split()
    old = [_read(group / f"cpu.cfs_{name}_us") or "" for name in ("quota", "period")]
    quota, period = new if len(new) == len(old) else old
    return int(quota) / int(period) if quota.isdecimal() and period.isdecimal() else None


def _read(file: Path) -> str | None:
    try:
        return file.read_text().strip()
    except OSError:
        return None
