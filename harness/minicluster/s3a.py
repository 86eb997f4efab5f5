"""S3A, Hadoop's client of object stores: its jars, and the properties with which Spark reaches a store.

Standard library only, because docker/Dockerfile copies this file, and the lab's master uses it.
"""

from collections.abc import Mapping
from pathlib import Path

from harness.base.errors import BadInput
from harness.base.http_request import Credentials
from harness.minicluster.jar import Artifact, fetched
from harness.model.spark_properties import S3A, S3A_STORE
from harness.submit.local_spark import hadoop_version, spark_home

JARS = Path(__file__).with_name("s3a-jars.txt")
"""Checksum and coordinates of each jar: hadoop-aws, and the modules of the SDK that it uses."""


def s3a_properties(
    endpoint: str, credentials: Credentials, properties: Mapping[str, str]
) -> Mapping[str, str]:
    """Return Spark's properties for a Ceph gateway at this URL, without TLS.

    `properties` are further ones of Hadoop.
    """
    hadoop = {
        f"{S3A}endpoint": endpoint,
        f"{S3A}endpoint.region": "us-east-1",
        f"{S3A}path.style.access": "true",
        f"{S3A}connection.ssl.enabled": "false",
        f"{S3A}access.key": credentials.access_key,
        f"{S3A}secret.key": credentials.secret_key,
        S3A_STORE: "ceph",
        **properties,
    }
    return {f"spark.hadoop.{key}": value for key, value in hadoop.items()}


def class_path_properties() -> Mapping[str, str]:
    """Return Spark's properties that name S3A's jars; none if Spark has them.

    Raise BadInput or ClusterliftError like `s3a_class_path`.
    """
    classes = s3a_class_path()
    return {f"spark.{who}.extraClassPath": classes for who in ("driver", "executor") if classes}


def s3a_class_path() -> str:
    """Return the class path of S3A's jars, which are fetched first; empty if Spark has them.

    Raise BadInput for a Hadoop whose jars are not known, ClusterliftError if they cannot be fetched.
    """
    home = spark_home()
    if any((home / "jars").glob("hadoop-aws-*.jar")):
        return ""
    artifacts = s3a_artifacts()
    known = next(artifact.version for artifact in artifacts if artifact.name == "hadoop-aws")
    version = hadoop_version(home)
    if version != known:
        raise BadInput(
            f"the jars of S3A are known for Hadoop {known}, and {home} has Hadoop {version}: put "
            f"hadoop-aws-{version}.jar, and the jars that it needs, into {home / 'jars'}"
        )
    jars = fetched(artifacts, "13 MB", f"s3a-{known}")
    return f"{jars[0].parent}/*"


def s3a_artifacts() -> list[Artifact]:
    """Return what the file of the jars lists."""
    artifacts = []
    for line in JARS.read_text(encoding="utf-8").splitlines():
        sha256, coordinates = line.split()
        group, name, version = coordinates.split(":")
        artifacts.append(Artifact(group, name, version, sha256))
    return artifacts
