"""Tables say whether input came from disks or from memory, and that it came from elsewhere on one side."""

import pytest

from harness.analysis.compare.comparison import compare, overview
from harness.analysis.observed.configuration import ConfigurationRuns
from harness.model.run import InputReader, Trial
from harness.model.task_metrics import DiskBytes
from tests.unit.builders import a_run, ok, recorded
from tests.unit.metrics_builders import task_metrics
from tests.unit.printed import printed_table

INPUT = 10**9
WORKLOADS = ("group-by", "calc-pi-dataframe")


def column(name: str, share: float | None) -> ConfigurationRuns:
    """Return a run of a workload that reads this share from disks, None if unknown, and of a control."""
    tasks = task_metrics(input_bytes_by_locality={"ANY": INPUT})
    disk = None if share is None else DiskBytes(int(share * INPUT), 0)
    trials = [
        ok("group-by", 9.0, tasks=tasks, disk=disk, input_read_by=InputReader.STORAGE),
        ok("calc-pi-dataframe", 9.0, disk=disk, tasks=task_metrics()),
    ]
    run = a_run(name, workloads=WORKLOADS, parameters={"controls": ["calc-pi-dataframe"]})
    return ConfigurationRuns(name, (recorded(run, trials),))


def table(*shares: float | None) -> str:
    columns = [column(name, share) for name, share in zip(("a", "b"), shares, strict=False)]
    shown = compare(columns) if len(columns) > 1 else overview(columns[0])
    return " ".join(printed_table(shown).split())


@pytest.mark.parametrize(
    ("shares", "sentence"),
    [
        ((0.98,), "Input was cold (98 % from disks)."),
        ((0.98, 0.98), "Input was cold (98 % from disks)."),
        ((0.98, 1.0), "Input was cold (98 % from disks) in a; cold (100 % from disks) in b."),
        ((0.0, 0.5), "Input was warm (0 % from disks) in a; mixed (50 % from disks) in b."),
        ((None, 0.5), "Input was mixed (50 % from disks) in b."),
    ],
)
def test_the_caption_says_where_the_input_of_each_column_came_from(
    shares: tuple[float | None, ...], sentence: str
) -> None:
    assert sentence in table(*shares)


def test_what_is_not_known_is_not_mentioned() -> None:
    assert "from disks" not in table(None, None)


def test_two_sides_that_differ_are_a_confounder_of_what_reads() -> None:
    note = "cache of the input: cold (100 % from disks) here, warm (0 % from disks) in a"
    group_by, pi = compare([column("a", 0.0), column("b", 1.0)]).rows
    assert note in group_by.cells[1].notes
    assert note not in pi.cells[1].notes


@pytest.mark.parametrize("shares", [(0.91, 1.0), (0.0, 0.1), (None, 1.0), (0.3, None)])
def test_two_of_a_kind_are_none_and_neither_is_the_unknown(
    shares: tuple[float | None, float | None],
) -> None:
    assert "cache of the input" not in table(*shares)


def of_queries(name: str, **shares: float) -> ConfigurationRuns:
    """Return a run of `big`, with fifty times the input, and `small`, which read these shares from disks."""
    trials: list[Trial] = []
    for query, share in shares.items():
        size = INPUT if query == "small" else 50 * INPUT
        tasks = task_metrics(input_bytes_by_locality={"ANY": size})
        disk = DiskBytes(int(share * size), 0)
        reading = InputReader.STORAGE
        trials.append(ok(query, 9.0, tasks=tasks, disk=disk, input_read_by=reading))
    return ConfigurationRuns(name, (recorded(a_run(name, workloads=tuple(shares)), trials),))


class TestSmallInput:
    """The input of one workload is too small to show in that of all together."""

    def test_that_alone_came_from_elsewhere_has_the_footnote(self) -> None:
        compared = compare(
            [of_queries("a", big=1.0, small=1.0), of_queries("b", big=1.0, small=0.0)]
        )
        big, small = compared.rows
        note = "cache of the input: warm (0 % from disks) here, cold (100 % from disks) in a"
        assert note in small.cells[1].notes
        assert note not in big.cells[1].notes
        caption = " ".join(printed_table(compared).split())
        assert "cold (98 % from disks), but warm of small in b." in caption

    def test_that_was_warm_on_both_sides_has_none_though_another_failed_on_one(self) -> None:
        compared = compare([of_queries("a", big=1.0, small=0.0), of_queries("b", small=0.0)])
        assert "cache of the input" not in printed_table(compared)
