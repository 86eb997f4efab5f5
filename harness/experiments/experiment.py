"""An experiment in the lab: configurations that are measured alternately."""

from __future__ import annotations

from dataclasses import dataclass

from harness.lab.compose import LabSpec
from harness.model.link import Link

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
    """The whole definition. Results are comparable if their experiments have the same `id`.

    `warmup` is a number of trials, or "auto": until the workload is steady.
    """

    name: str
    shape: LabSpec
    configurations: tuple[Configuration, ...]
    rounds: int
    trials: int
    warmup: int | str
    workloads: tuple[str, ...]
    sink: str | None
    repartition: int | None
    pi_samples: int | None
    probe_seconds: int | None
    id: str

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
