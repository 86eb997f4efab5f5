"""The shapes of the lines of a results file, beyond the types of the vocabulary: what other rooms rely on.

A key that is not here may have any value. A key that is here may be absent, unless it is Required.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any, Required, TypedDict

import msgspec

from harness.model.run import MAX_WALL_S, MIN_WALL_S, Ending

_Count = Annotated[int, msgspec.Meta(ge=0)]
_Seconds = Annotated[float, msgspec.Meta(ge=MIN_WALL_S, le=MAX_WALL_S)]
_Moment = Annotated[float, msgspec.Meta(ge=0, le=MAX_WALL_S)]
_Mbit = Annotated[int, msgspec.Meta(ge=0, le=10**8)]
_Mtu = Annotated[int, msgspec.Meta(ge=0, le=10**6)]
_Name = Annotated[str, msgspec.Meta(min_length=1)]
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
    round: Required[Annotated[int, msgspec.Meta(ge=1)]]
    started_at: Required[datetime]
    wall_s: _Seconds | None
    executions: Annotated[int, msgspec.Meta(ge=1)]


class CheckedMeasurement(TypedDict, total=False):
    value: Annotated[float, msgspec.Meta(ge=-1e15, le=1e15)] | None
    round: Annotated[int, msgspec.Meta(ge=1)]


class CheckedHostLink(TypedDict, total=False):
    speed_mbit_s: _Mbit | None
    mtu_bytes: _Mtu | None
    shaped_bit_s: _Count | None
    counters: Mapping[str, _Count] | None


class CheckedSnapshot(TypedDict, total=False):
    link: CheckedHostLink


_Percent = Annotated[float, msgspec.Meta(ge=0, le=100)]
_Rate = Annotated[float, msgspec.Meta(ge=0, le=1e15)]
_Degrees = Annotated[float, msgspec.Meta(ge=-300, le=10_000)]


class CheckedLinkEvent(TypedDict, total=False):
    host: Required[_Name]
    at_s: Required[_Moment]
    count: _Count


class CheckedLinkSeconds(TypedDict, total=False):
    host: Required[_Name]
    at_s: Required[list[_Moment]]
    received_bit_s: Required[list[_Rate]]
    sent_bit_s: Required[list[_Rate]]
    retransmits: Required[list[_Count]]
    stolen_percent: Required[list[_Percent]]
    busiest_percent: Required[list[_Percent]]
    temperature_c: list[_Degrees]


class CheckedSoakFlow(TypedDict, total=False):
    round: Required[Annotated[int, msgspec.Meta(ge=1)]]
    start_s: Required[_Moment]
    seconds: Required[_Moment]
    goodput_bit_s: Annotated[float, msgspec.Meta(gt=0, le=1e15)] | None
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
