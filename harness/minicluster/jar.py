"""The jar that contains HDFS's daemons, fetched once by spark-submit.

Standard library only, because docker/Dockerfile copies this file into the image.
"""

from __future__ import annotations

import fcntl
import hashlib
import shutil
import tempfile
from pathlib import Path

from harness.local_spark import closing_message, hadoop_version, run_spark_submit, spark_home
from harness.model.errors import BadInput, ClusterliftError
from harness.records.directories import cache_directory
from harness.terminal import say

ARTIFACT = "hadoop-client-minicluster"
FETCHING = ".fetching-"
# Spark brings these.
EXCLUDED = "org.apache.hadoop:hadoop-client-api,org.apache.hadoop:hadoop-client-runtime"
# The known checksum is of the Hadoop version that the pyspark of requirements.lock brings. For other
# versions we trust what Spark trusts: the transport, and the checksums that the repository publishes.
SHA256 = {"3.5.0": "06772d24529e59939915979b3edba204d367750ef7dc5120411f35221dd4818c"}


def minicluster_jar() -> Path:
    """Return the jar for the Hadoop version of this machine's Spark; fetch it into the cache first.

    Raises BadInput if there is no Spark or the cache cannot be written, ClusterliftError if the jar
    cannot be fetched.
    """
    version = hadoop_version(spark_home())
    jar = cache_directory() / "jars" / f"{ARTIFACT}-{version}.jar"
    if jar.exists():
        return jar
    try:
        jar.parent.mkdir(parents=True, exist_ok=True)
        lock = (jar.parent / ".lock").open("w")
    except OSError as error:
        raise BadInput(
            f"{jar.name} cannot be kept in {jar.parent}: {error.strerror}; set XDG_CACHE_HOME "
            "to a directory that you can write to"
        ) from error
    with lock:
        # Without a lock, two first starts at the same time would both fetch it.
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not jar.exists():
            _fetch(version, jar)
    return jar


def _fetch(version: str, jar: Path) -> None:
    say(f"fetching {jar.name} once (about 56 MB), into {jar.parent}")
    for interrupted in jar.parent.glob(f"{FETCHING}*"):  # we have the lock, so nobody else fetches
        shutil.rmtree(interrupted, ignore_errors=True)
    with tempfile.TemporaryDirectory(prefix=FETCHING, dir=jar.parent) as ivy:
        # spark-submit fetches the jar and then runs a program that ends immediately.
        done = run_spark_submit(
            *("--master", "local[1]", "--deploy-mode", "client"),
            *("--conf", f"spark.jars.ivy={ivy}"),
            *("--packages", f"org.apache.hadoop:{ARTIFACT}:{version}"),
            *("--exclude-packages", EXCLUDED),
            *("--class", "org.apache.hadoop.util.VersionInfo", "spark-internal"),
        )
        fetched = next(Path(ivy).glob(f"jars/*{jar.name}"), None)
        if fetched is None or done.returncode != 0:
            raise ClusterliftError(
                f"cannot fetch {jar.name}: {closing_message(done.stdout)}; connect to a network, or "
                f"put the jar into {jar.parent}"
            )
        _verify(fetched, version)
        fetched.replace(jar)


def _verify(jar: Path, version: str) -> None:
    with jar.open("rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    if found != SHA256.get(version, found):
        raise ClusterliftError(
            f"the fetched {ARTIFACT} {version} is not the known one: its sha256 is {found}, "
            f"not {SHA256[version]}; it was not kept"
        )
