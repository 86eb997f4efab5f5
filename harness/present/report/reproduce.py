"""Reconstruct the commands that measured a configuration from what its runs recorded."""

import shlex
from collections.abc import Collection, Iterator, Mapping, Sequence

from harness.analysis.observed.configuration import ConfigurationRuns
from harness.analysis.observed.environment import is_emulated, relevant_spark_conf
from harness.model.run import PROGRAM, Facts, Run
from harness.redaction import DIGEST

_LAB_FACTS = frozenset(
    {"emulated", "cpus", "cpu_period", "link", "mtu", "uplink", "experiment", "round"}
)
"""Facts that the lab, or an experiment in it, declares by itself."""
_OF_PROGRAMS = frozenset({"nodes", "emulated"})
"""Facts that `clusterlift program` declares by itself."""
_DEFAULT_SPARK_CONF = frozenset(
    {
        *("spark.submit.deployMode", "spark.serializer.objectStreamReset", "spark.rdd.compress"),
        *("spark.log.level", "spark.sql.artifact.isolation.enabled"),
    }
)
"""Properties that pyspark and the entry scripts set."""
NOT_RECORDED = "<not recorded>"
UNSHAPED, MIXED = "unshaped", "mixed:"
_NOT_RECORDED = (DIGEST, "*********(redacted)")
"""The marks, now and in older files, of a value that was not recorded."""


def commands(column: ConfigurationRuns) -> tuple[str, ...]:
    """Return shell commands in order, without repetition; none for runs that were imported."""
    return tuple(
        dict.fromkeys(
            shlex.join(command)
            for recorded in column.runs
            if "imported_from" not in recorded.run.parameters
            for command in _commands(recorded.run)
        )
    )


def _commands(run: Run) -> Iterator[Sequence[str]]:
    if is_emulated(run):
        yield from _lab_commands(run)
    if run.parameters.get(PROGRAM):
        yield _program_command(run)
        return
    if is_emulated(run):
        generate: Sequence[str] = ("clusterlift", "lab", "generate")
        benchmark: Sequence[str] = ("clusterlift", "lab", "benchmark")
    else:
        submit = ("spark-submit", *_spark_options(run))
        generate, benchmark = (*submit, "datagen/generate.py"), (*submit, "jobs/benchmark.py")
    if run.dataset:
        yield [*generate, *_generate_arguments(run.dataset)]
    yield [*benchmark, *_benchmark_arguments(run)]


def _program_command(run: Run) -> list[str]:
    parameters = run.parameters
    options = {
        **{f"--{name}": value for name, value in (parameters.get("options") or {}).items()},
        "--hosts": ",".join(parameters.get("hosts") or ()) or None,
        "--configuration": run.configuration,
        "--per-host": parameters.get("processes_per_host"),
        "--network": parameters.get("network"),
        "--runs": 1,
        "--trials": parameters.get("trials"),
        "--warmup": parameters.get("warmup"),
    }
    return [
        *("clusterlift", "program", str(parameters[PROGRAM])),
        *(["--lab"] if is_emulated(run) else []),
        *_options(options),
        *(["--growing"] if parameters.get("growing") else []),
        *_facts(run, _OF_PROGRAMS),
    ]


def _facts(run: Run, own: Collection[str] = ()) -> list[str]:
    """Return the options of what was declared, without the facts that the lab or the command declares."""
    of_lab = _LAB_FACTS if is_emulated(run) else ()
    return [
        f"--fact={name}={_value_or_gap(value)}"
        for name, value in run.facts.items()
        if name not in of_lab and name not in own
    ]


def _lab_commands(run: Run) -> Iterator[Sequence[str]]:
    """Yield the commands that start the lab and shape its links."""
    facts = run.facts
    up = {
        "--nodes": len(set(run.environment.get("executors") or ())) or None,
        "--cpus": facts.get("cpus"),
        "--storage": _lab_storage(run.dataset),
        "--racks": 2 if "uplink" in facts else None,
        "--uplink": facts.get("uplink"),
    }
    yield ["clusterlift", "lab", "up", *_options(up)]
    shaping = {
        option: facts[name]
        for option, name in (("--rate", "link"), ("--mtu", "mtu"))
        # One command cannot set links that differ between nodes.
        if name in facts and facts[name] != UNSHAPED and not facts[name].startswith(MIXED)
    }
    if shaping:
        yield ["clusterlift", "lab", "link", *_options(shaping)]


def _lab_storage(dataset: Facts | None) -> str | None:
    scheme = str((dataset or {}).get("uri", "")).partition(":")[0]
    return scheme if scheme in {"hdfs", "qfs"} else None


def _spark_options(run: Run) -> Iterator[str]:
    yield from _options({"--master": run.environment.get("master")})
    for key, value in relevant_spark_conf(run.environment.get("spark_conf") or {}).items():
        if key not in _DEFAULT_SPARK_CONF:
            yield from ("--conf", f"{key}={_value_or_gap(value)}")


def _generate_arguments(dataset: Facts) -> list[str]:
    recipe, layout = dataset.get("recipe") or {}, dataset.get("layout") or {}
    requested = layout.get("requested")
    options = {
        "--rows": dataset.get("rows"),
        "--seed": recipe.get("seed"),
        "--format": dataset.get("format"),
        "--partitions": dataset.get("partitions"),
        "--layout": None if requested == "unknown" else requested,
    }
    return [str(dataset.get("uri")), *_options(options)]


def _benchmark_arguments(run: Run) -> list[str]:
    parameters = run.parameters
    options = {
        "--dataset": (run.dataset or {}).get("uri"),
        "--configuration": run.configuration,
        "--workloads": ",".join(run.workloads) or None,
        "--trials": parameters.get("trials"),
        "--precision": parameters.get("precision"),
        "--max-time": f"{parameters['max_time_s']:g}s" if "max_time_s" in parameters else None,
        "--warmup": parameters.get("warmup"),
        "--sink": parameters.get("sink"),
        "--repartition": parameters.get("repartition"),
        "--pi-samples": parameters.get("pi_samples"),
    }
    skips_check = run.dataset and parameters.get("content_checked") is False
    return [*_options(options), *(["--skip-content-check"] if skips_check else []), *_facts(run)]


def _value_or_gap(value: str) -> str:
    """Return the value; what was not recorded becomes a gap that a reader has to fill."""
    return NOT_RECORDED if any(part in value for part in _NOT_RECORDED) else value


def _options(values: Mapping[str, object]) -> list[str]:
    """Return the options whose values are known, with their values."""
    return [
        text for name, value in values.items() if value is not None for text in (name, str(value))
    ]
