"""An experiment: configurations that are measured alternately, as its file defines them."""

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal

import msgspec

from harness.base.checked import positive
from harness.base.errors import BadInput
from harness.base.words import shorten
from harness.experiments.hosts_spec import Device, HostsSpec, Text
from harness.lab.cluster import LabSpec
from harness.lab.compose import MAX_CPUS, MAX_WORKERS, MIN_CPUS
from harness.model.disk_rate import disk_rate_text, parse_disk_rate
from harness.model.limits import (
    MAX_NODES,
    MAX_PER_HOST,
    MAX_ROWS,
    MAX_RUNS,
)
from harness.model.link import MAX_BIT_S, MAX_MTU, MIN_MTU, parse_rate, rate_text
from harness.model.scaling import scaled_name
from harness.programs.program import Program, programs
from harness.settings import simple
from harness.settings.rate import rate
from harness.settings.setting import Setting
from harness.settings.speed import speed
from harness.work.options import WorkOptions

DEFAULTS = {"trials": 3, "profile": 0}
"""The options of work whose default is another one in experiments."""
MAX_PROBE_SECONDS = 3600
MAX_SHOWN = 60
EXECUTOR_CORES = "spark.executor.cores"
CORES_MAX = "spark.cores.max"
EXECUTORS = "spark.executor.instances"
MBIT = 10**6

Name = Annotated[str, msgspec.Meta(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}\Z")]
RateText = Annotated[str, msgspec.Meta(max_length=40)]
SysctlKey = Annotated[
    str, msgspec.Meta(pattern=r"^[a-z][A-Za-z0-9_]*([./][A-Za-z0-9_-]+)+\Z", max_length=200)
]
Property = Annotated[str, msgspec.Meta(pattern=r"^spark\.[A-Za-z0-9._-]+\Z", max_length=200)]
StorageName = Literal["hdfs", "qfs", "ceph"]
Nodes = Annotated[int, msgspec.Meta(ge=1, le=MAX_NODES)]

# A field with a name in parentheses is no key of the file: it is filled in after reading.


class DatasetSpec(msgspec.Struct, kw_only=True, frozen=True, forbid_unknown_fields=True):
    """`[datasets.NAME]`: rows to generate.

    Without a layout, the dataset has the file system's default. Without a `uri`, the site chooses where it is
    stored. In the lab, `storage` names the file system. The default is the lab's first.
    """

    name: str = msgspec.field(default="", name="(name)")
    rows: Annotated[int, msgspec.Meta(ge=1, le=MAX_ROWS)]
    layout: Annotated[str, msgspec.Meta(max_length=40)] | None = None
    format: Literal["csv", "parquet"] = "parquet"
    uri: Text | None = None
    storage: StorageName | None = None


class Configuration(msgspec.Struct, kw_only=True, frozen=True, forbid_unknown_fields=True):
    """`[configurations.NAME]`: what is set on every host, Spark's properties, and what is read.

    A setting that is None or empty stays as it is on the hosts. `rate` and `mtu` belong to the link between
    the hosts, `speed` is what its card may negotiate, and `disk_rate` is the rate of each disk of the site.
    `tables` has the URI of each table that queries read. `data` is the dataset of the name `dataset`.
    Workloads run on `nodes` of the site's nodes, or on all for None.
    """

    name: str = msgspec.field(default="", name="(name)")
    data: DatasetSpec | None = msgspec.field(default=None, name="(data)")
    nodes: int | None = msgspec.field(default=None, name="(nodes)")
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

    def __hash__(self) -> int:
        return hash(self.name)

    def __str__(self) -> str:
        """Return the settings in a few words: `100mbit, mtu 9000`; empty for none."""
        words = []
        for name, value in self.facts.items():
            if name == "link":
                words.append(value)
            elif name not in {"shaped", "disk_limited", "nodes"}:
                words.append(f"{name} {value}")
        return ", ".join(words)

    @property
    def rate_bit_s(self) -> int | None:
        """The rate of the link. Raise BadInput if it cannot be read, as the next three do."""
        if self.rate is None:
            return None
        return parse_rate("rate", self.rate)

    @property
    def speed_mbit_s(self) -> int | None:
        """The only speed that the card may negotiate."""
        if self.speed is None:
            return None
        bit_s = parse_rate("speed", self.speed, MAX_BIT_S)
        if bit_s % MBIT:
            raise BadInput(f"speed {self.speed!r} is not a whole number of Mbit/s, as cards have")
        return bit_s // MBIT

    @property
    def disk_bytes_s(self) -> int | None:
        """The rate of each disk."""
        if self.disk_rate is None:
            return None
        return parse_disk_rate("disk_rate", self.disk_rate)

    @property
    def own_command(self) -> Setting | None:
        """The user's own commands."""
        commands = {"apply": self.apply, "revert": self.revert, "check": self.check}
        missing = [name for name, line in commands.items() if line is None]
        if self.apply is None or self.revert is None or self.check is None:
            if missing == list(commands) and self.applied is None:
                return None
            raise BadInput(f"{' and '.join(missing)} missing: apply, revert and check go together")
        return simple.own_command(self.apply, self.revert, self.check, self.applied)

    @property
    def on_hosts(self) -> "Configuration":
        """What is set on hosts: configurations with equal settings are the same to them."""
        return msgspec.structs.replace(
            self, name="", data=None, nodes=None, dataset=None, spark={}, tables={}
        )

    @property
    def links(self) -> "Configuration":
        """The settings of links: configurations with equal ones have the same network."""
        return msgspec.structs.replace(self.on_hosts, disk_rate=None)

    def settings(self, device: str, mtu: int) -> Iterator[Setting]:
        """Yield what to set on a host, in order, except the rate of disks, which the site knows.

        `device` leads to the other hosts, and has this MTU now.
        """
        if self.speed_mbit_s:
            yield speed(device, self.speed_mbit_s)
        for member in self.bond_members_down:
            yield simple.bond_member(member)
        if self.mtu:
            yield simple.mtu(device, self.mtu)
        if self.rate_bit_s:
            yield rate(device, self.rate_bit_s, self.mtu or mtu)
        for key, text in self.sysctls.items():
            yield simple.sysctl(key, text)
        if self.own_command:
            yield self.own_command

    @property
    def facts(self) -> dict[str, str]:
        """The settings as facts that a run declares: the link, and everything else by its name."""
        found = {}
        if self.nodes:
            found["nodes"] = str(self.nodes)
        found.update(self._facts_of_link())
        if self.mtu:
            found["mtu"] = str(self.mtu)
        if self.disk_bytes_s:
            found["disk"] = disk_rate_text(self.disk_bytes_s)
            found["disk_limited"] = "by control groups"
        if self.bond_members_down:
            found["bond_members_down"] = ", ".join(self.bond_members_down)
        if self.own_command:
            found["applied"] = self.own_command.name.removeprefix("command ")
        return {**found, **self.sysctls}

    def _facts_of_link(self) -> dict[str, str]:
        """Return how fast the link is: as the slower of its card and its limit."""
        limit_bit_s = self.rate_bit_s
        card_bit_s = (self.speed_mbit_s or 0) * MBIT
        if limit_bit_s is None:
            if card_bit_s:
                return {"link": rate_text(card_bit_s)}
            return {}
        if not card_bit_s:
            return {"link": rate_text(limit_bit_s), "shaped": "by tc"}
        slower_bit_s = min(limit_bit_s, card_bit_s)
        return {"link": rate_text(slower_bit_s), "shaped": "by tc", "speed": rate_text(card_bit_s)}

    def on_nodes(self, nodes: int) -> "Configuration":
        """Return the configuration on this number of nodes, with an executor of all cores on each.

        Raise BadInput if the number of cores cannot be read.
        """
        cores = positive(self.spark.get(EXECUTOR_CORES, "1"), MAX_PER_HOST)
        if cores is None:
            raise BadInput(f"with scaling, {EXECUTOR_CORES} is the number of a node's cores")
        placement = {
            CORES_MAX: str(cores * nodes),
            EXECUTORS: str(nodes),
            EXECUTOR_CORES: str(cores),
        }
        return msgspec.structs.replace(
            self,
            name=scaled_name(self.name, nodes),
            nodes=nodes,
            spark={**self.spark, **placement},
        )


class Experiment(msgspec.Struct, kw_only=True, frozen=True, forbid_unknown_fields=True):
    """The whole file.

    Results are comparable if their experiments have the same `id`. The keys of `work` are the options of
    work. With an empty list of workloads, no workload runs on Spark. `runs` counts runs of each
    configuration. `turns` says when the next configuration takes its turn: after a run, or within one
    application, after a trial of every workload. Programs have `per_host` processes on a node. If they are
    `growing`, the problem size is per node, not in total. Every configuration runs on each number of nodes in
    `scaling`. Without a `site`, the experiment runs in the lab, for which `nodes`, `cpus` and `storage` are.
    """

    id: str = msgspec.field(default="", name="(id)")
    work: WorkOptions = msgspec.field(default=WorkOptions(), name="(work)")
    name: Name
    runs: Annotated[int, msgspec.Meta(ge=1, le=MAX_RUNS)] = 3
    turns: Literal["runs", "rounds"] = "runs"
    probe_seconds: Annotated[int, msgspec.Meta(ge=1, le=MAX_PROBE_SECONDS)] | None = None
    per_host: Annotated[int, msgspec.Meta(ge=1, le=MAX_PER_HOST)] = 1
    growing: bool = False
    scaling: Annotated[tuple[Nodes, ...], msgspec.Meta(min_length=1)] | None = None
    site: HostsSpec | None = None
    nodes: Annotated[int, msgspec.Meta(ge=1, le=MAX_WORKERS)] | None = None
    cpus: Annotated[float, msgspec.Meta(ge=MIN_CPUS, le=MAX_CPUS)] | None = None
    storage: StorageName | Annotated[tuple[StorageName, ...], msgspec.Meta(min_length=1)] | None = (
        None
    )
    configuration_tables: Annotated[dict[Name, Configuration], msgspec.Meta(min_length=1)] = (
        msgspec.field(name="configurations")
    )
    dataset_tables: dict[Name, DatasetSpec] = msgspec.field(default_factory=dict, name="datasets")
    program_tables: dict[Name, dict[str, Any]] = msgspec.field(
        default_factory=dict, name="programs"
    )

    @property
    def has_spark(self) -> bool:
        """Whether a workload of Spark runs."""
        return self.work.workloads != ()

    @property
    def lab(self) -> LabSpec:
        """The shape of the lab."""
        storage = self.storage or "hdfs"
        storages = (storage,) if isinstance(storage, str) else storage
        return LabSpec(self.nodes or 4, self.cpus or 0.5, storages)

    @property
    def node_count(self) -> int:
        """The number of nodes on which workloads can run."""
        if self.site:
            return len(self.site.named_hosts())
        return self.lab.workers

    @property
    def configurations(self) -> tuple[Configuration, ...]:
        """All configurations by their names in results, each with its dataset and its number of nodes.

        Raise BadInput if one cannot be scaled.
        """
        found = []
        for name, table in self.configuration_tables.items():
            data = None
            if table.dataset is not None:
                dataset = self.dataset_tables[table.dataset]
                data = msgspec.structs.replace(dataset, name=table.dataset)
            configuration = msgspec.structs.replace(table, name=name, data=data)
            if self.scaling is None:
                found.append(configuration)
            else:
                found += [configuration.on_nodes(nodes) for nodes in self.scaling]
        return tuple(found)

    @property
    def datasets(self) -> list[DatasetSpec]:
        """The datasets that configurations use, each once."""
        return list(dict.fromkeys(each.data for each in self.configurations if each.data))

    @property
    def programs(self) -> tuple[Program, ...]:
        """The programs with their options. Raise BadInput that names what cannot be read."""
        return tuple(_program(name, given) for name, given in self.program_tables.items())


def _program(name: str, given: Mapping[str, Any]) -> Program:
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
