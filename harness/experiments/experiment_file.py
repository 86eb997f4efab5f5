"""Reads the TOML file that defines an experiment; docs/experiments.md shows every key."""

import hashlib
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from harness.base.errors import BadInput
from harness.base.items import without
from harness.base.option_values import what_exists
from harness.base.words import shorten
from harness.experiments.experiment import DEFAULTS, MAX_SHOWN, Experiment
from harness.experiments.hosts_spec import HostsSpec
from harness.hosts.transports.host import Host
from harness.lab.storages import layout_problem
from harness.model.layout import Layout
from harness.programs.mpi import Placement
from harness.records.document import MAX_REASON, converted, toml_values
from harness.submit.script import ROOT
from harness.work.options import REPETITIONS, WORK_OPTIONS, options_by_keys
from harness.work.queries import QueryText, text_digests

WORKLOADS = ROOT / "jobs/workloads"


def read_experiment(file: Path) -> Experiment:
    """Return the experiment that a file defines. Raise BadInput that names the file and the mistake."""
    values = toml_values(file)
    known = {option.name for option in WORK_OPTIONS}
    others = without(values, known)
    experiment = converted(others, Experiment, file)
    try:
        work = options_by_keys({**DEFAULTS, **values})
        experiment = msgspec.structs.replace(experiment, work=work)
        problem = next(_contradictions(experiment), None)
    except BadInput as error:
        problem = str(error)
    if problem is not None:
        raise BadInput(f"{file}: {shorten(problem, MAX_REASON)}")
    return msgspec.structs.replace(experiment, id=_id(values, work.queries))


def _contradictions(experiment: Experiment) -> Iterator[str]:
    """Yield what in the file contradicts something else there, the checkout, or the lab.

    Raise BadInput for a value that cannot be read.
    """
    yield from _contradictions_of_workloads(experiment)
    yield from _contradictions_of_configurations(experiment)
    for name, dataset in experiment.dataset_tables.items():
        if dataset.layout is not None:
            try:
                Layout.parse(dataset.layout)
            except ValueError as error:
                yield f"datasets.{name}: {error}"
    if experiment.site:
        yield from _contradictions_to_site(experiment, experiment.site)
    else:
        yield from _contradictions_to_lab(experiment)
    yield from _contradictions_of_scaling(experiment)


def _contradictions_of_workloads(experiment: Experiment) -> Iterator[str]:
    work = experiment.work
    if work.workloads == () and not experiment.program_tables:
        yield "workloads: one name or more is expected, or a table [programs.NAME]"
    own = sorted(file.stem.replace("_", "-") for file in WORKLOADS.glob("[!_]*.py"))
    known = [*work.queries, *own]
    for name in work.workloads or ():
        if name not in known:
            shown = shorten(name, MAX_SHOWN)
            yield f"workloads: there is no workload {shown!r}; {what_exists(name, known)}"


def _contradictions_of_configurations(experiment: Experiment) -> Iterator[str]:
    tables = experiment.configuration_tables
    work = experiment.work
    needs_dataset = work.workloads is None and not work.sql
    commands_by_name: dict[str, tuple[str | None, ...]] = {}
    for name, table in tables.items():
        if table.tables and not work.sql:
            yield f"configurations.{name}: tables need the key sql"
        is_known = table.dataset in experiment.dataset_tables
        if (table.dataset or needs_dataset) and not is_known:
            known = ", ".join(experiment.dataset_tables) or "none"
            yield f"configurations.{name}: dataset has to be one of {known}"
        try:
            str(table)  # which reads every value
            if experiment.scaling:
                table.on_nodes(1)
        except BadInput as error:
            yield f"configurations.{name}: {error}"
        commands = (table.apply, table.revert, table.check)
        if table.applied and commands_by_name.setdefault(table.applied, commands) != commands:
            # The journal knows commands by this name, and would put back what others did.
            yield f"configurations.{name}: other commands are called {table.applied}, too"
    properties = [table.spark for table in tables.values()]
    if experiment.turns == "rounds" and properties.count(properties[0]) < len(properties):
        yield 'turns = "rounds": configurations of one run have the same properties of Spark'


def _contradictions_to_lab(experiment: Experiment) -> Iterator[str]:
    lab = experiment.lab
    for name, dataset in experiment.dataset_tables.items():
        storage = dataset.storage or lab.storages[0]
        if dataset.uri is not None:
            yield f"datasets.{name}: uri needs a [site]: the lab chooses its own"
        elif storage not in lab.storages:
            yield f"datasets.{name}: storage {storage} is not one of the lab's"
        elif problem := layout_problem(dataset.layout, storage, lab.workers):
            yield f"datasets.{name}: layout {dataset.layout} {problem}"


def _contradictions_to_site(experiment: Experiment, site: HostsSpec) -> Iterator[str]:
    if experiment.nodes or experiment.cpus or experiment.storage:
        yield "nodes, cpus and storage are only for the lab; leave them out, or leave out [site]"
    for name, dataset in experiment.dataset_tables.items():
        if dataset.storage is not None:
            yield f"datasets.{name}: storage is only for the lab; use uri with a [site]"
        elif dataset.uri is None and site.data is None:
            yield f"datasets.{name}: uri is missing, and the site has no `data`"
    for name, configuration in experiment.configuration_tables.items():
        if configuration.disk_rate is not None and not site.disks:
            yield f"configurations.{name}: disk_rate needs the site's `disks`"


def _contradictions_of_scaling(experiment: Experiment) -> Iterator[str]:
    """Yield what is wrong with numbers of nodes. Raise BadInput for what these cannot divide."""
    most = experiment.node_count
    numbers = list(experiment.scaling or [most])
    if sorted(set(numbers)) != numbers or numbers[-1] > most:
        yield f"scaling: the numbers of nodes have to grow to {most} at most, as in [1, 2, 4]"
    for program in experiment.programs:
        for nodes in numbers:
            placement = Placement((Host("", ""),) * nodes, experiment.per_host)
            program.problem(placement, growing=experiment.growing)


_NOT_IN_ID = frozenset({"runs", "probe_seconds"}).union(option.name for option in REPETITIONS)
"""Raising one of these adds to the results that exist."""


def _id(values: Mapping[str, Any], queries: Mapping[str, QueryText]) -> str:
    """Return the experiment's id: a hash of all that affects results, so not of the repetitions."""
    affecting = without(values, _NOT_IN_ID)
    if "datasets" in affecting:
        affecting["datasets"] = {
            name: _with_format(table) for name, table in affecting["datasets"].items()
        }
    if "sql" in affecting:
        affecting["sql"] = text_digests(queries)
        for key in ("sql_setup", "sql_define"):  # which are in the texts of queries
            affecting.pop(key, None)
    text = json.dumps(affecting, sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def _with_format(table: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the table of a dataset with its format, unless that is CSV, which was the default at first."""
    rest = without(table, ["format"])
    if table.get("format") == "csv":
        return rest
    return {**rest, "format": "parquet"}
