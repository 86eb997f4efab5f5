"""The jars of Hadoop's daemons, each fetched once by spark-submit.

Standard library only, because docker/Dockerfile copies this file into the image.
"""

import hashlib
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path

from harness.local_spark import closing_message, hadoop_version, run_spark_submit, spark_home
from harness.model.errors import ClusterliftError
from harness.records.directories import cache_directory, locked
from harness.terminal import say

FETCHING = ".fetching-"
# Spark brings these.
EXCLUDED = "org.apache.hadoop:hadoop-client-api,org.apache.hadoop:hadoop-client-runtime"


@dataclass(frozen=True)
class Artifact:
    """A jar of a public repository.

    Without a known checksum we trust what Spark trusts: the transport, and the repository's own checksums.
    """

    group: str
    name: str
    version: str
    size: str
    sha256: str | None = None

    @property
    def file_name(self) -> str:
        return f"{self.name}-{self.version}.jar"


# The known checksum is of the Hadoop version that the pyspark of requirements.lock brings.
MINICLUSTER_SHA256 = {"3.5.0": "06772d24529e59939915979b3edba204d367750ef7dc5120411f35221dd4818c"}
BOUNCY_CASTLE = tuple(
    Artifact("org.bouncycastle", f"{name}-jdk18on", "1.78.1", size, sha256)
    for name, size, sha256 in (
        ("bcprov", "8 MB", "add5915e6acfc6ab5836e1fd8a5e21c6488536a8c1f21f386eeb3bf280b702d7"),
        ("bcutil", "1 MB", "d9fa56f97b0f761ce3bc8d9d74c5d7137a987bf5bd3abfe1003f9bafa45a1d2f"),
        ("bcpkix", "1 MB", "4b48ea084e5232b9d79ebca1887b9de037b124931807cd60710748c2aee08cc9"),
    )
)


def minicluster_jar() -> Path:
    """Return the jar for the Hadoop version of this machine's Spark; fetch it into the cache first.

    Raises BadInput if there is no Spark or the cache cannot be written, ClusterliftError if the jar
    cannot be fetched.
    """
    version = hadoop_version(spark_home())
    known = MINICLUSTER_SHA256.get(version)
    return _cached(
        Artifact("org.apache.hadoop", "hadoop-client-minicluster", version, "56 MB", known)
    )


def bouncy_castle_jars() -> list[Path]:
    """Return the jars of a cryptographic library that YARN needs; otherwise like `minicluster_jar`."""
    return [_cached(artifact) for artifact in BOUNCY_CASTLE]


def _cached(artifact: Artifact) -> Path:
    jar = cache_directory() / "jars" / artifact.file_name
    if jar.exists():
        return jar
    # Without a lock, two first starts at the same time would both fetch it.
    with locked(jar.parent / ".lock", jar.name):
        if not jar.exists():
            _fetch(artifact, jar)
    return jar


def _fetch(artifact: Artifact, jar: Path) -> None:
    say(f"fetching {jar.name} once (about {artifact.size}), into {jar.parent}")
    for interrupted in jar.parent.glob(f"{FETCHING}*"):  # we have the lock, so nobody else fetches
        shutil.rmtree(interrupted, ignore_errors=True)
    with tempfile.TemporaryDirectory(prefix=FETCHING, dir=jar.parent) as ivy:
        # spark-submit fetches the jar and then runs a program that ends immediately.
        done = run_spark_submit(
            *("--master", "local[1]", "--deploy-mode", "client"),
            *("--conf", f"spark.jars.ivy={ivy}"),
            *("--packages", f"{artifact.group}:{artifact.name}:{artifact.version}"),
            *("--exclude-packages", EXCLUDED),
            *("--class", "org.apache.hadoop.util.VersionInfo", "spark-internal"),
        )
        fetched = next(Path(ivy).glob(f"jars/*{jar.name}"), None)
        if fetched is None or done.returncode != 0:
            raise ClusterliftError(
                f"cannot fetch {jar.name}: {closing_message(done.stdout)}; connect to a network, or "
                f"put the jar into {jar.parent}"
            )
        _verify(fetched, artifact)
        fetched.replace(jar)


def _verify(jar: Path, artifact: Artifact) -> None:
    with jar.open("rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    if artifact.sha256 not in {None, found}:
        raise ClusterliftError(
            f"the fetched {artifact.name} {artifact.version} is not the known one: its sha256 is {found}, "
            f"not {artifact.sha256}; it was not kept"
        )
