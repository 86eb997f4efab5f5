"""Disturbances of a trial on its nodes, and when they exclude the trial.

The rule never sees a trial's time. It compares each node with itself: with what is usual on it in the
same run's earlier trials of the same workload. So a workload's own load, the daemons that it needs, and a
quota that the configuration wants disturb nothing; what is added to them does.
"""

from __future__ import annotations  # for Python 3.8

from bisect import insort
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from operator import attrgetter
from typing import Optional, Tuple

from harness.base.words import percent, significant
from harness.model.task_metrics import MIN_SECONDS, Quantities


@dataclass(frozen=True)
class NodeInterference(Quantities):
    """The counts of a node from just before a trial until just after it. None means unknown.

    - `duration_s`: the time between the two readings; `processors`: how many the machine has.
    - `loop_s`: the mean CPU time of a loop that is always the same, and `loops`, how often it ran: it
      takes longer while the processors are slower.
    - `busy_s`: the processor time of all processes of the machine; `stolen_s`: what the hypervisor took;
      `others_s`: what processes took that are not this application's.
    - `quota_processors`: how many processors the node may use, by the quota and the cpuset of its cgroup;
      `quota_periods`: the kernel's periods of this quota in which a process wanted to run;
      `quota_throttles`: how many of them used it up, and `throttled_s`: the time for which processes were
      stopped then, added up over the processors.
    - `heat_throttles`: how often the processors lowered their clock because they were too hot.
    - `memory_wait_s`, `io_wait_s`: the time in which any process waited for memory, or for I/O (the
      kernel's "pressure stall information", `some`).
    - `swapped_bytes`: into and out of the swap; `major_faults`: page faults that had to read a disk.
    - `others_disk_bytes`: what all disks read and wrote beyond what this application's processes did.
    """

    host: str
    duration_s: float
    processors: int
    loops: int | None = None
    loop_s: float | None = None
    busy_s: float | None = None
    stolen_s: float | None = None
    others_s: float | None = None
    quota_processors: float | None = None
    quota_periods: int | None = None
    quota_throttles: int | None = None
    throttled_s: float | None = None
    heat_throttles: int | None = None
    memory_wait_s: float | None = None
    io_wait_s: float | None = None
    swapped_bytes: int | None = None
    major_faults: int | None = None
    others_disk_bytes: int | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.host or self.processors < 1 or self.duration_s < MIN_SECONDS:
            raise ValueError("a node has a name, a processor or more, and a duration")


ClusterInterference = Tuple[NodeInterference, ...]
"""The counts of all nodes in one trial."""

STEAL = "the hypervisor took processor time"
OTHERS = "other processes took processor time"
MEMORY_WAIT = "processes waited for memory"
SWAPPED = "it swapped"
FAULTS = "page faults read the disk"
IO_WAIT = "processes waited for I/O"
DISKS = "others used the disks"

MIN_EARLIER = 3
"""Trials until it is known what is usual: the lower quartile of fewer would be a trial of any kind."""
MIN_LOOPS = 10
"""In two thirds of a second. Bursts are shorter, and a mean of fewer loops is off by more than the limit."""

PartAndWhole = Tuple[Optional[float], Optional[float]]


def _percent_and_usual(value: float, usual: float) -> str:
    return f"{percent(value)}, usually {percent(usual)}"


@dataclass(frozen=True)
class Disturbance:
    """A quantity of a node that must stay near its usual value, and may have to be alike on two sides.

    - `parts`: what a node adds to the quantity, and to what it is a share of: so long trials are not
      excluded more easily. The quantity is unknown if the latter is less than `least`.
    - `margin`: it disturbs from `usual + margin` on; with `is_factor`, from `usual * margin` on.
    - `at_first`: what is usual as long as that is not known; None: nothing is judged until then.
    - `compared_as`: what the mean over all nodes and trials is called; empty if that is not compared.
    - `may_explain`: the difference from which on two means may explain times; with `is_factor`, the factor.
    - `busy`: the mean from which on trials ran on a busy machine; None if no mean says so.
    """

    name: str
    parts: Callable[[NodeInterference], PartAndWhole]
    margin: float
    describe: Callable[[float, float], str] = _percent_and_usual
    is_factor: bool = False
    at_first: float | None = None
    least: float = 0.0
    compared_as: str = ""
    may_explain: float = 0.0
    busy: float | None = None

    def of(self, node: NodeInterference) -> float | None:
        """Return the quantity, as a rate or a share; None if it is unknown."""
        part, whole = self.parts(node)
        if part is None or not whole or whole < self.least:
            return None
        return part / whole

    def limit(self, usual: float) -> float:
        """Return the value from which on the quantity disturbs."""
        if self.is_factor:
            return usual * self.margin
        return usual + self.margin


class EarlierTrials:
    """The counts of the nodes in the earlier trials of each workload in a run, disturbed or not."""

    def __init__(self) -> None:
        # The values of each kind of disturbance in rising order, by workload and host.
        self._values: dict[tuple[str, str], list[list[float]]] = {}

    def judge_next(self, workload: str, nodes: ClusterInterference) -> str | None:
        """Say in one line why a workload's next trial does not count; None if it does, or if that is unknown.

        The quantity that exceeds its limit by most is named: `n2: processors slower than usual (by 31 %)`.
        Then the trial is an earlier one.
        """
        found: list[tuple[float, str]] = []
        for node in nodes:
            key = (workload, node.host)
            if key not in self._values:
                self._values[key] = [[] for _ in DISTURBANCES]
            for kind, values in zip(DISTURBANCES, self._values[key]):
                judged = _judged(kind, node, values)
                if judged:
                    found.append(judged)
        if not found:
            return None
        return max(found)[-1]


def _judged(
    kind: Disturbance, node: NodeInterference, values: list[float]
) -> tuple[float, str] | None:
    """Return by how much a node exceeds the limit that its earlier values set, and what to say of it.

    None if it does not. Then its value is one of them.
    """
    value = kind.of(node)
    if value is None:
        return None
    is_known = len(values) >= MIN_EARLIER
    usual = kind.at_first
    if is_known:
        # A quiet quarter of the trials is enough to tell what is quiet. Where there is none, the limit
        # follows, so that a machine that is never quiet does not lose all of its trials.
        usual = values[(len(values) - 1) // 4]
    insort(values, value)
    if usual is None or value <= usual:
        return None
    limit = kind.limit(usual)
    # A file may have a 0, or a number so large that its limit is the same number.
    if not value > limit > usual:
        return None
    about = kind.describe(value, usual)
    if not is_known:  # then shares alone are judged
        about = f"{percent(value)}, limit {percent(limit)}"
    return (value - usual) / (limit - usual), f"{node.host}: {kind.name} ({about})"


def disturbances_without_work(node: NodeInterference) -> Iterator[tuple[str, str]]:
    """Yield what would disturb a trial on a node on which no trial runs, and how much of it there is.

    The limits are the same as of trials, with nothing as the usual value. Quantities that are judged by a
    factor are left out.
    """
    for kind in DISTURBANCES:
        if kind.is_factor:
            continue
        value = kind.of(node)
        if value is not None and value > kind.limit(0.0):
            amount, _, _ = kind.describe(value, 0.0).partition(",")  # without what is usual
            yield kind.name, amount


def _time_and_loops(node: NodeInterference) -> PartAndWhole:
    """Return the time of all loops, and their number."""
    if node.loops is None or node.loop_s is None:
        return None, None
    return node.loop_s * node.loops, node.loops


def _stolen(node: NodeInterference) -> PartAndWhole:
    """Return the stolen time, and the time in which a process wanted a processor."""
    if node.stolen_s is None or node.busy_s is None:
        return None, None
    return node.stolen_s, node.busy_s + node.stolen_s


def _a_second(name: str) -> Callable[[NodeInterference], PartAndWhole]:
    return attrgetter(name, "duration_s")


def _mb_s_and_usual(value: float, usual: float) -> str:
    return f"{value / 1e6:.0f} MB/s, usually {usual / 1e6:.0f}"


DISTURBANCES = (
    # The mean over a trial varies by less than 10 % on a quiet machine, and by a factor of 2 beside a
    # neighbour on the same core. At 1.25, a bad quarter of an hour costs a fifth of the trials. A trial that
    # computes is longer by the same factor; the means of quiet runs differ by less than 5 %.
    Disturbance(
        "processors slower than usual",
        _time_and_loops,
        margin=1.25,
        describe=lambda value, usual: f"by {percent(value / usual - 1)}",
        is_factor=True,
        least=MIN_LOOPS,
        compared_as="processor speed (time of a fixed loop)",
        may_explain=1.05,
    ),
    # Time that is taken away lengthens a trial that computes by as much. Zero is the usual value, but a
    # machine on which time is always taken has another one after three trials.
    Disturbance(
        STEAL,
        _stolen,
        margin=0.05,
        at_first=0.0,
        compared_as="processor time that the hypervisor took",
        may_explain=0.02,
        busy=0.05,
    ),
    # The same. Processes that the work needs are usual, such as the daemons of a file system. They seldom
    # take more than a fifth, and work more on faster links.
    Disturbance(
        OTHERS,
        lambda node: (node.others_s, node.duration_s * node.processors),
        margin=0.05,
        at_first=0.2,
        compared_as="processor time of other processes",
        may_explain=0.05,
        busy=0.25,
    ),
    # Not how often the quota stops the node: the same work in less time is stopped more often.
    Disturbance(
        "its CPU limit was lowered",
        lambda node: (1, node.quota_processors),
        margin=1.05,
        describe=lambda value, usual: (
            f"to {significant(1 / value, 3)} processors, usually {significant(1 / usual, 3)}"
        ),
        is_factor=True,
    ),
    # Waiting for memory is seldom part of the work; each second of it is lost.
    Disturbance(
        MEMORY_WAIT,
        _a_second("memory_wait_s"),
        margin=0.05,
        compared_as="time in which processes waited for memory",
        may_explain=0.02,
    ),
    Disturbance(SWAPPED, _a_second("swapped_bytes"), 1e6, _mb_s_and_usual),
    # A fault takes 0.1 to 10 ms of a disk: a hundred a second keep one busy.
    Disturbance(
        FAULTS,
        _a_second("major_faults"),
        margin=100,
        describe=lambda value, usual: f"{value:.0f} a second, usually {usual:.0f}",
    ),
    # The kernel writes the files of earlier trials whenever it likes, which moves both by less.
    Disturbance(IO_WAIT, _a_second("io_wait_s"), 0.2),
    Disturbance(DISKS, _a_second("others_disk_bytes"), 50e6, _mb_s_and_usual),
)
"""With the reasons of their limits; docs/noise.md has the figures behind them."""
