"""What a node does at this moment, from what a command prints there."""

import subprocess
import sys

import pytest

from harness.node.state import WINDOW_S, read_state, state_command

PRINTED = """/getconf:2
/sys/devices/system/cpu/cpufreq/policy0/scaling_governor:powersave
/cpu_quota:1.5
/proc/meminfo:MemTotal:       1000 kB
/proc/meminfo:SwapTotal:       500 kB
/proc/meminfo:SwapFree:        400 kB
/proc/loadavg:0.71 0.4 0.3 1/99 7
/scratch:/data/spark
/df:/dev/vda 1000 300 700 30% /data
== before
processes:2 (kworker/0:1) I 2 0 0 0 -1 2097152 0 0 0 0 5 0 0 0 20 0 1 0 500
processes:7 (java (x) y) S 1 0 0 0 -1 4194304 0 0 0 0 100 50 9999 0 20 0 1 0 500
processes:8 (idle) S 1 0 0 0 -1 4194304 0 0 0 0 100 0 0 0 20 0 1 0 500
/proc/stat:cpu  1000 0 0 5000 0 0 0 0 0 0
/proc/stat:cpu0 500 0 0 2500 0 0 0 0 0 0
/proc/stat:cpu1 500 0 0 2500 0 0 0 0 0 0
/proc/uptime:100.00 9.9
== after
/proc/stat:cpu  1060 0 0 5000 0 0 0 10 0 0
/proc/stat:cpu0 500 0 0 2500 0 0 0 0 0 0
/proc/stat:cpu1 500 0 0 2500 0 0 0 0 0 0
/proc/vmstat:pgmajfault 3
/proc/uptime:100.50 9.9
processes:2 (kworker/0:1) I 2 0 0 0 -1 2097152 0 0 0 0 5 10 0 0 20 0 1 0 500
processes:7 (java (x) y) S 1 0 0 0 -1 4194304 0 0 0 0 120 60 10999 0 20 0 1 0 500
processes:8 (idle) S 1 0 0 0 -1 4194304 0 0 0 0 100 0 0 0 20 0 1 0 500
processes:9 (java (x) y) S 7 0 0 0 -1 4194304 0 0 0 0 10 0 0 0 20 0 1 0 500
processes:a line feed in a name
"""


def test_what_was_counted_is_what_grew_and_is_not_the_kernels_own() -> None:
    """In half a second, 0.6 s of two processors were used, 0.1 s of them by a thread of the kernel."""
    counted = read_state("n1", PRINTED).counted
    assert (counted.duration_s, counted.processors, counted.quota_processors) == (0.5, 2, 1.5)
    assert (counted.busy_s, counted.stolen_s) == pytest.approx((0.6, 0.1))
    assert counted.others_s == pytest.approx(0.5)
    assert counted.major_faults is None  # only one reading has it


def test_processes_of_a_name_are_one_and_what_their_children_used_is_theirs() -> None:
    shares = read_state("n1", PRINTED).shares
    assert shares == pytest.approx({"java (x) y": 0.4, "idle": 0.0})
    assert next(iter(shares)) == "java (x) y"


def test_memory_load_and_scratch_are_of_the_moment() -> None:
    state = read_state("n1", PRINTED)
    assert (state.memory_bytes, state.swap_bytes, state.swap_used_bytes) == (
        1_024_000,
        512_000,
        102_400,
    )
    assert (state.load, state.scratch, state.scratch_free_bytes) == (0.71, "/data/spark", 716_800)
    assert (state.host, state.facts["governor"]) == ("n1", "powersave")


def test_what_a_node_does_not_tell_is_unknown() -> None:
    lines = [line for line in PRINTED.splitlines() if not line.startswith(("/df", "/proc/loadavg"))]
    state = read_state("n1", "\n".join(lines).replace("/cpu_quota:1.5", "/cpu_quota:"))
    assert (state.load, state.scratch_free_bytes, state.counted.quota_processors) == (None, None, 2)


@pytest.mark.parametrize("text", ["", "nonsense", PRINTED.replace("100.50", "100.00")])
def test_another_answer_is_an_error(text: str) -> None:
    with pytest.raises((ValueError, LookupError)):
        read_state("n1", text)


def test_this_machine_tells_its_state() -> None:
    done = subprocess.run(state_command(sys.executable), capture_output=True, text=True, check=True)
    assert done.stderr == ""
    assert "\n/local_dirs:" in done.stdout
    state = read_state("here", done.stdout)
    assert state.counted.duration_s >= WINDOW_S - 0.05
    assert state.memory_bytes > 0
    assert state.facts["kernel"].startswith("Linux ")
    assert state.shares
