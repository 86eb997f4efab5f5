"""HPC Challenge: its input follows the usual rules, and only a complete, right output is a result."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.base.errors import BadInput, ToolError
from harness.hosts.transports.host import by_local
from harness.model.work import Work
from harness.programs.hpcc import Hpcc, problem_size, process_grid
from harness.programs.mpi import Placement
from harness.programs.program import Achieved, Outcomes, Problem
from tests.unit.probe_builders import output

PRINTED = output("hpcc-1.5.0.txt")
PROBLEM: Problem = {"n": 1408, "nb": 64, "p": 1, "q": 4}


def outcomes(text: str, problem: Problem = PROBLEM, processes: int = 4) -> Outcomes:
    return Hpcc().outcomes(text, problem, processes)


def on(hosts: int, per_host: int = 1) -> Placement:
    return Placement(tuple(by_local(f"n{number}") for number in range(hosts)), per_host)


class TestProblem:
    @given(st.integers(10**6, 10**13), st.integers(8, 4096))
    def test_the_matrix_is_the_largest_of_whole_blocks_that_fits(
        self, memory_bytes: int, block: int
    ) -> None:
        n = problem_size(memory_bytes, block)
        assert n % block == 0
        assert 8 * n**2 <= memory_bytes < 8 * (n + block) ** 2

    @given(st.integers(1, 4096))
    def test_the_grid_has_all_processes_and_is_flat(self, processes: int) -> None:
        p, q = process_grid(processes)
        assert p * q == processes
        assert p == 1 or 4 * p <= q

    @pytest.mark.parametrize(
        ("processes", "grid"),
        [(1, (1, 1)), (4, (1, 4)), (6, (1, 6)), (8, (1, 8)), (16, (2, 8)), (64, (4, 16))],
    )
    def test_the_grids_of_small_clusters(self, processes: int, grid: tuple[int, int]) -> None:
        assert process_grid(processes) == grid

    def test_a_growing_problem_has_as_much_memory_on_each_host(self) -> None:
        program = Hpcc(memory=64 * 10**6)
        for growing, sizes in ((False, [2816, 2816]), (True, [2816, 5632])):
            assert [program.problem(on(n), growing=growing)["n"] for n in (1, 4)] == sizes

    def test_a_matrix_of_less_than_a_block_for_each_process_is_refused(self) -> None:
        with pytest.raises(
            BadInput, match=r"--memory is too small for 8 processes .* give 9mb or more"
        ):
            Hpcc(memory=10**6).problem(on(8), growing=False)
        with pytest.raises(BadInput, match="give 2mb or more"):
            Hpcc(memory=10**5).problem(on(8), growing=True)

    @given(st.integers(8, 4096), st.integers(1, 40))
    def test_the_memory_that_is_asked_for_is_enough(self, block: int, hosts: int) -> None:
        with pytest.raises(BadInput, match="--memory is too small") as refusal:
            Hpcc(memory=8, block=block).problem(on(hosts), growing=False)
        enough = int(str(refusal.value).split()[-3].removesuffix("mb"))
        Hpcc(enough * 10**6, block).problem(on(hosts), growing=False)

    def test_the_input_file_has_the_lines_of_hpl(self) -> None:
        [text] = Hpcc().job({"n": 1408, "nb": 64, "p": 2, "q": 8}, on(16)).files.values()
        lines = text.splitlines()
        assert (lines[5], lines[7], lines[10], lines[11]) == ("1408", "64", "2", "8")
        assert len(lines) == 36


class TestOutcomes:
    def test_every_program_of_the_suite_is_a_workload(self) -> None:
        found = outcomes(PRINTED)
        assert set(found) == set(Hpcc.workloads)
        assert all(isinstance(each, Achieved) for each in found.values())

    def test_hpl_counts_its_operations_and_knows_the_measured_peak(self) -> None:
        hpl = outcomes(PRINTED)["hpl"]
        assert isinstance(hpl, Achieved)
        assert isinstance(hpl.work, Work)
        tflops = re.search(r"^HPL_Tflops=(.*)$", PRINTED, re.MULTILINE)
        dgemm = re.search(r"^StarDGEMM_Gflops=(.*)$", PRINTED, re.MULTILINE)
        assert tflops is not None
        assert dgemm is not None
        assert hpl.work.amount / hpl.wall_s == pytest.approx(float(tflops[1]) * 1e12, rel=1e-3)
        assert hpl.work.peaks == {"dgemm": pytest.approx(4 * float(dgemm[1]) * 1e9)}

    def test_a_latency_is_a_time(self) -> None:
        latency = outcomes(PRINTED)["ring-latency"]
        assert isinstance(latency, Achieved)
        assert latency.work is None
        assert 1e-6 < latency.wall_s < 1e-3

    def test_one_process_has_no_ring(self) -> None:
        found = outcomes(output("hpcc-1.5.0-alone.txt"), {**PROBLEM, "q": 1}, processes=1)
        assert set(Hpcc.workloads) - set(found) == {"ring-latency", "ring-bandwidth"}
        assert set(Hpcc().omitted(on(1))) == {"ring-latency", "ring-bandwidth"}
        assert not Hpcc().omitted(on(2))

    @pytest.mark.parametrize(
        ("change", "workload", "reason"),
        [
            (r"(N\)= +)\S+", "hpl", "HPL's residual is wrong: 17.5, not 16 or less"),
            (r"(PTRANS_residual=)\S+", "ptrans", "the residual of PTRANS is wrong: 17.5"),
            (r"(MPIFFT_maxErr=)\S+", "fft", "the FFT's error is wrong: 17.5, not"),
            (
                r"(MPIRandomAccess_ErrorsFraction=)\S+",
                "random-access",
                "lost 1750.00% of its updates",
            ),
        ],
    )
    def test_a_wrong_answer_is_the_failure_of_its_workload_alone(
        self, change: str, workload: str, reason: str
    ) -> None:
        found = outcomes(re.sub(change, r"\g<1>17.5", PRINTED))
        failures = {name: each for name, each in found.items() if isinstance(each, str)}
        assert list(failures) == [workload]
        assert reason in failures[workload]

    def test_a_residual_that_hpl_itself_refuses_is_a_failure(self) -> None:
        found = outcomes(PRINTED.replace("PASSED", "FAILED"))
        assert str(found["hpl"]).startswith("HPL's residual is wrong")

    @pytest.mark.parametrize("number", ["0.0125140", "0.0082611", "0.0016126"])
    def test_each_of_the_three_residuals_of_hpl_1_is_read(self, number: str) -> None:
        text = PRINTED.replace(re.findall(r"\|\|Ax-b\|\|_oo/.*", PRINTED)[0], "RESIDUALS")
        text = text.replace("RESIDUALS", output("hpl-1.0a-residuals.txt"))
        assert isinstance(outcomes(text)["hpl"], Achieved)
        for wrong in ("17.5", "nan", "-1.0", "*********"):
            reason = f"HPL's residual is wrong: {wrong}, not 16 or less"
            assert outcomes(text.replace(number, wrong))["hpl"] == reason

    def test_an_output_without_a_check_is_a_failure(self) -> None:
        found = outcomes(re.sub(r"\|\|Ax-b.*\n", "", PRINTED))
        assert found["hpl"] == "hpcc did not check HPL's residual"

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            (PRINTED.partition("End of Summary")[0], "its output has no summary"),
            ("", "its output has no summary"),
            (PRINTED.replace("Success=1", "Success=0"), "Success is not 1"),
            (PRINTED.replace("HPL_N=1408", "HPL_N=2560"), "hpcc computed .*2560.*, not .*1408"),
            (PRINTED.replace("HPL_time=", "HPL_tim="), "has no number HPL_time"),
            (re.sub("HPL_time=.*", "HPL_time=nan", PRINTED), "says HPL_time=nan"),
            (re.sub("HPL_time=.*", "HPL_time=fast", PRINTED), "has no number HPL_time"),
        ],
    )
    def test_an_output_that_is_incomplete_or_of_another_problem_is_refused(
        self, text: str, message: str
    ) -> None:
        with pytest.raises(ToolError, match=message):
            outcomes(text)

    def test_another_number_of_processes_is_refused(self) -> None:
        with pytest.raises(ToolError, match=r"not .* by 8 processes"):
            outcomes(PRINTED, processes=8)

    @given(st.integers(0, 20_000))
    def test_a_cut_output_is_never_a_result(self, length: int) -> None:
        text = PRINTED
        cut = text[: min(length, text.index("End of Summary section."))]
        with pytest.raises(ToolError):
            outcomes(cut)
