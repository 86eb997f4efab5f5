"""How many executors a run asks for: the same number from its start to its end, where that number is known.

With dynamic allocation, Spark adds and removes executors while trials run. So a run sets the least and the
largest number to the same one: that which the user named, or else the largest that the cluster allows.
"""

from __future__ import annotations

import re
from typing import Mapping, NamedTuple

from datagen.spark import is_local_master
from harness.base.errors import BadInput
from harness.base.terminal import say
from harness.base.words import count_of

INSTANCES = "spark.executor.instances"
_DYNAMIC = "spark.dynamicAllocation.enabled"
_INITIAL, _LEAST, _MOST = (
    f"spark.dynamicAllocation.{name}Executors" for name in ("initial", "min", "max")
)
_NAMED = re.compile(rf"(?:--num-executors[ =]+|{re.escape(INSTANCES)}=)(\d+)\b")
"""A number of executors in the command line of spark-submit."""
_NOBODYS_CHOICE = 2
"""What Spark starts by default. Dataproc's images have it in spark-defaults.conf, on any cluster."""
_UNLIMITED = 1000
"""Dataproc's images allow 10,000, and Dataproc Serverless 1,000: no such number says what can be had."""


class Asked(NamedTuple):
    """How many executors a run asks for. A cluster may have fewer than its own limit (`is_limit`) allows."""

    number: int
    is_limit: bool = False


def fix_executors(properties: Mapping[str, str], command: str) -> Mapping[str, str]:
    """Return the properties that fix the executors, and say so; none if executors do not change anyway.

    `properties` are the properties that spark-submit has, and `command` is its command line. Raise BadInput
    if executors would come and go, and no number is known.
    """
    if not _is_dynamic(properties):
        return {}
    named = _named(properties, command)
    if named is not None:
        number = named
        source = "as named"
        more = {INSTANCES: str(number)}
    else:
        limit = _number(properties, _MOST)
        if limit is None or limit >= _UNLIMITED:
            raise BadInput(_refusal(properties))
        number = limit
        source = f"by {_MOST}"
        more = {}
        if (_number(properties, INSTANCES) or 0) > number:
            more = {INSTANCES: str(number)}
    text = str(number)
    say(
        f"dynamic allocation: {count_of(number, 'executor')} from the start to the end of the run ({source})"
    )
    return {_LEAST: text, _INITIAL: text, _MOST: text, **more}


def _refusal(properties: Mapping[str, str]) -> str:
    """Return why a run does not start with dynamic allocation, and the options to choose from."""
    initial = ""
    if INSTANCES in properties:
        initial = f" ({INSTANCES}={properties[INSTANCES]} is only where it begins)"
    how = f"--conf {INSTANCES}=N"
    if _has_instances(properties.get("spark.master", "")):
        how = "--num-executors N"
    return (
        f"{_DYNAMIC}: Spark would add and remove executors while trials run, and no number of them is "
        f"known{initial}: add {how}, or --conf {_MOST}=N, or --executors-may-change to accept trials "
        "that do not count"
    )


def asked_executors(properties: Mapping[str, str]) -> Asked | None:
    """Return how many executors a running application asks for at its start; None if that is not known."""
    master = properties.get("spark.master", "")
    if _is_dynamic(properties):
        return _asked_dynamically(properties)
    if _has_instances(master):
        return Asked(_number(properties, INSTANCES) or _NOBODYS_CHOICE)
    if is_local_master(master):
        return None
    cores = _number(properties, "spark.cores.max")
    of_each = _number(properties, "spark.executor.cores")
    if cores and of_each and cores >= of_each:
        return Asked(cores // of_each)
    return None


def _asked_dynamically(properties: Mapping[str, str]) -> Asked | None:
    """Return the number that the least and the largest number of executors fix; None if they differ."""
    most = _number(properties, _MOST)
    if most is None or most != _number(properties, _LEAST):
        return None
    return Asked(most, is_limit=most != _number(properties, INSTANCES))


def _named(properties: Mapping[str, str], command: str) -> int | None:
    """Return how many executors somebody chose; None if nobody did."""
    on_command_line = _NAMED.findall(command)
    if on_command_line:
        return int(on_command_line[-1]) or None
    number = _number(properties, INSTANCES)
    if number == _NOBODYS_CHOICE:
        return None
    return number


def _is_dynamic(properties: Mapping[str, str]) -> bool:
    is_asked_for = properties.get(_DYNAMIC, "").strip().lower() == "true"
    return is_asked_for and not is_local_master(properties.get("spark.master", ""))


def _has_instances(master: str) -> bool:
    """Return whether a number of executors is asked for. Elsewhere, they follow the number of cores."""
    return master == "yarn" or master.startswith("k8s://")


def _number(properties: Mapping[str, str], name: str) -> int | None:
    """Return a number of executors or cores, one or more; None if it is unknown."""
    text = properties.get(name, "").strip()
    if not text.isdecimal():
        return None
    return int(text) or None
