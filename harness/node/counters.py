"""The counters of a node since it booted: everything that may disturb a trial.

All counters grow, so the difference of two readings shows what happened between them. Unknown counters are
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
from harness.node.processes import WHOLE_GROUP, RunningApplication, application_usage, jvm_of
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
    application: RunningApplication, program: str, *, with_samples: bool, root: Path = Path("/")
) -> dict[str, Any]:
    """Return the fields of this node's NodeReading, but for its host.

    `program` is the text of the sampler, which is started if it does not run. Without samples, it begins to
    take new ones.
    """
    processors = os.cpu_count() or 1
    limits = (cgroup.cpu_quota(root), cgroup.cpu_allowed(root), processors)
    counters: dict[str, Any] = {
        "clock_s": time.monotonic(),
        "processors": processors,
        "quota_processors": min(limit for limit in limits if limit),
    }
    counters.update(kernel_counters(lambda path: cgroup.read_text(root / path)))
    counters.update(cgroup.throttling(root))
    counters.update(_usage(application, root))
    counters.update(_heat(root))
    transferred = disk_bytes(root)
    if transferred is not None:
        counters[READ], counters[WRITTEN] = transferred
    traffic = interface_traffic(root)
    request = sampler.READ if with_samples else sampler.begin(traffic, disk_names(root))
    answer = _ask_sampler(application, program, request)
    samples = answer.pop("samples", [])
    busiest_disk = answer.pop("busiest_disk", None)
    counters.update(answer)
    return {
        "namespace": process_namespace(root),
        "counters": counters,
        "traffic": traffic,
        "samples": samples,
        "busiest_disk": busiest_disk,
    }


def kernel_counters(text_of: Callable[[str], str]) -> dict[str, float]:
    """Return the kernel's counters. `text_of` returns the text of a file, empty if the file is missing."""
    return {
        **_processors(text_of("proc/stat")),
        **_pressure(text_of),
        **_memory(text_of("proc/vmstat")),
    }


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
    values = {}
    for line in vmstat.splitlines():
        name, _, value = line.partition(" ")
        values[name] = int(value)
    found: dict[str, float] = {}
    if "pgmajfault" in values:
        found["major_faults"] = values["pgmajfault"]
    if "pswpin" in values and "pswpout" in values:
        found["swapped_bytes"] = (values["pswpin"] + values["pswpout"]) * os.sysconf("SC_PAGE_SIZE")
    return found


def _heat(root: Path) -> dict[str, int]:
    files = root.glob("sys/devices/system/cpu/cpu*/thermal_throttle/*_throttle_count")
    texts = [cgroup.read_text(file) for file in files]
    counts = [int(text) for text in texts if text.isdecimal()]
    if counts:
        return {"heat_throttles": sum(counts)}
    return {}


def _usage(application: RunningApplication, root: Path) -> dict[str, Any]:
    """Return what the application's processes used, or in a container all that run there."""
    times, transferred = application_usage(application, root)
    group_s = cgroup.cpu_used_s(root) if is_contained(root) else None
    if group_s is not None:
        times = {WHOLE_GROUP: (group_s, 0.0, "")}
    found: dict[str, Any] = {"own": times}
    if transferred is not None:
        read, written = transferred
        found["own_disk_bytes"] = read + written
        found[OWN_READ] = read
    return found


def _ask_sampler(application: RunningApplication, program: str, request: str) -> sampler.Answer:
    """Return the sampler's answer. It watches the driver, or the JVM of this executor."""
    here = os.getpid()
    is_driver = here == application.driver and process_namespace() == application.driver_namespace
    watched = here if is_driver else jvm_of(here)
    if watched is None:
        return {}
    address = f"clusterlift {application.id} {os.geteuid()}"
    return sampler.ask(address, request, watched, program) or {}
