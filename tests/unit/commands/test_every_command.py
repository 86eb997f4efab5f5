"""What holds for every command: hostile values, outputs and surroundings end in one line."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import click
import pytest

from harness.cli import main
from harness.model.network_metrics import MESH_GOODPUT, PACKET_GOODPUT
from harness.model.probe import ProbeRun
from harness.model.run import Ending
from harness.records.writer import ProbeRecording, Recording
from tests.unit import report_data
from tests.unit.builders import a_run, ok
from tests.unit.commands.command_tree import (
    Names,
    command_line,
    commands,
    leaves,
    text_parameters,
)
from tests.waiting import PATIENCE_S

ROOT = Path(__file__).parents[3]
WITH_HELP = [
    pytest.param(names, id=" ".join(names) or "clusterlift")
    for names, command in commands()
    if command.get_help_option_names(click.Context(command, **command.context_settings))
]
LEAVES = [pytest.param(*leaf, id=" ".join(leaf[0])) for leaf in leaves()]
TEXTS = [
    pytest.param(names, command, parameter, id=f"{' '.join(names)} {parameter.name}")
    for names, command in leaves()
    for parameter in text_parameters(command)
]
CONFIGURATIONS = [
    pytest.param(names, command, parameter, id=" ".join(names))
    for names, command in leaves()
    for parameter in command.params
    if "--configuration" in parameter.opts
]
WHOLE_NUMBERS = [
    pytest.param(names, command, parameter, id=f"{' '.join(names)} {parameter.name}")
    for names, command in leaves()
    for parameter in command.params
    if isinstance(parameter.type, click.types.IntParamType)
]
PRINTING = {
    "compare",
    "packets",
    "explain",
    "report",
    "show",
    "export",
    "import",
    "power",
    "ready",
    "gate",
}
"""Commands that need no other program, and print on success."""


@pytest.fixture(autouse=True)
def _machine_without_programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An empty machine, on which no command can start a container, a daemon or Spark."""
    monkeypatch.chdir(tmp_path)
    for name in ("JAVA_HOME", "QFS_HOME", "QFS_TARBALL", "SPARK_CONF_DIR"):
        monkeypatch.delenv(name, raising=False)
    for name in ("PATH", "SPARK_HOME", "XDG_CACHE_HOME"):
        monkeypatch.setenv(name, str(tmp_path / "empty"))


@pytest.fixture
def _results() -> None:
    """The configurations x and y in the current directory, with probes, and a file to import."""
    results = Path("results")
    Path("old.csv").write_text("test,seconds\npi,11\n")
    for name in ("x", "y"):
        with Recording(results, a_run(name, f"run-{name}")) as recording:
            recording.trial(ok("w", 1.0, tasks=report_data.tasks(1.0)))
            recording.end(Ending.COMPLETED)
        with ProbeRecording(ProbeRun(name, ("a", "b")), results) as probes:
            probes.event(MESH_GOODPUT.of("a -> b", 9.4e8))
            probes.event(PACKET_GOODPUT.of("a -> b", 9.4e8, "packets of 1500 bytes"))
            probes.end(Ending.COMPLETED)


def refusal(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    """Return the one line with which a command line is refused, if it is; nothing else may happen."""
    code = main(arguments)
    printed = capsys.readouterr()
    assert code in {0, 1, 2}
    if code == 2:
        assert printed.out == ""
        assert printed.err.startswith("clusterlift: error: ")
        assert printed.err.removesuffix("\n").isprintable()
    return printed.err if code else ""


@pytest.mark.parametrize("value", ["1_0", "\u0663", "9" * 5000])
@pytest.mark.parametrize(("names", "command", "parameter"), WHOLE_NUMBERS)
def test_a_whole_number_is_written_in_digits(
    names: Names,
    command: click.Command,
    parameter: click.Parameter,
    value: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(command_line(names, command, parameter, value)) == 2
    [line] = capsys.readouterr().err.splitlines()
    assert f"'{parameter.opts[-1]}': " in line
    assert "is not a whole number" in line


@pytest.mark.parametrize(("names", "command", "parameter"), CONFIGURATIONS)
def test_the_name_of_a_configuration_is_printable(
    names: Names,
    command: click.Command,
    parameter: click.Parameter,
    capsys: pytest.CaptureFixture[str],
) -> None:
    refused = refusal(command_line(names, command, parameter, "a\x1b[31m"), capsys)
    assert "'--configuration': the name of a configuration must be printable" in refused


@pytest.mark.parametrize(("names", "command", "parameter"), TEXTS)
class TestHostileValues:
    def test_an_empty_value_is_refused(
        self,
        names: Names,
        command: click.Command,
        parameter: click.Parameter,
        capsys: pytest.CaptureFixture[str],
    ) -> None:
        for value in ("", "  "):
            refused = refusal(command_line(names, command, parameter, value), capsys)
            assert " is empty; give a value" in refused

    @pytest.mark.parametrize("value", ["\udcff", "\x1b[31m\n", "x" * 5_000, "--", "no/\udcff/x"])
    def test_a_strange_value_is_used_or_refused_in_one_line(
        self,
        names: Names,
        command: click.Command,
        parameter: click.Parameter,
        value: str,
        capsys: pytest.CaptureFixture[str],
    ) -> None:
        refusal(command_line(names, command, parameter, value), capsys)


@contextmanager
def full_output(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with suppress(OSError), Path("/dev/full").open("w") as full:  # closing it fails, too
        monkeypatch.setattr(sys, "stdout", full)
        yield


def assert_output_was_lost(code: int, errors: str) -> None:
    assert code == 1
    assert errors.startswith(
        "clusterlift: error: cannot write to standard output: No space left on device"
    )
    assert errors.count("\n") == 1


class TestFullOutput:
    @pytest.mark.parametrize("names", WITH_HELP)
    def test_help_reports_it(
        self, names: Names, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        code = -1
        with full_output(monkeypatch):
            code = main([*names, "--help"])
        assert_output_was_lost(code, capsys.readouterr().err)

    @pytest.mark.usefixtures("_results")
    @pytest.mark.parametrize(("names", "command"), LEAVES)
    def test_a_command_that_prints_reports_it(
        self,
        names: Names,
        command: click.Command,
        capsys: pytest.CaptureFixture[str],
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        code, arguments = -1, command_line(names, command)
        main(arguments)
        printed = capsys.readouterr().out
        assert printed or names[0] not in PRINTING
        shutil.rmtree("results/new", ignore_errors=True)  # the same file is imported once
        with full_output(monkeypatch):
            code = main(arguments)
        if printed:
            assert_output_was_lost(code, capsys.readouterr().err)


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


SHOWN = "clusterlift power --change 5% --noise 2%"


class TestProcess:
    @pytest.mark.parametrize("command", ["clusterlift --version", "clusterlift lab up -h", SHOWN])
    @pytest.mark.parametrize("reason", ["> /dev/full", ">&-", ">&- <&-"])
    def test_output_that_is_lost_is_one_line_and_exit_code_1(
        self, command: str, reason: str, tmp_path: Path
    ) -> None:
        done = process(f"{command} {reason}", tmp_path)
        assert done.returncode == 1
        assert done.stderr.startswith(b"clusterlift: error: cannot write to standard output: ")
        assert done.stderr.count(b"\n") == 1

    @pytest.mark.parametrize("reader", ["true", "head -c 1"])
    def test_a_reader_that_leaves_is_no_error_to_report(self, reader: str, tmp_path: Path) -> None:
        path = {"PATH": os.defpath}
        done = process(f"clusterlift export --help | {reader}", tmp_path, environment=path)
        assert done.stderr == b""

    @pytest.mark.parametrize("reason", ["2>&-", "2> /dev/full", "<&- 2>&-"])
    def test_without_standard_error_the_exit_code_still_tells(
        self, reason: str, tmp_path: Path
    ) -> None:
        assert process(f"clusterlift nonsense {reason}", tmp_path).returncode == 2
        assert process(f"clusterlift --version > /dev/full {reason}", tmp_path).returncode == 1
        assert process(f"clusterlift --version {reason}", tmp_path).returncode == 0

    def test_a_file_never_takes_the_place_of_a_closed_stream(self, tmp_path: Path) -> None:
        (tmp_path / "old.csv").write_text("test,seconds\npi,11\n")
        process("clusterlift import old.csv --configuration x >&- 2>&- <&-", tmp_path)
        [file] = tmp_path.glob("results/x/*.jsonl")
        shown = process("clusterlift show x", tmp_path)
        assert (shown.returncode, shown.stderr) == (0, b"")
        assert file.name.encode() in shown.stdout

    @pytest.mark.parametrize(
        "environment",
        [
            {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
            {"PYTHONIOENCODING": "ascii:strict"},
            {"COLUMNS": "1", "LINES": "-1", "TERM": ""},
            {"HOME": "/proc/1/nowhere"},
        ],
        ids=str,
    )
    def test_any_terminal_gets_the_help_and_the_table(
        self, environment: dict[str, str], tmp_path: Path
    ) -> None:
        done = process(
            f"ulimit -n 64; clusterlift export --help && clusterlift compare csv parquet "
            f"--results {ROOT / 'results'} && clusterlift hdfs status",
            tmp_path,
            environment=environment,
        )
        assert (done.returncode, done.stderr) == (0, b"")

    def test_a_working_directory_that_is_gone_is_reported_where_it_is_needed(
        self, tmp_path: Path
    ) -> None:
        gone = "mkdir gone; cd gone; /bin/rmdir ../gone; "
        done = process(f"{gone} clusterlift show x", tmp_path, environment={"PATH": os.defpath})
        assert done.returncode == 2
        assert done.stderr.count(b"\n") == 1
        done = process(f"{gone} {SHOWN}", tmp_path, environment={"PATH": os.defpath})
        assert done.returncode == 0

    def test_a_user_without_a_home_directory_is_asked_for_one(self, tmp_path: Path) -> None:
        script = (
            "import os, sys, harness.cli as cli\n"
            "os.path.expanduser = str\n"  # what it does for a user without an entry in passwd
            "sys.exit(cli.main())"
        )
        done = process(f"'{sys.executable}' -c '{script}' hdfs status", tmp_path)
        assert (done.returncode, done.stderr) == (
            2,
            b"clusterlift: error: you have no home directory; set HOME or XDG_CACHE_HOME\n",
        )

    def test_too_little_memory_is_one_line(self, tmp_path: Path) -> None:
        script = (
            "import sys, harness.cli as cli, harness.commands.preparation as power\n"
            "def fail(**_): raise MemoryError\n"
            "power.needed_at_noise = fail\n"
            "sys.exit(cli.main())"
        )
        done = process(f"'{sys.executable}' -c '{script}' {SHOWN[12:]}", tmp_path)
        assert (done.returncode, done.stderr) == (
            1,
            b"clusterlift: error: cannot continue: out of memory\n",
        )
