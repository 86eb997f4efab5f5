"""What sound hosts answer, by the command: real outputs, captured or in the form that a manual documents.

`COMMANDS` has every command that probes and programs run on a host. One that is not there fails the test in
which it is run first, so that nothing is run whose answers no mutation reaches.
"""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from tests.hostile.world import Answer, Asked
from tests.unit.node.test_kernel_log import TROUBLE
from tests.unit.node.test_link_reading import PRINTED
from tests.unit.probes.test_tools import PERFTEST

CAPTURED = Path(__file__).parents[1] / "captured"
EVIL = "evil"
"""The host whose answers are mutated."""
SOUND = ("good", "also")
ADDRESSES = {name: f"10.0.0.{n}" for n, name in enumerate((EVIL, *SOUND), 1)}
PROGRAM_S = 5.0


def captured(name: str) -> str:
    """Return a captured output."""
    return (CAPTURED / name).read_text()


def _json(*rows: dict[str, Any]) -> str:
    return json.dumps(rows)


def _own_addresses(asked: Asked) -> str:
    address = {"family": "inet", "local": ADDRESSES[asked.host], "prefixlen": 24, "scope": "global"}
    return _json({"ifindex": 2, "ifname": "eth0", "addr_info": [address]})


def _by_name(asked: Asked) -> str:
    address = ADDRESSES[asked.words[-1]]
    return f"{address:<15} STREAM {asked.words[-1]}\n{address:<15} DGRAM  \n"


_PINGED = """PING 10.0.0.1 (10.0.0.1) 1472(1500) bytes of data.
1480 bytes from 10.0.0.1: icmp_seq=1 ttl=64 time=0.051 ms

--- 10.0.0.1 ping statistics ---
{n} packets transmitted, {n} received, 0% packet loss, time 402ms
rtt min/avg/max/mdev = 0.038/0.049/0.061/0.009 ms
"""
_TOO_LONG = "ping: local error: message too long, mtu=1500\n"
_NOT_SENT = """--- 10.0.0.1 ping statistics ---
3 packets transmitted, 0 received, +3 errors, 100% packet loss, time 402ms
"""


def _ping(asked: Asked) -> Answer:
    size = int(asked.words[asked.words.index("-s") + 1])
    if size > 1472:
        return Answer(_NOT_SENT.encode(), _TOO_LONG.encode(), code=1)
    return Answer(_PINGED.format(n=3).encode())


_MACHINE = """/proc/sys/kernel/random/boot_id:5f9c2f4e-6a4b-4b5c-8d3e-0f1a2b3c4d5e
/uname:x86_64
/getconf:8
/adjtimex:0 1098
/proc/sys/kernel/osrelease:6.1.0-18-amd64
/sys/class/dmi/id/product_name:PowerEdge R640
/sys/class/dmi/id/bios_version:2.10.2
/proc/cpuinfo:model name	: Intel(R) Xeon(R) Gold 6130 CPU @ 2.10GHz
/proc/cpuinfo:microcode	: 0x2006e05
/sys/devices/system/cpu/smt/active:1
/sys/devices/system/cpu/vulnerabilities/meltdown:Mitigation: PTI
/sys/devices/system/cpu/cpufreq/policy0/scaling_governor:performance
/sys/devices/system/cpu/cpufreq/policy0/scaling_driver:intel_pstate
/sys/devices/system/cpu/cpufreq/policy0/scaling_max_freq:3700000
/sys/devices/system/cpu/cpufreq/boost:1
/sys/devices/system/cpu/intel_pstate/no_turbo:0
/proc/meminfo:MemTotal:       131072000 kB
/sys/devices/system/node/online:0-1
/sys/kernel/mm/transparent_hugepage/enabled:always [madvise] never
/sys/devices/system/clocksource/clocksource0/current_clocksource:tsc
/proc/sys/net/core/rmem_max:212992
/proc/sys/vm/swappiness:60
"""
_COUNTED = """/proc/uptime:{clock}.25 1800.00
/proc/stat:cpu  1000 50 300 {idle} 10 0 20 40 0 0
/proc/stat:cpu0 500 25 150 {half} 5 0 10 20 0 0
/proc/stat:cpu1 500 25 150 {half} 5 0 10 20 0 0
/proc/stat:intr 12345 0 0
/proc/vmstat:pgmajfault 17
/proc/pressure/memory:some avg10=0.00 avg60=0.00 avg300=0.00 total=2000000
/proc/self/net/dev:    lo:     100       1    0    0    0     0          0         0      100       1
/proc/self/net/dev:  eth0: {received}    4000    0    0    0     0          0         0  {sent}    2000
rdma:123456
"""
_ticks = {"count": 0}


def _counters(_: Asked) -> str:
    _ticks["count"] += 1
    n = _ticks["count"]
    return _COUNTED.format(
        clock=1000 + 10 * n,
        idle=9000 + 2000 * n,
        half=4500 + 1000 * n,
        received=5_000_000 * n,
        sent=3_000_000 * n,
    )


def _mpirun(asked: Asked) -> Answer:
    """Ask for a daemon on each other host, then print what the program would."""
    _, _, slots = asked.text.partition("--host ")
    _, *others = [slot.partition(":")[0] for slot in slots.split()[0].split(",")]
    launched = "".join(
        f"clusterlift-launch {address} PATH=/usr/bin:$PATH ; orted -mca ess env\n"
        for address in others
    )
    if "phold" in asked.text:
        output = captured("phold-8.1.1.txt")
    else:
        output = "\nclusterlift: output\n" + captured("hpcc-1.5.0.txt")
    return Answer(launched.encode(), later=((PROGRAM_S, output.encode()),))


@dataclass(frozen=True)
class Command:
    """A command: what its words have and no other command's, and what a sound host answers."""

    sign: str
    answer: Callable[[Asked], str | Answer]

    def answer_to(self, asked: Asked) -> Answer:
        """Return what a sound host answers."""
        found = self.answer(asked)
        return found if isinstance(found, Answer) else Answer(found.encode())


def _always(text: str, **others: Any) -> Callable[[Asked], Answer]:
    return lambda _: Answer(text.encode(), **others)


COMMANDS = {
    "programs that are missing": Command(r'command -v "\$program"', _always("")),
    "address of a name": Command("^getent ahostsv4", _by_name),
    "own addresses": Command("^ip -j (-4 )?address", _own_addresses),
    "route": Command(
        "^ip -j route", _always(_json({"dst": "10.0.0.9", "dev": "eth0", "prefsrc": "10.0.0.1"}))
    ),
    "link": Command(r"exit 0\s+link ", _always(captured("link-veth.txt"))),
    "packet of a size": Command("^ping -n -M do", _ping),
    "processors": Command(r"grep \^cpu /proc/stat; sleep", _always(captured("proc-stat.txt"))),
    "transfer": Command("^iperf3 -c", _always(captured("iperf3-3.12.json"), after_s=4.0)),
    "server of transfers": Command(
        "^iperf3 -s",
        _always(f"{'-' * 40}\nServer listening on 5201 (test #1)\n{'-' * 40}\n", stays=True),
    ),
    "messages": Command("^sockperf ping-pong", _always(captured("sockperf-3.10.txt"), after_s=3.0)),
    "server of messages": Command(
        "^sockperf server",
        _always(
            "sockperf: == version #3.10-no.git == \nsockperf: [SERVER] listen on:\n"
            "sockperf: using recvfrom() to block on socket(s)\n",
            stays=True,
        ),
    ),
    "disk": Command("exec fio ", _always(captured("fio-3.33.json"), after_s=5.0)),
    "RDMA devices": Command("ls /sys/class/infiniband", _always("mlx5_0\n")),
    "RDMA latency": Command("^ib_send_lat", _always(PERFTEST)),
    "server of RDMA": Command(
        "^stdbuf -oL ib_send_lat", _always("* Waiting for client to connect... *\n", stays=True)
    ),
    "reading of a link": Command(r"exit 0\s+events ", _always(f"{PRINTED}{TROUBLE}")),
    "machine": Command(r"exit 0\s+facts ", _always(_MACHINE)),
    "Open MPI": Command(
        r"mpirun --version",
        _always("mpirun (Open MPI) 4.1.4\n"),
    ),
    "counters": Command(r"exit 0\s+counters$", _counters),
    "program": Command("CLUSTERLIFT_JOB=.* mpirun ", _mpirun),
    "daemon of a program": Command("CLUSTERLIFT_JOB=.* orted ", _always("", after_s=PROGRAM_S)),
    "user": Command("^id -u", _always("0\n")),
    "MTU": Command("^cat /sys/class/net/[^ ]*/mtu", _always("1500\n")),
}
"""By a name for people. Signs are regular expressions over the words of a command, or a script's text."""


@cache
def name_of(asked: Asked) -> str:
    """Return the name of a command."""
    found = [name for name, each in COMMANDS.items() if re.search(each.sign, asked.text, re.DOTALL)]
    assert len(found) == 1, (
        f"tests/hostile/answers.py needs an entry for this command, so that its answers are mutated: "
        f"{asked.text[:300]} (found: {found})"
    )
    return found[0]


def answer_to(asked: Asked) -> Answer:
    """Return what a sound host answers to a command."""
    return COMMANDS[name_of(asked)].answer_to(asked)


def answer_of_guard(_: str, line: str) -> Answer:
    """Return what a sound guard prints when it gets a line."""
    if line == "arm":
        return Answer(b"clusterlift: armed\n", stays=True)
    if line.startswith("set "):
        return Answer(b"clusterlift: set 0\n", stays=True)
    if line.startswith("revert "):
        return Answer(stays=True)
    return Answer(b"clusterlift: put back 0\n")
