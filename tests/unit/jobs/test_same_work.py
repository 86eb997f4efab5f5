"""A comparison names every option of a benchmark that differs between its sides, or refuses them."""

from pathlib import Path
from typing import Any

import pytest

from harness.analysis.compare.comparison import compare
from harness.analysis.observed.configuration import ConfigurationRuns
from harness.base.errors import BadInput
from harness.model.run import QUERIES, TABLES, Run
from harness.work.queries import text_digests
from jobs.options import BenchmarkOptions, parse
from jobs.queries import queries_of
from jobs.run_description import _parameters
from jobs.streams import in_streams
from jobs.workload import select_workloads
from tests.unit.builders import a_run, ok, recorded

NO_OTHER_WORK = {
    "configuration": "its runs are a column by themselves",
    "results": "where the runs are written",
    "workloads": "a workload that one side lacks is missing in the table",
    "default_workloads": "the same",
    "trials": "how often the same work is done",
    "max_time": "for how long it may be repeated",
    "seed": "the order of the workloads, which is random by default",
    "profile": "rounds after those that count",
    "turns": "configurations, each with its own options",
    "nodes": "a fact that the user declares; executors are observed",
    "fact": "what a comparison is about",
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

OPTIONS: dict[str, tuple[list[str], list[str]]] = {
    "warmup": (["--warmup=1"], ["--warmup=2"]),
    "streams": ([], ["--streams=2"]),
    "sink": (["--sink=noop"], ["--sink=rdd-count"]),
    "cache": (["--cache=warm"], ["--cache=cold"]),
    "repartition": (["--repartition=4"], ["--repartition=8"]),
    "pi_samples": (["--pi-samples=100"], ["--pi-samples=200"]),
    "sql": (["--sql=one"], ["--sql=two"]),
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
    "table: format": (TABLES, {"format": "orc"}),
    "table: storage": (TABLES, {"uri": "s3a://b/t"}),
    "table: layout": (TABLES, {"layout": "rs:6+3:64k"}),
    "table: files": (TABLES, {"files": 2}),
    "table: bytes": (TABLES, {"bytes": 101}),
}
"""What a run observes of the data that an option names, and what differs."""


@pytest.fixture(autouse=True)
def queries(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name, text in (("one", "SELECT 1 FROM t"), ("two", "SELECT 2 FROM t")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "q.sql").write_text(text)


def run_of(name: str, options: BenchmarkOptions, dataset: dict[str, Any], table: Any) -> Run:
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
    known = {*NO_OTHER_WORK, *OPTIONS, *(name.split()[0].strip(":") for name in OBSERVED)}
    arguments = vars(parse([])).keys() - {"queries", "tables", "facts", "max_time_s"}
    assert known >= {*arguments, "sql", "table", "fact", "max_time"}


@pytest.mark.parametrize("option", OPTIONS)
def test_other_work_is_refused(option: str) -> None:
    first, second = OPTIONS[option]
    tables = ["--table=t=hdfs://n1/t"] if option == "sql" else []
    before = run_of("a", parse([*first, *tables]), DATASET, TABLE)
    same = run_of("b", parse([*first, *tables]), DATASET, TABLE)
    after = run_of("b", parse([*second, *tables]), DATASET, TABLE)
    assert refusal(before, same) == ""
    assert refusal(before, after) != ""


@pytest.mark.parametrize("case", OBSERVED)
def test_other_data_is_refused(case: str) -> None:
    where, change = OBSERVED[case]
    options = parse(["--sql=one", "--table=t=hdfs://n1/t"] if where == TABLES else [])
    dataset = DATASET | change if where == "dataset" else DATASET
    table = TABLE | change if where == TABLES else TABLE
    before = run_of("a", options, DATASET, TABLE)
    assert refusal(before, run_of("b", options, dataset, table)) != ""
