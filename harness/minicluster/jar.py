"""The jars of Hadoop's daemons, each fetched once by spark-submit.

Standard library only, because docker/Dockerfile copies this file into the image.
"""

import hashlib
import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.base.errors import ClusterliftError
from harness.base.failure_reason import failure_reason
from harness.base.terminal import say
from harness.records.directories import cache_directory, locked
from harness.submit.local_spark import hadoop_version, run_spark_submit, spark_home

FETCHING = ".fetching-"
# Spark brings these, or their packages have the same classes a second time.
EXCLUDED = (
    "org.apache.hadoop:hadoop-client-api",
    "org.apache.hadoop:hadoop-client-runtime",
    "org.slf4j:*",
    "commons-logging:*",
    "commons-codec:*",
    "org.apache.httpcomponents:*",
    "io.netty:*",
    "software.amazon.awssdk:bundle",
)


@dataclass(frozen=True)
class Artifact:
    """A jar of a public repository.

    Without a known checksum we trust what Spark trusts: the transport, and the repository's own checksums.
    """

    group: str
    name: str
    version: str
    sha256: str | None = None

    @property
    def file_name(self) -> str:
        return f"{self.name}-{self.version}.jar"

    @property
    def coordinates(self) -> str:
        return f"{self.group}:{self.name}:{self.version}"


# The known checksum is of the Hadoop version that the pyspark of requirements.lock brings.
MINICLUSTER_SHA256 = {"3.5.0": "06772d24529e59939915979b3edba204d367750ef7dc5120411f35221dd4818c"}


def minicluster_jar() -> Path:
    """Return the jar for the Hadoop version of this machine's Spark. Fetch it into the cache first.

    Raise BadInput if there is no Spark or the cache cannot be written, ClusterliftError if the jar
    cannot be fetched.
    """
    version = hadoop_version(spark_home())
    known = MINICLUSTER_SHA256.get(version)
    artifact = Artifact("org.apache.hadoop", "hadoop-client-minicluster", version, known)
    return fetched([artifact], "56 MB")[0]


def fetched(artifacts: Sequence[Artifact], size: str, directory: str = "") -> list[Path]:
    """Return the jars, from a directory of the cache. Fetch missing ones first, all at once.

    Raise BadInput if the cache cannot be written, ClusterliftError if they cannot be fetched.
    """
    jars = cache_directory() / "jars" / directory
    # Without a lock, two first starts at the same time would both fetch.
    if _missing(artifacts, jars):
        with locked(jars / ".lock", artifacts[0].file_name):
            missing = _missing(artifacts, jars)
            if missing:
                _fetch(missing, size, jars)
    return [jars / artifact.file_name for artifact in artifacts]


def _missing(artifacts: Sequence[Artifact], jars: Path) -> list[Artifact]:
    return [artifact for artifact in artifacts if not (jars / artifact.file_name).exists()]


def _fetch(artifacts: Sequence[Artifact], size: str, jars: Path) -> None:
    named = artifacts[0].file_name
    if len(artifacts) > 1:
        named += f" and {len(artifacts) - 1} more"
    say(f"fetching {named} once (about {size}), into {jars}")
    for interrupted in jars.glob(f"{FETCHING}*"):  # we have the lock: no other process fetches
        shutil.rmtree(interrupted, ignore_errors=True)
    with tempfile.TemporaryDirectory(prefix=FETCHING, dir=jars) as ivy:
        # spark-submit fetches the jars and then runs a program that ends immediately.
        done = run_spark_submit(
            "--master=local[1]",
            "--deploy-mode=client",
            "--conf",
            f"spark.jars.ivy={ivy}",
            "--packages",
            ",".join(artifact.coordinates for artifact in artifacts),
            "--exclude-packages",
            ",".join(EXCLUDED),
            "--class=org.apache.hadoop.util.VersionInfo",
            "spark-internal",
        )
        files = {
            artifact: Path(ivy) / f"jars/{artifact.group}_{artifact.file_name}"
            for artifact in artifacts
        }
        if done.returncode != 0 or not all(file.exists() for file in files.values()):
            reason = failure_reason(done.stdout) or "no message"
            raise ClusterliftError(
                f"cannot fetch {named}: {reason}; connect to a network, or put what is "
                f"missing into {jars}"
            )
        for artifact, file in files.items():
            _verify(file, artifact)
        for artifact, file in files.items():
            file.replace(jars / artifact.file_name)


def _verify(jar: Path, artifact: Artifact) -> None:
    found = hashlib.sha256(jar.read_bytes()).hexdigest()
    if artifact.sha256 not in {None, found}:
        raise ClusterliftError(
            f"the fetched {artifact.name} {artifact.version} is not the known one: its sha256 is {found}, "
            f"not {artifact.sha256}; it was not kept"
        )
