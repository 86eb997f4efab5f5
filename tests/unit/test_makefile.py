"""What make runs, and that it reports an unsuitable Java or Python in one line, before any download."""

import os
import re
import shlex
import subprocess
from pathlib import Path

import pytest

from tests.programs import shell_program
from tests.tracked import ROOT
from tests.unit.builders import known

# Under `make test`, an inner make would inherit the options and print its level in messages.
OUTSIDE_MAKE = {name: value for name, value in os.environ.items() if "MAKE" not in name}


def make(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run make in the checkout."""
    command = ["make", "--no-print-directory", *arguments]
    environment = OUTSIDE_MAKE | environment
    return subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )


def toolchain(*variables: str, **environment: str) -> list[str]:
    done = make("toolchain", *variables, **environment)
    lines = [line for line in done.stderr.splitlines() if not line.startswith("make: ***")]
    assert done.returncode == (2 if lines else 0)
    return lines


@pytest.mark.parametrize(
    ("version", "message"),
    [("1.8.0_392", "is version 8"), ("11.0.2", "is version 11"), ("17.0.15", ""), ("21", "")],
)
def test_java_must_be_17_or_newer(tmp_path: Path, version: str, message: str) -> None:
    shell_program(tmp_path / "bin/java", f"""echo 'openjdk version "{version}" 2025-04-15' >&2""")
    lines = toolchain(JAVA_HOME=str(tmp_path))
    assert len(lines) == bool(message)
    assert message in "".join(lines)


def test_a_missing_java_is_reported(tmp_path: Path) -> None:
    [line] = toolchain(JAVA_HOME=str(tmp_path))
    assert line.startswith("clusterlift: Java 17 or newer is needed")
    assert "not there" in line


def test_a_missing_python_is_reported() -> None:
    [line] = toolchain("PYTHON=python3.99")
    assert "Python 3.10 or newer is needed, and 'python3.99' is not" in line


PYTHON_THAT_INSTALLS_NOTHING = """
case "$*" in
"-m venv "*) case "$3" in *slow) sleep 0.5;; esac; mkdir -p "$3/bin" && cp "$0" "$3/bin/python" ;;
*" -r "*) while [ "$1" != -r ]; do shift; done; cat "$2" > /dev/null ;;
esac
"""


def test_an_environment_side_by_side_with_a_slower_one_has_what_it_needs(tmp_path: Path) -> None:
    python = shell_program(tmp_path / "python", PYTHON_THAT_INSTALLS_NOTHING)
    make(
        *("--jobs", "2", "spark35", "UV=", f"PYTHON={python}", f"VENV={tmp_path / 'slow'}"),
        *(f"SPARK35={tmp_path / 'quick'}", f"BUILDERS={tmp_path / 'builders.lock'}"),
    )
    assert (tmp_path / "slow/installed").exists()
    assert (tmp_path / "quick/installed").exists()


class TestSetUp:
    """What is installed, and how: from lock files, whose hashes are required."""

    def test_for_a_benchmark_is_what_a_user_needs(self, tmp_path: Path) -> None:
        environment = f"VENV={tmp_path / 'none'}"
        assert not [line for line in commands("bench", environment) if "requirements.lock" in line]
        assert [line for line in commands("test", environment) if "-r requirements.lock" in line]

    @pytest.mark.parametrize(
        ("uv", "program"),
        [("", "none/bin/python -m pip install "), ("uv", "uv pip install --quiet --python ")],
        ids=["pip", "uv"],
    )
    def test_is_by_uv_if_it_is_there(self, uv: str, program: str, tmp_path: Path) -> None:
        found = commands("tool", f"VENV={tmp_path / 'none'}", f"UV={uv}")
        installing = [line for line in found if program in line]
        assert len(installing) == 4
        for line in installing:
            assert "--require-hashes -r " in line or "--no-deps --editable ." in line

    def test_has_the_same_versions_for_users_and_developers(self) -> None:
        users = locked_packages("requirements-bench.lock")
        developers = locked_packages("requirements.lock")
        assert len(users) > 8
        assert users <= developers
        assert not {"mypy", "pandas", "selenium"} & {each.partition("==")[0] for each in users}


def locked_packages(name: str) -> set[str]:
    """Return the entries of a lock file: version, marker and hashes."""
    return set(re.split(r"\n(?! )", (ROOT / name).read_text().strip()))


def commands(*goals: str, **environment: str) -> list[str]:
    """Return what make would run, a line each."""
    lines = make("--dry-run", *goals, **environment).stdout.replace("\\\n", "").splitlines()
    return [line.removeprefix("exec ") for line in lines]


def command(program: str, *goals: str, **environment: str) -> list[str]:
    """Return the arguments of a program that make would run once."""
    [line] = [line for line in commands(*goals, **environment) if line.startswith(f"{program} ")]
    return shlex.split(line)


class TestRuns:
    def test_are_those_of_five_minutes_of_the_default_configuration(self) -> None:
        bench = command("clusterlift bench", "bench")
        assert bench[2:4] == ["--minutes", "5"]
        assert bench[bench.index("--configuration") + 1] == "default"

    def test_may_be_a_number_in_place_of_minutes(self) -> None:
        assert command("clusterlift bench", "bench", "RUNS=3")[2:4] == ["--runs", "3"]

    @pytest.mark.parametrize("variables", [{}, {"RUNS": "5", "CONFIGURATION": "a b"}])
    def test_of_make_aa_are_compared_with_each_other(self, variables: dict[str, str]) -> None:
        expected = {"RUNS": "12", "CONFIGURATION": "aa"} | variables
        run = command("clusterlift run", "aa", **variables)
        assert run[2:4] == ["--runs", expected["RUNS"]]
        assert run[run.index("--configuration") + 1] == expected["CONFIGURATION"]
        assert command("clusterlift ready", "aa", **variables)[2] == expected["CONFIGURATION"]
        assert not [line for line in commands("aa", **variables) if "compare" in line]

    @pytest.mark.parametrize(
        ("variable", "started"),
        [
            ("STORAGE=hdfs", "local hdfs run --datanodes 3"),
            ("STORAGE=qfs", "local qfs run --chunk-servers 4"),
            ("STORAGE=s3", "local s3 run"),
        ],
    )
    def test_share_what_is_started(self, variable: str, started: str, tmp_path: Path) -> None:
        shell_program(tmp_path / "clusterlift", 'echo "$@" >> "$LOG"')
        log, path = tmp_path / "log", f"{tmp_path}:{os.environ['PATH']}"
        goals = ("-o", "tool", "bench", f"VENV={tmp_path / 'none'}")
        make(*goals, variable, "RUNS=4", "CONFIGURATION=x", PATH=path, LOG=str(log))
        [first] = log.read_text().splitlines()
        assert first.startswith(f"{started} -- make --no-print-directory table RUNS=4 ")

    @pytest.mark.parametrize("from_environment", [False, True])
    @pytest.mark.parametrize(
        "text", ["a$b", 'a"b', "a'b", "`touch x`", "1; touch x", "", "a\\b", "#a", "$$"]
    )
    def test_get_what_is_chosen_as_it_is(self, text: str, *, from_environment: bool) -> None:
        options = ("CONFIGURATION", "RUNS", "TRIALS", "REPARTITION", "RESULTS", "DATASET")
        if from_environment:
            run = command("clusterlift run", "runs", **dict.fromkeys(options, text))
        else:
            run = command("clusterlift run", "runs", *(f"{name}={text}" for name in options))
        for name in options:
            assert run[run.index(f"--{name.lower()}") + 1] == text

    @pytest.mark.parametrize("from_environment", [False, True])
    @pytest.mark.parametrize("text", ["`touch x`", "$(touch x)", "1; touch x", "a' touch x '"])
    def test_leave_no_choice_to_the_shell(self, text: str, *, from_environment: bool) -> None:
        """Whatever a goal makes of a variable, its text stands in quotes."""
        quoted = "'" + text.replace("'", "'\\''") + "'"
        goals = ("help", "bench", "aa", "table", "runs", "figure", "test", "test-kill")
        declared = re.search(
            r"^CHOSEN +:= ((?:.*\\\n)*.*)$", (ROOT / "Makefile").read_text(), re.MULTILINE
        )
        names = known(declared)[1].replace("\\", "").split()
        assert len(names) > 15
        chosen = dict.fromkeys(names, text)
        options = [] if from_environment else [f"{name}={text}" for name in names]
        environment = chosen if from_environment else {}
        found = ""
        for goal in goals:  # one by one: a storage that is none ends make
            found += "\n".join(commands(goal, *options, **environment))
        assert all(found.count(f"--{name} {quoted}") for name in ("rows", "runs", "trials"))
        rest = found.replace(quoted, "")
        assert "touch x" not in rest

    @pytest.mark.parametrize("text", ["a$b", "a\"b'c", "`touch x`"])
    def test_get_it_through_another_make(self, text: str, tmp_path: Path) -> None:
        script = """
for argument; do printf '%s|' "$argument" >> "$LOG"; done; echo >> "$LOG"
if [ "$1 $2 $3" = 'local hdfs run' ]; then shift 6; exec "$@"; fi
"""
        shell_program(tmp_path / "clusterlift", script)
        (tmp_path / "environment").mkdir()
        (tmp_path / "environment/tool").touch()
        log, path = tmp_path / "log", f"{tmp_path}:{os.environ['PATH']}"
        goals = ("bench", f"VENV={tmp_path / 'environment'}", "STORAGE=hdfs")
        chosen = (f"CONFIGURATION={text}", f"LAYOUT={text}", f"ROWS={text}")
        make(*goals, *chosen, PATH=path, LOG=str(log))
        _, bench = (line.split("|") for line in log.read_text().splitlines())
        for option in ("--rows", "--layout", "--configuration"):
            assert bench[bench.index(option) + 1] == text

    def test_on_what_cannot_be_started_are_refused(self) -> None:
        done = make("-o", "tool", "bench", "STORAGE=s4")
        assert done.returncode == 2
        message = "clusterlift: STORAGE is 's4': choose local, hdfs, qfs or s3"
        assert done.stderr.startswith(message)


def test_a_figure_is_drawn_from_the_report_of_the_experiment_or_from_another() -> None:
    assert command("python", "figure", "NAME=change")[1:] == [
        *("-m", "tests.figure", "change", "1g-rs", "2.5g-rs", "2.5g-2x"),
        *("--results", "results/ethernet-upgrade"),
    ]
    assert command("python", "figure", "NAME=time", "REPORT=a b")[-3:] == ["time", "a", "b"]
