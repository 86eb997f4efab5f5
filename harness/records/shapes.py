"""What other rooms rely on in the values that the vocabulary leaves open: environment, parameters, dataset.

A key that is not here may have any value. A key that is here may be absent, unless it is Required.
"""

import sys
from collections.abc import Mapping

from harness.model.bounds import Count, Name
from harness.model.interface import Mtu, Speed
from harness.model.run import Seconds

if sys.version_info >= (3, 11):
    from typing import Required, TypedDict  # novermin
else:
    from typing_extensions import Required, TypedDict

_Names = list[str] | None


class CheckedLink(TypedDict, total=False):
    speed_mbit_s: Speed | None
    carried_mbit_s: Speed | None
    has_invented_speed: bool | None
    mtu_bytes: Mtu | None
    shaped_bit_s: Count | None
    has_unknown_limit: bool | None
    duplex: str | None
    driver: str | None
    bus: str | None
    state: str | None


class CheckedNodeGroup(TypedDict):
    hosts: list[Name]
    facts: Mapping[str, str | None]


class CheckedMachines(TypedDict, total=False):
    names: Mapping[str, Name]
    addresses: Mapping[Name, str]
    groups: Required[list[CheckedNodeGroup]]


class CheckedEnvironment(TypedDict, total=False):
    host: str | None
    links: Mapping[str, CheckedLink] | None
    nodes: Mapping[str, Mapping[str, CheckedLink]] | None
    machines: CheckedMachines | None
    silent: Mapping[str, str] | None
    executors: _Names
    executors_asked: Count | None
    pods: Mapping[str, Mapping[str, str]] | None
    master: str | None
    spark_conf: Mapping[str, str] | None
    kernel: str | None
    architecture: str | None
    cpu_model: str | None
    cpus: Count | None
    python: str | None
    spark: str | None
    hadoop: str | None
    java: str | None
    scala: str | None
    parallelism: Count | None
    shared_processors: str | None


class CheckedTable(TypedDict, total=False):
    uri: Required[str]
    format: Required[str]
    bytes: Count
    files: Count | None
    layout: str


class CheckedParameters(TypedDict, total=False):
    controls: _Names
    per_process: _Names
    data_workloads: list[str]
    not_requested: _Names
    sink: str | None
    executors_may_change: bool | None
    cache: str | None
    proof: str | None
    trials: Count | str
    warmup: Count | str | None
    streams: Count | str | None  # a probe's are text
    in_streams: _Names
    repartition: Count | None
    pi_samples: Count | None
    content_checked: bool | None
    series: str | None
    program: Name | None
    problem: Mapping[str, int | float | str | None] | None
    options: Mapping[str, str] | None
    growing: bool | None
    hosts: _Names
    processes_per_host: Count | None
    network: str | None
    queries: Mapping[str, str] | None
    tables: Mapping[str, CheckedTable] | None


class CheckedLayout(TypedDict, total=False):
    observed: str | None
    drift: str | None


class CheckedDataset(TypedDict, total=False):
    uri: Required[str]
    layout: Required[CheckedLayout]
    placement: Mapping[str, Count] | None
    digest: str | None
    fingerprint: str | None
    first_use_s: Seconds | None
    format: str | None
    rows: Count | None
    file_count: Count | None
    coder: str | None
    page_cache: bool | None
    server: str | None
    client: Mapping[str, str] | None


class CheckedRun(TypedDict, total=False):
    """The first line, of a run or of a probe run."""

    id: Required[Name]
    configuration: Required[Name]
    workloads: list[Name]
    environment: CheckedEnvironment
    parameters: CheckedParameters
    dataset: CheckedDataset | None
