"""The definition of an experiment in the lab, read from a TOML file.

name = "ethernet-upgrade"
nodes = 4               # number of workers
cpus = 0.5              # processors of each worker
storage = "hdfs"        # or "qfs"
rounds = 2              # runs of each configuration
trials = 3              # measured trials of each workload in a run
warmup = 1              # warm-up trials before them
workloads = ["group-by", "sha-512"]     # default: all
sink = "noop"           # what forces a computation; or "rdd-count", as in 2020
repartition = 16        # partitions that the workload `repartition` makes
pi_samples = 2_000_000  # points that each Pi workload draws
probe_seconds = 3       # probe the network before each run, for 3 s a transfer; default: no probe

[datasets.coded]
rows = 2_000_000
layout = "xor:2+1"      # default: the file system's own

[configurations.1g-coded]
dataset = "coded"
rate = "100mbit"        # default: not limited
mtu = 1500
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from harness.lab.compose import LabSpec
from harness.model.link import MAX_MTU, MIN_MTU, TYPICAL_MTU, Link, parse_rate
from harness.records.toml import TomlTable

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
SINKS = ("noop", "rdd-count")
DISK_BYTES_PER_ROW = 300
"""75 bytes as CSV, in three replicas, and once more in a shuffle. Few datasets need more."""


@dataclass(frozen=True)
class Data:
    """A dataset to generate. Without a layout it has the file system's default."""

    name: str
    rows: int
    layout: str | None
    format: str


@dataclass(frozen=True)
class Configuration:
    """A configuration under test: its dataset, and the link of all nodes."""

    name: str
    data: Data
    link: Link


@dataclass(frozen=True)
class Experiment:
    """The whole definition. Results are comparable if their experiments have the same `digest`."""

    name: str
    shape: LabSpec
    configurations: tuple[Configuration, ...]
    rounds: int
    trials: int
    warmup: int
    workloads: tuple[str, ...]
    sink: str | None
    repartition: int | None
    pi_samples: int | None
    probe_seconds: int | None
    digest: str

    @property
    def datasets(self) -> list[Data]:
        """The datasets that configurations use, each once."""
        return list(dict.fromkeys(each.data for each in self.configurations))

    @property
    def data_bytes(self) -> int:
        """The disk space that the datasets need at most, roughly."""
        return sum(data.rows for data in self.datasets) * DISK_BYTES_PER_ROW

    def order(self, round_: int) -> tuple[Configuration, ...]:
        """Return the configurations in a round's order, reversed in every second round.

        So a drift of the machine affects the first and the last configuration alike.
        """
        return self.configurations if round_ % 2 else self.configurations[::-1]


def read_experiment(file: Path) -> Experiment:
    """Return the experiment that a file defines. Raises BadInput that names the file and the mistake."""
    table = TomlTable.read(file)
    datasets = {name: _data(name, below) for name, below in table.tables("datasets").items()}
    configurations = [
        _configuration(name, below, datasets)
        for name, below in table.tables("configurations", minimum=2).items()
    ]
    repeated = {name: table.take(name, int, default) for name, default in REPEATED.items()}
    for name, minimum in (("rounds", 1), ("trials", 1), ("warmup", 0)):
        table.check(name, repeated[name] >= minimum, f"is {minimum} or more")
    experiment = Experiment(
        name=_name(table, table.take("name", str)),
        shape=LabSpec(
            table.take("nodes", int, 4),
            table.take("cpus", float, 0.5),
            table.take("storage", str, "hdfs"),
        ),
        configurations=tuple(configurations),
        workloads=tuple(table.take("workloads", list[str], [])),
        sink=table.take("sink", str, None),
        repartition=table.take("repartition", int, None),
        pi_samples=table.take("pi_samples", int, None),
        probe_seconds=table.take("probe_seconds", int, None),
        digest=_digest(table),
        **repeated,
    )
    table.check("storage", experiment.shape.storage in {"hdfs", "qfs"}, "is hdfs or qfs")
    table.check("nodes", experiment.shape.workers >= 1, "is 1 or more")
    seconds = experiment.probe_seconds
    table.check("probe_seconds", seconds is None or seconds >= 1, "is 1 or more")
    table.check("sink", experiment.sink in {None, *SINKS}, f"is {' or '.join(SINKS)}")
    table.end()
    return experiment


REPEATED = {"rounds": 2, "trials": 3, "warmup": 1}
"""The numbers of repetitions and their defaults. Raising one adds to the results that exist."""
_NOT_IN_DIGEST = frozenset({*REPEATED, "probe_seconds"})


def _data(name: str, table: TomlTable) -> Data:
    data = Data(
        _name(table, name),
        table.take("rows", int),
        table.take("layout", str, None),
        table.take("format", str, "csv"),
    )
    table.check("rows", data.rows >= 1, "is 1 or more")
    table.end()
    return data


def _configuration(name: str, table: TomlTable, datasets: Mapping[str, Data]) -> Configuration:
    data = table.take("dataset", str)
    table.check("dataset", data in datasets, f"is one of {', '.join(datasets)}")
    rate = table.take("rate", str, None)
    mtu = table.take("mtu", int, TYPICAL_MTU)
    table.check("mtu", MIN_MTU <= mtu <= MAX_MTU, f"is from {MIN_MTU} to {MAX_MTU}")
    table.end()
    bit_s = None if rate is None else parse_rate(f"{table.where}: rate", rate)
    return Configuration(_name(table, name), datasets[data], Link(bit_s, mtu))


def _name(table: TomlTable, name: str) -> str:
    table.check("name", bool(NAME.fullmatch(name)), "has letters, digits, dots, dashes")
    return name


def _digest(table: TomlTable) -> str:
    """Return a digest of everything that affects results; the numbers of repetitions do not."""
    values = {key: value for key, value in table.values.items() if key not in _NOT_IN_DIGEST}
    text = json.dumps(values, sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:12]
