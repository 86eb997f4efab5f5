"""What a run recorded that may explain its times: of its links, parameters, data, machines and software.

Each `..._facts` function returns values by name: None if the run should know a value and does not, and an
empty mapping if it recorded nothing of the kind. They leave out links and declared facts, because these are
what a comparison is about.
"""

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from fnmatch import translate
from functools import lru_cache, partial
from typing import Any, TypeVar

from harness.analysis.observed.executors import executors_text, pod_facts
from harness.analysis.observed.machines import values_by_name
from harness.base.checked import positive
from harness.base.items import unique
from harness.base.redaction import SENSITIVE_NAME
from harness.model.interface import HostLink
from harness.model.layout import UNKNOWN_LAYOUT
from harness.model.run import EMULATED, PROGRAM, QUERIES, TABLES, Facts, Run
from harness.model.shuffle import shuffle_facts
from harness.model.spark_properties import JAVA_OPTIONS, KNOWN, OZONE_READS_BY, S3A_READS_BY
from harness.node.machine import facts_by_node
from harness.node.node_links import links_by_host
from harness.work.options import COMPARED

NOT_SET = "not set"
LAYOUT = "layout"
EXECUTORS = "executors"
ESSENTIAL = frozenset(
    {"dataset", LAYOUT, "Spark version", "Java version", "kernel", EXECUTORS}
).union(option.fact for option in COMPARED if option.before is None)
"""Facts that make a comparison doubtful if only one side knows them."""
_PROPERTIES = ("spark.", "fs.", "ozone.", "scm.")
"""How the names of properties begin: of Spark, of S3A, and of Ozone's client."""


def if_missing(fact: str) -> str | None:
    """Return what a fact is that a run did not record among others: a property is not set then."""
    return NOT_SET if fact.startswith(_PROPERTIES) else None


def parameter_facts(run: Run) -> Facts:
    """Return the benchmark's version, and its options that affect times."""
    parameters = run.parameters
    if parameters.get(PROGRAM):
        return {
            "measured by": run.written_by,
            "problem": parameters.get("problem"),
            "processes on each host": parameters.get("processes_per_host"),
            "network of the messages": parameters.get("network"),
            "hosts": len(parameters.get("hosts") or ()) or None,
            "Open MPI": run.environment.get("mpi"),
        }
    return {
        "measured by": run.written_by,
        **{option.fact: option.value_in(parameters) for option in COMPARED},
        "emulated": is_emulated(run),
        "cores per emulated node": run.facts.get("cpus") if is_emulated(run) else None,
        "CPU period of an emulated node": run.facts.get("cpu_period") if is_emulated(run) else None,
    }


def dataset_facts(run: Run) -> Facts:
    """Return which data was read, how it was stored, and whether it may have been cached."""
    data = run.dataset
    if data is None:
        return {}
    return {
        "dataset": content(run),
        "format": data.get("format"),
        "files in the dataset": data.get("file_count"),
        "storage": storage(run),
        LAYOUT: ", ".join(layouts(run)) or None,
        "layout differs from the manifest": bool(drift(run)),
        "nodes that store the data": len(data.get("placement") or ()) or None,
        "parity computed by": data.get("coder"),
        "storage nodes use the page cache": data.get("page_cache"),
        **({"server of the storage": data["server"]} if data.get("server") else {}),
        "data read once before the trials": run.parameters.get("content_checked"),
    }


def query_facts(run: Run) -> Facts:
    """Return the digest of the text of each of the user's queries, by its name."""
    return run.parameters.get(QUERIES) or {}


def table_facts(run: Run) -> Facts:
    """Return what is stored of all tables together that queries read."""
    tables = _tables(run)
    if not tables:
        return {}
    files = _each(tables, "files")
    return {
        "format of the tables": _distinct(_each(tables, "format")),
        "storage of the tables": _distinct(map(_scheme, _each(tables, "uri"))),
        "layout of the tables": _distinct(_each(tables, "layout")),
        "files of the tables": None if None in files else sum(files),
        "bytes of the tables": sum(filter(None, _each(tables, "bytes"))),
    }


def _tables(run: Run) -> Sequence[Mapping[str, Any]]:
    return list((run.parameters.get(TABLES) or {}).values())


def _each(tables: Iterable[Mapping[str, Any]], key: str) -> list[Any]:
    """Return a value of each table, None where it is unknown."""
    return [table.get(key) for table in tables]


def _distinct(texts: Iterable[str | None]) -> str:
    return ", ".join(sorted(set(filter(None, texts))))


def _scheme(uri: str | None) -> str | None:
    return str(uri or "").partition(":")[0] or None


def storage(run: Run) -> str | None:
    """Return the scheme of the URI of the dataset that was read: `hdfs`; None if none was."""
    return _scheme((run.dataset or {}).get("uri"))


def storages(run: Run) -> set[str]:
    """Return the schemes of the URIs of all data that was read: of the dataset, and of tables."""
    uris = [(run.dataset or {}).get("uri"), *_each(_tables(run), "uri")]
    return set(filter(None, map(_scheme, uris)))


def client_facts(run: Run) -> Facts:
    """Return what affects how the application read from an object store."""
    return (run.dataset or {}).get("client") or {}


def content(run: Run) -> str | None:
    """Return number and digest of the rows that were read; None if none were, or if it is unknown."""
    data = run.dataset or {}
    if not data.get("digest"):
        return None
    return f"{as_text(data.get('rows')) or 'unknown'} rows of digest {data['digest']}"


def environment_facts(run: Run, *, with_nodes: bool = True) -> Facts:
    """Return software and machines; of machines that differ, each value with its nodes: `6.1 (n1), 6.5 (n2)`.

    Without nodes, which may have other names on another side: `6.1 and 6.5`.
    """
    observed = run.environment
    if not observed:
        return {}
    conf = observed.get("spark_conf") or {}
    manager = _cluster_manager(observed.get("master"))
    return {
        "Spark version": observed.get("spark"),
        "Java version": observed.get("java"),
        "Hadoop version": observed.get("hadoop"),
        "Scala version": observed.get("scala"),
        "Python version": observed.get("python"),
        "cluster manager": manager,
        EXECUTORS: executors_text(observed.get("executors"), observed),
        "cores of all executors": observed.get("parallelism"),
        **pod_facts(observed),
        **(shuffle_facts(conf, is_kubernetes=manager == "k8s") if conf else {}),
        **values_by_name(facts_by_node(observed), with_nodes=with_nodes),
        **relevant_spark_conf(conf, file_system_properties(run)),
    }


_GROUPS: Mapping[str, Callable[[Run], Facts]] = {
    "parameters": parameter_facts,
    "dataset": dataset_facts,
    "client": client_facts,
    "queries": query_facts,
    "tables": table_facts,
    "environment": partial(environment_facts, with_nodes=False),
}
FactsByGroup = Mapping[str, Mapping[str, str | None]]
"""The facts of a run as people read them, by group and name; None: unknown."""


def facts_by_group(run: Run) -> FactsByGroup:
    """Return the facts of a run that may explain times. A group without a recorded fact is left out."""
    found: dict[str, dict[str, str | None]] = {}
    for group, read in _GROUPS.items():
        facts = read(run)
        if facts:
            found[group] = {name: as_text(value) for name, value in facts.items()}
    return found


def as_text(value: Any) -> str | None:
    """Return a fact's value as people read it; None if it is unknown."""
    match value:
        case None:
            return None
        case bool():
            return "yes" if value else "no"
        case int():
            return f"{value:,}"
        case Mapping():
            named = (f"{name} {as_text(item) or 'unknown'}" for name, item in value.items())
            return ", ".join(named) or None
        case _:
            return str(value)


_IRRELEVANT = {
    "names, addresses and numbers of one application": """
        spark.app.* spark.executor.id spark.master spark.*.port spark.driver.host
        spark.driver.bindAddress spark.driver.appUIAddress spark.ui.* spark.yarn.app.*
        spark.yarn.historyServer.address
        spark.org.apache.hadoop.yarn.server.webproxy.* spark.yarn.tags
        spark.org.apache.spark.deploy.yarn.AmIpFilter.* spark.yarn.appMasterEnv.CLUSTERLIFT_*""",
    "directories that no trial reads or writes": """
        spark.eventLog.dir spark.sql.warehouse.dir spark.submit.pyFiles spark.repl.*
        spark.yarn.stagingDir spark.yarn.dist.* spark.executorEnv.PYTHONPATH spark.history.*
        spark.kubernetes.file.upload.path""",
    "Kubernetes: names and labels that Spark, an operator or a user gives an application": """
        spark.kubernetes.executor.podNamePrefix spark.kubernetes.driver.pod.name
        spark.kubernetes.driver.service.* spark.kubernetes.driver.master spark.kubernetes.submission.*
        spark.kubernetes.namespace spark.kubernetes.context spark.kubernetes.submitInDriver
        spark.kubernetes.*.label.* spark.kubernetes.*.annotation.* spark.kubernetes.jars.avoidDownloadSchemes
        spark.kubernetes.driverEnv.CLUSTERLIFT_* spark.executorEnv.CLUSTERLIFT_*""",
    "how many executors may fail: a trial that loses one does not count": """
        spark.executor.maxNumFailures spark.executor.failuresValidityInterval spark.yarn.max.executor.failures
        spark.yarn.executor.failuresValidityInterval""",
    "who may use the API, the images or a store, and not how": """
        spark.kubernetes.authenticate.* spark.kubernetes.*.secrets.* spark.kubernetes.*.secretKeyRef.*
        spark.kubernetes.container.image.pullSecrets spark.executorEnv.AWS_*
        spark.kubernetes.driverEnv.AWS_*""",
    "platforms: ids and tags of a cluster, a job or a submission": """
        spark.databricks.clusterUsageTags.* spark.databricks.job.* spark.databricks.*Id
        spark.dataproc.*uuid* spark.dataproc.*id spark.dataproc.listeners spark.emr-*.*Id spark.emr-*.*ARN
        spark.glue.*ID spark.glue.*NAME spark.glue.*TOKEN*""",
    "addresses, buckets and users of S3A, and the address of the usual file system": """
        spark.hadoop.fs.s3a.* spark.hadoop.clusterlift.s3a.* spark.hadoop.fs.defaultFS""",
}
"""Patterns of properties that explain no difference, by the reason."""
_IRRELEVANT_PROPERTY = re.compile("|".join(map(translate, " ".join(_IRRELEVANT.values()).split())))
_OBJECT_STORES = frozenset({"s3a", "ofs", "o3fs"})
_OF_CLIENTS = frozenset(f"spark.hadoop.{name}" for name in S3A_READS_BY | OZONE_READS_BY)
"""How clients of object stores connect and read. What is in force for a dataset is recorded with it."""
_OF_LAYOUTS = frozenset(
    {
        "spark.hadoop.fs.qfs.createParams",
        "spark.hadoop.dfs.replication",
        "spark.hadoop.ozone.replication",
        "spark.hadoop.ozone.replication.type",
    }
)
"""How files are written. The layout that results is observed of a dataset and of tables."""

_ADDED_BY_SPARK = (
    "--add-modules=jdk.incubator.vector",
    "--add-opens=java.",
    "--enable-native-access=",
    "--sun-misc-unsafe-memory-access=",
    "-XX:+IgnoreUnrecognizedVMOptions",
    "-Dio.netty.",
    "-Djava.net.preferIPv6Addresses=",
    "-Djdk.reflect.useDirectMethodHandle=",
)
"""Prefixes of the Java options that Spark adds by itself; they depend on its version."""


def file_system_properties(run: Run) -> frozenset[str]:
    """Return the properties of file systems for which the run recorded nothing that says more."""
    if run.dataset is not None:
        return frozenset()
    if not _tables(run):
        return _OF_CLIENTS | _OF_LAYOUTS
    if storages(run) & _OBJECT_STORES:
        return _OF_CLIENTS
    return frozenset()


def relevant_spark_conf(
    conf: Mapping[str, str], of_file_systems: Collection[str] = ()
) -> dict[str, str]:
    """Return the properties that may affect times, and do not differ in every run.

    Of file systems, these are only the ones that are given.
    """
    relevant: dict[str, str] = {}
    for key, value in conf.items():
        if key not in of_file_systems and _is_irrelevant(key):
            continue
        chosen = value
        if JAVA_OPTIONS.fullmatch(key):  # without those that Spark adds
            options = (each for each in value.split() if not each.startswith(_ADDED_BY_SPARK))
            chosen = " ".join(options)
        if chosen:
            relevant[key] = chosen
    return relevant


@lru_cache(maxsize=1000)
def _is_irrelevant(key: str) -> bool:
    """Return whether a property explains no difference.

    A secret explains none, either: a token may be another one in each application. Answers are kept, because
    all runs have the same few hundred properties.
    """
    if key in _OF_CLIENTS or key in _OF_LAYOUTS:
        return True
    is_secret = key not in KNOWN and bool(SENSITIVE_NAME.search(key))
    return is_secret or bool(_IRRELEVANT_PROPERTY.match(key))


def _cluster_manager(master: str | None) -> str | None:
    """Strip the address, which does not affect times; keep local mode's number of threads."""
    if master is None or master.startswith("local"):
        return master
    return master.partition(":")[0]


T = TypeVar("T")
_BOND = re.compile(r"(bond|team)\d+")


def is_emulated(run: Run) -> bool:
    """Whether the run's links are emulated, so that the kernel's description of them is false."""
    return EMULATED in run.facts


def link_rates(run: Run) -> dict[str, dict[str, int]]:
    """Return bit/s by node and interface, for links that are up and of a known rate.

    Empty for emulated links.
    """
    if is_emulated(run):
        return {}
    return _by_node(run, lambda link: link.rate_bit_s)


def link_mtus(run: Run) -> dict[str, dict[str, int]]:
    """Return the MTU in bytes by node and interface, for links that are up.

    For emulated links it is the MTU that the lab read from them and declared as a fact.
    """
    if is_emulated(run):
        mtu = positive(run.facts.get("mtu"))
        if mtu:
            return {"": {"the emulated links": mtu}}
        return {}
    return _by_node(run, lambda link: link.mtu_bytes)


def link_drivers(run: Run) -> dict[str, dict[str, str]]:
    """Return driver and bus (`r8152 (usb)`) by node and interface, for links that are up."""
    return _by_node(run, _driver)


def _driver(link: HostLink) -> str | None:
    if link.bus and link.driver:
        return f"{link.driver} ({link.bus})"
    return link.driver


def layouts(run: Run) -> tuple[str, ...]:
    """Return the layouts of the data; empty if no data was read or the file system reports none."""
    found = dataset_layouts(run)
    for of_table in table_layouts(run).values():
        found += of_table
    return tuple(layout for layout in unique(found) if layout != UNKNOWN_LAYOUT)


def dataset_layouts(run: Run) -> list[str]:
    """Return the layouts of the dataset, UNKNOWN_LAYOUT among them; empty if none was read."""
    if not run.dataset:
        return []
    return _split_layouts(_layout(run).get("observed"))


def table_layouts(run: Run) -> dict[str, list[str]]:
    """Return the layouts of each table that queries read, UNKNOWN_LAYOUT among them, by its name."""
    tables = run.parameters.get(TABLES) or {}
    return {name: _split_layouts(table.get("layout")) for name, table in tables.items()}


def _split_layouts(text: str | None) -> list[str]:
    return (text or UNKNOWN_LAYOUT).split(", ")


def drift(run: Run) -> str | None:
    """Return how the layout of the data differed from its manifest; None if it did not."""
    return _layout(run).get("drift")


def _layout(run: Run) -> Mapping[str, Any]:
    return (run.dataset or {}).get("layout") or {}


def _by_node(run: Run, read: Callable[[HostLink], T | None]) -> dict[str, dict[str, T]]:
    """Return what `read` finds, by node and interface, without nodes where it finds nothing.

    Only physical links and bonds that are up are read; bridges and the like have no driver.
    """
    found: dict[str, dict[str, T]] = {}
    for node, links in links_by_host(run.environment).items():
        for name, link in links.items():
            if link.is_up and (link.driver or _BOND.fullmatch(name)):
                value = read(link)
                if value:
                    found.setdefault(node, {})[name] = value
    return found
