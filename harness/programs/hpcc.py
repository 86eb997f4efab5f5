"""HPC Challenge (Debian's `hpcc`): HPL and six more programs of MPI, one after the other in one process.

It has HPL's input, and its output is a summary of `name=value`. Work is counted as in Luszczek et al.,
"Introduction to the HPC Challenge Benchmark Suite" (2005).
"""

import math
import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from harness.base.errors import BadInput, ToolError
from harness.model.work import DGEMM_PEAK, Work
from harness.programs.mpi import MPI_EXECUTABLES, MpiJob, Placement
from harness.programs.program import (
    Achieved,
    Outcomes,
    Problem,
    Program,
    ProgramOption,
    byte_count,
    whole_number,
)

_PROBLEM_IN_SUMMARY = {
    "n": "HPL_N",
    "nb": "HPL_NB",
    "p": "HPL_nprow",
    "q": "HPL_npcol",
    "processes": "CommWorldProcs",
}
MIN_N = 200
"""With smaller matrices, most of HPL's time is not arithmetic."""
WORD_BYTES = 8
MAX_RESIDUAL = 16.0
"""HPL's own limit of the scaled residual; PTRANS has the same."""
MAX_WRONG_UPDATES = 0.01
"""RandomAccess may lose this fraction of its updates, by the rules of the suite."""

_INPUT = "hpccinf.txt"
_OUTPUT = "hpccoutf.txt"
_SUMMARY = re.compile(
    r"^Begin of Summary section\.$(.*)^End of Summary section\.$", re.MULTILINE | re.DOTALL
)
# HPL 2 checks one residual, HPL 1 three, whose lines have blanks.
_RESIDUAL = re.compile(
    r"^ *\|\|Ax-b\|\|_oo */ *\( *eps *\*.*\) *= *(\S+) *\.* *(PASSED|FAILED) *$", re.MULTILINE
)

# The meaning of each line is in HPL's documentation: https://www.netlib.org/benchmark/hpl/tuning.html
_INPUT_FORM = """\
HPL's parameters, then parameters of PTRANS
written by clusterlift
HPL.out    file of output
6          it is standard output
1          sizes of the matrix
{n}
1          sizes of blocks
{nb}
0          order of the processes: by rows
1          grids of processes
{p}
{q}
16.0       largest scaled residual
1          factorizations of a panel
2
1          columns at which recursion ends
4
1          panels in a recursion
2
1          recursive factorizations of a panel
1
1          broadcasts
1
1          depths of look-ahead
1
2          how rows are swapped: by both methods
64         from this number of columns on by the second
0          the lower triangle is transposed
0          the upper triangle is transposed
1          equilibration
8          alignment in memory, in words
The next lines are of PTRANS
0          more sizes of its matrix
1200
0          more sizes of its blocks
40
"""


@dataclass(frozen=True)
class Hpcc(Program):
    """HPC Challenge.

    - `memory`: the size of HPL's matrix in bytes; the other programs use as much or less.
    - `block`: the size of HPL's blocks, in columns.
    """

    memory: int = 256 * 10**6
    block: int = 128

    name = "hpcc"
    about = "HPC Challenge: HPL, and seven more workloads for processors, memory and network."
    workloads = (
        "hpl",
        "ptrans",
        "random-access",
        "fft",
        "ring-latency",
        "ring-bandwidth",
        "dgemm",
        "stream",
    )
    controls = ("dgemm", "stream")
    per_process = ("ring-latency", "ring-bandwidth")
    has_peak = True
    options = (
        ProgramOption(
            "memory",
            "256mb",
            byte_count,
            "Size of HPL's matrix: 64mb, 1.5gb. In total; with --growing, per host.",
            "b",
        ),
        ProgramOption("block", "128", whole_number(8, 4096), "Columns of HPL's blocks."),
    )

    @property
    def executables(self) -> tuple[str, ...]:
        """Programs that every host needs."""
        return (*MPI_EXECUTABLES, "hpcc")

    def omitted(self, placement: Placement) -> Mapping[str, str]:
        """A ring needs two processes."""
        if placement.processes > 1:
            return {}
        return dict.fromkeys(self.per_process, "needs two processes or more")

    def reference(self, problem: Problem, placement: Placement) -> None:
        """It checks its answers itself."""

    def problem(self, placement: Placement, *, growing: bool) -> Problem:
        """Return HPL's N, NB, P and Q. Raise BadInput if the memory is too small."""
        shares = len(placement.hosts) if growing else 1
        n = problem_size(self.memory * shares, self.block)
        p, q = process_grid(placement.processes)
        least = self.block * max(q, math.ceil(MIN_N / self.block))
        if n < least:
            needed = WORD_BYTES * least**2 / shares
            raise BadInput(
                f"--memory is too small for {placement.processes} processes with blocks of {self.block}: "
                f"give {math.ceil(needed / 10**6)}mb or more"
            )
        return {"n": n, "nb": self.block, "p": p, "q": q}

    def job(self, problem: Problem, placement: Placement) -> MpiJob:
        """Return how to run it: all of its parameters are in a file."""
        return MpiJob(("hpcc",), placement, {_INPUT: _INPUT_FORM.format(**problem)}, _OUTPUT)

    def outcomes(
        self, output: str, problem: Problem, processes: int, reference: str | None = None
    ) -> Outcomes:
        """Return what each program of the suite achieved."""
        summary = _Summary.read(output, problem, processes)
        return dict(summary.outcomes())


def problem_size(memory_bytes: int, block: int) -> int:
    """Return the order of the largest matrix of doubles that fits, as a multiple of the block."""
    return math.isqrt(memory_bytes // WORD_BYTES) // block * block


def process_grid(processes: int) -> tuple[int, int]:
    """Return P and Q. Q is at least four times P, because flat grids suit plain Ethernet (HPL's FAQ)."""
    p = max(1, math.isqrt(processes // 4))
    while processes % p:
        p -= 1
    return p, processes // p


@dataclass(frozen=True)
class _Summary:
    """The summary section: values by name, and what is above it."""

    values: Mapping[str, str]
    text: str
    problem: Problem
    processes: int

    @classmethod
    def read(cls, output: str, problem: Problem, processes: int) -> "_Summary":
        """Raise ToolError unless the output is complete, successful, and of this problem."""
        match = _SUMMARY.search(output)
        if match is None:
            raise ToolError("hpcc did not finish: its output has no summary")
        pairs = [line.split("=", 1) for line in match[1].splitlines() if "=" in line]
        summary = cls(dict(pairs), output, problem, processes)
        if summary.values.get("Success") != "1":
            raise ToolError("hpcc says that a part of it failed (Success is not 1)")
        found = {key: int(summary.number(name)) for key, name in _PROBLEM_IN_SUMMARY.items()}
        # It computes another problem, without an error, if it does not like its input file.
        if found != {**problem, "processes": processes}:
            raise ToolError(f"hpcc computed {found}, not {dict(problem)} by {processes} processes")
        return summary

    def outcomes(self) -> Iterator[tuple[str, Achieved | str]]:
        """Yield each workload that was measured. A program that needs more processes reports -1 or 0."""
        yield "hpl", self._hpl()
        yield "dgemm", _rate(self._dgemm_flop_s, "flop")
        yield "stream", _rate(self.number("StarSTREAM_Triad") * self.processes * 1e9, "B")
        yield "random-access", self._random_access()
        yield "fft", self._fft()
        if self.number("PTRANS_time") > 0:
            yield "ptrans", self._ptrans()
        if self.number("RandomlyOrderedRingLatency_usec") > 0:
            yield "ring-latency", Achieved(self.number("RandomlyOrderedRingLatency_usec") / 1e6)
            bandwidth = self.number("RandomlyOrderedRingBandwidth_GBytes") * 1e9
            yield "ring-bandwidth", _rate(bandwidth, "B")

    def number(self, name: str) -> float:
        """Return a value. Raise ToolError if it is missing or not a finite number."""
        try:
            value = float(self.values[name])
        except (KeyError, ValueError) as error:
            raise ToolError(f"hpcc's output has no number {name}") from error
        if not math.isfinite(value):
            raise ToolError(f"hpcc's output says {name}={value}")
        return value

    @cached_property
    def _dgemm_flop_s(self) -> float:
        """The performance of matrix products on all processes at once."""
        return self.number("StarDGEMM_Gflops") * self.processes * 1e9

    def _hpl(self) -> Achieved | str:
        """HPL counts 2/3 n^3 + 3/2 n^2 operations."""
        residuals = _RESIDUAL.findall(self.text)
        if not residuals:
            return "hpcc did not check HPL's residual"
        for residual, verdict in residuals:
            if verdict != "PASSED" or not _is_right(residual):
                return f"HPL's residual is wrong: {residual}, not {MAX_RESIDUAL:g} or less"
        n = int(self.problem["n"])
        found = _done(self.number("HPL_time"), 2 / 3 * n**3 + 3 / 2 * n**2, "flop")
        if isinstance(found, str) or found.work is None or self._dgemm_flop_s <= 0:
            return found
        return replace(found, work=replace(found.work, peaks={DGEMM_PEAK: self._dgemm_flop_s}))

    def _random_access(self) -> Achieved | str:
        """It may lose updates, because processes do not wait for each other."""
        wrong = self.number("MPIRandomAccess_ErrorsFraction")
        if not 0 <= wrong <= MAX_WRONG_UPDATES:
            return (
                f"RandomAccess lost {wrong:.2%} of its updates, more than {MAX_WRONG_UPDATES:.0%}"
            )
        return _done(
            self.number("MPIRandomAccess_time"), self.number("MPIRandomAccess_ExeUpdates"), "update"
        )

    def _fft(self) -> Achieved | str:
        """The error may grow with the logarithm of the size, as in the suite's own check."""
        limit = MAX_RESIDUAL * sys.float_info.epsilon * math.log(max(2.0, self.number("MPIFFT_N")))
        error = self.number("MPIFFT_maxErr")
        if not 0 <= error <= limit:
            return f"the FFT's error is wrong: {error:g}, not {limit:.2g} or less"
        return _rate(self.number("MPIFFT_Gflops") * 1e9, "flop")

    def _ptrans(self) -> Achieved | str:
        residual = self.number("PTRANS_residual")
        if not 0 <= residual <= MAX_RESIDUAL:
            return f"the residual of PTRANS is wrong: {residual:g}, not {MAX_RESIDUAL:g} or less"
        seconds = self.number("PTRANS_time")
        return _done(seconds, self.number("PTRANS_GBs") * 1e9 * seconds, "B")


def _is_right(residual: str) -> bool:
    try:
        return 0 <= float(residual) <= MAX_RESIDUAL
    except ValueError:  # asterisks, where a number has no room
        return False


def _rate(per_second: float, unit: str) -> Achieved | str:
    """Return a performance without a time in hpcc's output, as the work of one second."""
    return _done(1.0, per_second, unit)


def _done(seconds: float, amount: float, unit: str) -> Achieved | str:
    """Return work that took these seconds; if hpcc reports 0 or -1, it did not measure it."""
    if seconds <= 0 or amount <= 0:
        return f"hpcc reports {amount:g} {unit} in {seconds:g} s"
    return Achieved(seconds, Work(amount, unit))


IMPLEMENTATION = Hpcc
