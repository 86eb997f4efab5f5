"""The command line of the benchmark: options are typed; a mistake is one line and exit code 2."""

import json
from pathlib import Path

import pytest

from harness.trials.time_budget import END_BY, machine_clock
from harness.work.options import SINK_NAMES
from jobs.options import parse, requested_dataset
from jobs.sinks import SINKS
from tests.unit.builders import known

NUMERIC = ("trials", "streams", "warmup", "repartition", "pi-samples", "max-time")


def turn_with(name: str, value: object) -> str:
    turn = {"configuration": "a", "dataset": None, "facts": {}, name: value}
    return f"--turns={json.dumps([turn])}"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["--workloads", "gruop-by"],
            "--workloads: unknown workload 'gruop-by'; did you mean group-by",
        ),
        (["--workloads", ","], "--workloads: no name is given"),
        (["--table", "a=b"], "--table has no effect without --sql"),
        (["--sql-define", "a=b"], "--sql-setup and --sql-define have no effect without --sql"),
        (["--sql", "nowhere"], "--sql: nowhere is no directory"),
        (["--sql", "nowhere", "--table", "orders"], "--sql: nowhere is no directory"),
        (["--table", "orders"], "--table 'orders' has no '='; write NAME=VALUE"),
        (["--table", "a.b=x"], "--table 'a.b' is no name of a table"),
        (["--table", "a="], "--table a has no URI"),
        (["--fact", "switch"], "--fact 'switch' has no '='"),
        (["--fact", " =x"], "--fact ' =x' has no key"),
        (["--fact", "a=1", "--fact", "a=2"], "--fact 'a' is given twice"),
        (["--trials", "0"], "--trials: 0 is out of range: it must be from 1 to 10,000"),
        (["--trials", "many"], "--trials: 'many' is not a whole number"),
        (["--warmup", "1", "--max-time", "1h"], "--max-time has no effect without --warmup auto"),
        (["--streams", "0"], "--streams: 0 is out of range: it must be from 1 to 100"),
        (
            ["--streams=2", "--cache=cold"],
            "cache cold contradicts streams 2: a stream finds in memory",
        ),
        (["--generate=--rows=5"], "--generate needs --dataset"),
        (["--dataset=d", "--generate='"], "--generate: No closing quotation"),
        (["--warmup", "some"], "--warmup: 'some' is not a whole number"),
        (["--max-time", "30"], "--max-time: '30' is not a time"),
        (["--warmup", "-1"], "--warmup: -1 is out of range: it must be from 0"),
        (["--pi-samples", "0"], "--pi-samples: 0 is out of range: it must be from 1"),
        (["--repartition", "1.5"], "--repartition: '1.5' is not a whole number"),
        (["--repartition", "inf"], "--repartition: 'inf' is not a whole number"),
        (
            ["--configuration", " "],
            "--configuration: the name of a configuration must be printable",
        ),
        (["--configuration", "a\x1b[31m"], "the name of a configuration must be printable"),
        (["--turns={}"], "--turns: a list of one turn or more is expected"),
        (["--turns=[]"], "--turns: a list of one turn or more is expected"),
        (["--turns=[5]"], "--turns: a turn has a configuration, a dataset and facts"),
        ([f"--turns={'[' * 100_000}"], "--turns: the turns are nested too deep"),
        (
            [turn_with("configuration", "a\0")],
            "--turns: the name of a configuration must be printable",
        ),
        ([turn_with("configuration", 5)], "--turns: the name of a configuration must be printable"),
        ([turn_with("dataset", 5)], "--turns: the dataset of a turn is a URI"),
        ([turn_with("facts", None)], "--turns: the facts of a turn are texts by name"),
        ([turn_with("facts", "x")], "--turns: the facts of a turn are texts by name"),
        ([turn_with("facts", {"x": 5})], "--turns: the facts of a turn are texts by name"),
        ([turn_with("tables", {"t": 5})], "--turns: the tables of a turn are texts by name"),
        (["--dataset", ""], "--dataset: the URI is empty"),
        (["--results", ""], "--results: the name of the directory is empty"),
        (["--results", "hdfs://h/r"], "--results: 'hdfs://h/r' is a URI; name a directory of this"),
        (["--results=file:/r"], "--results: 'file:/r' is a URI; name a directory of this machine"),
        (["--sink", "collect"], "--sink: invalid choice: 'collect'"),
        (["--dataste", "x"], "unrecognized arguments: --dataste"),
        (["--trials", "\x1b[31m"], r"--trials: '\x1b[31m' is not a whole number"),
    ],
)
def test_a_mistake_is_one_line(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert message in refusal(arguments, capsys)


@pytest.mark.parametrize("option", [*NUMERIC, "dataset", "configuration", "fact", "results"])
def test_two_hyphens_are_no_value(option: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert f"--{option}: expected a value, not '--'" in refusal([f"--{option}=--"], capsys)


def refusal(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    with pytest.raises(SystemExit) as exit_:
        parse(arguments)
    assert exit_.value.code == 2
    printed = capsys.readouterr().err
    assert printed.count("\n") == 1
    assert printed.startswith("benchmark.py: error: ")
    assert printed.strip().isprintable()
    return printed


@pytest.mark.parametrize(
    ("arguments", "max_time_s"), [("", 1800), ("--warmup auto --max-time 2h", 7200)]
)
def test_a_number_of_rounds_that_is_not_fixed_has_a_limit(
    arguments: str, max_time_s: float
) -> None:
    options = parse(arguments.split())
    assert (options.warmup, options.max_time_s) == ("auto", max_time_s)
    assert parse(["--warmup=0"]).warmup == 0


@pytest.mark.parametrize(
    ("arguments", "rounds"),
    [([], (1, 1)), (["--trials=4"], (4, 1)), (["--warmup=0"], (1, 0)), (["--warmup=auto"], (1, 1))],
)
def test_a_run_that_has_to_end_in_time_has_few_rounds_unless_they_are_given(
    arguments: list[str], rounds: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(END_BY, str(machine_clock() + 60))
    options = parse(arguments)
    assert (options.trials, options.warmup) == rounds


def test_a_dataset_to_generate_has_the_options_of_generate_py(
    capsys: pytest.CaptureFixture[str],
) -> None:
    options = parse(["--dataset=d", "--generate=--rows=1e3 --layout replicated:2"])
    given = known(requested_dataset(options))
    assert (given.uri, given.recipe.rows, given.reuse) == ("d", 1000, True)
    assert str(given.layout) == "replicated:2"
    with pytest.raises(SystemExit):
        parse(["--dataset=d", "--generate=--rows=many"])
    assert "generate.py: error: argument --rows: 'many'" in capsys.readouterr().err


def test_the_seed_is_random_unless_it_is_given() -> None:
    assert len({parse([]).seed for _ in range(20)}) > 10
    assert parse(["--seed", "0"]).seed == "0"


@pytest.mark.parametrize("text", ["10000000", "10,000,000", "10_000_000", "1e7"])
def test_large_numbers_have_several_spellings(text: str) -> None:
    assert parse(["--pi-samples", text]).pi_samples == 10**7


def test_every_sink_can_be_chosen() -> None:
    assert set(SINK_NAMES) == set(SINKS)


def test_facts_and_workloads_are_parsed() -> None:
    facts = ("--fact", " nic = RTL8156B=a b ", "--fact", "cost=")
    options = parse([*facts, "--workloads", "sha-512, group-by"])
    assert options.facts == {"nic": "RTL8156B=a b", "cost": ""}
    assert options.workloads == ("sha-512", "group-by")


TURN = {"configuration": "1g", "dataset": None, "facts": {"link": "1gbit"}}


def test_turns_replace_configuration_and_dataset() -> None:
    turns = [TURN, {"configuration": "2g", "dataset": "file:///d", "facts": {}}]
    taken = parse(["--turns", json.dumps(turns), "--fact", "nic=x"]).by_turn()
    assert [(turn.configuration, turn.dataset) for turn in taken] == [
        ("1g", None),
        ("2g", "file:///d"),
    ]
    assert taken[0].facts == {"nic": "x", "link": "1gbit"}


@pytest.fixture
def queries(tmp_path: Path) -> str:
    """A directory with two queries."""
    for name in ("q2", "q1"):
        (tmp_path / f"{name}.sql").write_text(f"SELECT '{name}'")
    return f"--sql={tmp_path}"


def test_queries_are_workloads_and_take_turns_on_their_own_tables(queries: str) -> None:
    turns = [TURN, {**TURN, "configuration": "2g", "tables": {"t": "qfs:/t", "u": "u"}}]
    given = parse([queries, "--table=t=hdfs:/t", "--workloads=q2,q1", "--turns", json.dumps(turns)])
    texts = {name: query.query for name, query in given.queries.items()}
    assert texts == {"q1": "SELECT 'q1'", "q2": "SELECT 'q2'"}
    assert given.workloads == ("q2", "q1")
    assert [dict(turn.tables) for turn in given.by_turn()] == [
        {"t": "hdfs:/t"},
        {"t": "qfs:/t", "u": "u"},
    ]


def test_cold_queries_need_tables(queries: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert "--cache cold with --sql needs --table" in refusal([queries, "--cache=cold"], capsys)
    assert parse([queries, "--cache=cold", "--table=t=x"]).tables == {"t": "x"}


def test_an_unknown_name_may_be_meant_for_a_query(
    queries: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert "did you mean q2 or q1?" in refusal([queries, "--workloads=q3"], capsys)
