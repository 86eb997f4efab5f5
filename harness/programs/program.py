"""The seam of external programs: what each needs, how it is started, and what its output says."""

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from pkgutil import iter_modules
from typing import ClassVar

from harness.model.work import Work
from harness.programs.mpi import MpiJob, Placement

Problem = Mapping[str, int | str]
"""The parameters of a computation, by the program's own names: the same before and after a change."""


@dataclass(frozen=True)
class Achieved:
    """A workload's outcome that was checked: its seconds, and its work if performance is compared."""

    wall_s: float
    work: Work | None = None


Outcomes = Mapping[str, Achieved | str]
"""What each workload achieved, or in one line why it failed. A workload that is missing failed."""


@dataclass(frozen=True)
class ProgramOption:
    """An option of a program: of the command line as `--name`, in the file of an experiment as a key.

    `parse` returns the value that a text means, and raises ValueError that says what is expected. It also
    understands a value with `unit` after it.
    """

    name: str
    default: str
    parse: Callable[[str], int]
    help: str
    unit: str = ""


class Program(ABC):
    """An external program that runs as processes of MPI. Its phases are workloads.

    - `about` is one sentence for the help.
    - `controls` are the workloads that exchange no messages.
    - `per_process` are the workloads whose figure is for one process, and no sum over all.
    - `has_peak` says whether hosts have a peak that its work relates to: arithmetic has.

    A subclass is a frozen dataclass with a field for each of its `options`.
    """

    name: ClassVar[str]
    about: ClassVar[str]
    workloads: ClassVar[tuple[str, ...]]
    controls: ClassVar[tuple[str, ...]] = ()
    per_process: ClassVar[tuple[str, ...]] = ()
    has_peak: ClassVar[bool] = False
    options: ClassVar[tuple[ProgramOption, ...]] = ()

    @property
    @abstractmethod
    def executables(self) -> tuple[str, ...]:
        """The programs that have to be on every host."""

    @abstractmethod
    def problem(self, placement: Placement, *, growing: bool) -> Problem:
        """Return the problem to compute. Its size is that for each host if it is `growing`, else the total.

        Raise BadInput that names the option if it is too small or too large for these hosts.
        """

    def omitted(self, placement: Placement) -> Mapping[str, str]:
        """Return the workloads that cannot run there, and why."""
        return {}

    @abstractmethod
    def reference(self, problem: Problem, placement: Placement) -> MpiJob | None:
        """Return a job whose output `outcomes` needs to tell whether an answer is right; None if none is."""

    @abstractmethod
    def job(self, problem: Problem, placement: Placement) -> MpiJob:
        """Return how to compute the problem."""

    @abstractmethod
    def outcomes(
        self, output: str, problem: Problem, processes: int, reference: str | None
    ) -> Outcomes:
        """Return what the output says. Raise ToolError if it is incomplete or of another problem."""


def programs() -> dict[str, type[Program]]:
    """Return the programs by their names: each module of this room with an IMPLEMENTATION has one."""
    package = import_module(__package__)
    found = {}
    for module in iter_modules(package.__path__):
        program = getattr(import_module(f"{__package__}.{module.name}"), "IMPLEMENTATION", None)
        if program is not None:
            found[program.name] = program
    return found


def whole_number(minimum: int, maximum: int) -> Callable[[str], int]:
    """Return the parser of a whole number between bounds."""

    def parse(text: str) -> int:
        if not re.fullmatch("[0-9]{1,15}", text) or not minimum <= int(text) <= maximum:
            raise ValueError(f"{text!r} is not a whole number from {minimum:,} to {maximum:,}")
        return int(text)

    return parse


def byte_count(text: str) -> int:
    """Return how many bytes `64mb`, `1.5gb` or `64000b` are. The prefixes are decimal."""
    match = re.fullmatch(r"([0-9]{1,15}(?:\.[0-9]{1,6})?)([kmgt]?)b", text.strip().lower())
    if not match or float(match[1]) == 0:
        raise ValueError(f"{text!r} is not a size; write 64mb or 1.5gb")
    return round(float(match[1]) * 1000.0 ** " kmgt".index(match[2] or " "))
