"""What is printed: escaped, redacted, on lines of its own, whatever the stream can take."""

import io
import os
import subprocess
import sys
from pathlib import Path

import pytest

from harness import terminal
from harness.terminal import (
    OutputLost,
    Relay,
    begin_line,
    continue_line,
    end_line,
    hold_standard_descriptors,
    replace_lines,
    say,
    say_error,
    show,
)
from harness.words import join_names, percent, significant

ROOT = Path(__file__).parents[2]


class Stream(io.TextIOWrapper):
    """A stream of an encoding, and what has been written to it."""

    def __init__(self, encoding: str = "utf-8", *, errors: str = "strict") -> None:
        self.bytes = io.BytesIO()
        super().__init__(self.bytes, encoding=encoding, errors=errors)

    @property
    def text(self) -> str:
        return self.bytes.getvalue().decode(self.encoding)


@pytest.mark.parametrize(
    ("value", "digits", "text"),
    [
        (14634, 4, "14634"),
        (9.9996, 4, "10"),
        (0.00001234, 3, "0.0000123"),
        (3250, 3, "3250"),
        (12.5, 4, "12.5"),
        (-0.25, 4, "-0.25"),
        (1e-9, 4, "<0.000001"),
        (-1e-9, 4, ">-0.000001"),
        (0, 4, "0"),
    ],
)
def test_numbers_for_people_have_no_exponent(value: float, digits: int, text: str) -> None:
    assert significant(value, digits) == text


@pytest.mark.parametrize(
    ("fraction", "decimals", "signed", "text"),
    [(0.543, 0, False, "54 %"), (0.0301, 1, True, "+3.0 %"), (-0.0301, 1, True, "-3.0 %")],
)
def test_percentages_in_sentences_have_a_space(
    fraction: float, decimals: int, text: str, *, signed: bool
) -> None:
    assert percent(fraction, decimals, signed=signed) == text


class TestErrors:
    def test_name_the_program(self) -> None:
        stream = Stream()
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(sys, "stderr", stream)
            say_error("benchmark.py", "--trials: 'x' is not a whole number")
        assert stream.text == "benchmark.py: error: --trials: 'x' is not a whole number\n"

    def test_keep_the_option_and_the_advice_of_a_message_that_quotes_too_much(self) -> None:
        stream = Stream()
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(sys, "stderr", stream)
            say_error("p", f"--sink: {'a' * 100_000} is not a sink; see --help")
        assert len(stream.text) < 1100
        assert stream.text.startswith("p: error: --sink: aaa")
        assert stream.text.endswith("aaa is not a sink; see --help\n")


class TestShow:
    def test_lines_end_with_one_newline(self, capsys: pytest.CaptureFixture[str]) -> None:
        show("a")
        show("b\n")
        show("c\n\nd\n\n")
        assert capsys.readouterr().out == "a\nb\nc\n\nd\n\n"

    def test_control_characters_are_escaped_in_every_line(
        self, capsys: pytest.CaptureFixture[str]
    ) -> None:
        show("a\x1b[31m\nb\u202e\rc")
        assert capsys.readouterr().out == "a\\x1b[31m\nb\\u202e\\rc\n"

    def test_the_lines_of_csv_keep_their_ends(self, capsys: pytest.CaptureFixture[str]) -> None:
        show("a,b\r\n1,2\r\n")
        assert capsys.readouterr().out == "a,b\r\n1,2\r\n"

    @pytest.mark.parametrize("encoding", ["ascii", "iso8859-5", "cp037", "utf-16"])
    def test_characters_that_the_encoding_lacks_are_escaped(
        self, encoding: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        stream = Stream(encoding)
        monkeypatch.setattr(sys, "stdout", stream)
        show("5 s ±1%")
        assert stream.text in {"5 s \\xb11%\n", "5 s ±1%\n"}

    def test_a_closed_output_is_lost(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(sys, "stdout", None)
        with pytest.raises(OutputLost, match="standard output: Bad file descriptor"):
            show("a")

    def test_a_reader_that_has_gone_needs_no_message(self, monkeypatch: pytest.MonkeyPatch) -> None:
        reading, writing = os.pipe()
        os.close(reading)
        with os.fdopen(writing, "w") as pipe:
            monkeypatch.setattr(sys, "stdout", pipe)
            with pytest.raises(OutputLost, match=r"^$"):
                show("a")
            os.dup2(os.open(os.devnull, os.O_WRONLY), writing)


class TestCredentials:
    @pytest.fixture(autouse=True)
    def _redaction(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(terminal, "without_credentials", lambda text: text.replace("pw", "*"))

    def test_nothing_that_is_printed_has_them(self, capsys: pytest.CaptureFixture[str]) -> None:
        show("a pw\nb pw")
        say("c pw")
        begin_line("d pw ")
        continue_line("e pw")
        replace_lines(["f pw"])
        end_line()
        printed = capsys.readouterr()
        assert "pw" not in printed.out + printed.err
        assert printed.out + printed.err.count("*") * "*" == "a *\nb *\n" + "*" * 4


class TestUnfinishedLines:
    def test_a_line_in_two_parts(self, capsys: pytest.CaptureFixture[str]) -> None:
        begin_line("[1/2] pi  ")
        continue_line("3 s")
        assert capsys.readouterr().err == "[1/2] pi  3 s\n"

    def test_an_error_stands_on_a_line_of_its_own(self, capsys: pytest.CaptureFixture[str]) -> None:
        begin_line("[1/2] pi  ")
        say("error: Spark has ended")
        assert capsys.readouterr().err == "[1/2] pi  \nerror: Spark has ended\n"

    def test_results_do_not_stand_behind_progress(self, capsys: pytest.CaptureFixture[str]) -> None:
        begin_line("[1/2] pi  ")
        show("table")
        printed = capsys.readouterr()
        assert (printed.out, printed.err) == ("table\n", "[1/2] pi  \n")

    def test_a_line_that_was_interrupted_is_not_continued_twice(
        self, capsys: pytest.CaptureFixture[str]
    ) -> None:
        begin_line("[1/2] pi  ")
        say("a worker is gone")
        continue_line("3 s")
        say("next")
        assert capsys.readouterr().err.splitlines()[1:] == ["a worker is gone", "3 s", "next"]

    def test_a_line_to_be_replaced_is_erased(self, capsys: pytest.CaptureFixture[str]) -> None:
        replace_lines(["1 of 2"])
        replace_lines(["2 of 2"])
        say("error: no")
        end_line()
        erase = "\r\x1b[K"
        assert capsys.readouterr().err == f"1 of 2{erase}2 of 2{erase}error: no\n"

    def test_lines_to_be_replaced_are_all_erased(self, capsys: pytest.CaptureFixture[str]) -> None:
        replace_lines(["a", "b", "c"])
        say("error: no")
        above = "\x1b[A\x1b[K"
        assert capsys.readouterr().err == f"a\nb\nc\r\x1b[K{above}{above}error: no\n"

    def test_they_are_cut_where_they_would_take_two(
        self, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("COLUMNS", "10")
        replace_lines(["0123456789abc", "short"])
        end_line()
        assert capsys.readouterr().err.startswith("012345678\nshort\r")


class TestSay:
    def test_a_message_is_one_line(self, capsys: pytest.CaptureFixture[str]) -> None:
        say("a\nb\x1b[1m")
        assert capsys.readouterr().err == "a\\nb\\x1b[1m\n"

    def test_nobody_has_to_read_it(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(sys, "stderr", None)
        say("a")
        begin_line("b")
        continue_line("c")


def test_descriptors_that_are_closed_are_occupied(tmp_path: Path) -> None:
    program = (
        "import os; from harness.terminal import hold_standard_descriptors as hold; hold(); "
        f"assert os.open({str(tmp_path / 'file')!r}, os.O_CREAT) > 2"
    )
    done = subprocess.run(
        ["/bin/sh", "-c", f'"{sys.executable}" -c "{program}" <&- >&- 2>&-'], cwd=ROOT, check=False
    )
    assert done.returncode == 0
    hold_standard_descriptors()  # nothing is closed here, so nothing changes


class TestRelay:
    @pytest.mark.parametrize(
        ("chunk", "shown"),
        [
            (b"one\ntwo", "one\n"),
            (b"[1/2] pi  ", "[1/2] pi  "),
            (b"[1/2] password  ", ""),
            (b"x" * 20_000, "x" * 20_000),
        ],
    )
    def test_whole_lines_and_progress_are_shown_at_once(
        self, capsys: pytest.CaptureFixture[str], chunk: bytes, shown: str
    ) -> None:
        relay = Relay()
        relay.copy(chunk)
        assert capsys.readouterr().out == shown
        relay.end()
        assert (shown + capsys.readouterr().out).encode() == chunk

    @pytest.mark.parametrize(
        ("chunks", "shown"),
        [
            ([b"[1/2] pi  ", b"3 s\nbad \x1b[1m", b"\xff\n"], "[1/2] pi  3 s\nbad \\x1b[1m\\xff\n"),
            ([b"a token=hunt", b"er2\nb\n"], "a token=***\nb\n"),
            ([b"curl --pass", b"word x ", b"http://h\n"], "curl --password *** http://h\n"),
            ([b"hdfs://a:", b"b@n1\n"], "hdfs://***@n1\n"),
            ([b"[1/2] pi  ", b"FAILED: token=", b"x\n"], "[1/2] pi  FAILED: token=***\n"),
        ],
    )
    def test_it_copies_escaped_and_redacted_lines(
        self, capsys: pytest.CaptureFixture[str], chunks: list[bytes], shown: str
    ) -> None:
        relay = Relay()
        for chunk in chunks:
            relay.copy(chunk)
        relay.end()
        assert capsys.readouterr().out == shown

    def test_a_character_may_be_cut_in_two(self, capsys: pytest.CaptureFixture[str]) -> None:
        relay = Relay()
        for byte in "± 1 %\n".encode():
            relay.copy(bytes([byte]))
        assert capsys.readouterr().out == "± 1 %\n"

    def test_nobody_has_to_read_it(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(sys, "stdout", None)
        relay = Relay()
        relay.copy(b"x\nx")
        relay.end()


def test_a_credential_in_a_long_message_is_hidden_before_the_message_is_shortened(
    capsys: pytest.CaptureFixture[str],
) -> None:
    say_error("clusterlift", f"{'x' * 900} password={'hunter2' * 100}")
    assert "hunter2" not in capsys.readouterr().err


def test_a_long_list_names_the_first_four() -> None:
    assert join_names("abcd") == "a, b, c, d"
    assert join_names("abcdef") == "a, b, c, d and 2 more"
