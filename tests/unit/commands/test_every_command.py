"""What holds for every command: help, wrong values, lost outputs and odd surroundings end in one line."""

import os
import subprocess
import sys
from pathlib import Path

import click
import pytest

from harness.base.option_types import RealNumber, WholeNumber
from harness.commands.cli import main
from harness.commands.command import Command
from tests.refusal import refusal
from tests.tracked import ROOT
from tests.unit.commands.command_tree import Names, commands, leaves
from tests.waiting import PATIENCE_S

LEAVES = [pytest.param(*leaf, id=" ".join(leaf[0])) for leaf in leaves()]
SHOWN = ["show", "1g-rs", "--results", str(ROOT / "results/published-2020")]


@pytest.mark.parametrize(("names", "command"), LEAVES)
def test_every_command_has_help_and_refuses_an_unknown_option(
    names: Names, command: click.Command, capsys: pytest.CaptureFixture[str]
) -> None:
    context = click.Context(command, **command.context_settings)
    if command.get_help_option_names(context):
        assert main([*names, "--help"]) == 0
        assert " ".join(names) in capsys.readouterr().out.splitlines()[0]
    if not context.ignore_unknown_options:
        assert "--no-such-option" in refusal(*names, "--no-such-option")


def test_every_command_prints_and_refuses_as_ours_do() -> None:
    """A command or group that click makes by itself cuts summaries, and accepts values that are empty."""
    made_by_click = [
        " ".join(names) for names, command in commands() if not isinstance(command, Command)
    ]
    assert made_by_click == []


class TestValues:
    @pytest.mark.parametrize("text", ["1_0", "\u0663", "9" * 5000, "", "two", "1.5"])
    def test_a_whole_number_is_written_in_digits(self, text: str) -> None:
        with pytest.raises(click.BadParameter, match="is not a whole number"):
            WholeNumber(1, 10).convert(text, None, None)

    @pytest.mark.parametrize("text", ["nan", "inf", "11", "x", "1_0", "\u0663", "", "1e999"])
    def test_a_number_is_within_its_bounds(self, text: str) -> None:
        assert RealNumber(1, 10).convert("2.5", None, None) == 2.5
        with pytest.raises(click.BadParameter):
            RealNumber(1, 10).convert(text, None, None)

    def test_a_number_out_of_bounds_is_named_as_it_was_written(self) -> None:
        with pytest.raises(click.BadParameter, match=r"^0 is not in the range 1<=x<=10\."):
            RealNumber(1, 10).convert("0", None, None)

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            (["show", ""], "RUN is empty; give a value"),
            (["import", "x.csv", "--configuration", " "], "--configuration is empty"),
            (["local", "s3", "run", "--layout", " ", "sh"], "--layout is empty; give a value"),
            (["bench", "--configuration", "a\x1b[31m"], "configuration must be printable"),
            (["show", "\udcff"], "'\\udcff' is neither a results file"),
            (["show", "x" * 5_000], "File name too long"),
            (["show", "--"], "Missing argument 'RUN'"),
        ],
    )
    def test_a_hostile_value_is_one_line(self, arguments: list[str], message: str) -> None:
        assert message in refusal(*arguments)


@pytest.mark.parametrize(
    "arguments", [["--help"], ["lab", "up", "-h"], ["local", "s3", "-h"], SHOWN], ids=" ".join
)
def test_a_full_output_is_reported(
    arguments: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    code = -1
    try:
        with Path("/dev/full").open("w") as full, monkeypatch.context() as patch:
            patch.setattr(sys, "stdout", full)
            code = main(arguments)
    except OSError:
        """Closing it fails, too."""
    assert code == 1
    [line] = capsys.readouterr().err.splitlines()
    assert "cannot write to standard output: No space left on device" in line


def process(
    command: str, cwd: Path, *, environment: dict[str, str] | None = None
) -> subprocess.CompletedProcess[bytes]:
    """Run a shell command, in which `clusterlift` is the one of this checkout."""
    program = f'clusterlift() {{ "{sys.executable}" -m harness "$@"; }}; '
    return subprocess.run(
        ["/bin/bash", "-c", program + command],
        cwd=cwd,
        env={"PYTHONPATH": str(ROOT), **(environment or {})},
        capture_output=True,
        timeout=PATIENCE_S,
        check=False,
    )


class TestProcess:
    @pytest.mark.parametrize("reason", ["> /dev/full", ">&- <&-"])
    def test_output_that_is_lost_is_one_line_and_exit_code_1(
        self, reason: str, tmp_path: Path
    ) -> None:
        done = process(f"clusterlift --version {reason}", tmp_path)
        assert done.returncode == 1
        assert done.stderr.startswith(b"clusterlift: error: cannot write to standard output: ")
        assert done.stderr.count(b"\n") == 1

    def test_a_reader_that_leaves_is_no_error_to_report(self, tmp_path: Path) -> None:
        path = {"PATH": os.defpath}
        done = process("clusterlift report --help | true", tmp_path, environment=path)
        assert done.stderr == b""

    def test_without_standard_error_the_exit_code_still_tells(self, tmp_path: Path) -> None:
        assert process("clusterlift nonsense <&- 2>&-", tmp_path).returncode == 2
        assert process("clusterlift --version <&- 2>&-", tmp_path).returncode == 0

    @pytest.mark.parametrize(
        "environment",
        [
            {"PYTHONIOENCODING": "ascii:strict"},
            {"COLUMNS": "1", "LINES": "-1", "TERM": "", "HOME": "/proc/1/nowhere"},
        ],
        ids=str,
    )
    def test_any_terminal_gets_the_help_and_the_table(
        self, environment: dict[str, str], tmp_path: Path
    ) -> None:
        done = process(
            f"clusterlift report --help && clusterlift compare csv parquet "
            f"--results {ROOT / 'results'}",
            tmp_path,
            environment=environment,
        )
        assert (done.returncode, done.stderr) == (0, b"")

    def test_a_working_directory_that_is_gone_is_one_line(self, tmp_path: Path) -> None:
        gone = "mkdir gone; cd gone; /bin/rmdir ../gone; "
        done = process(f"{gone} clusterlift show x", tmp_path, environment={"PATH": os.defpath})
        assert done.returncode == 2
        assert done.stderr.count(b"\n") == 1


def test_too_little_memory_is_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(*_: object) -> None:
        raise MemoryError

    monkeypatch.setattr("harness.commands.cli.LazyGroup.get_command", fail)
    assert main(SHOWN) == 1
    assert capsys.readouterr().err == "clusterlift: error: cannot continue: out of memory\n"
