"""An experiment: configurations that are measured alternately."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Annotated, Literal, Self

import msgspec

from harness.experiments.hosts_spec import HostsSpec
from harness.lab.compose import LabSpec
from harness.model.disk_rate import disk_rate_text
from harness.model.limits import (
    MAX_PARTITIONS,
    MAX_PER_HOST,
    MAX_PI_SAMPLES,
    MAX_PROFILE_ROUNDS,
    MAX_RUNS,
    MAX_STREAMS,
    MAX_TRIALS,
)
from harness.model.link import rate_text
from harness.programs.program import Program
from harness.settings import simple
from harness.settings.rate import rate
from harness.settings.setting import Setting
from harness.settings.speed import speed

MAX_PROBE_SECONDS = 3600

Name = Annotated[str, msgspec.Meta(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}\Z")]


@dataclass(frozen=True)
class Data:
    """A dataset to generate. Without a layout it has the file system's default.

    Without a `uri`, the site chooses where it is stored; in the lab, on the file system `storage`, by default
    the first one.
    """

    name: str
    rows: int
    layout: str | None
    format: str
    uri: str | None = None
    storage: str | None = None


@dataclass(frozen=True)
class Configuration:
    """A configuration under test: its dataset, what is set on every host, and Spark's properties.

    What is None or empty stays as it is. `data` is None if nothing reads data. `nodes` is on how many of the
    site's nodes workloads run, None for all. `tables` are those of queries, with their
    URIs. `rate_bit_s` and `mtu` belong to the link between the hosts, `speed_mbit_s` is what its card may
    negotiate. `disk_bytes_s` is the rate of each disk of the site.
    """

    name: str
    data: Data | None
    nodes: int | None = None
    rate_bit_s: int | None = None
    mtu: int | None = None
    speed_mbit_s: int | None = None
    disk_bytes_s: int | None = None
    bond_members_down: tuple[str, ...] = ()
    sysctls: tuple[tuple[str, str], ...] = ()
    own_command: Setting | None = None
    spark: tuple[tuple[str, str], ...] = ()
    tables: tuple[tuple[str, str], ...] = ()

    def __str__(self) -> str:
        """Return the settings in a few words: `100mbit, mtu 9000`; empty for none."""
        return ", ".join(
            value if name == "link" else f"{name} {value}"
            for name, value in self.facts.items()
            if name not in {"shaped", "disk_limited", "nodes"}
        )

    @property
    def on_hosts(self) -> Self:
        """What is set on hosts: configurations with equal settings are the same to them."""
        return replace(self, name="", data=None, nodes=None, spark=(), tables=())

    @property
    def links(self) -> Self:
        """The settings of links: configurations with equal ones have the same network."""
        return replace(self.on_hosts, disk_bytes_s=None)

    def settings(self, device: str, mtu: int) -> Iterator[Setting]:
        """Yield what to set on a host, in order, but for the disks, which the site knows.

        `device` leads to the others, and has this MTU now.
        """
        if self.speed_mbit_s:
            yield speed(device, self.speed_mbit_s)
        yield from map(simple.bond_member, self.bond_members_down)
        if self.mtu:
            yield simple.mtu(device, self.mtu)
        if self.rate_bit_s:
            yield rate(device, self.rate_bit_s, self.mtu or mtu)
        for key, text in self.sysctls:
            yield simple.sysctl(key, text)
        if self.own_command:
            yield self.own_command

    @property
    def facts(self) -> dict[str, str]:
        """The settings as facts that a run declares: the link, and everything else by its name."""
        speed_bit_s = self.speed_mbit_s and self.speed_mbit_s * 10**6
        bit_s = min(filter(None, (self.rate_bit_s, speed_bit_s)), default=None)
        found = {
            "nodes": self.nodes and str(self.nodes),
            "link": bit_s and rate_text(bit_s),
            "shaped": self.rate_bit_s and "by tc",
            "speed": self.rate_bit_s and speed_bit_s and rate_text(speed_bit_s),
            "mtu": self.mtu and str(self.mtu),
            "disk": self.disk_bytes_s and disk_rate_text(self.disk_bytes_s),
            "disk_limited": self.disk_bytes_s and "by control groups",
            "bond_members_down": ", ".join(self.bond_members_down),
            "applied": self.own_command and self.own_command.name.removeprefix("command "),
            **dict(self.sysctls),
        }
        return {key: value for key, value in found.items() if value}


class Measuring(msgspec.Struct, kw_only=True, frozen=True, forbid_unknown_fields=True):
    """How an experiment measures, as its file says. What is None is left to the benchmark's own default.

    `runs` counts runs of each configuration. `turns` says when the next configuration takes its turn: after a
    run, or within one application, after a trial of every workload.
    `warmup` is a number of trials, or "auto": until the workload is steady. `profile` is the number of
    profile rounds of a run.
    `workloads` names workloads of Spark: None for all, empty for none; `sql` is a directory of queries. With
    a `cache` that is cold, what they read is put out of the hosts' memory before each trial. Several
    `streams` run all but controls at the same time. Programs have
    `per_host` processes on a node; `growing` says whether their problem is so large for each node.
    """

    name: Name
    runs: Annotated[int, msgspec.Meta(ge=1, le=MAX_RUNS)] = 3
    turns: Literal["runs", "rounds"] = "runs"
    trials: Annotated[int, msgspec.Meta(ge=1, le=MAX_TRIALS)] = 3
    warmup: Annotated[int, msgspec.Meta(ge=0, le=MAX_TRIALS)] | Literal["auto"] = "auto"
    workloads: tuple[str, ...] | None = None
    sql: str | None = None
    streams: Annotated[int, msgspec.Meta(ge=1, le=MAX_STREAMS)] = 1
    sink: Literal["noop", "rdd-count"] | None = None
    cache: Literal["warm", "cold"] = "warm"
    profile: Annotated[int, msgspec.Meta(ge=0, le=MAX_PROFILE_ROUNDS)] = 0
    repartition: Annotated[int, msgspec.Meta(ge=1, le=MAX_PARTITIONS)] | None = None
    pi_samples: Annotated[int, msgspec.Meta(ge=1, le=MAX_PI_SAMPLES)] | None = None
    probe_seconds: Annotated[int, msgspec.Meta(ge=1, le=MAX_PROBE_SECONDS)] | None = None
    per_host: Annotated[int, msgspec.Meta(ge=1, le=MAX_PER_HOST)] = 1
    growing: bool = False


class Experiment(Measuring, kw_only=True, frozen=True):
    """The whole definition. Results are comparable if their experiments have the same `id`."""

    site: LabSpec | HostsSpec
    configurations: tuple[Configuration, ...]
    id: str
    programs: tuple[Program, ...]

    @property
    def has_spark(self) -> bool:
        """Whether a workload of Spark runs."""
        return self.workloads is None or bool(self.workloads)

    @property
    def datasets(self) -> list[Data]:
        """The datasets that configurations use, each once."""
        return list(dict.fromkeys(each.data for each in self.configurations if each.data))
