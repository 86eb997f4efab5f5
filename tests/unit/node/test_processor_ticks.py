"""What a host's /proc/stat counted of its processors' time."""

from harness.node.processor_ticks import (
    ProcessorTicks,
    ticks_of_all_processors,
    ticks_of_each_processor,
)

STAT = """\
cpu  30 2 8 100 4 1 2 13 7 0
cpu0 10 1 4 50 2 0 1 6 7 0
cpu1 20 1 4 50 2 1 1 7 0 0
intr 123 0 0
ctxt 456
"""


def test_the_sums_are_not_those_of_a_single_processor() -> None:
    assert ticks_of_all_processors(STAT.splitlines()) == [
        ProcessorTicks(30, 2, 8, 100, 4, 1, 2, 13)
    ]
    assert [each.user for each in ticks_of_each_processor(STAT.splitlines())] == [10, 20]


def test_guests_do_not_count_twice() -> None:
    (ticks,) = ticks_of_all_processors(STAT.splitlines())
    assert ticks.total == 160


def test_busy_includes_interrupts_but_not_what_a_hypervisor_took() -> None:
    (ticks,) = ticks_of_all_processors(STAT.splitlines())
    assert (ticks.used_by_processes, ticks.busy, ticks.stolen) == (40, 43, 13)


def test_a_processor_is_busy_all_the_time_at_most() -> None:
    """The kernel's time of waiting for disks may decrease (proc_stat(5))."""
    ticks = ProcessorTicks(100, 0, 0, 0, -1, 0, 0, 0)
    assert ticks.busy == ticks.total == 100


def test_a_line_that_lacks_a_column_is_left_out() -> None:
    assert ticks_of_all_processors(["cpu  1 2 3 4 5 6 7"]) == []
    assert ticks_of_each_processor(["cpu0 1 2 3 4 5 6 7", "cpu1 1 2 3 4 5 6 7 x"]) == []
