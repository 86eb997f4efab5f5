"""Hadoop's daemons: how they are started, configured and asked for their state."""

import json
import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

from harness.base.errors import BadInput
from harness.base.http_request import Request, ask
from harness.minicluster.cluster import Cluster
from harness.minicluster.jar import minicluster_jar
from harness.submit.local_spark import spark_home

ANSWER_S = 5.0

LOGGING = Path(__file__).with_name("log4j2.properties")
"""How the daemons log, here and in the lab's image."""


def java_command(cluster: Cluster, heap: str, main: str) -> list[str]:
    """Return the command line that runs a daemon's class. Raise BadInput if there is no Java."""
    # The first directory has the configuration of their log; in that of the cluster, clients would find it.
    class_path = [
        str(LOGGING.parent),
        str(cluster.conf_directory),
        str(minicluster_jar()),
        f"{spark_home()}/jars/*",
    ]
    return [
        str(java_program()),
        f"-Xmx{heap}",
        "-XX:+UseSerialGC",
        "-Djava.net.preferIPv4Stack=true",
        f"-Djava.io.tmpdir={cluster.directory}",
        "-cp",
        ":".join(class_path),
        main,
    ]


def java_program() -> Path:
    """Return the program `java`. Raise BadInput if there is none."""
    home = os.environ.get("JAVA_HOME")
    if home:
        program = Path(home).absolute() / "bin/java"  # daemons run in another directory
        if not os.access(program, os.X_OK):
            raise BadInput(f"JAVA_HOME is {home}, which has no bin/java; set it to a JDK or JRE")
        return program
    found = shutil.which("java")
    if found is None:
        raise BadInput(
            "Hadoop needs Java, and no 'java' is on the PATH: install it, or set JAVA_HOME"
        )
    return Path(found).absolute()


def write_properties(file: Path, properties: Mapping[str, str]) -> None:
    """Write a configuration file in Hadoop's format."""
    entries = (
        f"<property><name>{escape(name)}</name><value>{escape(value)}</value></property>\n"
        for name, value in properties.items()
    )
    text = f"<configuration>\n{''.join(entries)}</configuration>\n"
    file.write_text(text, encoding="utf-8")


def answer_of(request: Request) -> Any:
    """Return the JSON that a daemon's web server answers with; None if it does not."""
    try:
        return json.loads(ask(request, timeout_s=ANSWER_S))
    except (OSError, ValueError):
        return None
