"""The TOML file that defines an experiment.

name = "ethernet-upgrade"
nodes = 4               # number of workers
cpus = 0.5              # processors of each worker
storage = "hdfs"        # or "qfs"
rounds = 3              # runs of each configuration
trials = 3              # trials of each workload in a run that count
warmup = "auto"         # they count from where the workload is steady; or a number of warm-up trials
workloads = ["group-by", "sha-512"]     # default: all
sink = "noop"           # what forces a computation; or "rdd-count", as in 2020
repartition = 16        # partitions that the workload `repartition` makes
pi_samples = 2_000_000  # points that each Pi workload draws
probe_seconds = 3       # probe the network before each run, for 3 s a transfer; default: no probe

[datasets.coded]
rows = 2_000_000
layout = "xor:2+1"      # default: the file system's own
format = "csv"          # or "parquet"

[configurations.1g-coded]
dataset = "coded"
rate = "100mbit"        # default: not limited
mtu = 1500
"""

from __future__ import annotations

import difflib
import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec

from harness.experiments.experiment import Configuration, Data, Experiment
from harness.lab.compose import MAX_CPUS, MAX_WORKERS, MIN_CPUS, LabSpec, check_cpus
from harness.local_spark import ROOT
from harness.model.errors import BadInput
from harness.model.layout import FORMS, Layout, LayoutKind
from harness.model.limits import MAX_PARTITIONS, MAX_PI_SAMPLES, MAX_ROWS, MAX_TRIALS
from harness.model.link import MAX_MTU, MIN_MTU, TYPICAL_MTU, Link, parse_rate
from harness.records.toml import convert, read_toml
from harness.terminal import shorten

WORKLOADS = ROOT / "jobs/workloads"
CODED_LAYOUTS = {
    "hdfs": ("rs:3+2:1m", "rs:6+3:1m", "rs:10+4:1m", "xor:2+1:1m"),
    "qfs": ("rs:6+3:64k",),
}
"""The erasure coded layouts that the lab's file systems store."""

MAX_ROUNDS = 1000
MAX_PROBE_SECONDS = 3600
MAX_SHOWN = 60

Name = Annotated[
    str,
    msgspec.Meta(
        pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}\Z",
        description="up to 64 letters, digits, dots, dashes and underscores",
    ),
]
Trials = Annotated[int, msgspec.Meta(ge=1, le=MAX_TRIALS)]
WarmUp = Annotated[
    Annotated[int, msgspec.Meta(ge=0, le=MAX_TRIALS)] | Literal["auto"],
    msgspec.Meta(description=f"auto, or from 0 to {MAX_TRIALS:,}"),
]


class DatasetTable(msgspec.Struct, forbid_unknown_fields=True):
    """`[datasets.NAME]`. Without a layout, the dataset has the file system's default."""

    rows: Annotated[int, msgspec.Meta(ge=1, le=MAX_ROWS)]
    layout: Annotated[str, msgspec.Meta(max_length=40, description=FORMS)] | None = None
    format: Literal["csv", "parquet"] = "csv"

    def __post_init__(self) -> None:
        if self.layout is not None:
            Layout.parse(self.layout)


class ConfigurationTable(msgspec.Struct, forbid_unknown_fields=True):
    """`[configurations.NAME]`. Without a rate, the links have no limit."""

    dataset: Name
    rate: (
        Annotated[str, msgspec.Meta(max_length=40, description="a rate such as 2.5gbit")] | None
    ) = None
    mtu: Annotated[int, msgspec.Meta(ge=MIN_MTU, le=MAX_MTU)] = TYPICAL_MTU

    def __post_init__(self) -> None:
        _ = self.link

    @property
    def link(self) -> Link:
        """The link of every node. Raises ValueError if the rate cannot be parsed."""
        try:
            return Link(None if self.rate is None else parse_rate("rate", self.rate), self.mtu)
        except BadInput as error:
            raise ValueError(str(error)) from error


class ExperimentFile(msgspec.Struct, forbid_unknown_fields=True):
    """The whole file. What is None is left to the benchmark's own default."""

    name: Name
    datasets: Annotated[
        dict[Name, DatasetTable],
        msgspec.Meta(min_length=1, description="one table or more: [datasets.NAME]"),
    ]
    configurations: Annotated[
        dict[Name, ConfigurationTable],
        msgspec.Meta(min_length=2, description="two tables or more: [configurations.NAME]"),
    ]
    nodes: Annotated[int, msgspec.Meta(ge=1, le=MAX_WORKERS)] = 4
    cpus: Annotated[float, msgspec.Meta(ge=MIN_CPUS, le=MAX_CPUS)] = 0.5
    storage: Literal["hdfs", "qfs"] = "hdfs"
    rounds: Annotated[int, msgspec.Meta(ge=1, le=MAX_ROUNDS)] = 3
    trials: Trials = 3
    warmup: WarmUp = "auto"
    workloads: (
        Annotated[list[str], msgspec.Meta(min_length=1, description="one name or more")] | None
    ) = None
    sink: Literal["noop", "rdd-count"] | None = None
    repartition: Annotated[int, msgspec.Meta(ge=1, le=MAX_PARTITIONS)] | None = None
    pi_samples: Annotated[int, msgspec.Meta(ge=1, le=MAX_PI_SAMPLES)] | None = None
    probe_seconds: Annotated[int, msgspec.Meta(ge=1, le=MAX_PROBE_SECONDS)] | None = None

    def __post_init__(self) -> None:
        """Raise ValueError if parts of the file contradict each other, the checkout or the lab."""
        check_cpus(self.cpus)
        for name, table in self.datasets.items():
            if problem := layout_problem(table.layout, self.storage, self.nodes):
                raise ValueError(f"datasets.{name}: layout {table.layout} {problem}")
        for name, configuration in self.configurations.items():
            if configuration.dataset not in self.datasets:
                raise ValueError(
                    f"configurations.{name}: dataset has to be one of {', '.join(self.datasets)}"
                )
        for problem in workload_problems(self.workloads or ()):
            raise ValueError(f"workloads: {problem}")

    def experiment(self, id_: str) -> Experiment:
        """Return the experiment that the file defines."""
        data = {
            name: Data(name, table.rows, table.layout, table.format)
            for name, table in self.datasets.items()
        }
        return Experiment(
            name=self.name,
            shape=LabSpec(self.nodes, self.cpus, self.storage),
            configurations=tuple(
                Configuration(name, data[table.dataset], table.link)
                for name, table in self.configurations.items()
            ),
            rounds=self.rounds,
            trials=self.trials,
            warmup=self.warmup,
            workloads=tuple(self.workloads or ()),
            sink=self.sink,
            repartition=self.repartition,
            pi_samples=self.pi_samples,
            probe_seconds=self.probe_seconds,
            id=id_,
        )


def read_experiment(file: Path) -> Experiment:
    """Return the experiment that a file defines. Raises BadInput that names the file and the mistake."""
    values = read_toml(file)
    return convert(values, ExperimentFile, file).experiment(_id(values))


def layout_problem(text: str | None, storage: str, nodes: int) -> str | None:
    """Return why a lab cannot store this layout; None if it can.

    Reed-Solomon on QFS needs no node for each stripe: a chunk server stores several of them.
    """
    if text is None:
        return None
    layout = Layout.parse(text)
    coded = CODED_LAYOUTS[storage]
    is_copied = layout.kind is LayoutKind.REPLICATED
    if not is_copied and not any(layout.is_met_by(Layout.parse(each)) for each in coded):
        return f"does not exist on {storage}, which has replicated:N, {', '.join(coded)}"
    if layout.nodes > nodes and (is_copied or storage == "hdfs"):
        return f"needs {layout.nodes} nodes, and the experiment has {nodes}"
    return None


def workload_problems(names: Sequence[str]) -> Iterator[str]:
    """Yield what is wrong with names of workloads. A workload is named like its file."""
    files = WORKLOADS.glob("[!_]*.py")
    known = sorted(file.stem.replace("_", "-") for file in files)
    for name in names:
        if name not in known:
            similar = difflib.get_close_matches(name, known, n=3, cutoff=0.4)
            hint = (
                f"did you mean {' or '.join(similar)}?"
                if similar
                else f"there are {', '.join(known)}"
            )
            yield f"there is no workload {shorten(name, MAX_SHOWN)!r}; {hint}"
        if names.count(name) > 1:
            yield f"{name} is there twice"


_NOT_IN_ID = frozenset({"rounds", "trials", "warmup", "probe_seconds"})
"""Raising one of these adds to the results that exist."""


def _id(values: Mapping[str, Any]) -> str:
    """Return the experiment's id: a hash of all that affects results, so not of the repetitions."""
    affecting = {key: value for key, value in values.items() if key not in _NOT_IN_ID}
    text = json.dumps(affecting, sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:12]
