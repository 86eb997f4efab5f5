"""What disturbed a trial on the nodes, by the kernel's counters and by a sampler's loop."""

from __future__ import annotations

from dataclasses import dataclass

from harness.model.task_metrics import Quantities


@dataclass(frozen=True)
class NodeInterference(Quantities):
    """What a node counted from just before a trial until just after it. None means unknown.

    - `duration_s`: the time between the two readings; `processors`: those of the machine.
    - `loop_s`: the mean CPU time of a loop that is always the same, and `loops`, how often it ran: it
      takes longer while the processors are slower, whatever the reason.
    - `busy_s`: the processor time of all processes of the machine; `stolen_s`: what the hypervisor took;
      `others_s`: what processes took that are not this application's.
    - `quota_processors`: how many processors the node's cgroup may use; `periods`, `throttled_periods`:
      how often the kernel checked that, and how often it then stopped the node's processes.
    - `cpu_wait_s`, `memory_wait_s`, `io_wait_s`: the time in which any process waited for a processor,
      for memory, or for I/O (the kernel's "pressure stall information", `some`).
    - `swapped_bytes`: into and out of the swap; `major_faults`: page faults that had to read a disk.
    - `disk_bytes`: what all disks read and wrote; `others_disk_bytes`: that which exceeds what this
      application's processes read and wrote.
    - `thermal_throttles`: how often a processor slowed down because it was hot; `frequency_mhz`: the
      processors' mean frequency after the trial.
    """

    host: str
    duration_s: float
    processors: int
    loops: int | None = None
    loop_s: float | None = None
    busy_s: float | None = None
    stolen_s: float | None = None
    others_s: float | None = None
    quota_processors: float | None = None
    periods: int | None = None
    throttled_periods: int | None = None
    cpu_wait_s: float | None = None
    memory_wait_s: float | None = None
    io_wait_s: float | None = None
    swapped_bytes: int | None = None
    major_faults: int | None = None
    disk_bytes: int | None = None
    others_disk_bytes: int | None = None
    thermal_throttles: int | None = None
    frequency_mhz: float | None = None
