"""Confounders: facts that differ between two configurations, and the workloads that they may affect."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.analysis.compare.comparability import require_same_data
from harness.analysis.compare.confounder import MAX_VALUE_LENGTH, Confounder
from harness.analysis.compare.confounders import confounders
from harness.analysis.compare.sides import Sides
from harness.analysis.observed.configuration import ConfigurationRuns
from harness.analysis.observed.environment import relevant_spark_conf
from harness.model.run import Run
from harness.node.machine import machine_groups
from tests.unit.builders import a_run, recorded

READING = ("group-by", "repartition", "sha-512")
CONTROLS = ("sha-512-cached", "calc-pi-dataframe")
WORKLOADS = (*READING, *CONTROLS)

ENVIRONMENT: dict[str, Any] = {
    "host": "master",
    "kernel": "Linux 6.1.0",
    "architecture": "x86_64",
    "cpu_model": "AMD EPYC",
    "cpus": 8,
    "python": "3.11.7",
    "links": {"eth0": {"speed_mbit_s": 1000, "mtu_bytes": 1500, "driver": "r8169", "state": "up"}},
    "spark": "4.3.0",
    "hadoop": "3.5.0",
    "java": "17.0.15",
    "scala": "2.13.18",
    "master": "spark://10.0.0.1:7077",
    "application": "app-1",
    "parallelism": 16,
    "executors": ["10.0.0.1", "10.0.0.2"],
    "spark_conf": {"spark.executor.memory": "4g", "spark.driver.port": "40001"},
}
PARAMETERS: dict[str, Any] = {
    "trials": 6,
    "warmup": 1,
    "sink": "noop",
    "repartition": 200,
    "pi_samples": 10_000_000,
    "content_checked": True,
    "controls": [*CONTROLS],
    "data_workloads": [*READING],
}
DATASET: dict[str, Any] = {
    "uri": "hdfs://10.0.0.1:9820/rows",
    "format": "csv",
    "rows": 3_000_000,
    "file_count": 16,
    "layout": {"requested": "replicated:2", "observed": "replicated:2", "drift": None},
    "digest": "00011a3e89fde421",
    "written_at": "2026-11-21T20:03:06.939Z",
    "placement": {"10.0.0.1": 1, "10.0.0.2": 1},
    "coder": None,
    "page_cache": True,
}
ROWS = "3,000,000 rows of digest 00011a3e89fde421"
OTHER_ROWS = "2,000,000 rows of digest 00017f517ae93162"


def a_side(configuration: str = "before", **fields: Any) -> Run:
    known = {"workloads": WORKLOADS, "parameters": PARAMETERS, "environment": ENVIRONMENT}
    return a_run(configuration, **known | {"dataset": DATASET} | fields)


def with_environment(**other: Any) -> Run:
    return a_side("after", environment=ENVIRONMENT | other)


def with_parameters(**other: Any) -> Run:
    return a_side("after", parameters=PARAMETERS | other)


def with_data(**other: Any) -> Run:
    return a_side("after", dataset=DATASET | other)


def with_layout(observed: str, configuration: str = "after", **facts: str) -> Run:
    layout = {"requested": observed, "observed": observed, "drift": None}
    return a_side(configuration, dataset=DATASET | {"layout": layout}, facts=facts)


def side(*runs: Run) -> ConfigurationRuns:
    return ConfigurationRuns("side", tuple(recorded(run) for run in runs))


def described(before: Run, after: Run) -> list[str]:
    return [found.describe("before") for found in confounders(Sides(side(before), side(after)))]


def only(after: Run, before: Run | None = None) -> Confounder:
    [difference] = confounders(Sides(side(before or a_side()), side(after)))
    return difference


def affected(difference: Confounder) -> set[str]:
    return {name for name in WORKLOADS if difference.affects_all([name])}


class TestNoConfounders:
    def test_between_a_run_and_itself(self) -> None:
        assert confounders(Sides(side(a_side()), side(a_side()))) == ()

    @pytest.mark.parametrize(
        "after",
        [
            pytest.param(a_side("2.5g", facts={"switch": "new", "link": "2.5g"}), id="declared"),
            pytest.param(
                with_environment(links={"eth1": {"speed_mbit_s": 2500, "mtu_bytes": 9000}}),
                id="links",
            ),
            pytest.param(
                with_environment(
                    host="other",
                    application="app-2",
                    master="spark://10.9.9.9:7077",
                    executors=["10.9.9.9", "10.9.9.8"],
                    spark_conf={"spark.executor.memory": "4g", "spark.driver.port": "40002"},
                ),
                id="addresses",
            ),
            pytest.param(with_parameters(trials=12), id="trials"),
            pytest.param(
                with_data(uri="hdfs://10.9.9.9:9820/other", written_at="2026-12-01T00:00:00.000Z"),
                id="written again",
            ),
        ],
    )
    def test_in_what_is_compared_or_always_differs(self, after: Run) -> None:
        assert described(a_side(), after) == []

    def test_if_neither_side_recorded_anything(self) -> None:
        imported = a_run(parameters={"sink": "rdd-count", "warmup": 0}, workloads=WORKLOADS)
        assert described(imported, replace(imported, configuration="after")) == []


class TestOfAllWorkloads:
    @pytest.mark.parametrize(
        ("after", "line"),
        [
            (with_environment(spark="4.2.0"), "Spark version: 4.2.0 here, 4.3.0 in before"),
            (with_environment(java="21.0.1"), "Java version: 21.0.1 here, 17.0.15 in before"),
            (with_environment(hadoop="3.4.1"), "Hadoop version: 3.4.1 here, 3.5.0 in before"),
            (with_environment(scala="2.12"), "Scala version: 2.12 here, 2.13.18 in before"),
            (with_environment(python="3.13"), "Python version: 3.13 here, 3.11.7 in before"),
            (with_environment(kernel="Linux 6.6"), "kernel: Linux 6.6 here, Linux 6.1.0 in before"),
            (with_environment(cpu_model="Xeon"), "processor: Xeon here, AMD EPYC in before"),
            (
                with_environment(executors=["a", "a", "b"]),
                "executors: 3 on 2 nodes, 1 to 2 on each here, 2 on 2 nodes in before",
            ),
            (with_environment(parallelism=32), "cores of all executors: 32 here, 16 in before"),
            (with_environment(master="yarn"), "cluster manager: yarn here, spark in before"),
            (
                with_environment(spark_conf={"spark.executor.memory": "8g"}),
                "spark.executor.memory: 8g here, 4g in before",
            ),
            (
                with_environment(
                    spark_conf={"spark.executor.memory": "4g", "spark.sql.shuffle.partitions": "64"}
                ),
                "spark.sql.shuffle.partitions: 64 here, not set in before",
            ),
            (with_parameters(sink="rdd-count"), "sink: rdd-count here, noop in before"),
            (with_parameters(warmup=0), "warm-up rounds: 0 here, 1 in before"),
            (
                replace(a_side("after"), written_by="clusterlift 0.2.0"),
                "measured by: clusterlift 0.2.0 here, clusterlift 0.1.0 in before",
            ),
            (a_side("after", facts={"emulated": "4 nodes"}), "emulated: yes here, no in before"),
        ],
    )
    def test_are_machines_software_and_options(self, after: Run, line: str) -> None:
        difference = only(after)
        assert difference.describe("before") == line
        assert affected(difference) == set(WORKLOADS)


class TestOfSomeWorkloads:
    @pytest.mark.parametrize(
        ("after", "line"),
        [
            (
                with_data(digest="00017f517ae93162", rows=2_000_000),
                f"dataset: {OTHER_ROWS} here, {ROWS} in before",
            ),
            (with_data(format="parquet"), "format: parquet here, csv in before"),
            (with_data(file_count=4), "files in the dataset: 4 here, 16 in before"),
            (with_layout("rs:6+3:64k"), "layout: rs:6+3:64k here, replicated:2 in before"),
            (with_layout("unknown"), "layout: unknown here, replicated:2 in before"),
            (with_data(uri="qfs://h:1/rows"), "storage: qfs here, hdfs in before"),
            (
                with_data(page_cache=False),
                "storage nodes use the page cache: no here, yes in before",
            ),
            (with_data(placement={"a": 1}), "nodes that store the data: 1 here, 2 in before"),
            (
                with_parameters(content_checked=False),
                "data read once before the trials: no here, yes in before",
            ),
            (
                with_data(layout={"observed": "replicated:2", "drift": "of 2 files, 1 lacks"}),
                "layout differs from the manifest: yes here, no in before",
            ),
        ],
    )
    def test_data_and_its_layout_affect_the_workloads_that_read_it(
        self, after: Run, line: str
    ) -> None:
        difference = only(after)
        assert difference.describe("before") == line
        assert affected(difference) == set(READING)

    @pytest.mark.parametrize(
        ("after", "line"),
        [
            ({"client": {"fs.s3a.input.stream.type": "classic", "fs.s3a.readahead.range": "64K"}},
             "fs.s3a.readahead.range: 64K here, not set in before"),
            ({"client": {"fs.s3a.input.stream.type": "classic", "ozone.client.read.timeout": "30s"}},
             "ozone.client.read.timeout: 30s here, not set in before"),
            ({"client": {"fs.s3a.input.stream.type": "analytics"}},
             "fs.s3a.input.stream.type: analytics here, classic in before"),
            ({"server": "ceph 19.2.0"}, "server of the storage: ceph 19.2.0 here, ceph 18.2.7 in before"),
        ],
    )  # fmt: skip
    def test_how_an_object_store_is_read_affects_the_workloads_that_read(
        self, after: dict[str, Any], line: str
    ) -> None:
        before: dict[str, Any] = {
            "client": {"fs.s3a.input.stream.type": "classic"},
            "server": "ceph 18.2.7",
        }
        difference = only(with_data(**before | after), with_data(**before))
        assert difference.describe("before") == line
        assert affected(difference) == set(READING)

    def test_of_another_storage_no_property_of_s3a_is_compared(self) -> None:
        after = with_data(uri="s3a://b/rows", client={"fs.s3a.input.stream.type": "classic"})
        assert only(after).fact == "storage"

    def test_the_number_of_partitions_affects_the_repartition_workload(self) -> None:
        difference = only(with_parameters(repartition=16))
        assert str(difference.describe("1g")) == "--repartition: 16 here, 200 in 1g"
        assert affected(difference) == {"repartition"}

    def test_the_number_of_samples_affects_workloads_that_read_no_data(self) -> None:
        difference = only(with_parameters(pi_samples=1000))
        assert affected(difference) == set(CONTROLS)

    def test_what_affects_one_of_several_streams_affects_all_but_the_controls(self) -> None:
        streams = {"streams": 4, "in_streams": [*READING]}
        names = ("streams-4", *WORKLOADS)
        one, other, alone = (
            a_side(name, workloads=names, parameters=PARAMETERS | changed)
            for name, changed in (
                ("one", streams),
                ("other", streams | {"repartition": 16}),
                ("alone", {}),
            )
        )
        difference = only(other, one)
        assert difference.fact == "--repartition"
        assert difference.workloads == frozenset({"streams-4", *READING})
        difference = only(one, alone)
        assert difference.describe("alone") == "--streams: 4 here, 1 in alone"
        assert difference.workloads == frozenset({"streams-4", *READING})
        samples = replace(other, parameters={**one.parameters, "pi_samples": 5})
        assert affected(only(samples, one)) == set(CONTROLS)

    def test_without_a_list_of_readers_all_but_the_controls_read_data(self) -> None:
        older = {key: value for key, value in PARAMETERS.items() if key != "data_workloads"}
        before, after = (
            a_side(name, parameters=older, dataset=DATASET | {"format": format_})
            for name, format_ in (("x", "csv"), ("y", "parquet"))
        )
        assert affected(only(after, before)) == set(READING)

    def test_a_side_that_read_no_data_has_no_different_data(self) -> None:
        nothing = {**PARAMETERS, "data_workloads": []}
        assert (
            described(a_side(), a_side(workloads=CONTROLS, parameters=nothing, dataset=None)) == []
        )


class TestDeclaredDifferences:
    def test_a_layout_that_facts_declare_correctly_is_no_confounder(self) -> None:
        before = with_layout("rs:6+3:64k", layout="rs:6+3")
        after = with_layout("replicated:2", layout="replicated:2")
        assert described(before, after) == []

    @pytest.mark.parametrize(
        ("observed", "facts"),
        [
            ("replicated:2", {}),
            ("replicated:2", {"layout": "rs:6+3"}),
            ("unknown", {"layout": "replicated:2"}),
        ],
    )
    def test_a_layout_that_one_side_declares_wrongly_or_not_at_all_is_one(
        self, observed: str, facts: dict[str, str]
    ) -> None:
        after = with_layout(observed, **facts)
        assert described(with_layout("rs:6+3:64k", layout="rs:6+3"), after) == [
            f"layout: {observed} here, rs:6+3:64k in before"
        ]

    def test_a_value_that_both_sides_declare_is_no_confounder(self) -> None:
        before, after = (
            a_side(dataset=DATASET | {"format": format_}, facts={"format": format_})
            for format_ in ("csv", "parquet")
        )
        assert described(before, after) == []
        assert described(before, replace(after, facts={})) == [
            "format: parquet here, csv in before"
        ]

    def test_a_number_may_as_well_declare_something_else(self) -> None:
        before, after = (
            a_side(environment=ENVIRONMENT | {"parallelism": cores}, facts={"disks": str(cores)})
            for cores in (16, 32)
        )
        assert described(before, after) == ["cores of all executors: 32 here, 16 in before"]


class TestUnknownFacts:
    def test_an_essential_fact_that_one_side_does_not_know_is_a_confounder(self) -> None:
        assert described(a_side(), with_environment(spark=None)) == [
            "Spark version: unknown here, 4.3.0 in before"
        ]

    def test_another_fact_that_one_side_does_not_know_is_none(self) -> None:
        assert described(a_side(), with_environment(hadoop=None, cpu_model=None)) == []

    def test_an_environment_that_one_side_did_not_record_is_one_confounder(self) -> None:
        difference = only(a_side("after", environment={}))
        assert difference.describe("before") == "environment: not recorded here, recorded in before"
        assert affected(difference) == set(WORKLOADS)

    def test_a_dataset_that_one_side_did_not_record_affects_its_readers(self) -> None:
        difference = only(a_side("after", dataset=None))
        assert difference.describe("before") == "dataset: not recorded here, recorded in before"
        assert affected(difference) == set(READING)


class TestSeveralRuns:
    def test_with_the_same_values_do_not_differ_in_any_order(self) -> None:
        older, newer = with_environment(spark="4.2.0"), with_environment(spark="4.3.0")
        assert confounders(Sides(side(older, newer), side(newer, older, newer))) == ()

    def test_are_described_with_all_their_values(self) -> None:
        older, newer = with_environment(spark="4.2.0"), with_environment(spark="4.3.0")
        [difference] = confounders(Sides(side(a_side()), side(older, newer)))
        assert difference.describe("x") == "Spark version: 4.2.0, 4.3.0 here, 4.3.0 in x"


def on_nodes(**nodes: Mapping[str, str]) -> Run:
    """Return a run whose nodes have these facts, beside a governor."""
    facts = {name: {"governor": "performance", **own} for name, own in nodes.items()}
    machines = {"driver": next(iter(nodes)), "groups": machine_groups(facts)}
    environment = {key: value for key, value in ENVIRONMENT.items() if key not in OF_DRIVER}
    return a_side(environment={**environment, "executors": [*nodes], "machines": machines})


OF_DRIVER = {"kernel", "architecture", "cpu_model", "cpus", "links"}
OLD, NEW = {"kernel": "Linux 6.1"}, {"kernel": "Linux 6.5"}
SAVING = {**OLD, "governor": "powersave"}


class TestNodes:
    @pytest.mark.parametrize(
        ("before", "after", "lines"),
        [
            pytest.param({"n1": OLD, "n2": OLD}, {"n1": OLD, "n2": OLD}, [], id="alike"),
            pytest.param(
                {"n1": OLD, "n2": OLD},
                {"n1": OLD, "n2": NEW},
                ["kernel: Linux 6.1 and Linux 6.5 here, Linux 6.1 in before"],
                id="one changed",
            ),
            pytest.param(
                {"n1": OLD, "n2": OLD},
                {"n1": NEW, "n2": NEW},
                ["kernel: Linux 6.5 here, Linux 6.1 in before"],
                id="all changed alike",
            ),
            pytest.param(
                {"n1": OLD, "n2": SAVING}, {"n1": SAVING, "n2": OLD}, [], id="two changed places"
            ),
            pytest.param(
                {"n1": OLD},
                {"n1": NEW},
                ["kernel: Linux 6.5 here, Linux 6.1 in before"],
                id="a single node",
            ),
            pytest.param(
                {"10.0.0.1": OLD, "10.0.0.2": OLD},
                {"10.0.1.1": OLD, "10.0.1.2": OLD},
                [],
                id="other names",
            ),
            pytest.param(
                {"10.0.0.1": OLD, "10.0.0.2": OLD},
                {"10.0.1.1": NEW, "10.0.1.2": NEW},
                ["kernel: Linux 6.5 here, Linux 6.1 in before"],
                id="other names and another kernel",
            ),
            pytest.param(
                {"n1": OLD, "n2": NEW},
                {"n1": OLD, "n2": NEW, "n3": OLD},
                ["executors: 3 on 3 nodes here, 2 on 2 nodes in before"],
                id="one more that is like another",
            ),
            pytest.param(
                {"n1": OLD, "n2": OLD},
                {"n1": OLD},
                ["executors: 1 on 1 node here, 2 on 2 nodes in before"],
                id="one less",
            ),
            pytest.param(
                {"n1": OLD},
                {"n1": OLD, "n2": NEW},
                [
                    "executors: 2 on 2 nodes here, 1 on 1 node in before",
                    "kernel: Linux 6.1 and Linux 6.5 here, Linux 6.1 in before",
                ],
                id="one more that is unlike",
            ),
            pytest.param(
                {"n1": OLD, "n2": OLD},
                {"n1": {}, "n2": {}},
                ["kernel: unknown here, Linux 6.1 in before"],
                id="an essential fact is unknown",
            ),
            pytest.param(
                {"n1": SAVING, "n2": OLD}, {"n1": SAVING, "n2": OLD}, [], id="unlike but unchanged"
            ),
        ],
    )
    def test_are_compared_by_the_values_that_they_have(
        self,
        before: Mapping[str, Mapping[str, str]],
        after: Mapping[str, Mapping[str, str]],
        lines: list[str],
    ) -> None:
        assert described(on_nodes(**before), on_nodes(**after)) == lines

    def test_of_several_runs_have_all_their_values(self) -> None:
        first, second = on_nodes(n1=OLD, n2=OLD), on_nodes(n1=OLD, n2=NEW)
        [found] = confounders(Sides(side(first), side(first, second)))
        assert (found.fact, found.before, found.after) == (
            "kernel",
            "Linux 6.1",
            "Linux 6.1, Linux 6.1 and Linux 6.5",
        )

    def test_whose_difference_both_sides_declare_are_no_confounder(self) -> None:
        fast = replace(on_nodes(n1=OLD, n2=OLD), facts={"governor": "performance"})
        saving = replace(on_nodes(n1=SAVING, n2=SAVING), facts={"governor": "powersave"})
        assert described(fast, saving) == []
        assert described(fast, replace(saving, facts={})) != []

    def test_of_an_older_run_are_that_of_its_driver(self) -> None:
        older = with_environment(kernel="Linux 6.1")
        assert described(older, on_nodes(n1=OLD, n2=OLD)) == []
        assert described(older, on_nodes(n1=NEW, n2=NEW)) == [
            "kernel: Linux 6.5 here, Linux 6.1 in before"
        ]


LOGGED: dict[str, Any] = {"dataset": None, "parameters": {}}


def of_table(uri: str) -> dict[str, Any]:
    """Return the fields of a run of queries that read a table there."""
    table = {"uri": uri, "format": "parquet", "files": 1, "layout": "replicated:2", "bytes": 1}
    return {"dataset": None, "parameters": {"tables": {"t": table}}}


class TestSparksConfiguration:
    def test_excludes_what_differs_in_every_run(self) -> None:
        own = (
            "--add-opens=java.base/java.lang=ALL-UNNAMED -Dio.netty.tryReflectionSetAccessible=true"
        )
        assert relevant_spark_conf(
            {
                "spark.app.id": "app-1",
                "spark.app.startTime": "1795291433971",
                "spark.driver.host": "master",
                "spark.blockManager.port": "1",
                "spark.eventLog.dir": "file:/tmp/x",
                "spark.eventLog.enabled": "true",
                "spark.hadoop.fs.defaultFS": "hdfs://h:1",
                "spark.org.apache.spark.deploy.yarn.AmIpFilter.param.PROXY_URI_BASES": "/app-1",
                "spark.yarn.appMasterEnv.OTHER": "kept",
                "spark.yarn.dist.pyFiles": "/home/x.zip",
                "spark.yarn.tags": "clusterlift-1",
                "spark.kubernetes.executor.podNamePrefix": "benchmark-7fba1d9a1b2c3d4e",
                "spark.kubernetes.driver.label.sparkoperator.k8s.io/submission-id": "digest:9f86",
                "spark.kubernetes.executor.annotation.owner": "digest:9f86",
                "spark.kubernetes.authenticate.oauthToken": "digest:9f86",
                "spark.kubernetes.driver.pod.name": "driver-1",
                "spark.kubernetes.executor.secretKeyRef.AWS_SECRET_ACCESS_KEY": "digest:9f86",
                "spark.executorEnv.AWS_WEB_IDENTITY_TOKEN_FILE": "digest:9f86",
                "spark.databricks.clusterUsageTags.clusterId": "digest:9f86",
                "spark.mine.session_token": "digest:9f86",
                "spark.kubernetes.executor.request.cores": "1500m",
                "spark.driver.extraJavaOptions": own,
                "spark.executor.extraJavaOptions": f"{own} -XX:+UseZGC",
                "spark.executor.memory": "4g",
            }
        ) == {
            "spark.eventLog.enabled": "true",
            "spark.executor.extraJavaOptions": "-XX:+UseZGC",
            "spark.executor.memory": "4g",
            "spark.kubernetes.executor.request.cores": "1500m",
            "spark.yarn.appMasterEnv.OTHER": "kept",
        }

    @pytest.mark.parametrize(
        ("fields", "key", "is_different"),
        [
            (LOGGED, "fs.s3a.connection.maximum", True),
            (LOGGED, "ozone.client.read.timeout", True),
            (LOGGED, "dfs.replication", True),
            (LOGGED, "fs.s3a.endpoint", False),
            (LOGGED, "fs.s3a.bucket.mine.endpoint", False),
            (LOGGED, "fs.s3a.access.key", False),
            (LOGGED, "fs.defaultFS", False),
            ({}, "fs.s3a.connection.maximum", False),
            ({}, "dfs.replication", False),
            (of_table("s3a://b/t"), "fs.s3a.connection.maximum", True),
            (of_table("s3a://b/t"), "dfs.replication", False),
            (of_table("hdfs://h/t"), "fs.s3a.connection.maximum", False),
        ],
    )
    def test_of_a_file_system_counts_where_nothing_else_tells_how_it_is_read_and_written(
        self, fields: dict[str, Any], key: str, *, is_different: bool
    ) -> None:
        conf = ENVIRONMENT["spark_conf"]
        own = conf | {f"spark.hadoop.{key}": "500"}
        before = a_side(**fields)
        after = a_side("after", **fields, environment=ENVIRONMENT | {"spark_conf": own})
        expected = [f"spark.hadoop.{key}: 500 here, not set in before"]
        assert described(before, after) == (expected if is_different else [])


def test_a_long_value_is_described_without_its_middle() -> None:
    path = ":".join(f"/opt/jars/{number}.jar" for number in range(100))
    line = Confounder("spark.driver.extraClassPath", "not set", path).describe("1g")
    assert "/opt/jars/0.jar" in line
    assert "/opt/jars/99.jar" in line
    assert len(line) < MAX_VALUE_LENGTH + 70


class TestDifferentData:
    @pytest.mark.parametrize(
        "after", [with_data(format="parquet"), a_side(dataset=None), with_data(digest=None)]
    )
    def test_is_not_refused_if_rows_are_the_same_or_unknown(self, after: Run) -> None:
        require_same_data(Sides(side(a_side()), side(after)))


VALUES = st.none() | st.booleans() | st.integers(0, 10**12) | st.text(max_size=5)
RUNS = st.builds(
    a_side,
    environment=st.builds(
        lambda fixed, conf: {**fixed, "spark_conf": conf},
        st.fixed_dictionaries(
            {}, optional={"spark": st.text(max_size=3), "parallelism": st.integers(0, 99)}
        ),
        st.dictionaries(st.sampled_from(["spark.a", "spark.b", "spark.c"]), st.text(max_size=3)),
    ),
    parameters=st.dictionaries(st.sampled_from(["sink", "warmup", "pi_samples"]), VALUES),
)


@given(st.lists(RUNS, min_size=1, max_size=3), st.lists(RUNS, min_size=1, max_size=3))
def test_confounders_are_the_same_from_either_side(before: list[Run], after: list[Run]) -> None:
    there = confounders(Sides(side(*before), side(*after)))
    back = confounders(Sides(side(*after), side(*before)))
    assert {(found.fact, found.before, found.after) for found in there} == {
        (found.fact, found.after, found.before) for found in back
    }
    assert confounders(Sides(side(*before), side(*before))) == ()
