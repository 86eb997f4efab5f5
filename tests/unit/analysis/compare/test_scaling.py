"""Speed-up and efficiency by the number of nodes."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.analysis.compare.scaling import Family, Point, find_family, scaling
from harness.analysis.observed.configuration import ConfigurationRuns
from harness.base.errors import BadInput
from harness.model.scaling import parse_nodes, scaled_name, split_scaled_name
from harness.model.work import Work
from harness.present import text
from harness.present.scaling_page import scaling_page
from harness.records.writer import record_all
from tests.tracked import ROOT
from tests.unit.builders import a_run, ok, recorded

BEOWULF = ROOT / "results/beowulf-2009"
HPL = 1e9


def column(
    name: str, rates: Sequence[float], workload: str = "hpl", **fields: Any
) -> ConfigurationRuns:
    """Return runs of one trial each, which does so much work in a second."""
    runs = [
        recorded(
            a_run(name, f"{name}-{number}", workloads=(workload,), **fields),
            [ok(workload, HPL / rate, work=Work(HPL, "flop"))],
        )
        for number, rate in enumerate(rates)
    ]
    return ConfigurationRuns(name, tuple(runs))


def family(
    name: str, rates: Mapping[int, Sequence[float]], **fields: Any
) -> dict[int, ConfigurationRuns]:
    return {n: column(f"{name}-n{n}", each, **fields) for n, each in rates.items()}


def points(families: Mapping[str, Family], name: str) -> tuple[Point, ...]:
    [scaled] = scaling(families).workloads.values()
    return scaled[name]


class TestNames:
    @given(st.text(min_size=1), st.integers(1, 99_999))
    def test_a_scaled_name_can_be_split(self, name: str, nodes: int) -> None:
        if "\n" not in name:
            assert split_scaled_name(scaled_name(name, nodes)) == (name, nodes)

    @pytest.mark.parametrize("name", ["1g", "1g-n", "1g-n0", "-n4", "1g-n04", "1g-n4x"])
    def test_other_names_have_no_number(self, name: str) -> None:
        assert split_scaled_name(name) is None

    def test_numbers_of_nodes_grow(self) -> None:
        assert parse_nodes("1, 2,4") == (1, 2, 4)
        for wrong in ("", "0", "2,1", "1,1", "a", "1,,2", "9" * 9):
            with pytest.raises(ValueError, match="write 1,2,4"):
                parse_nodes(wrong)


class TestGrowth:
    def test_is_relative_to_the_fewest_nodes(self) -> None:
        one, two, four = points({"1g": family("1g", {1: [10.0], 2: [18.0], 4: [30.0]})}, "1g")
        assert one.growth is None
        assert two.growth
        assert (two.growth.speed_up, two.growth.efficiency) == pytest.approx((1.8, 0.9))
        assert four.growth
        assert four.growth.efficiency == pytest.approx(0.75)

    def test_has_an_interval_with_two_runs_on_either_side(self) -> None:
        _, single = points({"1g": family("1g", {1: [10.0, 10.2], 4: [30.0]})}, "1g")
        _, double = points({"1g": family("1g", {1: [10.0, 10.2], 4: [30.0, 31.0]})}, "1g")
        assert single.growth
        assert single.growth.interval is None
        assert double.growth
        assert double.growth.interval
        assert double.growth.interval.low < double.growth.speed_up < double.growth.interval.high

    def test_a_growing_problem_of_a_program_counts_its_work(self) -> None:
        runs = family("1g", {1: [10.0]}) | {
            4: ConfigurationRuns(
                "1g-n4", (recorded(a_run("1g-n4"), [ok("hpl", 1.0, work=Work(36.0, "flop"))]),)
            )
        }
        _, four = points({"1g": runs}, "1g")
        assert four.growth
        assert four.growth.efficiency == pytest.approx(0.9)

    def test_what_is_of_one_process_is_not_summed(self) -> None:
        alike = family(
            "1g", {2: [10.0], 4: [10.0]}, parameters={"per_process": ["ring"]}, workload="ring"
        )
        other = family("1g", {2: [10.0], 4: [10.0]})
        merged = {
            n: ConfigurationRuns(f"1g-n{n}", (*alike[n].runs, *_renamed(other[n]).runs))
            for n in alike
        }
        workloads = scaling({"1g": merged}).workloads
        assert not any(point.growth for point in workloads["ring"]["1g"])
        assert any(point.growth for point in workloads["hpl"]["1g"])


def _renamed(found: ConfigurationRuns) -> ConfigurationRuns:
    """Return runs with other ids."""
    runs = [recorded(a_run(found.name, "other-" + each.run.id), each.trials) for each in found.runs]
    return ConfigurationRuns(found.name, tuple(runs))


class TestNotes:
    def test_say_what_else_differs_between_the_numbers_of_nodes(self) -> None:
        two, four = (
            family("1g", {nodes: [10.0]}, parameters={"processes_per_host": each, "growing": False})
            for nodes, each in ((2, 4), (4, 2))
        )
        notes = scaling({"1g": {**two, **four}}).notes
        assert notes == {"1g-n2": (), "1g-n4": ("processes on each host: 2 here, 4 in 1g-n2",)}

    def test_are_relative_to_the_fewest_nodes_whose_runs_recorded_it(self) -> None:
        given: dict[int, dict[str, Any]] = {
            1: {},  # as an older version recorded it
            2: {"network": "tcp"},
            4: {"network": "ib"},
        }
        columns: dict[int, ConfigurationRuns] = {}
        for nodes, parameters in given.items():
            columns |= family("1g", {nodes: [10.0]}, parameters=parameters)
        notes = scaling({"1g": columns}).notes
        assert notes == {"1g-n1": (), "1g-n2": (), "1g-n4": ("network: ib here, tcp in 1g-n2",)}

    def test_have_options_in_words(self) -> None:
        two, four = (
            family("1g", {nodes: [10.0]}, parameters={"options": {"grid": text, "seed": "1"}})
            for nodes, text in ((2, "wide"), (4, "long"))
        )
        [note] = scaling({"1g": {**two, **four}}).notes["1g-n4"]
        assert note == ("the program's options: grid long, seed 1 here, grid wide, seed 1 in 1g-n2")


class TestBadInput:
    def test_a_configuration_on_one_number_of_nodes_is_refused(self, tmp_path: Path) -> None:
        with pytest.raises(BadInput, match="'1g' needs results on two numbers of nodes or more"):
            find_family("1g", tmp_path)

    def test_a_name_with_a_character_that_directories_lack_is_found(self, tmp_path: Path) -> None:
        for nodes in (1, 4):
            name = f"1g-rs:6+3-n{nodes}"
            record_all(tmp_path, a_run(name, f"run-{nodes}"), [ok("hpl", 1.0)])
        assert list(find_family("1g-rs:6+3", tmp_path)) == [1, 4]

    def test_workloads_that_nowhere_scale_are_refused(self) -> None:
        with pytest.raises(BadInput, match="no workload was measured on two numbers of nodes"):
            scaling({"1g": family("1g", {1: [10.0]})})


class TestTables:
    def test_has_a_line_for_each_number_of_nodes(self) -> None:
        """These are the figures of 2009."""
        found = scaling({name: find_family(name, BEOWULF) for name in ("1g", "bonded")})
        lines = [line.split() for line in text.render(scaling_page(found)).splitlines()]
        assert lines[2][:5] == ["1g", "2", "12.22", "Gflop/s", "(69.4%)"]
        assert lines[5] == ["4", "24.08", "Gflop/s", "(68.4%)", "1.86", "93.1%"]
