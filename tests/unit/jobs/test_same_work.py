"""A comparison names every option of a benchmark that differs between its sides, or refuses them."""

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from harness.analysis.compare.comparison import compare
from harness.analysis.observed.configuration import ConfigurationRuns, find_configuration
from harness.analysis.observed.environment import as_text
from harness.analysis.predict.prediction import conditions
from harness.base.errors import BadInput
from harness.commands.run import check_same_work
from harness.experiments.experiment_file import read_experiment
from harness.model.run import QUERIES, TABLES, Run
from harness.records.series import Series
from harness.records.writer import record_all
from harness.submit.submission import Submission
from harness.work.options import COMPARED, Option, WorkOptions
from harness.work.queries import text_digests
from harness.work.same_work import require_same_work
from harness.work.script_options import BENCHMARK_OPTIONS, BenchmarkOptions, read_script_options
from harness.work.series import series_of
from jobs.options import parse
from jobs.queries import queries_of
from jobs.run_description import _parameters
from jobs.streams import in_streams
from jobs.workload import select_workloads
from tests.tracked import ROOT
from tests.unit.builders import a_run, alone, ok, recorded

JOBS = "\n".join(file.read_text() for file in (ROOT / "jobs").glob("*.py"))
"""The text of what Spark runs, without the workloads themselves."""

NO_OTHER_WORK = {
    "configuration": "its runs are a column by themselves",
    "results": "where the runs are written",
    "workloads": "a workload that one side lacks is missing in the table",
    "default_workloads": "the same",
    "trials": "how often the same work is done",
    "max_time_s": "for how long it may be repeated",
    "seed": "the order of the workloads, which is random by default",
    "profile": "rounds after those that count",
    "turns": "configurations, each with its own options",
    "nodes": "a fact that the user declares; executors are observed",
    "facts": "what a comparison is about",
}
"""Options that may differ, with the reason."""

DATASET: dict[str, Any] = {
    "uri": "hdfs://n1/a",
    "rows": 1000,
    "digest": "aa",
    "format": "csv",
    "file_count": 4,
    "layout": {"observed": "replicated:3"},
}
TABLE = {
    "uri": "hdfs://n1/t",
    "format": "parquet",
    "bytes": 100,
    "files": 1,
    "layout": "replicated:3",
}

OTHER_WORK: dict[str, tuple[list[str], list[str]]] = {
    "sql": (["--sql=one", "--table=t=hdfs://n1/t"], ["--sql=two", "--table=t=hdfs://n1/t"]),
    "sql_setup": (["--sql=one"], ["--sql=one", "--sql-setup=setup"]),
    "sql_define": (["--sql=day", "--sql-define=day=1"], ["--sql=day", "--sql-define=day=2"]),
    "skip_content_check": ([], ["--skip-content-check"]),
}
"""Two values of each option that a run records by itself."""

OBSERVED: dict[str, tuple[str, dict[str, Any]]] = {
    "dataset": ("dataset", {"uri": "s3a://b/a"}),
    "generate --rows": ("dataset", {"rows": 2000, "digest": "bb"}),
    "generate --seed": ("dataset", {"digest": "bb"}),
    "generate --partitions": ("dataset", {"file_count": 8}),
    "generate --format": ("dataset", {"format": "parquet"}),
    "generate --layout": ("dataset", {"layout": {"observed": "rs:6+3:64k"}}),
    "accept_layout_drift": (
        "dataset",
        {"layout": {"observed": "replicated:3", "drift": "a file has another layout"}},
    ),
    "tables: format": (TABLES, {"format": "orc"}),
    "tables: storage": (TABLES, {"uri": "s3a://b/t"}),
    "tables: layout": (TABLES, {"layout": "rs:6+3:64k"}),
    "tables: files": (TABLES, {"files": 2}),
    "tables: bytes": (TABLES, {"bytes": 101}),
}
"""What a run observes of the data that an option names, and what differs."""


@pytest.fixture(autouse=True)
def queries(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "setup").write_text("SET a=1")
    texts = {"one": "SELECT 1 FROM t", "two": "SELECT 2 FROM t", "day": "SELECT ${day} FROM t"}
    for name, text in texts.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "q.sql").write_text(text)


def two_values(option: Option) -> list[str]:
    """Return two values that an entry of the table allows, as texts."""
    if option.is_switch:
        return ["false", "true"]
    metavar = option.metavar or ""
    texts = metavar.split("|") if "|" in metavar else ["1", "2"]
    assert option.read(texts[0]) != option.read(texts[1])
    return texts[:2]


def argument_with(option: Option, text: str) -> list[str]:
    """Return the arguments that give an option this value: of a switch that is off, none."""
    if option.is_switch:
        return [option.flag] if option.read(text) else []
    return [f"{option.flag}={text}"]


def arguments_of(option: Option) -> list[list[str]]:
    return [argument_with(option, text) for text in two_values(option)]


def run_of(name: str, options: BenchmarkOptions, dataset: Any = DATASET, table: Any = TABLE) -> Run:
    """Return a run as the benchmark describes it."""
    selection = select_workloads(options.workloads, queries_of(options.queries), None)
    selection = in_streams(selection, options.streams)
    parameters = _parameters(options, selection)
    parameters["content_checked"] = not options.skip_content_check
    if options.queries:
        parameters[QUERIES] = text_digests(options.queries)
        parameters[TABLES] = {"t": table}
    names = selection.names
    return a_run(name, workloads=names, parameters=parameters, dataset=dataset)


def two_runs(option: Option) -> list[Run]:
    """Return two runs that differ in this option alone."""
    one, other = arguments_of(option)
    return [run_of("a", parse(one)), run_of("b", parse(other))]


def refusal(before: Run, after: Run) -> str:
    """Return why a strict comparison of two runs is refused; empty if it is not."""
    columns = []
    for run in (before, after):
        trials = [ok(name, 9.0 + number, number) for name in run.workloads for number in (1, 2)]
        columns.append(ConfigurationRuns(run.configuration, (recorded(run, trials),)))
    try:
        compare(columns, strict=True)
    except BadInput as error:
        return str(error)
    return ""


def test_every_option_is_here() -> None:
    """A new one is an entry of the table of work, or here with the reason why sides may differ in it."""
    compared = {option.name for option in COMPARED}
    observed = {name.split()[0].strip(":") for name in OBSERVED}
    known = {*NO_OTHER_WORK, *compared, *OTHER_WORK, *observed}
    assert known == {option.name for option in BENCHMARK_OPTIONS}


@pytest.mark.parametrize("option", COMPARED, ids=lambda option: option.name)
class TestEveryOptionOfWork:
    def test_is_a_parameter_of_runs(self, option: Option) -> None:
        values = [run.parameters[option.name] for run in two_runs(option)]
        assert values == [option.read(text) for text in two_values(option)]

    def test_is_checked_in_results_that_others_wrote(self, option: Option, tmp_path: Path) -> None:
        """A key that records/shapes.py lacks is read without a check."""
        first, _ = two_runs(option)
        parameters = {**first.parameters, option.name: {"a": {}}}
        record_all(tmp_path, replace(first, parameters=parameters), [])
        with pytest.raises(BadInput, match=rf"malformed run line: .*{option.name}"):
            find_configuration("a", tmp_path)

    def test_is_obeyed_by_jobs(self, option: Option) -> None:
        assert re.search(rf"options\.{option.name}\b", JOBS), (
            f"no file of jobs/ reads options.{option.name}"
        )

    def test_makes_another_series(self, option: Option) -> None:
        one, other = arguments_of(option)
        assert series_of([], one) == series_of([], one) != series_of([], other)

    def test_is_a_confounder_by_its_name(self, option: Option) -> None:
        before, after = two_runs(option)
        here, there = (as_text(run.parameters[option.name]) for run in (after, before))
        reason = refusal(before, after)
        assert f"{option.fact}: {here} here, {there} in a" in reason
        assert refusal(before, run_of("b", parse(arguments_of(option)[0]))) == ""

    def test_is_a_condition_of_predictions_unless_it_repeats(self, option: Option) -> None:
        found = [conditions(alone(recorded(run))) for run in two_runs(option)]
        values = [as_text(option.read(text)) for text in two_values(option)]
        expected = [None, None] if option.repeats else values
        assert [each.get(option.fact) for each in found] == expected

    def test_is_never_pooled_unless_it_repeats(self, option: Option, tmp_path: Path) -> None:
        for run in two_runs(option):
            trials = [ok(name, 1.0) for name in run.workloads]
            record_all(tmp_path, replace(run, configuration="1g"), trials)
        if option.repeats:
            assert len(find_configuration("1g", tmp_path).runs) == 2
        else:
            with pytest.raises(BadInput, match=f"mixes runs that differ in {option.name} "):
                find_configuration("1g", tmp_path)

    def test_may_not_change_in_new_runs_unless_it_repeats(
        self, option: Option, tmp_path: Path
    ) -> None:
        first, _ = two_runs(option)
        record_all(tmp_path, first, [])
        series = Series(tmp_path, "a", "series")
        one, other = map(Submission.of, arguments_of(option))
        check_same_work(series, one)
        if option.repeats:
            check_same_work(series, other)
        else:
            with pytest.raises(BadInput, match=f"has {option.name} .*, and new runs would have "):
                check_same_work(series, other)

    def test_is_what_it_was_in_results_that_are_older(self, option: Option) -> None:
        """Then an older run and a new one with that value are the same work, and have no confounder."""
        if option.before is None:
            return
        new = run_of("b", parse(argument_with(option, str(option.before))))
        parameters = {key: new.parameters[key] for key in new.parameters if key != option.name}
        old = replace(new, id="old", configuration="a", parameters=parameters)
        assert refusal(old, new) == ""
        require_same_work("both", [old, new])

    def test_is_a_key_of_experiments_which_passes_it_on(
        self, option: Option, tmp_path: Path
    ) -> None:
        for text in two_values(option):
            work = experiment_with(tmp_path, f'{option.name} = "{text}"')
            assert getattr(work, option.name) == option.read(text)
            passed_on = read_script_options([*work.arguments(str)])
            assert getattr(passed_on, option.name) == option.read(text)


def test_what_stands_before_queries_and_values_are_keys_of_experiments(tmp_path: Path) -> None:
    keys = 'sql = "day"\nsql_setup = "setup"\nsql_define = {day = "1"}'
    work = experiment_with(tmp_path, keys)
    [query] = work.queries.values()
    assert (query.before, query.query) == (("SET a=1",), "SELECT 1 FROM t")
    passed_on = read_script_options([*work.arguments(str)]).queries
    assert text_digests(passed_on) == text_digests(work.queries)
    with pytest.raises(BadInput, match="sql_define: a table of names and values is expected"):
        experiment_with(tmp_path, 'sql = "day"\nsql_define = "day"')


def experiment_with(directory: Path, keys: str) -> WorkOptions:
    """Return the options of an experiment with these keys."""
    file = directory / "experiment.toml"
    rest = 'name = "x"\nworkloads = ["calc-pi-dataframe"]\n[configurations.a]\n'
    file.write_text(f"{keys}\n{rest}")
    return read_experiment(file).work


@pytest.mark.parametrize("option", OTHER_WORK)
def test_other_work_is_refused(option: str) -> None:
    first, second = OTHER_WORK[option]
    before = run_of("a", parse(first))
    assert refusal(before, run_of("b", parse(first))) == ""
    assert refusal(before, run_of("b", parse(second))) != ""


@pytest.mark.parametrize("case", OBSERVED)
def test_other_data_is_refused(case: str) -> None:
    where, change = OBSERVED[case]
    options = parse(["--sql=one", "--table=t=hdfs://n1/t"] if where == TABLES else [])
    dataset = DATASET | change if where == "dataset" else DATASET
    table = TABLE | change if where == TABLES else TABLE
    assert refusal(run_of("a", options), run_of("b", options, dataset, table)) != ""


def test_cold_reads_contradict_streams_wherever_they_are_asked_for(tmp_path: Path) -> None:
    message = "cache cold contradicts streams 2"
    with pytest.raises(BadInput, match=message):
        read_script_options(["--streams=2", "--cache=cold"])
    with pytest.raises(BadInput, match=message):
        experiment_with(tmp_path, 'streams = 2\ncache = "cold"')
