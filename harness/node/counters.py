"""What a node has counted since it booted: everything that may disturb a trial.

All counters grow: the difference of two readings is what happened between them. Unknown counters are
missing. `read_node` runs on executors, and returns Python's built-in types.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from harness.model.task_metrics import MAX_QUANTITY
from harness.node import cgroup, sampler
from harness.node.disks import OWN_READ, READ, WRITTEN, disk_bytes, disk_names
from harness.node.namespaces import is_contained, process_namespace
from harness.node.processes import WHOLE_GROUP, Application, application_usage, jvm_of
from harness.node.processor_ticks import (
    TICKS_PER_S,
    ticks_of_all_processors,
    ticks_of_each_processor,
)
from harness.node.program import lines_by_path, section
from harness.node.sampler import interface_bytes
from harness.node.snapshot import NodeReading
from harness.node.traffic import interface_traffic

_RESOURCES = ("memory", "io")
_RDMA_WORD_BYTES = 4
"""The counters of RDMA ports count words of 32 bits (the kernel's stable sysfs-class-infiniband)."""
RDMA_PORTS = "its RDMA ports"
"""Stands for all of them, where names of interfaces do."""


def read_node(
    application: Application, program: str, *, with_samples: bool, root: Path = Path("/")
) -> dict[str, Any]:
    """Return the fields of this node's NodeReading, but for its host.

    `program` is the text of the sampler, which is started if it does not run. Without samples, it begins to
    take new ones.
    """
    counters: dict[str, Any] = {"clock_s": time.monotonic()}
    counters["processors"] = processors = os.cpu_count() or 1
    counters |= kernel_counters(lambda path: cgroup.read_text(root / path))
    limits = cgroup.cpu_quota(root), cgroup.cpu_allowed(root), processors
    counters["quota_processors"] = min(limit for limit in limits if limit)
    counters |= cgroup.throttling(root) | _usage(application, root) | _heat(root)
    counters |= dict(zip((READ, WRITTEN), disk_bytes(root) or (), strict=False))
    traffic = interface_traffic(root)
    request = sampler.READ if with_samples else sampler.begin(traffic, disk_names(root))
    answer = _ask_sampler(application, program, request)
    samples, busiest_disk = answer.pop("samples", []), answer.pop("busiest_disk", None)
    return {
        "namespace": process_namespace(root),
        "counters": counters | answer,
        "traffic": traffic,
        "samples": samples,
        "busiest_disk": busiest_disk,
    }


def kernel_counters(text_of: Callable[[str], str]) -> dict[str, float]:
    """Return the kernel's counters. `text_of` returns the text of a file, empty if the file is missing."""
    return _processors(text_of("proc/stat")) | _pressure(text_of) | _memory(text_of("proc/vmstat"))


def counters_command() -> list[str]:
    """Return the command that prints what a host has counted, for `parse_counters`."""
    return section("counters")


def parse_counters(host: str, text: str) -> NodeReading:
    """Return what a host has counted, by what `counters_command` printed.

    Raise ValueError or LookupError if it cannot be read.
    """
    lines = lines_by_path(text)
    counters = kernel_counters(lambda path: "\n".join(lines.get(f"/{path}", ())))
    counters["clock_s"] = float(lines["/proc/uptime"][0].split()[0])
    counters["processors"] = len(ticks_of_each_processor(lines["/proc/stat"]))
    if not counters["processors"] or not all(0 <= n <= MAX_QUANTITY for n in counters.values()):
        raise ValueError("no processor, or no clock")
    traffic = interface_bytes(lines.get("/proc/self/net/dev", ()))
    if "rdma" in lines:
        words = sum(int(each) for each in lines["rdma"])
        traffic[RDMA_PORTS] = (words * _RDMA_WORD_BYTES, 0)
    return NodeReading(host, host, counters, traffic)


def _processors(stat: str) -> dict[str, float]:
    found = {}
    for ticks in ticks_of_all_processors(stat.splitlines()):
        # Without interrupts: our own traffic causes some of them, and nothing shows how many.
        found["busy_s"] = ticks.used_by_processes / TICKS_PER_S
        found["stolen_s"] = ticks.stolen / TICKS_PER_S
    return found


def _pressure(text_of: Callable[[str], str]) -> dict[str, float]:
    found = {}
    for resource in _RESOURCES:
        for line in text_of(f"proc/pressure/{resource}").splitlines():
            total = line.rpartition("total=")[2]
            if line.startswith("some ") and total.isdecimal():
                found[f"{resource}_wait_s"] = int(total) / 1e6
    return found


def _memory(vmstat: str) -> dict[str, float]:
    lines = vmstat.splitlines()
    values = {name: int(value) for name, _, value in (line.partition(" ") for line in lines)}
    found: dict[str, float] = {}
    if "pgmajfault" in values:
        found["major_faults"] = values["pgmajfault"]
    if "pswpin" in values and "pswpout" in values:
        found["swapped_bytes"] = (values["pswpin"] + values["pswpout"]) * os.sysconf("SC_PAGE_SIZE")
    return found


def _heat(root: Path) -> dict[str, int]:
    files = root.glob("sys/devices/system/cpu/cpu*/thermal_throttle/*_throttle_count")
    counts = [int(text) for file in files if (text := cgroup.read_text(file)).isdecimal()]
    return {"heat_throttles": sum(counts)} if counts else {}


def _usage(application: Application, root: Path) -> dict[str, Any]:
    """Return what the application's processes used, or in a container all that run there."""
    times, transferred = application_usage(application, root)
    group_s = cgroup.cpu_used_s(root) if is_contained(root) else None
    found: dict[str, Any] = {"own": times if group_s is None else {WHOLE_GROUP: (group_s, 0.0, "")}}
    if transferred is not None:
        found["own_disk_bytes"], found[OWN_READ] = sum(transferred), transferred[0]
    return found


def _ask_sampler(application: Application, program: str, request: str) -> sampler.Answer:
    """Return the sampler's answer. It watches the driver, or the JVM of this executor."""
    here = os.getpid()
    is_driver = (here, process_namespace()) == (application.driver, application.driver_namespace)
    watched = here if is_driver else jvm_of(here)
    if watched is None:
        return {}
    address = f"clusterlift {application.id} {os.geteuid()}"
    return sampler.ask(address, request, watched, program) or {}
