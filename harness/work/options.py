"""The options of work: what a run does, each option declared once, as a field of `WorkOptions`.

Everything else follows from the declaration: the option of jobs/benchmark.py, which `clusterlift run` and
`bench` pass on, the key of an experiment, the parameter in results, which runs do the same work
(same_work.py), the confounder of a comparison, and the condition of a prediction.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from enum import Enum
from pathlib import Path
from typing import Any

from harness.base.errors import BadInput
from harness.base.option_values import one_of, parse_names, whole_number
from harness.model.cache import COLD, WARM
from harness.model.limits import MAX_TRIALS
from harness.trials.counting import AUTO, DEFAULT_TRIALS, IN_ROUNDS, IN_TRIALS
from harness.trials.rounds import ROUNDS_PER_TRIAL
from harness.work.queries import (
    QueryDirectory,
    QueryText,
    SqlFile,
    queries_in,
    read_definitions,
    read_query_directory,
    read_setup,
)

SINK_NAMES = ("noop", "rdd-count")
_BY_US = "trials"
"""The parameter that every run of jobs/benchmark.py has recorded, and no import of published results."""


class Affected(Enum):
    """The workloads whose times an option may affect."""

    ALL = "all"
    READING = "those that read a dataset, and queries"
    COMPUTING = "those that read nothing, and run alone"
    IN_STREAMS = "those in streams"
    REPARTITION = "repartition"


@dataclass(frozen=True)
class Option:
    """An option of jobs/benchmark.py.

    - `read`: returns the value of a text, or of all texts if the option `is_repeated`. It raises ValueError
      or BadInput. A switch has no text, and is True if it is given.
    - `help`: None if users do not give the option, because `clusterlift` itself passes it.
    - `name`: the name of the field, of the key in experiments, and of the parameter in results.
    - `is_list`: whether the key in experiments has a list of names.
    - `fact`: what comparisons and predictions call the option. Empty: they do not look at it.
    - `repeats`: whether the option only says how often work is done. Sides need not agree on it, and a
      larger number adds to the results that exist.
    - `before`: the value of runs that are older than the option. None: unknown.
    - `elsewhere`: the value of runs whose results were imported. None: unknown.
    - `affected`: the workloads whose changes are doubtful if the option differs.
    """

    read: Callable[[Any], Any]
    help: str | None
    metavar: str | None = None
    flag: str = ""
    is_switch: bool = False
    is_repeated: bool = False
    is_list: bool = False
    fact: str = ""
    repeats: bool = False
    before: Any = None
    elsewhere: Any = None
    affected: Affected = Affected.ALL
    name: str = ""
    default: Any = None

    def value_in(self, parameters: Mapping[str, Any]) -> Any:
        """Return the value that a run recorded, or had without recording it; None if it is unknown."""
        value = parameters.get(self.name)
        if value is not None:
            return value
        return self.before if _BY_US in parameters else self.elsewhere


def option(
    read: Callable[[Any], Any],
    default: Any,
    help_: str | None,
    metavar: str | None = None,
    **attributes: Any,
) -> Any:
    """Declare a field of options. An option that can be repeated is empty by default."""
    declared = Option(read, help_, metavar, **attributes)
    metadata = {"option": declared}
    if declared.is_repeated:
        return field(default_factory=dict, metadata=metadata)
    return field(default=default, metadata=metadata)


def switch(help_: str, **attributes: Any) -> Any:
    """Declare a field of options that is False unless its option is given."""
    return option(_yes_or_no, default=False, help_=help_, is_switch=True, **attributes)


def _yes_or_no(text: str) -> bool:
    """Return the value that a key of an experiment gives to a switch."""
    return one_of("true", "false")(text.lower()) == "true"


def options_of(class_: type[Any]) -> tuple[Option, ...]:
    """Return the options that a class declares."""
    found = []
    for each in fields(class_):
        declared = each.metadata.get("option")
        if declared:
            flag = declared.flag or "--" + each.name.replace("_", "-")
            found.append(replace(declared, name=each.name, flag=flag, default=each.default))
    return tuple(found)


def _number_or_auto(text: str) -> int | str:
    if text == AUTO:
        return AUTO
    return whole_number(0, MAX_TRIALS)(text)


@dataclass(frozen=True)
class WorkOptions:
    """What a run does, and how often. Experiments have the same keys."""

    workloads: tuple[str, ...] | None = option(
        parse_names, None, "workloads to run; by default all", "A,B,...", is_list=True
    )
    sql: QueryDirectory | None = option(
        read_query_directory,
        None,
        "run your own queries, each file NAME.sql of this directory, in place of the workloads that read a "
        "dataset; SET, USE and CREATE TEMPORARY VIEW may stand before them",
        "DIR",
    )
    sql_setup: SqlFile | None = option(
        read_setup,
        None,
        "file of statements that run before each query of --sql, in its session: SET, USE, and CREATE "
        "TEMPORARY VIEW",
        "FILE",
    )
    sql_define: Mapping[str, str] = option(
        read_definitions,
        None,
        "value of the placeholder ${NAME} in queries of --sql; can be repeated",
        "NAME=VALUE",
        is_repeated=True,
    )
    sink: str = option(
        one_of(*SINK_NAMES),
        "noop",
        "what forces the computation of workloads that do not write: Spark's noop data source, or "
        "df.rdd.count() as in the benchmark of 2020",
        "|".join(SINK_NAMES),
        fact="sink",
    )
    trials: int = option(
        whole_number(1, MAX_TRIALS),
        DEFAULT_TRIALS,
        "number of trials of each workload that have to count; within --minutes of run or bench, it is 1 "
        "unless it is given",
        "N",
        repeats=True,
    )
    warmup: int | str = option(
        _number_or_auto,
        AUTO,
        "number of warm-up rounds before the measured ones, or auto: the trials of a workload count from "
        "where they no longer become faster, and rounds are run until that is so for every workload, at most "
        f"{ROUNDS_PER_TRIAL} rounds for each trial; warm-up trials are recorded, but not compared",
        "N",
        fact="warm-up rounds",
        repeats=True,
    )
    profile: int | None = option(
        whole_number(0, 100),
        None,
        "number of profile rounds after the measured ones: they sample the stacks of tasks, which show what "
        "tasks spend time on, and are never compared (default: 1 if --minutes of run or bench leave time for "
        "it, else 0)",
        "N",
        repeats=True,
    )
    repartition: int = option(
        whole_number(1, 10**6),
        200,
        "number of partitions that the workload repartition creates",
        "N",
        fact="--repartition",
        affected=Affected.REPARTITION,
    )
    pi_samples: int = option(
        whole_number(1, 10**13),
        10**7,
        "number of points that each calc-pi workload draws",
        "N",
        fact="--pi-samples",
        affected=Affected.COMPUTING,
    )
    streams: int = option(
        whole_number(1, 100),
        1,
        "number of streams, which run at the same time, like several users; each runs all workloads but the "
        "controls, in an order of its own",
        "N",
        fact="--streams",
        before=1,
        elsewhere=1,
        affected=Affected.IN_STREAMS,
    )
    executors_may_change: bool = switch(
        "let dynamic allocation add and remove executors during the run; a trial in which one came or went "
        "does not count (without this option, a run fixes their number, and is refused if none is known)",
        fact="--executors-may-change",
        before=False,
        elsewhere=False,
    )
    cache: str = option(
        one_of(WARM, COLD),
        WARM,
        "warm: trials may find their input in memory; cold: it is put out of the page caches before each "
        "trial, as root where that is needed, and a trial that read from memory nevertheless does not count",
        f"{WARM}|{COLD}",
        fact="--cache",
        before=WARM,
        affected=Affected.READING,
    )

    proof: str = option(
        one_of(IN_ROUNDS, IN_TRIALS),
        IN_ROUNDS,
        "rounds: a round that does not count proves every row of each answer, and trials count their rows; "
        "trials: every trial proves every row, within its time, which takes up to a fifth of it, as in "
        "results that are older than this option",
        f"{IN_ROUNDS}|{IN_TRIALS}",
        fact="--proof",
        before=IN_TRIALS,
    )

    def __post_init__(self) -> None:
        """Raise BadInput if options contradict each other."""
        if self.cache == COLD and self.streams > 1:
            raise BadInput(
                f"cache cold contradicts streams {self.streams}: a stream finds in memory what others read"
            )
        if not self.sql and (self.sql_setup or self.sql_define):
            raise BadInput("--sql-setup and --sql-define have no effect without --sql")
        if self.sql:
            queries_in(self.sql, self.sql_setup, self.sql_define)

    @property
    def steady_trials(self) -> int | None:
        """How many steady trials are wanted of each workload; None if the number of rounds is fixed."""
        return self.trials if self.warmup == AUTO else None

    @property
    def queries(self) -> Mapping[str, QueryText]:
        """The user's queries by name."""
        if self.sql:
            return queries_in(self.sql, self.sql_setup, self.sql_define)
        return {}

    def arguments(self, path_there: Callable[[Path], str]) -> Iterator[str]:
        """Yield an argument of jobs/benchmark.py for each value that is not the default.

        `path_there` returns how the script's machine calls a path of this machine.
        """
        for each in WORK_OPTIONS:
            value = getattr(self, each.name)
            if value in (each.default, ()):
                continue
            if each.is_switch:
                yield each.flag
                continue
            if each.is_repeated:
                for name, given in value.items():
                    yield f"{each.flag}={name}={given}"
                continue
            if isinstance(value, (QueryDirectory, SqlFile)):
                text = path_there(value.path.absolute())
            elif isinstance(value, tuple):
                text = ",".join(value)
            else:
                text = str(value)
            yield f"{each.flag}={text}"


WORK_OPTIONS = options_of(WorkOptions)
COMPARED = tuple(each for each in WORK_OPTIONS if each.fact)
"""Options whose values runs record, and comparisons know."""
SAME_WORK = tuple(each for each in COMPARED if not each.repeats)
"""Options on which runs have to agree if their trials are pooled."""
REPETITIONS = tuple(each for each in WORK_OPTIONS if each.repeats)


def options_by_keys(keys: Mapping[str, Any]) -> WorkOptions:
    """Return the options that the keys of an experiment give. Raise BadInput that names a wrong key."""
    found: dict[str, Any] = {}
    for each in WORK_OPTIONS:
        if each.name in keys:
            try:
                found[each.name] = _value_of_key(each, keys[each.name])
            except (ValueError, BadInput) as error:
                raise BadInput(f"{each.name}: {error}") from error
    return WorkOptions(**found)


def _value_of_key(declared: Option, value: Any) -> Any:
    """Return the value of a key. An empty list is the value without names."""
    if declared.is_repeated:
        if not isinstance(value, Mapping):
            raise ValueError("a table of names and values is expected")
        return declared.read([f"{name}={given}" for name, given in value.items()])
    if isinstance(value, list) is not declared.is_list:
        expected = "a list" if declared.is_list else "a single value"
        raise ValueError(f"{expected} is expected")
    if value == []:
        return ()
    if declared.is_list:
        return declared.read(",".join(map(str, value)))
    return declared.read(str(value))
