"""The shapes of the lines of a results file, beyond the types of the vocabulary: what other rooms rely on.

A key that is not here may have any value. A key that is here may be absent, unless it is Required. `rules`
checks a line by its shape. Standard library only: what writes results needs it, too.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, Required, TypedDict

from harness.model.run import MAX_WALL_S, MIN_WALL_S, Ending
from harness.node.kernel import MAX_MTU_BYTES, MAX_SPEED_MBIT_S


@dataclass(frozen=True)
class Range:
    """The limits of a number; None: without a limit."""

    ge: float | None = None
    le: float | None = None
    gt: float | None = None

    def why_not(self, value: float) -> str | None:
        """Return what the value breaks, such as `>= 1`; None if nothing."""
        if self.ge is not None and value < self.ge:
            return f">= {self.ge}"
        if self.gt is not None and value <= self.gt:
            return f"> {self.gt}"
        return f"<= {self.le}" if self.le is not None and value > self.le else None


@dataclass(frozen=True)
class Length:
    """The least number of characters of a text."""

    least: int

    def why_not(self, value: str) -> str | None:
        """Return what the value breaks; None if nothing."""
        return f"of length >= {self.least}" if len(value) < self.least else None


_Count = Annotated[int, Range(ge=0)]
_Seconds = Annotated[float, Range(ge=MIN_WALL_S, le=MAX_WALL_S)]
_Moment = Annotated[float, Range(ge=0, le=MAX_WALL_S)]
_Mbit = Annotated[int, Range(ge=0, le=MAX_SPEED_MBIT_S)]
_Mtu = Annotated[int, Range(ge=0, le=MAX_MTU_BYTES)]
_Percent = Annotated[float, Range(ge=0, le=100)]
_Quantity = Annotated[float, Range(ge=0, le=1e15)]
_Degrees = Annotated[float, Range(ge=-300, le=10_000)]
_Name = Annotated[str, Length(1)]
_Names = list[str] | None


class CheckedLink(TypedDict, total=False):
    speed_mbit_s: _Mbit | None
    mtu_bytes: _Mtu | None
    shaped_bit_s: _Count | None
    duplex: str | None
    driver: str | None
    bus: str | None
    state: str | None
    sysctls: Mapping[str, str | None] | None


class CheckedNodeGroup(TypedDict):
    hosts: list[_Name]
    facts: Mapping[str, str | None]


class CheckedMachines(TypedDict, total=False):
    driver: str | None
    groups: Required[list[CheckedNodeGroup]]


class CheckedEnvironment(TypedDict, total=False):
    host: str | None
    links: Mapping[str, CheckedLink] | None
    nodes: Mapping[str, Mapping[str, CheckedLink]] | None
    machines: CheckedMachines | None
    sysctls: Mapping[str, str | None] | None
    executors: _Names
    master: str | None
    memory_bytes: _Count | None
    spark_conf: Mapping[str, str] | None
    kernel: str | None
    architecture: str | None
    cpu_model: str | None
    cpus: _Count | None
    python: str | None
    spark: str | None
    hadoop: str | None
    java: str | None
    scala: str | None
    parallelism: _Count | None
    shared_processors: str | None


class CheckedParameters(TypedDict, total=False):
    controls: _Names
    per_process: _Names
    data_workloads: list[str]
    not_requested: _Names
    unexpected_links: _Names
    max_time_s: _Seconds
    precision: float
    sink: str | None
    trials: _Count | str
    warmup: _Count | str | None
    repartition: _Count | None
    pi_samples: _Count | None
    content_checked: bool | None
    series: str | None
    program: _Name | None
    problem: Mapping[str, int | float | str | None] | None
    options: Mapping[str, str] | None
    growing: bool | None
    hosts: _Names
    processes_per_host: _Count | None
    network: str | None


class CheckedLayout(TypedDict, total=False):
    requested: str | None
    observed: str | None
    drift: str | None


class CheckedRecipe(TypedDict, total=False):
    name: str
    version: int
    seed: int
    rows: _Count


class CheckedDataset(TypedDict, total=False):
    uri: Required[str]
    layout: Required[CheckedLayout]
    recipe: CheckedRecipe | None
    placement: Mapping[str, _Count] | None
    digest: str | None
    format: str | None
    rows: _Count | None
    partitions: _Count | None
    file_count: _Count | None
    coder: str | None
    page_cache: bool | None


class CheckedRun(TypedDict, total=False):
    """The first line, of a run or of a probe run."""

    id: Required[_Name]
    configuration: Required[_Name]
    started_at: Required[datetime]
    written_by: Required[str]
    workloads: list[_Name]
    environment: CheckedEnvironment
    parameters: CheckedParameters
    dataset: CheckedDataset | None


class CheckedTrial(TypedDict, total=False):
    workload: Required[_Name]
    round: Required[Annotated[int, Range(ge=1)]]
    started_at: Required[datetime]
    wall_s: _Seconds | None
    executions: Annotated[int, Range(ge=1)]


class CheckedMeasurement(TypedDict, total=False):
    value: _Quantity | None
    round: Annotated[int, Range(ge=1)]


class CheckedHostLink(TypedDict, total=False):
    speed_mbit_s: _Mbit | None
    mtu_bytes: _Mtu | None
    shaped_bit_s: _Count | None
    counters: Mapping[str, _Count] | None


class CheckedSnapshot(TypedDict, total=False):
    link: CheckedHostLink


class CheckedLinkEvent(TypedDict, total=False):
    host: Required[_Name]
    at_s: Required[_Moment]
    count: _Count


class CheckedLinkSeconds(TypedDict, total=False):
    host: Required[_Name]
    at_s: Required[list[_Moment]]
    received_bit_s: Required[list[_Quantity]]
    sent_bit_s: Required[list[_Quantity]]
    retransmits: Required[list[_Count]]
    stolen_percent: Required[list[_Percent]]
    busiest_percent: Required[list[_Percent]]
    temperature_c: list[_Degrees]


class CheckedSoakFlow(TypedDict, total=False):
    round: Required[Annotated[int, Range(ge=1)]]
    start_s: Required[_Moment]
    seconds: Required[_Moment]
    goodput_bit_s: Annotated[float, Range(gt=0, le=1e15)] | None
    retransmits: _Count | None


class CheckedEnd(TypedDict, total=False):
    ending: Required[Ending]
    link_errors: Mapping[str, Mapping[str, _Count]] | None


SHAPES: Mapping[str, Any] = {
    "run": CheckedRun,
    "probes": CheckedRun,
    "trial": CheckedTrial,
    "measurement": CheckedMeasurement,
    "link": CheckedSnapshot,
    "link-event": CheckedLinkEvent,
    "link-seconds": CheckedLinkSeconds,
    "soak-flow": CheckedSoakFlow,
    "end": CheckedEnd,
}
"""By the kind of the line."""
