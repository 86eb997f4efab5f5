"""Which lines of Spark tell a user nothing: those that every start prints, as real Sparks print them."""

import pytest

from harness.submit.usual_lines import is_usual

LOGGED = "26/11/28 22:18:15"
USUAL = (
    "WARNING: Using incubator modules: jdk.incubator.vector",
    "Using Spark's default log4j profile: org/apache/spark/log4j2-defaults.properties",
    "Using Spark's default log4j profile: org/apache/spark/log4j-defaults.properties",
    f"{LOGGED} WARN Utils: Your hostname, vm, resolves to a loopback address: 127.0.0.1; using 192.0.2.2",
    f"{LOGGED} WARN Utils: Set SPARK_LOCAL_IP if you need to bind to another address",
    f"{LOGGED} INFO SparkContext: Running Spark version 4.3.0",
    f"{LOGGED} INFO SparkContext: OS info Linux, 6.18.44, amd64",
    f"{LOGGED} INFO SparkContext: Java version 17.0.21.1+2-1-deb12u1-Debian",
    f"{LOGGED} WARN NativeCodeLoader: Unable to load native-hadoop library for your platform... using",
    'Setting Spark log level to "OFF".',
    'Setting default log level to "WARN".',
    "To adjust logging level use sc.setLogLevel(newLevel). For SparkR, use setLogLevel(newLevel).",
)
TELLING = (
    f"{LOGGED} WARN Utils: Service 'SparkUI' could not bind on port 4040. Attempting port 4041.",
    f"{LOGGED} ERROR SparkContext: Error initializing SparkContext.",
    f"{LOGGED} ERROR NativeCodeLoader: Unable to load native-hadoop library for your platform... no",
    f"{LOGGED} WARN SparkContext: Another SparkContext is being constructed",
    "java.lang.IllegalArgumentException: Using Spark's default log4j profile: no",
    "OpenJDK 64-Bit Server VM warning: INFO: os::commit_memory failed; error='Not enough space'",
    "Error: Missing application resource.",
)


@pytest.mark.parametrize("line", USUAL)
def test_what_every_start_prints_is_left_out(line: str) -> None:
    assert is_usual(f"{line}\n".encode())


@pytest.mark.parametrize("line", TELLING)
def test_whatever_else_spark_says_is_shown(line: str) -> None:
    assert not is_usual(f"{line}\n".encode())
