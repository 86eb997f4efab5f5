"""A complete document of each kind: every field of its schema has a value in one of its lines."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from datagen.manifest import Format, Manifest
from datagen.recipe import Recipe, totals
from harness.model.interface import Bond, BondMember
from harness.model.interference import NodeInterference
from harness.model.layout import Layout
from harness.model.network_metrics import (
    LATENCY_PERCENTILES,
    MESH_GOODPUT,
    PACKET_COST,
    PACKET_GOODPUT,
    PATH_MTU,
    ROUND_TRIP,
)
from harness.model.probe import AFTER, BEFORE, ExcludedHost, LinkSnapshot, ProbeEvent, ProbeRun
from harness.model.profile import Profile, SeenTask, TaskSpan
from harness.model.run import Ending, Phase, Run, Trial
from harness.model.soak import LinkEvent, LinkEventKind, LinkSeconds, SoakFlow
from harness.model.task_metrics import ScheduleSimulation, Stragglers
from harness.model.timeline import Stage, Timeline
from harness.model.work import DECLARED_PEAK, Work
from harness.records.writer import ProbeRecording, Recording
from tests.unit.builders import STARTED_AT, a_run, failed, ok
from tests.unit.metrics_builders import received, task_metrics
from tests.unit.probe_builders import a_link

Lines = Sequence[Mapping[str, Any]]

ROUNDS = 2  # of more, a median hides what one of them is changed to
LINK = {
    "speed_mbit_s": 1000,
    "mtu_bytes": 1500,
    "shaped_bit_s": 10**9,
    "duplex": "full",
    "driver": "igb",
    "bus": "pci",
    "state": "up",
    "sysctls": {"net.ipv4.tcp_mtu_probing": "0"},
}
TASKS = task_metrics(
    slots=2.0,
    fetch_wait_s=1.5,
    cpu_s=12.0,
    python_worker_s=0.5,
    gc_share=0.01,
    stragglers=Stragglers(9.5, 9.0),
    simulation=ScheduleSimulation(10.0, 9.0, 7.0),
    tasks_by_locality={"NODE_LOCAL": 2},
    input_bytes_by_locality={"NODE_LOCAL": 75_000},
    incomplete="two tasks have no metrics",
)
TIMELINE = Timeline(
    interval_s=2.0,
    slices=5,
    stages=(Stage("reads data, writes shuffle", 0.1, 6.0), Stage("reads shuffle", 6.0, 9.9)),
    hosts=("n1",),
    clock_error_s=(0.04,),
    received_bytes=("250000000 0A__0",),
    sent_bytes=("9000000 0_A.0",),
    busy_percent=("98 z_VA0",),
)


PROFILE = Profile.of(
    interval_s=0.1,
    executors=["0 on n1", "1 on n2"],
    silent={"1 on n2": "it does not listen to SIGQUIT"},
    tasks=[
        SeenTask(
            3,
            {("Task.run", "next"): (3, 1), ("Task.run", "next", "read"): (0, 9)},
            TaskSpan(3, 7, 50, 100, 1_300, 200),
        ),
        SeenTask(4, {("Task.run", "write"): (5, 0)}, TaskSpan(4, 8, 1_400, 1_400, 500)),
    ],
    cost=0.02,
)


def complete_run(configuration: str) -> Run:
    """Return a run in which everything is known."""
    return a_run(
        configuration,
        workloads=("group-by", "sha-512"),
        parameters={
            "sink": "noop",
            "trials": ROUNDS,
            "warmup": 1,
            "repartition": 8,
            "pi_samples": 1000,
            "controls": ["sha-512"],
            "data_workloads": ["group-by"],
            "not_requested": ["inner-join"],
            "unexpected_links": ["n1 eth0 has 1 Gbit/s"],
            "max_time_s": 60.0,
            "precision": 0.02,
            "content_checked": True,
            "series": "5e71e5000000",
        },
        facts={"link": "2.5 Gbit/s", "cost": "350USD", "emulated": "2 nodes on one host"},
        environment={
            "host": "n1",
            "links": {"eth0": LINK},
            "nodes": {"n1": {"eth0": LINK}, "n2": {"eth0": LINK}},
            "machines": {
                "driver": "n1",
                "groups": [
                    {"hosts": ["n1"], "facts": {"kernel": "Linux 6.1", "governor": "performance"}},
                    {"hosts": ["n2"], "facts": {"governor": "powersave"}},
                ],
                "one_kernel": [["n1", "n2"]],
            },
            "sysctls": {"net.ipv4.tcp_congestion_control": "bbr"},
            "executors": ["n1", "n2"],
            "master": "spark://n1:7077",
            "memory_bytes": 10**10,
            "spark_conf": {"spark.executor.memory": "1g"},
            "spark": "4.3.0",
            "hadoop": "3.4.1",
            "java": "17",
            "scala": "2.13",
            "python": "3.12",
            "kernel": "Linux 6.1",
            "architecture": "x86_64",
            "cpu_model": "a processor",
            "cpus": 4,
            "parallelism": 8,
        },
        dataset={
            "uri": "hdfs://n1:9820/rows",
            "layout": {
                "requested": "replicated:2",
                "observed": "replicated:2",
                "drift": "a block has one copy",
            },
            "recipe": {"name": "uuid-rows", "version": 1, "seed": 0, "rows": 1000},
            "placement": {"n1:9866": 1000, "n2:9866": 1000},
            "format": "csv",
            "rows": 1000,
            "partitions": 4,
            "file_count": 4,
            "coder": "native",
            "page_cache": True,
            "server": "ceph 18.2.7",
            "client": {"fs.s3a.input.stream.type": "classic"},
            "digest": "00011a3e89fde421",
        },
        omitted={"calc-pi-arrow-udf": "pyarrow is not installed"},
    )


OF_A_PROGRAM = {
    "program": "hpl",
    "problem": {"size": 1000},
    "options": {"memory": "64mb"},
    "growing": False,
    "hosts": ["n1", "n2"],
    "processes_per_host": 1,
    "network": "tcp",
    "per_process": ["sha-512"],
}
"""The parameters that only runs of programs have."""


def program_run(configuration: str) -> Run:
    """Return a complete run of a program."""
    run = complete_run(configuration)
    return replace(
        run,
        parameters={**run.parameters, **OF_A_PROGRAM},
        environment={**run.environment, "mpi": "4.1", "shared_processors": "2 processes share"},
    )


def complete_trials(factor: float) -> list[Trial]:
    """Return trials of two workloads: first one of which all is known, a failed, at last a disturbed."""
    first, *others = [
        ok(workload, factor * (10 + round_ / 10), round_, tasks=TASKS, wire=received(900, 800))
        for round_ in range(1, ROUNDS + 1)
        for workload in ("group-by", "sha-512")
    ]
    known = replace(
        first,
        job_group="group-by measured 1",
        note="an executor was lost",
        wire=received(900, 800, unread=("n3",)),
        interference=(
            NodeInterference(
                "n1", duration_s=10.5, processors=2, loops=200, loop_s=0.0004, busy_s=18.0,
                stolen_s=0.5, others_s=1.0, quota_processors=2.0,
                quota_periods=100, quota_throttles=40, throttled_s=3.6,
                memory_wait_s=0.1, io_wait_s=1.0, swapped_bytes=0, major_faults=7,
                others_disk_bytes=0,
            ),
        ),
        timeline=TIMELINE,
    )  # fmt: skip
    profiled = ok("group-by", factor * 11, 1, Phase.PROFILE, tasks=TASKS, profile=PROFILE)
    disturbed = replace(others.pop(), disturbed="n1: it swapped (12 MB/s, usually 0)")
    work = Work(1e10, "flop", {DECLARED_PEAK: 1e10}, {"rollbacks": 3.0})
    counted = ok("hpl", factor * 2, work=work)
    return [known, failed("inner-join"), *others, counted, disturbed, profiled]


def complete_events() -> list[ProbeEvent]:
    """Return links, a bond among them, and measurements of both ways between two hosts."""
    members = (BondMember("eth1", "up", 1000, "full", 1), BondMember("eth2", "up", 1000, "full", 1))
    facts = {
        "kind": "bond",
        "shaped_bit_s": 10**9,
        "offloads": {"tcp-segmentation-offload": True},
        "bond": Bond("IEEE 802.3ad", 1, members),
        "sysctls": {"net.ipv4.tcp_mtu_probing": "0"},
    }
    links = [a_link("n1", **facts), a_link("n2")]
    metrics = {
        MESH_GOODPUT: 940e6,
        PATH_MTU: 1500.0,
        PACKET_GOODPUT: 940e6,
        PACKET_COST.sender: 0.5,
        PACKET_COST.receiver: 0.6,
        **{ROUND_TRIP[rank]: 100 + rank for rank in LATENCY_PERCENTILES},
    }
    pairs = ("n1 -> n2", "n2 -> n1")
    return [
        *(LinkSnapshot(BEFORE, link) for link in links),
        ExcludedHost("n3", "no route to host"),
        *(metric.of(pair, value, "idle") for metric, value in metrics.items() for pair in pairs),
        *(metric.of(pair, value) for metric, value in metrics.items() for pair in pairs),
        MESH_GOODPUT.failed("n1 -> n3", "no route to host"),
        *soak_events(),
        *(LinkSnapshot(AFTER, link) for link in links),
    ]


def soak_events() -> list[ProbeEvent]:
    """Return the transfers of two rounds between two hosts, their seconds, and what happened."""
    moments = (2.0, 3.0, 4.1)
    rates, levels, none = (940e6, 940e6, 10e6), (0.0, 1.0, 2.0), (0, 3, 0)
    return [
        LinkEvent("n1", 1.5, LinkEventKind.CARRIER, "the link was interrupted", 2),
        LinkEvent("n2", 4.0, LinkEventKind.DROPS, "2 packets dropped", 2),
        SoakFlow(1, "n1", "n2", 1.0, 5.0, 940e6, 3),
        SoakFlow(1, "n2", "n1", 1.0, 5.0, error="iperf3: no route"),
        SoakFlow(2, "n1", "n2", 8.0, 5.0, 90e6, None),
        LinkSeconds("n2", moments, rates, rates, none, levels, levels, (40.0, 41.0, 42.0)),
        LinkSeconds("n1", moments, rates, rates, none, levels, levels),
    ]


def run_lines(
    directory: Path, configuration: str, factor: float, run: Callable[[str], Run] = complete_run
) -> Lines:
    """Return the lines of a whole results file."""
    with Recording(directory, run(configuration)) as recording:
        for trial in complete_trials(factor):
            recording.trial(trial)
        recording.end(
            Ending.COMPLETED, "the number was given", {"n1 eth0": {"errors": 0, "drops": 3}}
        )
    return _without_checksums(recording.path)


def probe_lines(directory: Path, configuration: str) -> Lines:
    """Return the lines of a whole file of probes."""
    run = ProbeRun(
        configuration,
        ("n1", "n2", "n3"),
        {"probe": "all"},
        {"emulated": "2 nodes on one host"},
        id="a-probe",
        started_at=STARTED_AT,
    )
    with ProbeRecording(run, directory) as recording:
        for event in complete_events():
            recording.event(event)
        recording.end(Ending.COMPLETED)
    assert recording.path is not None
    return _without_checksums(recording.path)


def manifest_document() -> dict[str, Any]:
    """Return a manifest of schema version 1, which has no checksum that would find every mutation."""
    recipe = Recipe(rows=1000)
    manifest = Manifest(
        recipe=recipe,
        format=Format.CSV,
        partitions=2,
        files={"part-0.csv": 40_000, "part-1.csv": 35_000},
        digest="00011a3e89fde421",
        totals=totals(recipe),
        requested_layout=Layout.parse("replicated:2"),
        observed_layout=Layout.parse("replicated:2"),
        written_by="clusterlift 0.1.0",
        written_at=STARTED_AT,
    )
    values: dict[str, Any] = json.loads(manifest.to_json())
    counts = values["totals"]["rows_per_prefix2"]
    values["totals"] = {
        key: values["totals"][key] for key in ("rows", "integer_sum", "float_sum_e9")
    } | {"rows_per_prefix2": counts}
    later = {"checksum", "digest_without_value"}
    return {key: value for key, value in values.items() if key not in later} | {"schema_version": 1}


EXPERIMENT: Mapping[str, Any] = {
    "name": "upgrade",
    "nodes": 3,
    "cpus": 0.5,
    "storage": "hdfs",
    "runs": 2,
    "turns": "rounds",
    "trials": 4,
    "warmup": 1,
    "workloads": ["group-by", "sha-512"],
    "sink": "noop",
    "repartition": 16,
    "profile": 1,
    "pi_samples": 1000,
    "probe_seconds": 3,
    "scaling": [1, 2],
    "per_host": 1,
    "growing": False,
    "programs": {"hpcc": {"memory": "64mb"}},
    "datasets": {
        "coded": {"rows": 1000, "layout": "xor:2+1", "format": "csv", "storage": "hdfs"},
    },
    "configurations": {
        "slow": {"dataset": "coded", "rate": "100mbit", "mtu": 1500},
        "fast": {"dataset": "coded", "rate": "250mbit", "mtu": 9000},
    },
}

ON_HOSTS: Mapping[str, Any] = {
    "name": "links",
    "site": {
        "via": "ssh",
        "hosts": "node[1-2]",
        "device": "eth0",
        "spark": ["--master", "spark://node1:7077"],
        "data": "hdfs://node1:9820/data",
        "sudo": True,
    },
    "datasets": {"plain": {"rows": 1000, "uri": "hdfs://node1:9820/plain"}},
    "configurations": {
        "slow": {
            "dataset": "plain",
            "speed": "1gbit",
            "bond_members_down": ["eth1"],
            "sysctls": {"net.ipv4.tcp_congestion_control": "bbr"},
            "spark": {"spark.shuffle.compress": "false"},
            "apply": "a",
            "revert": "r",
            "check": "c",
            "applied": "fast switch",
        },
        "fast": {"dataset": "plain"},
    },
}
IN_NAMESPACES: Mapping[str, Any] = {
    **ON_HOSTS,
    "site": {"via": "netns", "hosts": "a,b", "submit_from": "a", "data": "file:///data"},
}
"""What excludes a key of the other experiment."""


def _without_checksums(file: Path) -> Lines:
    """Return the lines as schema version 2 has them: a checksum would find every mutation at once."""
    lines = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    lines[0]["schema_version"] = 2
    return [{key: value for key, value in line.items() if key != "checksum"} for line in lines]
