"""The sampler takes little of a processor, and hardly more than its loops do."""

import os
import subprocess
import sys
import time
import uuid
from pathlib import Path

from harness.node import sampler
from harness.node.disks import disk_names
from harness.node.traffic import interface_traffic
from tests.bench.scale import IS_SMOKE, scaled

MEASURED_S = scaled(60, smoke=1)
MAX_SHARE = 0.01
"""Of one processor; it is about 0.007 where a loop takes 0.3 ms."""
MAX_RATIO = 2
"""Of all that the process takes to its loops alone, about 1.6: the rest is samples and waiting."""
TICKS_PER_S = os.sysconf("SC_CLK_TCK")


def used_s(process: int) -> float:
    """Return the processor time of a process, its own and the kernel's for it."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS_PER_S


def process_of(address: str) -> int:
    [found] = [
        int(file.parent.name)
        for file in Path("/proc").glob("[0-9]*/cmdline")
        if address.encode() in file.read_bytes().split(b"\0")
    ]
    return found


def test_it_takes_at_most_one_percent_of_a_processor() -> None:
    address, program = f"clusterlift bench {uuid.uuid4()}", Path(sampler.__file__).read_text()
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as watched:
        before = sampler.ask(
            address, sampler.begin(interface_traffic(), disk_names()), watched.pid, program
        )
        process = process_of(address)
        started_s = used_s(process)
        time.sleep(MEASURED_S)
        all_s = used_s(process) - started_s
        after = sampler.ask(address, sampler.READ, watched.pid, program)
        watched.kill()
    assert before is not None
    assert after is not None
    loops, loops_s = after["loops"] - before["loops"], (after["loop_ns"] - before["loop_ns"]) / 1e9
    share, ratio = all_s / MEASURED_S, all_s / loops_s
    print(
        f"\n{share:.2%} of a processor: {loops / MEASURED_S:.1f} loops of {loops_s / loops * 1e3:.2f} ms and "
        f"{len(after['samples']) / MEASURED_S:.1f} samples a second; {ratio:.2f} x the loops alone"
    )
    assert IS_SMOKE or share <= MAX_SHARE
    assert IS_SMOKE or ratio < MAX_RATIO
