"""PHOLD, the benchmark of parallel discrete event simulation, by ROSS (github.com/ROSS-org/ROSS).

Each event makes another one for a random object, often on another host. Processes compute ahead
and roll back if an earlier event arrives, so small messages that arrive late cost twice. The program is found
by ROSS_HOME, which names a build of ROSS that every host has at the same place.
"""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from harness.base.errors import BadInput, ToolError
from harness.model.work import Work
from harness.programs.mpi import MPI_EXECUTABLES, MpiJob, Placement
from harness.programs.program import (
    Achieved,
    Outcomes,
    Problem,
    Program,
    ProgramOption,
    whole_number,
)

SEQUENTIAL = 1
OPTIMISTIC = 3
"""ROSS's protocols: one process, or many that compute ahead."""
EXTRA_EVENTS = 65_536
"""Memory of each process for events that it computed ahead; ROSS ends if it has too few."""

STATISTICS = "ross_all_lp_stats"
"""The first process alone makes this directory, and all write into it, as if they shared their files."""

_LINE = re.compile(
    r"^\t(?:: )?([A-Za-z](?:[^\d=:\n]*[^\d=:\s])?)(?: =)? +(-?[0-9.]+)(?: %| seconds)?$",
    re.MULTILINE,
)
_FIGURES = {"rollbacks": "Total Roll Backs", "efficiency_percent": "Efficiency"}
_NEEDED = ("Running Time", "Net Events Processed", "Event Rate (events/sec)")


@dataclass(frozen=True)
class Phold(Program):
    """PHOLD.

    - `objects`: the number of simulated objects; `end`: the simulated time, in mean times between events.
    - `remote`: the percentage of events for an object of any process, not of the same one.
    """

    objects: int = 1024
    end: int = 1000
    remote: int = 25
    ross_home: str = field(default_factory=lambda: os.environ.get("ROSS_HOME", ""))

    name = "phold"
    about = (
        "PHOLD, a discrete event simulation that sends small messages, by the ROSS in ROSS_HOME."
    )
    workloads = ("phold",)
    options = (
        ProgramOption(
            "objects",
            "1024",
            whole_number(1, 10**9),
            "Simulated objects, in total; with --growing, per host.",
        ),
        ProgramOption(
            "end",
            "1000",
            whole_number(1, 10**9),
            "End of the simulated time, which is about the number of events of each object.",
        ),
        ProgramOption(
            "remote",
            "25",
            whole_number(0, 100),
            "Percentage of events that go to an object of any process; the others stay local.",
        ),
    )

    @property
    def executables(self) -> tuple[str, ...]:
        """Return what has to be on every host. Raise BadInput if ROSS_HOME is not set."""
        return (*MPI_EXECUTABLES, self._phold)

    def problem(self, placement: Placement, *, growing: bool) -> Problem:
        """Return ROSS's options. The objects are divided among the processes."""
        objects = self.objects
        if growing:
            objects *= len(placement.hosts)
        if objects % placement.processes:
            raise BadInput(
                f"--objects is {objects:,}, which {placement.processes} processes cannot divide; give a "
                f"multiple of {placement.processes}"
            )
        return {"objects": objects, "end": self.end, "remote_percent": self.remote}

    def reference(self, problem: Problem, placement: Placement) -> MpiJob:
        """Return the same simulation by one process: it has the same number of events."""
        return self._job(problem, Placement(placement.hosts[:1]), SEQUENTIAL)

    def job(self, problem: Problem, placement: Placement) -> MpiJob:
        """Return the simulation by all processes."""
        return self._job(problem, placement, OPTIMISTIC)

    def outcomes(
        self, output: str, problem: Problem, processes: int, reference: str | None
    ) -> Outcomes:
        """Return the event rate. A simulation with another number of events than the reference failed."""
        numbers = _numbers(output)
        events = numbers["Net Events Processed"]
        right = events
        if reference is not None:
            right = _numbers(reference)["Net Events Processed"]
        if events != right:
            return {
                "phold": f"{events:,.0f} events were simulated, not {right:,.0f} as by one process"
            }
        figures = {name: numbers[text] for name, text in _FIGURES.items() if text in numbers}
        return {"phold": Achieved(numbers["Running Time"], Work(events, "event", figures=figures))}

    @property
    def _phold(self) -> str:
        if not self.ross_home:
            raise BadInput(
                "ROSS_HOME is not set: name the directory of a build of ROSS, with bin/phold"
            )
        return str(PurePosixPath(self.ross_home) / "bin/phold")

    def _job(self, problem: Problem, placement: Placement, protocol: int) -> MpiJob:
        options: Mapping[str, object] = {
            "synch": protocol,
            "nlp": int(problem["objects"]) // placement.processes,
            "end": problem["end"],
            "remote": int(problem["remote_percent"]) / 100,
            "extramem": EXTRA_EVENTS,
        }
        arguments = (f"--{name}={value}" for name, value in options.items())
        return MpiJob((self._phold, *arguments), placement, directory=STATISTICS)


def _numbers(output: str) -> dict[str, float]:
    """Return ROSS's statistics by name. Raise ToolError unless it simulated to the end."""
    found = {name: float(value) for name, value in _LINE.findall(output)}
    for name in _NEEDED:
        if not found.get(name):
            raise ToolError(f"PHOLD did not finish: its output has no {name}")
    return found


IMPLEMENTATION = Phold
