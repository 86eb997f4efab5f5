"""The commands that lead to a configuration's runs, made from what the runs recorded."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence

from harness.analysis.configuration import ConfigurationRuns
from harness.analysis.environment import relevant_spark_conf
from harness.analysis.observed import is_emulated
from harness.model.run import Facts, Run

_OF_THE_LAB = frozenset({"emulated", "cpus", "link", "mtu", "uplink", "experiment", "round"})
"""Facts that the lab, or an experiment in it, declares by itself."""
_OF_EVERY_RUN = frozenset(
    {
        *("spark.submit.deployMode", "spark.serializer.objectStreamReset", "spark.rdd.compress"),
        *("spark.log.level", "spark.sql.artifact.isolation.enabled"),
    }
)
"""Properties that pyspark and the entry scripts set by themselves."""
UNSHAPED, MIXED = "unshaped", "mixed:"
REDACTED = "*********(redacted)"


def commands(column: ConfigurationRuns) -> tuple[str, ...]:
    """To be given to a shell one after the other, each once; none for runs that were imported."""
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
        yield from _lab(run)
        generate: Sequence[str] = ("clusterlift", "lab", "generate")
        benchmark: Sequence[str] = ("clusterlift", "lab", "benchmark")
    else:
        submit = ("spark-submit", *_spark_options(run))
        generate, benchmark = (*submit, "datagen/generate.py"), (*submit, "jobs/benchmark.py")
    if run.dataset:
        yield [*generate, *_dataset(run.dataset)]
    yield [*benchmark, *_benchmark(run)]


def _lab(run: Run) -> Iterator[Sequence[str]]:
    """Bringing it up, and its links."""
    facts = run.facts
    nodes = len(set(run.environment.get("executors") or ()))
    up = {
        "--nodes": nodes or None,
        "--cpus": facts.get("cpus"),
        "--storage": _scheme(run.dataset),
        "--racks": 2 if "uplink" in facts else None,
        "--uplink": facts.get("uplink"),
    }
    yield ["clusterlift", "lab", "up", *_options(up)]
    shaping = {
        option: facts[name]
        for option, name in (("--rate", "link"), ("--mtu", "mtu"))
        # What nodes do not have in common cannot be said in one command.
        if name in facts and facts[name] != UNSHAPED and not facts[name].startswith(MIXED)
    }
    if shaping:
        yield ["clusterlift", "lab", "link", *_options(shaping)]


def _scheme(dataset: Facts | None) -> str | None:
    scheme = str((dataset or {}).get("uri", "")).partition(":")[0]
    return scheme if scheme in {"hdfs", "qfs"} else None


def _spark_options(run: Run) -> Iterator[str]:
    yield from _options({"--master": run.environment.get("master")})
    for key, value in relevant_spark_conf(run.environment.get("spark_conf") or {}).items():
        if key not in _OF_EVERY_RUN and value != REDACTED:
            yield from ("--conf", f"{key}={value}")


def _dataset(dataset: Facts) -> list[str]:
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


def _benchmark(run: Run) -> list[str]:
    asked = run.parameters
    options = {
        "--dataset": (run.dataset or {}).get("uri"),
        "--configuration": run.configuration,
        "--workloads": ",".join(run.workloads) or None,
        "--trials": asked.get("trials"),
        "--precision": asked.get("precision"),
        "--max-time": f"{asked['max_time_s']:g}s" if "max_time_s" in asked else None,
        "--warmup": asked.get("warmup"),
        "--sink": asked.get("sink"),
        "--repartition": asked.get("repartition"),
        "--pi-samples": asked.get("pi_samples"),
    }
    flags = (
        ["--skip-content-check"] if run.dataset and asked.get("content_checked") is False else []
    )
    told = {k: v for k, v in run.facts.items() if not (is_emulated(run) and k in _OF_THE_LAB)}
    facts = [f"--fact={name}={value}" for name, value in told.items() if value != REDACTED]
    return [*_options(options), *flags, *facts]


def _options(values: Mapping[str, object]) -> list[str]:
    """Names and values of those that are known."""
    return [
        text for name, value in values.items() if value is not None for text in (name, str(value))
    ]
