"""The facts of a node's machine that may explain times: one table, and how program.sh and Python find them.

An unknown fact is missing, never empty, 0 or `off`.
"""

from __future__ import annotations

import inspect
import math
import re
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from fnmatch import fnmatch
from typing import Any, Mapping

from harness.base.failure_reason import missing_program
from harness.base.words import join_names, shorten
from harness.node import block_devices, cgroup
from harness.node.device_files import SYSCTLS, sysctl_file
from harness.node.program import lines_by_path, section

MachineFacts = Mapping[str, str]
"""The facts of one node, by their keys in results files."""

_SYSCTLS = (*SYSCTLS, "vm.swappiness", "vm.dirty_ratio", "vm.dirty_background_ratio")
_CPU = "/sys/devices/system/cpu"
_CPUINFO = "/proc/cpuinfo"
_TREE = "/sys/firmware/devicetree/base"
_CPU_NAMES = ("model name", "Model Name", "cpu model", "cpu", "uarch")
_CPU_NUMBERS = (
    # x86
    "cpu family",
    "model",
    "stepping",
    # Arm
    "CPU implementer",
    "CPU part",
    "CPU variant",
    "CPU revision",
    # POWER, and s390x
    "revision",
    "machine",
    # RISC-V
    "isa",
    "mvendorid",
    "marchid",
    "mimpid",
)
"""In /proc/cpuinfo, by architecture. The numbers tell processors apart that have one name, or none."""
_CLOCK_STATES = range(6)
"""The states of a clock that adjtimex(2) returns."""
_UNSYNCHRONISED_US = 16_000_000
"""The kernel's NTP_PHASE_LIMIT, which the greatest error of a clock that nothing sets reaches in hours."""


def _first(lines: Sequence[str]) -> str | None:
    return " ".join(lines[0].split())


def _distinct(lines: Sequence[str]) -> str | None:
    return ", ".join(sorted(set(lines))) or None


def _chosen(lines: Sequence[str]) -> str | None:
    """Return the word in brackets: `madvise` of `always [madvise] never`."""
    return lines[0].partition("[")[2].partition("]")[0] or None


def _field(name: str) -> Callable[[Sequence[str]], str | None]:
    """Return a reader of the first line `name: value`."""

    def read(lines: Sequence[str]) -> str | None:
        for line in lines:
            key, _, value = line.partition(":")
            if key.strip() == name:
                return value.strip()
        return None

    return read


def _cpu_fields(lines: Sequence[str], keys: Sequence[str]) -> dict[str, str]:
    """Return the fields of /proc/cpuinfo with these keys. Processors that differ have `0xd05/0xd0b`."""
    found: dict[str, dict[str, None]] = {key: {} for key in keys}
    for line in lines:
        # s390x has `processor 0: version = FF,  identification = 133EF7,  machine = 3906`.
        key, _, text = re.sub(r"^processor \d+:.*(machine) =", r"\1:", line).partition(":")
        value = text.strip()
        if key.strip() in found and value not in {"", "unknown"}:
            found[key.strip()][value] = None
    return {key: "/".join(values) for key, values in found.items() if values}


def _cpu_model(lines: Sequence[str]) -> str | None:
    """Return the name of the processor, or the numbers that tell it apart if it has none."""
    names = _cpu_fields(lines, _CPU_NAMES).values()
    return next(iter(names), None) or _cpu_numbers(lines)


def _cpu_version(lines: Sequence[str]) -> str | None:
    """Return the numbers that tell processors of one name apart."""
    if _cpu_fields(lines, _CPU_NAMES):
        return _cpu_numbers(lines)
    return None


def _cpu_numbers(lines: Sequence[str]) -> str | None:
    found = _cpu_fields(lines, _CPU_NUMBERS)
    return ", ".join(f"{key} {value}" for key, value in found.items()) or None


def _one_of(**texts: str) -> Callable[[Sequence[str]], str | None]:
    """Return a reader of `_0` and `_1`, which stand for these texts."""
    return lambda lines: texts.get(f"_{lines[0]}")


def _memory(lines: Sequence[str]) -> str | None:
    """Round up to whole GiB: the kernel keeps some for itself, and not always as much."""
    digits, _, _ = (_field("MemTotal")(lines) or "").partition(" ")
    if digits.isdecimal():
        return f"{math.ceil(int(digits) / 2**20)} GiB"
    return None


def _least(lines: Sequence[str]) -> str | None:
    least = min(float(line) for line in lines)
    if 0 < least < math.inf:
        return f"{least:g}"
    return None


def _gib(lines: Sequence[str]) -> str | None:
    return f"{int(lines[0]) / 2**30:.3g} GiB"


def _counted(lines: Sequence[str]) -> str | None:
    """Return each text once, with its number if there are several: `2 x Samsung SSD 980 (1,000 GB)`."""
    found = []
    for text, number in sorted(Counter(lines).items()):
        found.append(text if number == 1 else f"{number} x {text}")
    return ", ".join(found)


def _array_state(lines: Sequence[str]) -> str | None:
    if any(int(line) for line in lines):
        return "degraded"
    return "complete"


def _mhz(lines: Sequence[str]) -> str | None:
    khz = sorted({int(line) for line in lines})
    return ", ".join(f"{each // 1000} MHz" for each in khz) or None


def _percent(lines: Sequence[str]) -> str | None:
    return f"{int(lines[0])} %"


def _count(lines: Sequence[str]) -> str | None:
    """Return how many numbers a list such as `0-3,8` has."""
    count = 0
    for part in lines[0].split(","):
        first, _, last = part.partition("-")
        count += int(last or first) - int(first) + 1
    return str(count)


def _is_synchronised(lines: Sequence[str]) -> str | None:
    """Judge by the greatest error: the kernel's flag stays at no where chronyd runs without rtcsync."""
    state, greatest_error_us = lines[0].split()
    if int(state) not in _CLOCK_STATES:
        return None
    if int(greatest_error_us) < _UNSYNCHRONISED_US:
        return "yes"
    return "no"


def _mitigations(lines: Sequence[str]) -> str | None:
    """Return what the kernel does about each flaw of the processor: `none`, or `Clear CPU buffers, PTI`."""
    found = re.findall(r"^Mitigation: ([^;,\n]*)", "\n".join(lines), re.MULTILINE)
    return _distinct(found) or "none"


@dataclass(frozen=True)
class MachineFact:
    """A fact: its key in results files, its name for people, the files that have it, and their reader.

    `files` are patterns, with blanks between them. The reader gets the lines of all files that match; there
    is at least one. A ValueError or OverflowError means that the fact is unknown.
    """

    key: str
    name: str
    files: str
    read: Callable[[Sequence[str]], str | None] = _first


def _directory_facts(use: str, whose: str) -> list[MachineFact]:
    """Return the facts of directories that block_devices.py prints, by what they are for."""
    names = {"": "file system", "_options": "mount options", "_disk": "disk", "_used": "used space"}
    return [
        MachineFact(f"{use}{key}", f"{name} of {whose}", f"/{use}{key}", _distinct)
        for key, name in names.items()
    ]


FACTS = (
    MachineFact("kernel", "kernel", "/proc/sys/kernel/osrelease", lambda x: f"Linux {x[0]}"),
    MachineFact("architecture", "architecture", "/uname"),
    MachineFact("machine", "machine", f"/sys/class/dmi/id/product_name {_TREE}/model"),
    MachineFact("firmware", "firmware", "/sys/class/dmi/id/bios_version"),
    MachineFact("cpu_model", "processor", _CPUINFO, _cpu_model),
    MachineFact("cpu_version", "processor version", _CPUINFO, _cpu_version),
    MachineFact("cpus", "processors", "/getconf"),
    MachineFact("smt", "SMT", f"{_CPU}/smt/active", _one_of(_0="off", _1="on")),
    MachineFact("microcode", "microcode", _CPUINFO, _field("microcode")),
    MachineFact("mitigations", "CPU mitigations", f"{_CPU}/vulnerabilities/*", _mitigations),
    MachineFact("governor", "governor", f"{_CPU}/cpufreq/policy*/scaling_governor", _distinct),
    MachineFact(
        "cpu_driver", "frequency driver", f"{_CPU}/cpufreq/policy*/scaling_driver", _distinct
    ),
    MachineFact(
        "max_frequency", "maximum frequency", f"{_CPU}/cpufreq/policy*/scaling_max_freq", _mhz
    ),
    MachineFact(
        "energy_preference",
        "energy performance preference",
        f"{_CPU}/cpufreq/policy*/energy_performance_preference",
        _distinct,
    ),
    MachineFact(
        "max_performance", "maximum performance", f"{_CPU}/intel_pstate/max_perf_pct", _percent
    ),
    MachineFact("platform_profile", "platform profile", "/sys/firmware/acpi/platform_profile"),
    MachineFact("boost", "boost", f"{_CPU}/cpufreq/boost", _one_of(_0="off", _1="on")),
    MachineFact("turbo", "turbo", f"{_CPU}/intel_pstate/no_turbo", _one_of(_0="on", _1="off")),
    MachineFact("memory", "memory", "/proc/meminfo", _memory),
    MachineFact("numa_nodes", "NUMA nodes", "/sys/devices/system/node/online", _count),
    MachineFact("huge_pages", "huge pages", "/sys/kernel/mm/transparent_hugepage/enabled", _chosen),
    MachineFact(
        "clock_source",
        "clock source",
        "/sys/devices/system/clocksource/clocksource0/current_clocksource",
    ),
    MachineFact("clock_synchronised", "clock synchronised", "/adjtimex", _is_synchronised),
    MachineFact("cpu_limit", "CPU limit", "/cpu_quota /cpu_allowed", _least),
    MachineFact("memory_limit", "memory limit", "/memory_limit", _gib),
    MachineFact("disks", "disks", "/disks", _counted),
    MachineFact("disk_scheduler", "I/O scheduler of the disks", "/disk_scheduler", _distinct),
    MachineFact("disk_write_cache", "write cache of the disks", "/disk_write_cache", _distinct),
    MachineFact("raid", "RAID", "/sys/block/md*/md/level", _distinct),
    MachineFact("raid_state", "RAID arrays", "/sys/block/md*/md/degraded", _array_state),
    *_directory_facts("local_dirs", "Spark's local directories"),
    *_directory_facts("data_dir", "the dataset's directory"),
    *(MachineFact(name, name, sysctl_file(name)) for name in _SYSCTLS),
)
"""All facts of a node. A further one is a line here: the key, the name, the files, and who reads them."""

_NAMES_BY_PYTHON = [
    fact.name for fact in FACTS if re.fullmatch(r"/(?!uname|getconf)\w+( /\w+)*", fact.files)
]
"""The facts that only _PYTHON prints."""
_OLDEST_MINOR = 6
_MAX_REASON = 200

FACT_NAMES = {fact.key: fact.name for fact in FACTS}
FACT_NAMES["net.ipv4.tcp_congestion_control"] = "TCP congestion control"
_OF_DISKS = ("disk", "raid", "local_dirs", "data_dir")
NAMES_OF_DISK_FACTS = frozenset(fact.name for fact in FACTS if fact.key.startswith(_OF_DISKS))
"""The names of the facts about disks and directories."""

_PYTHON = (
    f"{inspect.getsource(cgroup)}"
    "import ctypes\ntimex = (ctypes.c_long * 64)()\n"
    "print('/adjtimex:%d %d' % (ctypes.CDLL(None).adjtimex(timex), timex[3]))\n"
    f"{inspect.getsource(block_devices)}"
)
"""A program for Python: limits, the clock's state and greatest error in microseconds, disks."""
_UNREAD = "/unread"
_KEYS = "|".join((*_CPU_NAMES, *_CPU_NUMBERS, "microcode"))
_FILES = " ".join(dict.fromkeys(fact.files for fact in FACTS if fact.files != _CPUINFO))


def machine_command(name: str = "facts", python: str = "python3") -> list[str]:
    """Return the command that prints the facts, or another section that has them.

    `python` is the node's Python that finds them out.
    """
    return section(name, python, _PYTHON, _KEYS, _FILES)


def read_machine(text: str) -> dict[str, str]:
    """Return the known facts in the output of `machine_command`."""
    lines = lines_by_path(text)
    found: dict[str, str] = {}
    for fact in FACTS:
        own: list[str] = []
        for path in lines:
            if any(fnmatch(path, pattern) for pattern in fact.files.split()):
                own += lines[path]
        with suppress(ValueError, OverflowError):  # another kernel writes something else
            value = fact.read(own) if own else None
            if value:
                found[fact.key] = value
    return found


def unread_facts(text: str) -> str | None:
    """Return which facts are unknown because Python did not find them out, and why; None if it did."""
    said = lines_by_path(text).get(_UNREAD)
    if said is None:
        return None
    reason = shorten(said[0], _MAX_REASON)
    version = re.match(r"3\.(\d+)\S*", reason)
    program = missing_program(reason)
    if program:
        reason = f"{program} is not installed"
    elif version and int(version[1]) < _OLDEST_MINOR:
        reason = f"its python3 is {version[0]}, and 3.{_OLDEST_MINOR} or newer is needed"
    return f"{join_names(_NAMES_BY_PYTHON)} are unknown: {reason}"


def machine_groups(nodes: Mapping[str, MachineFacts]) -> list[dict[str, Any]]:
    """Return nodes by host as `Run.environment` records them under `machines`: alike ones together.

    The largest group has all its facts. Every other one has what differs from that; None is unknown.
    """
    alike: dict[tuple[tuple[str, str], ...], list[str]] = {}
    for host, facts in nodes.items():
        alike.setdefault(tuple(sorted(facts.items())), []).append(host)
    groups: list[dict[str, Any]] = []
    for items, hosts in sorted(alike.items(), key=lambda group: (-len(group[1]), group[1])):
        own = dict(items)
        usual = groups[0]["facts"] if groups else {}
        differing = {key: own.get(key) for key in FACT_NAMES if own.get(key) != usual.get(key)}
        groups.append({"hosts": sorted(hosts), "facts": differing})
    return groups


def facts_by_node(environment: Mapping[str, Any]) -> dict[str, dict[str, str]]:
    """Return the facts of every node of a run. Older runs have the facts of the driver's node."""
    found: dict[str, dict[str, str]] = {}
    groups: Sequence[Mapping[str, Any]] = (environment.get("machines") or {}).get("groups") or ()
    for group in groups:
        facts = {**groups[0]["facts"], **group["facts"]}
        known = {key: value for key, value in facts.items() if value is not None}
        found.update(dict.fromkeys(group["hosts"], known))
    if not found:
        own = {key: str(environment[key]) for key in FACT_NAMES if environment.get(key)}
        if own:
            found[str(environment.get("host"))] = own
    return found
