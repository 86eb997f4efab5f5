"""What is printed: escaped, redacted, on lines of its own, whatever the stream can take."""

import io
import os
import sys

import pytest

from harness.base.terminal import OutputLost, say, say_error, show
from harness.base.words import join_names, percent, significant


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
    def test_name_the_program(self, capsys: pytest.CaptureFixture[str]) -> None:
        say_error("benchmark.py", "--trials: 'x' is not a whole number")
        line = "benchmark.py: error: --trials: 'x' is not a whole number\n"
        assert capsys.readouterr().err == line

    def test_keep_the_option_and_the_advice_of_a_message_that_quotes_too_much(
        self, capsys: pytest.CaptureFixture[str]
    ) -> None:
        say_error("p", f"--sink: {'a' * 100_000} is not a sink; see --help")
        line = capsys.readouterr().err
        assert len(line) < 1100
        assert line.startswith("p: error: --sink: aaa")
        assert line.endswith("aaa is not a sink; see --help\n")


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


class TestSay:
    def test_a_message_is_one_line(self, capsys: pytest.CaptureFixture[str]) -> None:
        say("a\nb\x1b[1m")
        assert capsys.readouterr().err == "a\\nb\\x1b[1m\n"

    def test_nobody_has_to_read_it(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(sys, "stderr", None)
        say("a")


def test_nothing_that_is_printed_has_credentials(capsys: pytest.CaptureFixture[str]) -> None:
    """Of a long message they are hidden before it is shortened."""
    show("password=hunter2\ntoken=hunter2")
    say("password=hunter2")
    say_error("clusterlift", f"{'x' * 900} password={'hunter2' * 100}")
    assert "hunter2" not in "".join(capsys.readouterr())


def test_a_long_list_names_the_first_four() -> None:
    assert join_names("abcd") == "a, b, c, d"
    assert join_names("abcdef") == "a, b, c, d and 2 more"
