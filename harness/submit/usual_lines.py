"""The lines that every start of Spark prints, whatever it runs: they tell a user nothing.

Each is known by its whole text. So whatever else Spark or Java says is shown, and no error is left out.
"""

import re
from collections.abc import Callable

_LOGGED = rb"\d\d/\d\d/\d\d \d\d:\d\d:\d\d (?:WARN|INFO) "
_USUAL = (
    rb"WARNING: Using incubator modules: jdk\.incubator\.vector",
    rb"Using Spark's default log4j profile: org/apache/spark/log4j2?-defaults\.properties",
    rb'Setting (?:default|Spark) log level to "[A-Z]+"\.',
    rb"To adjust logging level use sc\.setLogLevel\(newLevel\)\. .*",
    _LOGGED + rb"Utils: Your hostname, .* resolves to a loopback address: .*",
    _LOGGED + rb"Utils: Set SPARK_LOCAL_IP if you need to bind to another address",
    _LOGGED + rb"NativeCodeLoader: Unable to load native-hadoop library for your platform\.\.\. .*",
    _LOGGED + rb"SparkContext: (?:Running Spark|OS info|Java) [^\n]*",
)
_PATTERN = re.compile(rb"(?:%s)\s*" % rb"|".join(_USUAL))


def is_usual(line: bytes) -> bool:
    """Return whether a line of Spark's standard error says no more than that Spark starts."""
    return _PATTERN.fullmatch(line) is not None


def left_out(*, shows_usual_lines: bool) -> Callable[[bytes], bool] | None:
    """Return which lines of a program are not shown; None if all are."""
    return None if shows_usual_lines else is_usual
