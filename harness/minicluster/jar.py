"""The one jar that HDFS's daemons are in: fetched once, by Spark's own means."""

from __future__ import annotations

import fcntl
import hashlib
import os
import subprocess
import tempfile
from pathlib import Path

from harness.minicluster.daemon import complaint
from harness.model.errors import BadInput, ClusterliftError
from harness.runtime.cache import cache_directory
from harness.terminal import say

ARTIFACT = "hadoop-client-minicluster"
# Spark has these already.
EXCLUDED = "org.apache.hadoop:hadoop-client-api,org.apache.hadoop:hadoop-client-runtime"
# Of the version that comes with the pyspark of requirements.lock. Another Spark brings another: its
# jar is as good as its transport and the checksums beside it, which is what Spark itself trusts.
SHA256 = {"3.5.0": "06772d24529e59939915979b3edba204d367750ef7dc5120411f35221dd4818c"}


def minicluster_jar(spark_home: Path, version: str) -> Path:
    """The jar of this Hadoop version, from the cache or else fetched.

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
        # Two first starts at once would both fetch it.
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not jar.exists():
            _fetch(spark_home, version, jar)
    return jar


def _fetch(spark_home: Path, version: str, jar: Path) -> None:
    say(f"fetching {jar.name} once (about 56 MB), into {jar.parent}")
    with tempfile.TemporaryDirectory(prefix=".fetching-", dir=jar.parent) as place:
        ivy, log = Path(place) / "ivy", Path(place) / "log"
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
                f"cannot fetch {jar.name}: {complaint(log)}; with a network it is fetched once, "
                f"without one put it into {jar.parent}"
            )
        _verify(fetched, version)
        fetched.replace(jar)


def _command(spark_home: Path, version: str, ivy: Path) -> list[str]:
    """A program that ends at once; its jars are fetched before it."""
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
            f"what was fetched as {ARTIFACT} {version} is not it: its sha256 is {found}, "
            f"not {SHA256[version]}; it was not kept"
        )
