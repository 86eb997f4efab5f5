"""The TOML file that defines an experiment; docs/experiments.md shows every key."""

import hashlib
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec

from harness.base.errors import BadInput
from harness.base.option_values import what_exists
from harness.base.words import shorten
from harness.experiments.experiment import Configuration, Data, Experiment, Measuring, Name
from harness.experiments.hosts_spec import Device, HostsSpec, Text
from harness.hosts.transports.host import Host
from harness.lab.compose import MAX_CPUS, MAX_WORKERS, MIN_CPUS, LabSpec
from harness.lab.storages import layout_problem
from harness.model.cache import COLD
from harness.model.disk_rate import parse_disk_rate
from harness.model.layout import Layout
from harness.model.limits import MAX_NODES, MAX_PER_HOST, MAX_ROWS
from harness.model.link import MAX_BIT_S, MAX_MTU, MIN_MTU, parse_rate
from harness.model.scaling import scaled_name
from harness.node.iproute2 import positive
from harness.programs.mpi import Placement
from harness.programs.program import Program, programs
from harness.records.document import converted, toml_values
from harness.settings.setting import Setting
from harness.settings.simple import own_command
from harness.submit.local_spark import ROOT
from harness.work.queries import read_queries, text_digests

EXECUTOR_CORES = "spark.executor.cores"
CORES_MAX, EXECUTORS = "spark.cores.max", "spark.executor.instances"
WORKLOADS = ROOT / "jobs/workloads"
MAX_SHOWN = 60

RateText = Annotated[str, msgspec.Meta(max_length=40)]
SysctlKey = Annotated[
    str, msgspec.Meta(pattern=r"^[a-z][A-Za-z0-9_]*([./][A-Za-z0-9_-]+)+\Z", max_length=200)
]
Property = Annotated[str, msgspec.Meta(pattern=r"^spark\.[A-Za-z0-9._-]+\Z", max_length=200)]
StorageName = Literal["hdfs", "qfs", "ceph"]


class DatasetTable(msgspec.Struct, forbid_unknown_fields=True):
    """`[datasets.NAME]`. Without a layout, the dataset has the file system's default."""

    rows: Annotated[int, msgspec.Meta(ge=1, le=MAX_ROWS)]
    layout: Annotated[str, msgspec.Meta(max_length=40)] | None = None
    format: Literal["csv", "parquet"] = "parquet"
    uri: Text | None = None
    storage: StorageName | None = None

    def __post_init__(self) -> None:
        if self.layout is not None:
            Layout.parse(self.layout)


class ConfigurationTable(msgspec.Struct, forbid_unknown_fields=True):
    """`[configurations.NAME]`. What is None or empty stays as it is."""

    dataset: Name | None = None
    rate: RateText | None = None
    mtu: Annotated[int, msgspec.Meta(ge=MIN_MTU, le=MAX_MTU)] | None = None
    speed: RateText | None = None
    disk_rate: RateText | None = None
    bond_members_down: tuple[Device, ...] = ()
    sysctls: dict[SysctlKey, Text] = {}
    spark: dict[Property, Text] = {}
    tables: dict[str, Text] = {}
    apply: Text | None = None
    revert: Text | None = None
    check: Text | None = None
    applied: Name | None = None

    def __post_init__(self) -> None:
        """Raise ValueError if a rate cannot be read, or a command has no counterpart."""
        self.configuration("", None, None)

    @property
    def own_command(self) -> Setting | None:
        """The user's own commands."""
        commands = {"apply": self.apply, "revert": self.revert, "check": self.check}
        missing = [name for name, line in commands.items() if line is None]
        if self.apply is None or self.revert is None or self.check is None:
            if missing == list(commands) and self.applied is None:
                return None
            raise ValueError(
                f"{' and '.join(missing)} missing: apply, revert and check go together"
            )
        return own_command(self.apply, self.revert, self.check, self.applied)

    def configuration(self, name: str, data: Data | None, nodes: int | None) -> Configuration:
        """Return the configuration of this name, on so many nodes."""
        try:
            rate_bit_s = None if self.rate is None else parse_rate("rate", self.rate)
            speed_bit_s = None if self.speed is None else parse_rate("speed", self.speed, MAX_BIT_S)
            disk_bytes_s = (
                None if self.disk_rate is None else parse_disk_rate("disk_rate", self.disk_rate)
            )
        except BadInput as error:
            raise ValueError(str(error)) from error
        if speed_bit_s and speed_bit_s % 10**6:
            raise ValueError(f"speed {self.speed!r} is not a whole number of Mbit/s, as cards have")
        return Configuration(
            scaled_name(name, nodes) if nodes else name,
            data,
            nodes,
            rate_bit_s=rate_bit_s,
            mtu=self.mtu,
            speed_mbit_s=speed_bit_s and speed_bit_s // 10**6,
            disk_bytes_s=disk_bytes_s,
            bond_members_down=self.bond_members_down,
            sysctls=tuple(self.sysctls.items()),
            own_command=self.own_command,
            spark=(*self.spark.items(), *_placement(self.spark, nodes)),
            tables=tuple(self.tables.items()),
        )


def _placement(spark: Mapping[str, str], nodes: int | None) -> Iterator[tuple[str, str]]:
    """Yield the properties that place executors, of all cores of a node each, on so many nodes."""
    if nodes:
        cores = positive(spark.get(EXECUTOR_CORES, "1"), MAX_PER_HOST)
        if cores is None:
            raise ValueError(f"with scaling, {EXECUTOR_CORES} is the number of a node's cores")
        yield CORES_MAX, str(cores * nodes)
        yield EXECUTORS, str(nodes)
        yield EXECUTOR_CORES, str(cores)


class ExperimentFile(Measuring, frozen=True):
    """The whole file."""

    configurations: Annotated[dict[Name, ConfigurationTable], msgspec.Meta(min_length=1)]
    datasets: dict[Name, DatasetTable] = msgspec.field(default_factory=dict)
    programs: dict[Name, dict[str, Any]] = msgspec.field(default_factory=dict)
    site: HostsSpec | None = None
    scaling: (
        Annotated[
            tuple[Annotated[int, msgspec.Meta(ge=1, le=MAX_NODES)], ...], msgspec.Meta(min_length=1)
        ]
        | None
    ) = None
    nodes: Annotated[int, msgspec.Meta(ge=1, le=MAX_WORKERS)] | None = None
    cpus: Annotated[float, msgspec.Meta(ge=MIN_CPUS, le=MAX_CPUS)] | None = None
    storage: StorageName | Annotated[tuple[StorageName, ...], msgspec.Meta(min_length=1)] | None = (
        None
    )

    def __post_init__(self) -> None:
        """Raise ValueError if parts of the file contradict each other, the checkout or the lab."""
        if self.streams > 1 and self.cache == COLD:
            raise ValueError(
                "streams: of several, one finds in memory what another one read: cache cannot be cold"
            )
        for contradiction in self._contradictions():
            raise ValueError(contradiction)

    def _contradictions(self) -> Iterator[str]:
        if self.workloads == () and not self.programs:
            yield "workloads: one name or more is expected, or a table [programs.NAME]"
        try:
            queries = read_queries(self.sql) if self.sql else {}
        except BadInput as error:
            queries = {}
            yield f"sql: {error}"
        own = sorted(file.stem.replace("_", "-") for file in WORKLOADS.glob("[!_]*.py"))
        known = [*queries, *own]
        for name in set(self.workloads or ()) - set(known):
            yield f"workloads: there is no workload {shorten(name, MAX_SHOWN)!r}; {what_exists(name, known)}"
        called: dict[str | None, tuple[str | None, ...]] = {}
        for name, table in self.configurations.items():
            if table.tables and not queries:
                yield f"configurations.{name}: tables need the key sql"
            runs_all = self.workloads is None and not queries
            if (table.dataset or runs_all) and table.dataset not in self.datasets:
                yield f"configurations.{name}: dataset has to be one of {', '.join(self.datasets) or 'none'}"
            commands = (table.apply, table.revert, table.check)
            if table.applied and called.setdefault(table.applied, commands) != commands:
                # The journal knows commands by this name, and would put back what others did.
                yield f"configurations.{name}: other commands are called {table.applied}, too"
        properties = [table.spark for table in self.configurations.values()]
        if self.turns == "rounds" and properties.count(properties[0]) < len(properties):
            yield 'turns = "rounds": configurations of one run have the same properties of Spark'
        numbers = list(self.scaling or ())
        if sorted(set(numbers)) != numbers or self.hosts < max(numbers, default=0):
            yield f"scaling: the numbers of nodes have to grow to {self.hosts} at most, as in [1, 2, 4]"
        yield from (
            self._contradictions_to(self.site) if self.site else self._contradictions_to_lab()
        )

    def _contradictions_to_lab(self) -> Iterator[str]:
        for name, table in self.datasets.items():
            storage = table.storage or self.shape.storages[0]
            if table.uri is not None:
                yield f"datasets.{name}: uri needs a [site]: the lab chooses its own"
            elif storage not in self.shape.storages:
                yield f"datasets.{name}: storage {storage} is not one of the lab's"
            elif problem := layout_problem(table.layout, storage, self.shape.workers):
                yield f"datasets.{name}: layout {table.layout} {problem}"

    def _contradictions_to(self, site: HostsSpec) -> Iterator[str]:
        if self.nodes or self.cpus or self.storage:
            yield "nodes, cpus and storage are only for the lab; leave them out, or leave out [site]"
        for name, table in self.datasets.items():
            if table.storage is not None:
                yield f"datasets.{name}: storage is only for the lab; use uri with a [site]"
            elif table.uri is None and site.data is None:
                yield f"datasets.{name}: uri is missing, and the site has no `data`"
        for name, configuration in self.configurations.items():
            if configuration.disk_rate is not None and not site.disks:
                yield f"configurations.{name}: disk_rate needs the site's `disks`"

    @property
    def hosts(self) -> int:
        """The number of hosts on which workloads can run."""
        return len(self.site.named_hosts()) if self.site else self.shape.workers

    @property
    def shape(self) -> LabSpec:
        """The shape of the lab."""
        storage = self.storage or "hdfs"
        storages = (storage,) if isinstance(storage, str) else storage
        return LabSpec(self.nodes or 4, self.cpus or 0.5, storages)

    def experiment(self, id_: str) -> Experiment:
        """Return the experiment that the file defines."""
        data = {
            name: Data(name, table.rows, table.layout, table.format, table.uri, table.storage)
            for name, table in self.datasets.items()
        }
        return Experiment(
            **{name: getattr(self, name) for name in Measuring.__struct_fields__},
            site=self.site or self.shape,
            configurations=tuple(
                table.configuration(name, data[table.dataset] if table.dataset else None, nodes)
                for name, table in self.configurations.items()
                for nodes in self.scaling or (None,)
            ),
            id=id_,
            programs=tuple(_program(name, options) for name, options in self.programs.items()),
        )


def _program(name: str, given: Mapping[str, Any]) -> Program:
    """Return a program with the options of its table. Raise BadInput that names what cannot be read."""
    known = programs()
    options = {option.name: option for option in known[name].options} if name in known else {}
    if name not in known or not given.keys() <= options.keys():
        raise BadInput(
            f"programs.{name}: there are {', '.join(known)}, and of {name} the keys {', '.join(options)}"
        )
    values = {}
    for key, option in options.items():
        try:
            values[key] = option.parse(shorten(str(given.get(key, option.default)), MAX_SHOWN))
        except ValueError as error:
            raise BadInput(f"programs.{name}: {key}: {error}") from error
    return known[name](**values)


def read_experiment(file: Path) -> Experiment:
    """Return the experiment that a file defines. Raises BadInput that names the file and the mistake."""
    values = toml_values(file)
    read = converted(values, ExperimentFile, file)
    try:
        experiment = read.experiment(_id(values))
        # What hosts cannot divide is said before there is any data.
        for program in experiment.programs:
            for nodes in read.scaling or (read.hosts,):
                placement = Placement((Host("", ""),) * nodes, experiment.per_host)
                program.problem(placement, growing=experiment.growing)
    except (BadInput, ValueError) as error:
        raise BadInput(f"{file}: {error}") from error
    return experiment


_NOT_IN_ID = frozenset({"runs", "trials", "warmup", "profile", "probe_seconds"})
"""Raising one of these adds to the results that exist."""


def _id(values: Mapping[str, Any]) -> str:
    """Return the experiment's id: a hash of all that affects results, so not of the repetitions."""
    affecting = {key: value for key, value in values.items() if key not in _NOT_IN_ID}
    if "datasets" in affecting:
        affecting["datasets"] = {
            name: _with_format(table) for name, table in affecting["datasets"].items()
        }
    if "sql" in affecting:
        affecting["sql"] = text_digests(read_queries(affecting["sql"]))
    text = json.dumps(affecting, sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def _with_format(table: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the table of a dataset with its format, unless that is CSV, which was the default at first."""
    rest = {key: value for key, value in table.items() if key != "format"}
    return rest if table.get("format") == "csv" else {**rest, "format": "parquet"}
