"""An experiment: what is compared in the lab, as a TOML file says it.

name = "ethernet-upgrade"
nodes = 4               # workers
cpus = 0.5              # processors of each
storage = "hdfs"        # or qfs
rounds = 2              # over all configurations
trials = 3              # measured ones a round, configuration and workload
warmup = 1              # others before them
workloads = ["group-by", "sha-512"]     # by default all
sink = "noop"           # what forces a computation; or rdd-count, as in 2020
repartition = 16        # partitions that the workload of that name makes
pi_samples = 2_000_000  # points that each Pi draws
probe_seconds = 3       # of each transfer, when the network is probed before a run; by default it is not

[datasets.coded]
rows = 2_000_000
layout = "xor:2+1"

[configurations.1g-coded]
dataset = "coded"
rate = "100mbit"        # by default not limited
mtu = 1500
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from harness.lab.compose import Shape
from harness.model.link import MAX_MTU, MIN_MTU, TYPICAL_MTU, Link, parse_rate
from harness.records.toml import TomlTable

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
SINKS = ("noop", "rdd-count")
DISK_BYTES_A_ROW = 300
"""As CSV 75, in three copies, and once more while it is shuffled: hardly any dataset takes more."""


@dataclass(frozen=True)
class Data:
    """A dataset to generate; without a layout, the storage's own."""

    name: str
    rows: int
    layout: str | None
    format: str


@dataclass(frozen=True)
class Configuration:
    """A set-up under test: the data, and the links of all nodes."""

    name: str
    data: Data
    link: Link


@dataclass(frozen=True)
class Experiment:
    """The whole. `digest` changes with everything that makes results comparable."""

    name: str
    shape: Shape
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
        """Those that a configuration uses, each once."""
        return list(dict.fromkeys(one.data for one in self.configurations))

    @property
    def data_bytes(self) -> int:
        """About how much disk it takes at most."""
        return sum(data.rows for data in self.datasets) * DISK_BYTES_A_ROW

    def order(self, round_: int) -> tuple[Configuration, ...]:
        """There and back again, so that what drifts hits the first and the last alike."""
        return self.configurations if round_ % 2 else self.configurations[::-1]


def read_experiment(file: Path) -> Experiment:
    """The experiment of a file. Raises BadInput that names the file and what is wrong in it."""
    table = TomlTable.read(file)
    datasets = {name: _data(name, each) for name, each in table.tables("datasets").items()}
    configurations = [
        _configuration(name, each, datasets)
        for name, each in table.tables("configurations", minimum=2).items()
    ]
    repeated = {name: table.take(name, int, usual) for name, usual in REPEATED.items()}
    for name, least in (("rounds", 1), ("trials", 1), ("warmup", 0)):
        table.check(name, repeated[name] >= least, f"is {least} or more")
    experiment = Experiment(
        name=_name(table, table.take("name", str)),
        shape=Shape(
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
"""How often everything is done: more of it later adds to what is there already."""
_NO_MATTER = frozenset({*REPEATED, "probe_seconds"})


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
    """Of everything that makes results comparable: how often it is repeated does not."""
    whole = {key: value for key, value in table.values.items() if key not in _NO_MATTER}
    text = json.dumps(whole, sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:12]
