"""Data of three configurations for every section of a report: trials, task metrics, probes."""

from collections.abc import Mapping
from itertools import permutations
from random import Random

from harness.analysis.observed.configuration import ConfigurationRuns
from harness.model.network_metrics import MESH_GOODPUT
from harness.model.probe import Measurement
from harness.model.run import Phase, Trial
from harness.model.task_metrics import NodeBytes, TaskMetrics, WireBytes
from harness.model.timeline import Stage, Timeline
from tests.unit.builders import configured, in_runs, ok
from tests.unit.metrics_builders import task_metrics
from tests.unit.timeline_builders import a_node, a_timeline

BEFORE_S = {
    "group-by": 14.1,
    "inner-join": 19.3,
    "repartition": 12.2,
    "sha-512": 9.1,
    "calc-pi-dataframe": 1.1,
}
CONTROLS = ("calc-pi-dataframe",)
FACTORS: Mapping[str, Mapping[str, float]] = {
    "1g-rs": {},
    "2.5g-rs": {"group-by": 0.9, "inner-join": 0.87},
    "2.5g-2x": {"group-by": 0.63, "inner-join": 0.75, "repartition": 0.85, "sha-512": 0.96},
}
LINKS_BIT_S = {"1g-rs": 0.94e9, "2.5g-rs": 2.35e9, "2.5g-2x": 2.35e9}
NODES = ("node1", "node2", "node3", "node4")
TRIALS, RUNS = 8, 2


def columns(trials: int = TRIALS) -> list[ConfigurationRuns]:
    """Return two runs of every configuration; the numbers are the same in every call."""
    return [in_runs(_column(name, trials * RUNS), RUNS) for name in FACTORS]


def measured() -> dict[str, list[Measurement]]:
    """Return probes of every configuration."""
    return {
        name: [MESH_GOODPUT.of(pair, rate) for pair in permutations(NODES, 2)]
        for name, rate in LINKS_BIT_S.items()
    }


def _column(name: str, trials: int) -> ConfigurationRuns:
    random = Random(name)  # noqa: S311  noise, not a secret
    rounds = [(Phase.WARM_UP, 1), *((Phase.MEASURED, number) for number in range(1, trials + 1))]
    return configured(
        name,
        [
            _trial(
                workload,
                phase,
                round_,
                before_s * FACTORS[name].get(workload, 1.0),
                random,
                LINKS_BIT_S[name],
            )
            for phase, round_ in rounds
            for workload, before_s in BEFORE_S.items()
        ],
        workloads=tuple(BEFORE_S),
        parameters={"controls": list(CONTROLS), "sink": "noop", "trials": trials, "warmup": 1},
        facts={"link": "2.5 Gbit/s" if name.startswith("2.5g") else "1 Gbit/s"},
        environment={
            "spark": "4.3.0",
            "java": "17",
            "kernel": "Linux 6.1",
            "executors": list(NODES),
        },
        dataset=_dataset("replicated:2" if name.endswith("2x") else "rs:6+3:64k"),
    )


def _trial(
    workload: str, phase: Phase, round_: int, typical_s: float, random: Random, rate_bit_s: float
) -> Trial:
    wall_s = typical_s * random.lognormvariate(0.4 if phase is Phase.WARM_UP else 0, 0.015)
    metrics = {"tasks": tasks(wall_s), "wire": WIRE, "timeline": timeline(wall_s, rate_bit_s)}
    return ok(workload, wall_s, round_, phase, **metrics)


WIRE = WireBytes(tuple(NodeBytes(node, 50_000_000, 49_000_000) for node in NODES))


def tasks(wall_s: float, slots: float = 4.0) -> TaskMetrics:
    """Return metrics of a trial: a fifth of its time is fetch wait, and a tenth is idle."""
    whole = wall_s * slots
    return task_metrics(
        slots,
        tasks=16,
        fetch_wait_s=0.2 * whole,
        cpu_s=0.4 * whole,
        shuffle_write_s=0.05 * whole,
        unattributed_s=0.2 * whole,
        deserialization_s=0.02 * whole,
        result_s=0.01 * whole,
        scheduler_delay_s=0.02 * whole,
        gc_share=0.01,
        input_bytes_by_locality={"NODE_LOCAL": 200_000_000, "ANY": 20_000_000},
        shuffle_local_bytes=10_000_000,
        shuffle_remote_bytes=30_000_000,
        shuffle_written_bytes=40_000_000,
    )


def timeline(wall_s: float, rate_bit_s: float, slices: int = 20) -> Timeline:
    """Return the timeline of a trial: node2 receives at the full rate in the last quarter of its time."""
    quarter, full = slices // 4, round(rate_bit_s / 8 * wall_s / slices)
    received = {NODES[1]: [*[full // 2] * (3 * quarter), *[full] * quarter]}
    nodes = [
        a_node(node, received.get(node, [full // 3] * slices), [full // 3] * slices)
        for node in NODES
    ]
    stages = (
        Stage("reads data, writes shuffle", 0.0, 0.6 * wall_s),
        Stage("reads shuffle", 0.6 * wall_s, wall_s),
    )
    return a_timeline(*nodes, slices=slices, interval_s=wall_s / slices, stages=stages)


def _dataset(layout: str) -> dict[str, object]:
    percents = (25, 25, 25, 25) if layout.startswith("rs") else (25, 37, 25, 13)
    return {
        "uri": f"qfs://master:20000/{layout.partition(':')[0]}",
        "recipe": {"name": "uuid-rows", "version": 1, "seed": 0, "rows": 3_000_000},
        "format": "csv",
        "rows": 3_000_000,
        "partitions": 4,
        "file_count": 4,
        "digest": "00011a3e89fde421",
        "layout": {"requested": layout, "observed": layout, "drift": None},
        "placement": {
            f"{node}:22000": percent * 10**6 for node, percent in zip(NODES, percents, strict=True)
        },
    }
