"""Lines of a kernel's log that tell of trouble with a link, and which are new since the last reading."""

import os
import re
from pathlib import Path

import pytest

from harness.base.child_process import finished
from harness.node.kernel_log import KernelLog, LogLine, kernel_trouble
from harness.node.link_reading import reading_command
from tests.programs import shell_program
from tests.unit.probe_builders import output

TROUBLE, _, ORDINARY = output("kernel-log-4.18-to-6.12.txt").partition("== ordinary\n")


def log(*lines: tuple[float | None, str], newest_s: float | None = None) -> KernelLog:
    return KernelLog(tuple(LogLine(*line) for line in lines), newest_s)


class TestTrouble:
    @pytest.mark.parametrize("line", TROUBLE.splitlines())
    def test_is_what_a_driver_a_card_or_a_bus_says_went_wrong(self, line: str) -> None:
        [found] = kernel_trouble(line)
        assert f"[{found.clock_s:>12.6f}] {found.text}" == line

    @pytest.mark.parametrize("line", ORDINARY.splitlines())
    def test_is_no_ordinary_line(self, line: str) -> None:
        assert list(kernel_trouble(line)) == []

    @pytest.mark.parametrize("moment", ["    5.000000", " 1234.000000", "123456.000000", None])
    def test_is_told_whatever_the_moment_is(self, moment: str | None) -> None:
        before = "" if moment is None else f"[{moment}] "
        for text, is_trouble in ((TROUBLE, True), (ORDINARY, False)):
            for line in text.splitlines():
                moved = before + line.partition("] ")[2]
                assert bool(list(kernel_trouble(moved))) == is_trouble, moved

    @pytest.mark.parametrize(
        "before", ["", "<4>", "[  101.250000] ", "[  101.250000][  T512] ", "<6>[    1.5][    C1] "]
    )
    def test_is_found_however_the_line_begins(self, before: str) -> None:
        [found] = kernel_trouble(f"{before}usb 2-1: USB disconnect, device number 7")
        assert found.text == "usb 2-1: USB disconnect, device number 7"
        assert (found.clock_s is None) == ("[ " not in before)

    @pytest.mark.parametrize(
        ("line", "card"),
        [
            ("uplink: giving up", "uplink"),
            ("newcard 0000:03:00.0: fatal event 7", "newcard"),
            ("DMAR: [DMA Read] Request device [03:00.0] fault addr 0xffe00000", "03:00.0"),
            ("AMD-Vi: Event logged [IO_PAGE_FAULT device=03:00.0 domain=0x14]", "03:00.0"),
        ],
    )
    def test_is_also_what_names_a_card_of_the_host(self, line: str, card: str) -> None:
        assert list(kernel_trouble(line)) == []
        assert list(kernel_trouble(line, [card]))
        assert list(kernel_trouble(line, [f"1{card}"])) == []

    def test_is_searched_on_the_host_for_the_same_words(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        shell_program(tmp_path / "dmesg", f"cat <<'E'\n{TROUBLE}{ORDINARY}E")
        monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
        printed = finished(reading_command("lo")).stdout.partition("== kernel log\n")[2]
        assert {*TROUBLE.splitlines()} <= {*printed.splitlines()}
        ordinary = [line for line in ORDINARY.splitlines() if line in printed]
        assert len(ordinary) < len(ORDINARY.splitlines()) / 2

    def test_is_searched_quickly_however_long_a_line_is(self) -> None:
        for text in ("IN=", "rtl_", "usb 1", "0 ", "[", ": [1", "+0x", "a1 ", "port 1("):
            assert list(kernel_trouble(f"{text * 200_000}\n" * 10)) == []


class TestNewLines:
    BEFORE = log((10.0, "a"), (20.0, "b"), newest_s=30.0)

    @pytest.mark.parametrize(
        ("after", "new"),
        [
            (log((10.0, "a"), (20.0, "b"), newest_s=40.0), []),
            (log((10.0, "a"), (20.0, "b"), (31.0, "b"), newest_s=31.0), ["b"]),
            (log((20.0, "b"), (31.0, "c"), newest_s=31.0), ["c"]),  # the oldest is gone
            (log(), []),  # dmesg -C
            (log((31.0, "a"), (32.0, "a"), newest_s=32.0), ["a", "a"]),  # dmesg -C, and then
            # Another word or card is searched for since then, so that an old line is found now.
            (log((5.0, "z"), (10.0, "a"), (20.0, "b"), newest_s=30.0), []),
            # A processor wrote what another one had been about to write.
            (log((20.0, "b"), (29.9, "late"), newest_s=30.0), ["late"]),
        ],
    )
    def test_are_told_by_the_logs_own_clock(self, after: KernelLog, new: list[str]) -> None:
        assert list(after.since(self.BEFORE)) == new

    @pytest.mark.parametrize(
        ("before", "after", "new"),
        [
            ([], ["a"], ["a"]),
            (["a"], ["a"], []),
            (["a", "a"], ["a", "a", "a"], ["a"]),
            (["a", "b"], ["b", "c"], ["c"]),
        ],
    )
    def test_are_counted_where_the_log_has_no_moments(
        self, before: list[str], after: list[str], new: list[str]
    ) -> None:
        first, second = (log(*((None, text) for text in texts)) for texts in (before, after))
        assert list(second.since(first)) == new

    def test_are_all_after_a_log_that_was_empty(self) -> None:
        assert list(log((1.0, "a"), newest_s=1.0).since(KernelLog())) == ["a"]


def test_the_examples_name_many_drivers() -> None:
    drivers = {
        match[1] for match in re.finditer(r"^\[.*?\] ([a-z0-9_-]+)[ :]", TROUBLE, re.MULTILINE)
    }
    assert len(drivers) > 40
