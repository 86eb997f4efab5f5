"""The jar that contains HDFS's daemons, fetched once by spark-submit."""

from __future__ import annotations

import fcntl
import hashlib
import os
import subprocess
import tempfile
from pathlib import Path

from harness.minicluster.log import closing_message
from harness.model.errors import BadInput, ClusterliftError
from harness.records.directories import cache_directory
from harness.terminal import say

ARTIFACT = "hadoop-client-minicluster"
# Spark brings these.
EXCLUDED = "org.apache.hadoop:hadoop-client-api,org.apache.hadoop:hadoop-client-runtime"
# The known checksum is of the Hadoop version that the pyspark of requirements.lock brings. For other
# versions we trust what Spark trusts: the transport, and the checksums that the repository publishes.
SHA256 = {"3.5.0": "06772d24529e59939915979b3edba204d367750ef7dc5120411f35221dd4818c"}


def minicluster_jar(spark_home: Path, version: str) -> Path:
    """Return the jar of this Hadoop version from the cache; fetch it if it is not there.

    Raises BadInput if the cache cannot be written, ClusterliftError if the jar cannot be fetched.
    """
    jar = cache_directory() / "jars" / f"{ARTIFACT}-{version}.jar"
    if jar.exists():
        return jar
    try:
        jar.parent.mkdir(parents=True, exist_ok=True)
        lock = (jar.parent / ".lock").open("w")
    except OSError as error:
        raise BadInput(
            f"{jar.name} cannot be kept in {jar.parent}: {error.strerror}; set XDG_CACHE_HOME"
        ) from error
    with lock:
        # Without a lock, two first starts at the same time would both fetch it.
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not jar.exists():
            _fetch(spark_home, version, jar)
    return jar


def _fetch(spark_home: Path, version: str, jar: Path) -> None:
    say(f"fetching {jar.name} once (about 56 MB), into {jar.parent}")
    with tempfile.TemporaryDirectory(prefix=".fetching-", dir=jar.parent) as directory:
        ivy, log = Path(directory) / "ivy", Path(directory) / "log"
        with log.open("wb") as output:
            done = subprocess.run(
                _command(spark_home, version, ivy),
                env={**os.environ, "SPARK_HOME": str(spark_home)},
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                check=False,
            )
        fetched = next(ivy.glob(f"jars/*{jar.name}"), None)
        if fetched is None or done.returncode != 0:
            raise ClusterliftError(
                f"cannot fetch {jar.name}: {closing_message(log)}; connect to a network, or put the "
                f"jar into {jar.parent}"
            )
        _verify(fetched, version)
        fetched.replace(jar)


def _command(spark_home: Path, version: str, ivy: Path) -> list[str]:
    """Return a spark-submit command that fetches the jar and runs a program that ends at once."""
    return [
        str(spark_home / "bin/spark-submit"),
        *("--master", "local[1]", "--deploy-mode", "client"),
        *("--conf", f"spark.jars.ivy={ivy}"),
        *("--packages", f"org.apache.hadoop:{ARTIFACT}:{version}"),
        *("--exclude-packages", EXCLUDED),
        *("--class", "org.apache.hadoop.util.VersionInfo", "spark-internal"),
    ]


def _verify(jar: Path, version: str) -> None:
    with jar.open("rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    if found != SHA256.get(version, found):
        raise ClusterliftError(
            f"the fetched {ARTIFACT} {version} is not the known one: its sha256 is {found}, "
            f"not {SHA256[version]}; it was not kept"
        )
