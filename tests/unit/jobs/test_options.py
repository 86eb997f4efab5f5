"""The scripts' command lines: a mistake is one line that names the option, and exit code 2."""

from __future__ import annotations

import pytest

from jobs.options import parse


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            ["--workloads", "gruop-by"],
            "--workloads: unknown workload 'gruop-by'; did you mean group-by",
        ),
        (["--workloads", ","], "--workloads: no workload is named"),
        (["--fact", "switch"], "--fact 'switch' has no '='"),
        (["--fact", "a=1", "--fact", "a=2"], "--fact 'a' is given twice"),
        (["--trials", "0"], "--trials: 0 is out of range: it must be from 1 to 10,000"),
        (["--trials", "many"], "--trials: 'many' is not a whole number"),
        (["--precision", "1%"], "--precision is of use with --trials auto alone"),
        (["--trials", "9", "--max-time", "1h"], "--max-time is of use with --trials auto alone"),
        (["--trials", "auto", "--precision", "much"], "--precision: 'much' is not a percentage"),
        (["--trials", "auto", "--max-time", "30"], "--max-time: '30' is not a time"),
        (["--warmup", "-1"], "--warmup: -1 is out of range: it must be from 0"),
        (["--pi-samples", "0"], "--pi-samples: 0 is out of range: it must be from 1"),
        (["--repartition", "1.5"], "--repartition: '1.5' is not a whole number"),
        (["--repartition", "inf"], "--repartition: 'inf' is not a whole number"),
        (["--configuration", " "], "--configuration: a configuration's name is printable"),
        (["--configuration", "a\x1b[31m"], "--configuration: a configuration's name is printable"),
        (["--sink", "collect"], "--sink: invalid choice: 'collect'"),
        (["--dataste", "x"], "unrecognized arguments: --dataste"),
    ],
)
def test_a_mistake(arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as exit_:
        parse(arguments)
    assert exit_.value.code == 2
    printed = capsys.readouterr().err
    assert said in printed
    assert printed.count("\n") == 1
    assert printed.startswith("benchmark.py: error: ")


def test_without_arguments_there_are_useful_defaults() -> None:
    options = parse([])
    assert (options.dataset, options.workloads, options.configuration) == (None, None, "default")
    assert (options.trials, options.warmup, options.sink) == (6, 1, "noop")


def test_as_many_trials_as_it_takes() -> None:
    usual = parse(["--trials", "auto"])
    assert (usual.trials, usual.precision, usual.max_time) == ("auto", 0.02, 1800)
    told = parse(["--trials", "auto", "--precision", "0.5%", "--max-time", "2h"])
    assert (told.precision, told.max_time) == (0.005, 7200)


@pytest.mark.parametrize("text", ["10000000", "10,000,000", "10_000_000", "1e7"])
def test_large_numbers_can_be_written_as_people_do(text: str) -> None:
    assert parse(["--pi-samples", text]).pi_samples == 10**7


def test_facts_and_workloads_are_parsed() -> None:
    options = parse(
        ["--fact", "nic=RTL8156B", "--fact", "cost=", "--workloads", "sha-512, group-by"]
    )
    assert options.fact == {"nic": "RTL8156B", "cost": ""}
    assert options.workloads == ["sha-512", "group-by"]
