"""Facts of a node's machine: read from what a command prints, and recorded once for nodes that are alike."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from harness.base.child_process import finished
from harness.node.machine import (
    FACT_NAMES,
    FACTS,
    facts_by_node,
    machine_command,
    machine_groups,
    read_machine,
    unread_facts,
)
from tests.disturbers import control_group, limit_processors
from tests.unit.builders import known
from tests.unit.probe_builders import output

CPU = "/sys/devices/system/cpu"
VULNERABLE = f"{CPU}/vulnerabilities"
PRINTED = {
    "kernel": ("/proc/sys/kernel/osrelease:6.1.0-20-amd64", "Linux 6.1.0-20-amd64"),
    "architecture": ("/uname:x86_64", "x86_64"),
    "machine": ("/sys/firmware/devicetree/base/model:Raspberry  Pi 5", "Raspberry Pi 5"),
    "firmware": ("/sys/class/dmi/id/bios_version:2.19.1", "2.19.1"),
    "cpu_model": ("/proc/cpuinfo:vendor_id\t: x\n/proc/cpuinfo:model name\t: EPYC 7", "EPYC 7"),
    "cpus": ("/getconf:16", "16"),
    "smt": (f"{CPU}/smt/active:0", "off"),
    "microcode": ("/proc/cpuinfo:microcode\t: 0x1000065", "0x1000065"),
    "mitigations": (
        (
            f"{VULNERABLE}/mds:Not affected\n{VULNERABLE}/meltdown:Mitigation: PTI\n"
            f"{VULNERABLE}/spectre_v2:Mitigation: Retpolines; STIBP: off\n{VULNERABLE}/tsa:Vulnerable"
        ),
        "PTI, Retpolines",
    ),
    "governor": (
        (
            f"{CPU}/cpufreq/policy0/scaling_governor:performance\n"
            f"{CPU}/cpufreq/policy1/scaling_governor:performance"
        ),
        "performance",
    ),
    "cpu_driver": (f"{CPU}/cpufreq/policy0/scaling_driver:intel_pstate", "intel_pstate"),
    "max_frequency": (
        (
            f"{CPU}/cpufreq/policy0/scaling_max_freq:3600000\n"
            f"{CPU}/cpufreq/policy9/scaling_max_freq:800000"
        ),
        "800 MHz, 3600 MHz",
    ),
    "energy_preference": (
        (
            f"{CPU}/cpufreq/policy0/energy_performance_preference:power\n"
            f"{CPU}/cpufreq/policy1/energy_performance_preference:balance_performance"
        ),
        "balance_performance, power",
    ),
    "max_performance": (f"{CPU}/intel_pstate/max_perf_pct:80", "80 %"),
    "platform_profile": ("/sys/firmware/acpi/platform_profile:low-power", "low-power"),
    "boost": (f"{CPU}/cpufreq/boost:1", "on"),
    "turbo": (f"{CPU}/intel_pstate/no_turbo:1", "off"),
    "memory": ("/proc/meminfo:MemTotal:       24684096 kB", "24 GiB"),
    "numa_nodes": ("/sys/devices/system/node/online:0-1,3", "3"),
    "huge_pages": (
        "/sys/kernel/mm/transparent_hugepage/enabled:always [madvise] never",
        "madvise",
    ),
    "clock_source": ("/sys/devices/system/clocksource/clocksource0/current_clocksource:tsc", "tsc"),
    "clock_synchronised": ("/adjtimex:5 16000000", "no"),
    "cpu_limit": ("/cpu_quota:1.50\n/cpu_allowed:2", "1.5"),
    "memory_limit": ("/memory_limit:3221225472", "3 GiB"),
    "disks": ("/disks:b (1 GB)\n/disks:a (2 GB)\n/disks:b (1 GB)", "a (2 GB), 2 x b (1 GB)"),
    "raid": ("/sys/block/md0/md/level:raid1\n/sys/block/md127/md/level:raid0", "raid0, raid1"),
    "raid_state": ("/sys/block/md0/md/degraded:0\n/sys/block/md1/md/degraded:1", "degraded"),
    **{
        key: (f"/{key}:b\n/{key}:a\n/{key}:b", "a, b")
        for key in (
            *("disk_scheduler", "disk_write_cache"),
            *("local_dirs", "local_dirs_options", "local_dirs_disk", "local_dirs_used"),
            *("data_dir", "data_dir_options", "data_dir_disk", "data_dir_used"),
        )
    },
    "net.ipv4.tcp_rmem": (
        "/proc/sys/net/ipv4/tcp_rmem:4096\t131072\t33554432",
        "4096 131072 33554432",
    ),
    "vm.swappiness": ("/proc/sys/vm/swappiness:0", "0"),
}


@pytest.mark.parametrize("key", PRINTED)
def test_each_fact_is_read_from_its_files(key: str) -> None:
    text, value = PRINTED[key]
    assert read_machine(f"{text}\n") == {key: value}


@pytest.mark.parametrize("printed", ["0 1098", "5 9776", "5 15999999"])
def test_a_clock_is_synchronised_while_its_greatest_error_is_small(printed: str) -> None:
    """The kernel's state is 5 also where chronyd runs without rtcsync."""
    assert read_machine(f"/adjtimex:{printed}\n") == {"clock_synchronised": "yes"}


PROCESSORS = output("cpuinfo.txt").split("== ")[1:]


@pytest.mark.parametrize("text", PROCESSORS, ids=lambda text: text.partition(" |")[0])
def test_a_processor_is_named_on_every_architecture(text: str) -> None:
    (_, model, version), *lines = [line.split(" | ") for line in text.splitlines()]
    found = read_machine("".join(f"/proc/cpuinfo:{line}\n" for [line] in lines))
    assert (found.get("cpu_model"), found.get("cpu_version", "-")) == (model, version)


CORES = {"CPU implementer": "0x41", "CPU part": "0xc07", "CPU variant": "0x0", "CPU revision": "3"}


@pytest.mark.parametrize(
    ("processors", "parts"),
    [
        (["0xc07"] * 8, "0xc07"),
        (["0xc07"] * 4 + ["0xc0f"] * 4, "0xc07/0xc0f"),
        (["0xd0c"] * 4096 + ["0xd40"], "0xd0c/0xd40"),
    ],
)
def test_all_processors_of_a_machine_are_looked_at(
    tmp_path: Path, processors: list[str], parts: str
) -> None:
    lines = []
    for number, part in enumerate(processors):
        fields = {"processor": number, "BogoMIPS": f"{number}.00", **CORES, "CPU part": part}
        lines += [f"{key}\t: {value}" for key, value in fields.items()]
    (tmp_path / "cpuinfo").write_text("\n\n".join(lines))
    command = [word.replace("/proc/cpuinfo", f"{tmp_path}/cpuinfo") for word in machine_command()]
    printed = finished(command).stdout.replace(f"{tmp_path}/cpuinfo", "/proc/cpuinfo")
    assert read_machine(printed)["cpu_model"] == (
        f"CPU implementer 0x41, CPU part {parts}, CPU variant 0x0, CPU revision 3"
    )
    assert printed.count("/proc/cpuinfo:") <= len(CORES) + 1


def test_every_fact_that_is_no_kernel_setting_has_an_example_here() -> None:
    own = {fact.key for fact in FACTS if "." not in fact.key}
    assert own - PRINTED.keys() == {"cpu_version"}  # in PROCESSORS


@pytest.mark.parametrize(
    "text",
    [
        "",
        "sh: getconf: not found",
        "/getconf:",
        "/cpu_quota:max",
        "/cpu_quota:nan",
        f"/memory_limit:1{'0' * 400}",
        "/sys/block/md0/md/degraded:x",
        "/adjtimex:-1 0",
        "/adjtimex:0",
        "/proc/meminfo:MemTotal: much",
        "/sys/devices/system/node/online:x",
        f"{CPU}/smt/active:2",
    ],
)
def test_what_cannot_be_read_is_missing(text: str) -> None:
    assert read_machine(text) == {}


def test_limits_and_directories_are_told_where_they_are_known(
    tmp_path: Path,
) -> None:
    known = {"SPARK_LOCAL_DIRS": f"/dev/shm,{tmp_path},/no/such"}  # noqa: S108
    with control_group() as group:
        limit_processors(group, 1.5)
        within = ["sh", "-c", 'echo $$ > "$0"; exec "$@"', str(group / "cgroup.procs")]
        done = subprocess.run(
            [*within, *machine_command(python=sys.executable)],
            capture_output=True, text=True, check=True, env=os.environ | known,
        )  # fmt: skip
    found = read_machine(done.stdout)
    assert found["cpu_limit"] == "1.5"
    assert "tmpfs" in found["local_dirs"].split(", ")
    assert found["local_dirs_used"]


def test_processors_that_taskset_leaves_are_a_limit() -> None:
    [first, *others] = sorted(os.sched_getaffinity(0))
    if not others or not shutil.which("taskset"):
        pytest.skip("needs two processors and taskset")
    command = ["taskset", "-c", str(first), *machine_command(python=sys.executable)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    found = read_machine(done.stdout)
    assert (found["cpu_limit"], found["cpus"]) == ("1", str(os.cpu_count()))


def test_without_a_mitigation_there_is_none() -> None:
    assert read_machine(f"{VULNERABLE}/mds:Vulnerable") == {"mitigations": "none"}


@pytest.mark.parametrize("python", [sys.executable, "no-such-python"])
def test_this_machine_tells_its_facts_with_and_without_python(python: str) -> None:
    command = machine_command(python=python)
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    found = read_machine(done.stdout)
    assert {"kernel", "architecture", "cpus", "memory", "vm.swappiness"} <= found.keys()
    assert found.keys() <= FACT_NAMES.keys()
    assert done.stderr == ""


def older_python(version: str) -> str:
    """Return an interpreter of this version of Python, or skip the test."""
    installed = Path.home().glob(f".pyenv/versions/{version}.*/bin/python3")
    found = next(map(str, installed), None) or shutil.which(f"python{version}")
    return found or pytest.skip(f"Python {version} is not installed")


@pytest.mark.parametrize("version", ["3.6", "3.7", "3.8", "3.9", "3.10"])
def test_the_oldest_pythons_that_are_supported_tell_all_facts(version: str) -> None:
    environment = os.environ | {"SPARK_LOCAL_DIRS": "/", "CLUSTERLIFT_DATA_DIR": "/tmp"}  # noqa: S108
    done = [
        subprocess.run(
            machine_command(python=python),
            capture_output=True,
            text=True,
            check=True,
            env=environment,
        )
        for python in (older_python(version), sys.executable)
    ]
    older, own = (read_machine(each.stdout) for each in done)
    assert older.keys() == own.keys()
    assert unread_facts(done[0].stdout) is None


def test_a_python_that_is_off_the_path_is_found_where_rhel_8_has_it(tmp_path: Path) -> None:
    """As its own programs do, program.sh uses /usr/libexec/platform-python, which is Python 3.6."""
    place = tmp_path / "platform-python"
    place.symlink_to(older_python("3.6"))
    command = machine_command(python="no-such-python")
    moved = [word.replace("/usr/libexec/platform-python", str(place)) for word in command]
    done = subprocess.run(moved, capture_output=True, text=True, check=True)
    assert unread_facts(done.stdout) is None
    assert "clock_synchronised" in read_machine(done.stdout)


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ("/unread: sh: 1: python3: not found", "python3 is not installed"),
        ("/unread:3.5.2 SyntaxError: invalid syntax", "its python3 is 3.5.2, and 3.6 or newer is needed"),
        ("/unread:3.12.1 MemoryError", "3.12.1 MemoryError"),
    ],
)  # fmt: skip
def test_why_facts_are_unknown(said: str, reason: str) -> None:
    assert known(unread_facts(said)).endswith(f" are unknown: {reason}")


def test_facts_that_were_looked_for_are_not_unknown() -> None:
    assert unread_facts("/disks:x\n") is None


ALIKE = {"kernel": "Linux 6.1", "governor": "performance"}


class TestGroups:
    def test_nodes_that_are_alike_are_recorded_once_and_others_by_what_differs(self) -> None:
        nodes = {
            "n3": {"kernel": "Linux 6.1", "governor": "powersave", "boost": "on"},
            "n2": ALIKE,
            "n1": ALIKE,
            "n4": {"governor": "performance"},
        }
        groups = machine_groups(nodes)
        assert groups == [
            {"hosts": ["n1", "n2"], "facts": ALIKE},
            {"hosts": ["n3"], "facts": {"governor": "powersave", "boost": "on"}},
            {"hosts": ["n4"], "facts": {"kernel": None}},
        ]
        assert facts_by_node({"machines": {"driver": "n1", "groups": groups}}) == nodes
